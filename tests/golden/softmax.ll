declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare i64 @llvm.smin.i64(i64, i64)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32 immarg, <16 x i1>, <16 x float>)
declare float @llvm.vector.reduce.fmaximum.v16f32(<16 x float>)
declare <16 x float> @Sleef_expf16_u10(<16 x float>) nounwind memory(none)
declare float @llvm.vector.reduce.fadd.v16f32(float, <16 x float>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, i32 immarg, <16 x i1>)
define internal void @softmax.region0(ptr %ctx) #0 {
entry:
  %row.slot = alloca i64
  %acc6.slot = alloca <16 x float>
  %acc7.slot = alloca <16 x float>
  %acc8.slot = alloca <16 x float>
  %acc9.slot = alloca <16 x float>
  %c13.slot = alloca i64
  %c34.slot = alloca i64
  %acc50.slot = alloca <16 x float>
  %acc51.slot = alloca <16 x float>
  %acc52.slot = alloca <16 x float>
  %acc53.slot = alloca <16 x float>
  %c54.slot = alloca i64
  %c79.slot = alloca i64
  %c101.slot = alloca i64
  %c135.slot = alloca i64
  %c154.slot = alloca i64
  %c186.slot = alloca i64
  %ctx.0 = getelementptr i64, ptr %ctx, i64 0
  %in0 = load ptr, ptr %ctx.0
  %ctx.1 = getelementptr i64, ptr %ctx, i64 1
  %out1 = load ptr, ptr %ctx.1
  %ctx.2 = getelementptr i64, ptr %ctx, i64 2
  %sizes = load ptr, ptr %ctx.2
  %ctx.3 = getelementptr i64, ptr %ctx, i64 3
  %scratch = load ptr, ptr %ctx.3
  %ctx.4 = getelementptr i64, ptr %ctx, i64 4
  %status = load ptr, ptr %ctx.4
  %n0.p = getelementptr i64, ptr %sizes, i64 0
  %n0 = load i64, ptr %n0.p, !invariant.load !0
  %n1.p = getelementptr i64, ptr %sizes, i64 1
  %n1 = load i64, ptr %n1.p, !invariant.load !0
  %n2.p = getelementptr i64, ptr %sizes, i64 2
  %n2 = load i64, ptr %n2.p, !invariant.load !0
  %n3.p = getelementptr i64, ptr %sizes, i64 3
  %n3 = load i64, ptr %n3.p, !invariant.load !0
  %n4.p = getelementptr i64, ptr %sizes, i64 4
  %n4 = load i64, ptr %n4.p, !invariant.load !0
  %n5.p = getelementptr i64, ptr %sizes, i64 5
  %n5 = load i64, ptr %n5.p, !invariant.load !0
  %omp.tid = call i32 @omp_get_thread_num()
  %omp.nth = call i32 @omp_get_num_threads()
  %tid = sext i32 %omp.tid to i64
  %nth = sext i32 %omp.nth to i64
  %v1 = mul i64 %tid, %n1
  %v2 = udiv i64 %v1, %nth
  %v3 = add i64 %tid, 1
  %v4 = mul i64 %v3, %n1
  %v5 = udiv i64 %v4, %nth
  %v97 = icmp ne i64 %n4, 0
  store i64 %v2, ptr %row.slot
  br label %loop.1.head
loop.1.head:
  %row = load i64, ptr %row.slot
  %t.2 = icmp slt i64 %row, %v5
  br i1 %t.2, label %loop.1.body, label %loop.1.exit
loop.1.body:
  store <16 x float> splat (float 0xFFF0000000000000), ptr %acc6.slot
  store <16 x float> splat (float 0xFFF0000000000000), ptr %acc7.slot
  store <16 x float> splat (float 0xFFF0000000000000), ptr %acc8.slot
  store <16 x float> splat (float 0xFFF0000000000000), ptr %acc9.slot
  %v10 = sub i64 %n2, 0
  %v11 = udiv i64 %v10, 64
  %v12 = mul i64 %v11, 64
  %v14 = mul i64 %row, %n3
  store i64 0, ptr %c13.slot
  br label %loop.3.head
loop.3.head:
  %c13 = load i64, ptr %c13.slot
  %t.4 = icmp slt i64 %c13, %v12
  br i1 %t.4, label %loop.3.body, label %loop.3.exit
loop.3.body:
  %v15 = add i64 %v14, %c13
  %p.5 = getelementptr inbounds float, ptr %in0, i64 %v15
  %v16 = load <16 x float>, ptr %p.5, align 4
  %t.6 = load <16 x float>, ptr %acc6.slot
  %t.7 = fcmp ogt <16 x float> %t.6, %v16
  %t.8 = select <16 x i1> %t.7, <16 x float> %t.6, <16 x float> %v16
  %t.9 = fcmp uno <16 x float> %t.6, %t.6
  %v17 = select <16 x i1> %t.9, <16 x float> %t.6, <16 x float> %t.8
  store <16 x float> %v17, ptr %acc6.slot
  %v18 = add i64 %c13, 16
  %v19 = add i64 %v14, %v18
  %p.10 = getelementptr inbounds float, ptr %in0, i64 %v19
  %v20 = load <16 x float>, ptr %p.10, align 4
  %t.11 = load <16 x float>, ptr %acc7.slot
  %t.12 = fcmp ogt <16 x float> %t.11, %v20
  %t.13 = select <16 x i1> %t.12, <16 x float> %t.11, <16 x float> %v20
  %t.14 = fcmp uno <16 x float> %t.11, %t.11
  %v21 = select <16 x i1> %t.14, <16 x float> %t.11, <16 x float> %t.13
  store <16 x float> %v21, ptr %acc7.slot
  %v22 = add i64 %c13, 32
  %v23 = add i64 %v14, %v22
  %p.15 = getelementptr inbounds float, ptr %in0, i64 %v23
  %v24 = load <16 x float>, ptr %p.15, align 4
  %t.16 = load <16 x float>, ptr %acc8.slot
  %t.17 = fcmp ogt <16 x float> %t.16, %v24
  %t.18 = select <16 x i1> %t.17, <16 x float> %t.16, <16 x float> %v24
  %t.19 = fcmp uno <16 x float> %t.16, %t.16
  %v25 = select <16 x i1> %t.19, <16 x float> %t.16, <16 x float> %t.18
  store <16 x float> %v25, ptr %acc8.slot
  %v26 = add i64 %c13, 48
  %v27 = add i64 %v14, %v26
  %p.20 = getelementptr inbounds float, ptr %in0, i64 %v27
  %v28 = load <16 x float>, ptr %p.20, align 4
  %t.21 = load <16 x float>, ptr %acc9.slot
  %t.22 = fcmp ogt <16 x float> %t.21, %v28
  %t.23 = select <16 x i1> %t.22, <16 x float> %t.21, <16 x float> %v28
  %t.24 = fcmp uno <16 x float> %t.21, %t.21
  %v29 = select <16 x i1> %t.24, <16 x float> %t.21, <16 x float> %t.23
  store <16 x float> %v29, ptr %acc9.slot
  %t.25 = add nsw i64 %c13, 64
  store i64 %t.25, ptr %c13.slot
  br label %loop.3.head
loop.3.exit:
  %v30 = sub i64 %n2, %v12
  %v31 = udiv i64 %v30, 16
  %v32 = mul i64 %v31, 16
  %v33 = add i64 %v12, %v32
  store i64 %v12, ptr %c34.slot
  br label %loop.26.head
loop.26.head:
  %c34 = load i64, ptr %c34.slot
  %t.27 = icmp slt i64 %c34, %v33
  br i1 %t.27, label %loop.26.body, label %loop.26.exit
loop.26.body:
  %v35 = add i64 %v14, %c34
  %p.28 = getelementptr inbounds float, ptr %in0, i64 %v35
  %v36 = load <16 x float>, ptr %p.28, align 4
  %t.29 = load <16 x float>, ptr %acc6.slot
  %t.30 = fcmp ogt <16 x float> %t.29, %v36
  %t.31 = select <16 x i1> %t.30, <16 x float> %t.29, <16 x float> %v36
  %t.32 = fcmp uno <16 x float> %t.29, %t.29
  %v37 = select <16 x i1> %t.32, <16 x float> %t.29, <16 x float> %t.31
  store <16 x float> %v37, ptr %acc6.slot
  %t.33 = add nsw i64 %c34, 16
  store i64 %t.33, ptr %c34.slot
  br label %loop.26.head
loop.26.exit:
  %v38 = sub i64 %n2, %v33
  %v44 = icmp slt i64 %v33, %n2
  br i1 %v44, label %if.34.then, label %if.34.else
if.34.then:
  %t.35 = call i64 @llvm.smin.i64(i64 %v38, i64 16)
  %t.36 = trunc i64 %t.35 to i32
  %t.37 = insertelement <16 x i32> poison, i32 %t.36, i64 0
  %t.38 = shufflevector <16 x i32> %t.37, <16 x i32> poison, <16 x i32> zeroinitializer
  %v39 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.38
  %v40 = add i64 %v14, %v33
  %p.39 = getelementptr inbounds float, ptr %in0, i64 %v40
  %v41 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.39, i32 4, <16 x i1> %v39, <16 x float> zeroinitializer)
  %t.40 = load <16 x float>, ptr %acc6.slot
  %t.41 = fcmp ogt <16 x float> %t.40, %v41
  %t.42 = select <16 x i1> %t.41, <16 x float> %t.40, <16 x float> %v41
  %t.43 = fcmp uno <16 x float> %t.40, %t.40
  %v42 = select <16 x i1> %t.43, <16 x float> %t.40, <16 x float> %t.42
  %t.44 = load <16 x float>, ptr %acc6.slot
  %v43 = select <16 x i1> %v39, <16 x float> %v42, <16 x float> %t.44
  store <16 x float> %v43, ptr %acc6.slot
  br label %if.34.end
if.34.else:
  br label %if.34.end
if.34.end:
  %t.45 = load <16 x float>, ptr %acc6.slot
  %t.46 = load <16 x float>, ptr %acc7.slot
  %t.47 = fcmp ogt <16 x float> %t.45, %t.46
  %t.48 = select <16 x i1> %t.47, <16 x float> %t.45, <16 x float> %t.46
  %t.49 = fcmp uno <16 x float> %t.45, %t.45
  %v45 = select <16 x i1> %t.49, <16 x float> %t.45, <16 x float> %t.48
  %t.50 = load <16 x float>, ptr %acc8.slot
  %t.51 = fcmp ogt <16 x float> %v45, %t.50
  %t.52 = select <16 x i1> %t.51, <16 x float> %v45, <16 x float> %t.50
  %t.53 = fcmp uno <16 x float> %v45, %v45
  %v46 = select <16 x i1> %t.53, <16 x float> %v45, <16 x float> %t.52
  %t.54 = load <16 x float>, ptr %acc9.slot
  %t.55 = fcmp ogt <16 x float> %v46, %t.54
  %t.56 = select <16 x i1> %t.55, <16 x float> %v46, <16 x float> %t.54
  %t.57 = fcmp uno <16 x float> %v46, %v46
  %v47 = select <16 x i1> %t.57, <16 x float> %v46, <16 x float> %t.56
  %v48 = call float @llvm.vector.reduce.fmaximum.v16f32(<16 x float> %v47)
  %v49 = select i1 true, float %v48, float %v48
  store <16 x float> splat (float 0x0000000000000000), ptr %acc50.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc51.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc52.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc53.slot
  %t.58 = insertelement <16 x float> poison, float %v49, i64 0
  %v57 = shufflevector <16 x float> %t.58, <16 x float> poison, <16 x i32> zeroinitializer
  store i64 0, ptr %c54.slot
  br label %loop.59.head
loop.59.head:
  %c54 = load i64, ptr %c54.slot
  %t.60 = icmp slt i64 %c54, %v12
  br i1 %t.60, label %loop.59.body, label %loop.59.exit
loop.59.body:
  %v55 = add i64 %v14, %c54
  %p.61 = getelementptr inbounds float, ptr %in0, i64 %v55
  %v56 = load <16 x float>, ptr %p.61, align 4
  %v58 = fsub <16 x float> %v56, %v57
  %v59 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v58)
  %t.62 = load <16 x float>, ptr %acc50.slot
  %v60 = fadd <16 x float> %t.62, %v59
  store <16 x float> %v60, ptr %acc50.slot
  %v61 = add i64 %c54, 16
  %v62 = add i64 %v14, %v61
  %p.63 = getelementptr inbounds float, ptr %in0, i64 %v62
  %v63 = load <16 x float>, ptr %p.63, align 4
  %v64 = fsub <16 x float> %v63, %v57
  %v65 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v64)
  %t.64 = load <16 x float>, ptr %acc51.slot
  %v66 = fadd <16 x float> %t.64, %v65
  store <16 x float> %v66, ptr %acc51.slot
  %v67 = add i64 %c54, 32
  %v68 = add i64 %v14, %v67
  %p.65 = getelementptr inbounds float, ptr %in0, i64 %v68
  %v69 = load <16 x float>, ptr %p.65, align 4
  %v70 = fsub <16 x float> %v69, %v57
  %v71 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v70)
  %t.66 = load <16 x float>, ptr %acc52.slot
  %v72 = fadd <16 x float> %t.66, %v71
  store <16 x float> %v72, ptr %acc52.slot
  %v73 = add i64 %c54, 48
  %v74 = add i64 %v14, %v73
  %p.67 = getelementptr inbounds float, ptr %in0, i64 %v74
  %v75 = load <16 x float>, ptr %p.67, align 4
  %v76 = fsub <16 x float> %v75, %v57
  %v77 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v76)
  %t.68 = load <16 x float>, ptr %acc53.slot
  %v78 = fadd <16 x float> %t.68, %v77
  store <16 x float> %v78, ptr %acc53.slot
  %t.69 = add nsw i64 %c54, 64
  store i64 %t.69, ptr %c54.slot
  br label %loop.59.head
loop.59.exit:
  store i64 %v12, ptr %c79.slot
  br label %loop.70.head
loop.70.head:
  %c79 = load i64, ptr %c79.slot
  %t.71 = icmp slt i64 %c79, %v33
  br i1 %t.71, label %loop.70.body, label %loop.70.exit
loop.70.body:
  %v80 = add i64 %v14, %c79
  %p.72 = getelementptr inbounds float, ptr %in0, i64 %v80
  %v81 = load <16 x float>, ptr %p.72, align 4
  %v82 = fsub <16 x float> %v81, %v57
  %v83 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v82)
  %t.73 = load <16 x float>, ptr %acc50.slot
  %v84 = fadd <16 x float> %t.73, %v83
  store <16 x float> %v84, ptr %acc50.slot
  %t.74 = add nsw i64 %c79, 16
  store i64 %t.74, ptr %c79.slot
  br label %loop.70.head
loop.70.exit:
  br i1 %v44, label %if.75.then, label %if.75.else
if.75.then:
  %t.76 = call i64 @llvm.smin.i64(i64 %v38, i64 16)
  %t.77 = trunc i64 %t.76 to i32
  %t.78 = insertelement <16 x i32> poison, i32 %t.77, i64 0
  %t.79 = shufflevector <16 x i32> %t.78, <16 x i32> poison, <16 x i32> zeroinitializer
  %v85 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.79
  %v86 = add i64 %v14, %v33
  %p.80 = getelementptr inbounds float, ptr %in0, i64 %v86
  %v87 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.80, i32 4, <16 x i1> %v85, <16 x float> zeroinitializer)
  %v88 = fsub <16 x float> %v87, %v57
  %v89 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v88)
  %t.81 = load <16 x float>, ptr %acc50.slot
  %v90 = fadd <16 x float> %t.81, %v89
  %t.82 = load <16 x float>, ptr %acc50.slot
  %v91 = select <16 x i1> %v85, <16 x float> %v90, <16 x float> %t.82
  store <16 x float> %v91, ptr %acc50.slot
  br label %if.75.end
if.75.else:
  br label %if.75.end
if.75.end:
  %t.83 = load <16 x float>, ptr %acc50.slot
  %t.84 = load <16 x float>, ptr %acc51.slot
  %v92 = fadd <16 x float> %t.83, %t.84
  %t.85 = load <16 x float>, ptr %acc52.slot
  %v93 = fadd <16 x float> %v92, %t.85
  %t.86 = load <16 x float>, ptr %acc53.slot
  %v94 = fadd <16 x float> %v93, %t.86
  %v95 = call reassoc float @llvm.vector.reduce.fadd.v16f32(float -0.0, <16 x float> %v94)
  %v96 = select i1 true, float %v95, float %v95
  %t.87 = insertelement <16 x float> poison, float %v96, i64 0
  %v106 = shufflevector <16 x float> %t.87, <16 x float> poison, <16 x i32> zeroinitializer
  %v108 = mul i64 %row, %n5
  br i1 %v97, label %if.88.then, label %if.88.else
if.88.then:
  %v98 = sub i64 %n2, 0
  %v99 = udiv i64 %v98, 64
  %v100 = mul i64 %v99, 64
  store i64 0, ptr %c101.slot
  br label %loop.89.head
loop.89.head:
  %c101 = load i64, ptr %c101.slot
  %t.90 = icmp slt i64 %c101, %v100
  br i1 %t.90, label %loop.89.body, label %loop.89.exit
loop.89.body:
  %v102 = add i64 %v14, %c101
  %p.91 = getelementptr inbounds float, ptr %in0, i64 %v102
  %v103 = load <16 x float>, ptr %p.91, align 4
  %v104 = fsub <16 x float> %v103, %v57
  %v105 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v104)
  %v107 = fdiv <16 x float> %v105, %v106
  %v109 = add i64 %v108, %c101
  %p.92 = getelementptr inbounds float, ptr %out1, i64 %v109
  store <16 x float> %v107, ptr %p.92, align 64, !nontemporal !1
  %v110 = add i64 %c101, 16
  %v111 = add i64 %v14, %v110
  %p.93 = getelementptr inbounds float, ptr %in0, i64 %v111
  %v112 = load <16 x float>, ptr %p.93, align 4
  %v113 = fsub <16 x float> %v112, %v57
  %v114 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v113)
  %v115 = fdiv <16 x float> %v114, %v106
  %v116 = add i64 %v108, %v110
  %p.94 = getelementptr inbounds float, ptr %out1, i64 %v116
  store <16 x float> %v115, ptr %p.94, align 64, !nontemporal !1
  %v117 = add i64 %c101, 32
  %v118 = add i64 %v14, %v117
  %p.95 = getelementptr inbounds float, ptr %in0, i64 %v118
  %v119 = load <16 x float>, ptr %p.95, align 4
  %v120 = fsub <16 x float> %v119, %v57
  %v121 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v120)
  %v122 = fdiv <16 x float> %v121, %v106
  %v123 = add i64 %v108, %v117
  %p.96 = getelementptr inbounds float, ptr %out1, i64 %v123
  store <16 x float> %v122, ptr %p.96, align 64, !nontemporal !1
  %v124 = add i64 %c101, 48
  %v125 = add i64 %v14, %v124
  %p.97 = getelementptr inbounds float, ptr %in0, i64 %v125
  %v126 = load <16 x float>, ptr %p.97, align 4
  %v127 = fsub <16 x float> %v126, %v57
  %v128 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v127)
  %v129 = fdiv <16 x float> %v128, %v106
  %v130 = add i64 %v108, %v124
  %p.98 = getelementptr inbounds float, ptr %out1, i64 %v130
  store <16 x float> %v129, ptr %p.98, align 64, !nontemporal !1
  %t.99 = add nsw i64 %c101, 64
  store i64 %t.99, ptr %c101.slot
  br label %loop.89.head
loop.89.exit:
  %v131 = sub i64 %n2, %v100
  %v132 = udiv i64 %v131, 16
  %v133 = mul i64 %v132, 16
  %v134 = add i64 %v100, %v133
  store i64 %v100, ptr %c135.slot
  br label %loop.100.head
loop.100.head:
  %c135 = load i64, ptr %c135.slot
  %t.101 = icmp slt i64 %c135, %v134
  br i1 %t.101, label %loop.100.body, label %loop.100.exit
loop.100.body:
  %v136 = add i64 %v14, %c135
  %p.102 = getelementptr inbounds float, ptr %in0, i64 %v136
  %v137 = load <16 x float>, ptr %p.102, align 4
  %v138 = fsub <16 x float> %v137, %v57
  %v139 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v138)
  %v140 = fdiv <16 x float> %v139, %v106
  %v141 = add i64 %v108, %c135
  %p.103 = getelementptr inbounds float, ptr %out1, i64 %v141
  store <16 x float> %v140, ptr %p.103, align 64, !nontemporal !1
  %t.104 = add nsw i64 %c135, 16
  store i64 %t.104, ptr %c135.slot
  br label %loop.100.head
loop.100.exit:
  %v142 = sub i64 %n2, %v134
  %v150 = icmp slt i64 %v134, %n2
  br i1 %v150, label %if.105.then, label %if.105.else
if.105.then:
  %t.106 = call i64 @llvm.smin.i64(i64 %v142, i64 16)
  %t.107 = trunc i64 %t.106 to i32
  %t.108 = insertelement <16 x i32> poison, i32 %t.107, i64 0
  %t.109 = shufflevector <16 x i32> %t.108, <16 x i32> poison, <16 x i32> zeroinitializer
  %v143 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.109
  %v144 = add i64 %v14, %v134
  %p.110 = getelementptr inbounds float, ptr %in0, i64 %v144
  %v145 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.110, i32 4, <16 x i1> %v143, <16 x float> zeroinitializer)
  %v146 = fsub <16 x float> %v145, %v57
  %v147 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v146)
  %v148 = fdiv <16 x float> %v147, %v106
  %v149 = add i64 %v108, %v134
  %p.111 = getelementptr inbounds float, ptr %out1, i64 %v149
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v148, ptr %p.111, i32 4, <16 x i1> %v143)
  br label %if.105.end
if.105.else:
  br label %if.105.end
if.105.end:
  br label %if.88.end
if.88.else:
  %v151 = sub i64 %n2, 0
  %v152 = udiv i64 %v151, 64
  %v153 = mul i64 %v152, 64
  store i64 0, ptr %c154.slot
  br label %loop.112.head
loop.112.head:
  %c154 = load i64, ptr %c154.slot
  %t.113 = icmp slt i64 %c154, %v153
  br i1 %t.113, label %loop.112.body, label %loop.112.exit
loop.112.body:
  %v155 = add i64 %v14, %c154
  %p.114 = getelementptr inbounds float, ptr %in0, i64 %v155
  %v156 = load <16 x float>, ptr %p.114, align 4
  %v157 = fsub <16 x float> %v156, %v57
  %v158 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v157)
  %v159 = fdiv <16 x float> %v158, %v106
  %v160 = add i64 %v108, %c154
  %p.115 = getelementptr inbounds float, ptr %out1, i64 %v160
  store <16 x float> %v159, ptr %p.115, align 4
  %v161 = add i64 %c154, 16
  %v162 = add i64 %v14, %v161
  %p.116 = getelementptr inbounds float, ptr %in0, i64 %v162
  %v163 = load <16 x float>, ptr %p.116, align 4
  %v164 = fsub <16 x float> %v163, %v57
  %v165 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v164)
  %v166 = fdiv <16 x float> %v165, %v106
  %v167 = add i64 %v108, %v161
  %p.117 = getelementptr inbounds float, ptr %out1, i64 %v167
  store <16 x float> %v166, ptr %p.117, align 4
  %v168 = add i64 %c154, 32
  %v169 = add i64 %v14, %v168
  %p.118 = getelementptr inbounds float, ptr %in0, i64 %v169
  %v170 = load <16 x float>, ptr %p.118, align 4
  %v171 = fsub <16 x float> %v170, %v57
  %v172 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v171)
  %v173 = fdiv <16 x float> %v172, %v106
  %v174 = add i64 %v108, %v168
  %p.119 = getelementptr inbounds float, ptr %out1, i64 %v174
  store <16 x float> %v173, ptr %p.119, align 4
  %v175 = add i64 %c154, 48
  %v176 = add i64 %v14, %v175
  %p.120 = getelementptr inbounds float, ptr %in0, i64 %v176
  %v177 = load <16 x float>, ptr %p.120, align 4
  %v178 = fsub <16 x float> %v177, %v57
  %v179 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v178)
  %v180 = fdiv <16 x float> %v179, %v106
  %v181 = add i64 %v108, %v175
  %p.121 = getelementptr inbounds float, ptr %out1, i64 %v181
  store <16 x float> %v180, ptr %p.121, align 4
  %t.122 = add nsw i64 %c154, 64
  store i64 %t.122, ptr %c154.slot
  br label %loop.112.head
loop.112.exit:
  %v182 = sub i64 %n2, %v153
  %v183 = udiv i64 %v182, 16
  %v184 = mul i64 %v183, 16
  %v185 = add i64 %v153, %v184
  store i64 %v153, ptr %c186.slot
  br label %loop.123.head
loop.123.head:
  %c186 = load i64, ptr %c186.slot
  %t.124 = icmp slt i64 %c186, %v185
  br i1 %t.124, label %loop.123.body, label %loop.123.exit
loop.123.body:
  %v187 = add i64 %v14, %c186
  %p.125 = getelementptr inbounds float, ptr %in0, i64 %v187
  %v188 = load <16 x float>, ptr %p.125, align 4
  %v189 = fsub <16 x float> %v188, %v57
  %v190 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v189)
  %v191 = fdiv <16 x float> %v190, %v106
  %v192 = add i64 %v108, %c186
  %p.126 = getelementptr inbounds float, ptr %out1, i64 %v192
  store <16 x float> %v191, ptr %p.126, align 4
  %t.127 = add nsw i64 %c186, 16
  store i64 %t.127, ptr %c186.slot
  br label %loop.123.head
loop.123.exit:
  %v193 = sub i64 %n2, %v185
  %v201 = icmp slt i64 %v185, %n2
  br i1 %v201, label %if.128.then, label %if.128.else
if.128.then:
  %t.129 = call i64 @llvm.smin.i64(i64 %v193, i64 16)
  %t.130 = trunc i64 %t.129 to i32
  %t.131 = insertelement <16 x i32> poison, i32 %t.130, i64 0
  %t.132 = shufflevector <16 x i32> %t.131, <16 x i32> poison, <16 x i32> zeroinitializer
  %v194 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.132
  %v195 = add i64 %v14, %v185
  %p.133 = getelementptr inbounds float, ptr %in0, i64 %v195
  %v196 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.133, i32 4, <16 x i1> %v194, <16 x float> zeroinitializer)
  %v197 = fsub <16 x float> %v196, %v57
  %v198 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v197)
  %v199 = fdiv <16 x float> %v198, %v106
  %v200 = add i64 %v108, %v185
  %p.134 = getelementptr inbounds float, ptr %out1, i64 %v200
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v199, ptr %p.134, i32 4, <16 x i1> %v194)
  br label %if.128.end
if.128.else:
  br label %if.128.end
if.128.end:
  br label %if.88.end
if.88.end:
  %t.135 = add nsw i64 %row, 1
  store i64 %t.135, ptr %row.slot
  br label %loop.1.head
loop.1.exit:
  ret void
}
define i32 @softmax(ptr %in0, ptr %out1, ptr %sizes, ptr %scratch) #0 {
entry:
  %ctx = alloca [5 x i64], align 16
  %status = alloca i64, align 8
  store i64 0, ptr %status
  %ctx.0 = getelementptr i64, ptr %ctx, i64 0
  store ptr %in0, ptr %ctx.0
  %ctx.1 = getelementptr i64, ptr %ctx, i64 1
  store ptr %out1, ptr %ctx.1
  %ctx.2 = getelementptr i64, ptr %ctx, i64 2
  store ptr %sizes, ptr %ctx.2
  %ctx.3 = getelementptr i64, ptr %ctx, i64 3
  store ptr %scratch, ptr %ctx.3
  %ctx.4 = getelementptr i64, ptr %ctx, i64 4
  store ptr %status, ptr %ctx.4
  %n0.p = getelementptr i64, ptr %sizes, i64 0
  %n0 = load i64, ptr %n0.p, !invariant.load !0
  %n1.p = getelementptr i64, ptr %sizes, i64 1
  %n1 = load i64, ptr %n1.p, !invariant.load !0
  %n2.p = getelementptr i64, ptr %sizes, i64 2
  %n2 = load i64, ptr %n2.p, !invariant.load !0
  %n3.p = getelementptr i64, ptr %sizes, i64 3
  %n3 = load i64, ptr %n3.p, !invariant.load !0
  %n4.p = getelementptr i64, ptr %sizes, i64 4
  %n4 = load i64, ptr %n4.p, !invariant.load !0
  %n5.p = getelementptr i64, ptr %sizes, i64 5
  %n5 = load i64, ptr %n5.p, !invariant.load !0
  %t.1 = trunc i64 %n0 to i32
  call void @GOMP_parallel(ptr @softmax.region0, ptr %ctx, i32 %t.1, i32 0)
  %failed = load i64, ptr %status
  %code = trunc i64 %failed to i32
  ret i32 %code
}
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{}
!1 = !{i32 1}
