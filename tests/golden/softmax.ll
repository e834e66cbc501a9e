declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare i64 @llvm.smin.i64(i64, i64)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32 immarg, <16 x i1>, <16 x float>)
declare float @llvm.vector.reduce.fmaximum.v16f32(<16 x float>)
declare <16 x float> @Sleef_expf16_u10(<16 x float>) nounwind memory(none)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, i32 immarg, <16 x i1>)
declare float @llvm.vector.reduce.fadd.v16f32(float, <16 x float>)
define internal void @softmax.region0(ptr %ctx) #0 {
entry:
  %row.slot = alloca i64
  %acc6.slot = alloca <16 x float>
  %acc7.slot = alloca <16 x float>
  %acc8.slot = alloca <16 x float>
  %acc9.slot = alloca <16 x float>
  %c12.slot = alloca i64
  %c33.slot = alloca i64
  %acc49.slot = alloca <16 x float>
  %acc50.slot = alloca <16 x float>
  %acc51.slot = alloca <16 x float>
  %acc52.slot = alloca <16 x float>
  %c53.slot = alloca i64
  %c78.slot = alloca i64
  %c100.slot = alloca i64
  %c122.slot = alloca i64
  %c134.slot = alloca i64
  %c154.slot = alloca i64
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
  %n6.p = getelementptr i64, ptr %sizes, i64 6
  %n6 = load i64, ptr %n6.p, !invariant.load !0
  %omp.tid = call i32 @omp_get_thread_num()
  %omp.nth = call i32 @omp_get_num_threads()
  %tid = sext i32 %omp.tid to i64
  %nth = sext i32 %omp.nth to i64
  %t.1 = mul i64 %n1, 4
  %t.2 = add i64 %t.1, 63
  %t.3 = and i64 %t.2, -64
  %t.4 = mul i64 %tid, %t.3
  %t.5 = add i64 0, %t.4
  %t.6 = mul i64 %t.3, %n0
  %kept0 = getelementptr i8, ptr %scratch, i64 %t.5
  %t.7 = add i64 0, %t.6
  %v1 = mul i64 %tid, %n2
  %v2 = udiv i64 %v1, %nth
  %v3 = add i64 %tid, 1
  %v4 = mul i64 %v3, %n2
  %v5 = udiv i64 %v4, %nth
  %v97 = icmp ne i64 %n5, 0
  store i64 %v2, ptr %row.slot
  br label %loop.8.head
loop.8.head:
  %row = load i64, ptr %row.slot
  %t.9 = icmp slt i64 %row, %v5
  br i1 %t.9, label %loop.8.body, label %loop.8.exit
loop.8.body:
  store <16 x float> splat (float 0xFFF0000000000000), ptr %acc6.slot
  store <16 x float> splat (float 0xFFF0000000000000), ptr %acc7.slot
  store <16 x float> splat (float 0xFFF0000000000000), ptr %acc8.slot
  store <16 x float> splat (float 0xFFF0000000000000), ptr %acc9.slot
  %v10 = udiv i64 %n3, 64
  %v11 = mul i64 %v10, 64
  %v13 = mul i64 %row, %n4
  store i64 0, ptr %c12.slot
  br label %loop.10.head
loop.10.head:
  %c12 = load i64, ptr %c12.slot
  %t.11 = icmp slt i64 %c12, %v11
  br i1 %t.11, label %loop.10.body, label %loop.10.exit
loop.10.body:
  %v14 = add i64 %v13, %c12
  %p.12 = getelementptr inbounds float, ptr %in0, i64 %v14
  %v15 = load <16 x float>, ptr %p.12, align 4
  %t.13 = load <16 x float>, ptr %acc6.slot
  %t.14 = fcmp ogt <16 x float> %t.13, %v15
  %t.15 = select <16 x i1> %t.14, <16 x float> %t.13, <16 x float> %v15
  %t.16 = fcmp uno <16 x float> %t.13, %t.13
  %v16 = select <16 x i1> %t.16, <16 x float> %t.13, <16 x float> %t.15
  store <16 x float> %v16, ptr %acc6.slot
  %v17 = add i64 %c12, 16
  %v18 = add i64 %v13, %v17
  %p.17 = getelementptr inbounds float, ptr %in0, i64 %v18
  %v19 = load <16 x float>, ptr %p.17, align 4
  %t.18 = load <16 x float>, ptr %acc7.slot
  %t.19 = fcmp ogt <16 x float> %t.18, %v19
  %t.20 = select <16 x i1> %t.19, <16 x float> %t.18, <16 x float> %v19
  %t.21 = fcmp uno <16 x float> %t.18, %t.18
  %v20 = select <16 x i1> %t.21, <16 x float> %t.18, <16 x float> %t.20
  store <16 x float> %v20, ptr %acc7.slot
  %v21 = add i64 %c12, 32
  %v22 = add i64 %v13, %v21
  %p.22 = getelementptr inbounds float, ptr %in0, i64 %v22
  %v23 = load <16 x float>, ptr %p.22, align 4
  %t.23 = load <16 x float>, ptr %acc8.slot
  %t.24 = fcmp ogt <16 x float> %t.23, %v23
  %t.25 = select <16 x i1> %t.24, <16 x float> %t.23, <16 x float> %v23
  %t.26 = fcmp uno <16 x float> %t.23, %t.23
  %v24 = select <16 x i1> %t.26, <16 x float> %t.23, <16 x float> %t.25
  store <16 x float> %v24, ptr %acc8.slot
  %v25 = add i64 %c12, 48
  %v26 = add i64 %v13, %v25
  %p.27 = getelementptr inbounds float, ptr %in0, i64 %v26
  %v27 = load <16 x float>, ptr %p.27, align 4
  %t.28 = load <16 x float>, ptr %acc9.slot
  %t.29 = fcmp ogt <16 x float> %t.28, %v27
  %t.30 = select <16 x i1> %t.29, <16 x float> %t.28, <16 x float> %v27
  %t.31 = fcmp uno <16 x float> %t.28, %t.28
  %v28 = select <16 x i1> %t.31, <16 x float> %t.28, <16 x float> %t.30
  store <16 x float> %v28, ptr %acc9.slot
  %t.32 = add nsw i64 %c12, 64
  store i64 %t.32, ptr %c12.slot
  br label %loop.10.head
loop.10.exit:
  %v29 = sub i64 %n3, %v11
  %v30 = udiv i64 %v29, 16
  %v31 = mul i64 %v30, 16
  %v32 = add i64 %v11, %v31
  store i64 %v11, ptr %c33.slot
  br label %loop.33.head
loop.33.head:
  %c33 = load i64, ptr %c33.slot
  %t.34 = icmp slt i64 %c33, %v32
  br i1 %t.34, label %loop.33.body, label %loop.33.exit
loop.33.body:
  %v34 = add i64 %v13, %c33
  %p.35 = getelementptr inbounds float, ptr %in0, i64 %v34
  %v35 = load <16 x float>, ptr %p.35, align 4
  %t.36 = load <16 x float>, ptr %acc6.slot
  %t.37 = fcmp ogt <16 x float> %t.36, %v35
  %t.38 = select <16 x i1> %t.37, <16 x float> %t.36, <16 x float> %v35
  %t.39 = fcmp uno <16 x float> %t.36, %t.36
  %v36 = select <16 x i1> %t.39, <16 x float> %t.36, <16 x float> %t.38
  store <16 x float> %v36, ptr %acc6.slot
  %t.40 = add nsw i64 %c33, 16
  store i64 %t.40, ptr %c33.slot
  br label %loop.33.head
loop.33.exit:
  %v43 = icmp slt i64 %v32, %n3
  br i1 %v43, label %if.41.then, label %if.41.else
if.41.then:
  %v37 = sub i64 %n3, %v32
  %t.42 = call i64 @llvm.smin.i64(i64 %v37, i64 16)
  %t.43 = trunc i64 %t.42 to i32
  %t.44 = insertelement <16 x i32> poison, i32 %t.43, i64 0
  %t.45 = shufflevector <16 x i32> %t.44, <16 x i32> poison, <16 x i32> zeroinitializer
  %v38 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.45
  %v39 = add i64 %v13, %v32
  %p.46 = getelementptr inbounds float, ptr %in0, i64 %v39
  %v40 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.46, i32 4, <16 x i1> %v38, <16 x float> zeroinitializer)
  %t.47 = load <16 x float>, ptr %acc6.slot
  %t.48 = fcmp ogt <16 x float> %t.47, %v40
  %t.49 = select <16 x i1> %t.48, <16 x float> %t.47, <16 x float> %v40
  %t.50 = fcmp uno <16 x float> %t.47, %t.47
  %v41 = select <16 x i1> %t.50, <16 x float> %t.47, <16 x float> %t.49
  %t.51 = load <16 x float>, ptr %acc6.slot
  %v42 = select <16 x i1> %v38, <16 x float> %v41, <16 x float> %t.51
  store <16 x float> %v42, ptr %acc6.slot
  br label %if.41.end
if.41.else:
  br label %if.41.end
if.41.end:
  %t.52 = load <16 x float>, ptr %acc6.slot
  %t.53 = load <16 x float>, ptr %acc7.slot
  %t.54 = fcmp ogt <16 x float> %t.52, %t.53
  %t.55 = select <16 x i1> %t.54, <16 x float> %t.52, <16 x float> %t.53
  %t.56 = fcmp uno <16 x float> %t.52, %t.52
  %v44 = select <16 x i1> %t.56, <16 x float> %t.52, <16 x float> %t.55
  %t.57 = load <16 x float>, ptr %acc8.slot
  %t.58 = fcmp ogt <16 x float> %v44, %t.57
  %t.59 = select <16 x i1> %t.58, <16 x float> %v44, <16 x float> %t.57
  %t.60 = fcmp uno <16 x float> %v44, %v44
  %v45 = select <16 x i1> %t.60, <16 x float> %v44, <16 x float> %t.59
  %t.61 = load <16 x float>, ptr %acc9.slot
  %t.62 = fcmp ogt <16 x float> %v45, %t.61
  %t.63 = select <16 x i1> %t.62, <16 x float> %v45, <16 x float> %t.61
  %t.64 = fcmp uno <16 x float> %v45, %v45
  %v46 = select <16 x i1> %t.64, <16 x float> %v45, <16 x float> %t.63
  %v47 = call float @llvm.vector.reduce.fmaximum.v16f32(<16 x float> %v46)
  %v48 = select i1 true, float %v47, float %v47
  store <16 x float> splat (float 0x0000000000000000), ptr %acc49.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc50.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc51.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc52.slot
  %t.65 = insertelement <16 x float> poison, float %v48, i64 0
  %v56 = shufflevector <16 x float> %t.65, <16 x float> poison, <16 x i32> zeroinitializer
  store i64 0, ptr %c53.slot
  br label %loop.66.head
loop.66.head:
  %c53 = load i64, ptr %c53.slot
  %t.67 = icmp slt i64 %c53, %v11
  br i1 %t.67, label %loop.66.body, label %loop.66.exit
loop.66.body:
  %v54 = add i64 %v13, %c53
  %p.68 = getelementptr inbounds float, ptr %in0, i64 %v54
  %v55 = load <16 x float>, ptr %p.68, align 4
  %v57 = fsub <16 x float> %v55, %v56
  %v58 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v57)
  %p.69 = getelementptr inbounds float, ptr %kept0, i64 %c53
  store <16 x float> %v58, ptr %p.69, align 4
  %t.70 = load <16 x float>, ptr %acc49.slot
  %v59 = fadd <16 x float> %t.70, %v58
  store <16 x float> %v59, ptr %acc49.slot
  %v60 = add i64 %c53, 16
  %v61 = add i64 %v13, %v60
  %p.71 = getelementptr inbounds float, ptr %in0, i64 %v61
  %v62 = load <16 x float>, ptr %p.71, align 4
  %v63 = fsub <16 x float> %v62, %v56
  %v64 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v63)
  %p.72 = getelementptr inbounds float, ptr %kept0, i64 %v60
  store <16 x float> %v64, ptr %p.72, align 4
  %t.73 = load <16 x float>, ptr %acc50.slot
  %v65 = fadd <16 x float> %t.73, %v64
  store <16 x float> %v65, ptr %acc50.slot
  %v66 = add i64 %c53, 32
  %v67 = add i64 %v13, %v66
  %p.74 = getelementptr inbounds float, ptr %in0, i64 %v67
  %v68 = load <16 x float>, ptr %p.74, align 4
  %v69 = fsub <16 x float> %v68, %v56
  %v70 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v69)
  %p.75 = getelementptr inbounds float, ptr %kept0, i64 %v66
  store <16 x float> %v70, ptr %p.75, align 4
  %t.76 = load <16 x float>, ptr %acc51.slot
  %v71 = fadd <16 x float> %t.76, %v70
  store <16 x float> %v71, ptr %acc51.slot
  %v72 = add i64 %c53, 48
  %v73 = add i64 %v13, %v72
  %p.77 = getelementptr inbounds float, ptr %in0, i64 %v73
  %v74 = load <16 x float>, ptr %p.77, align 4
  %v75 = fsub <16 x float> %v74, %v56
  %v76 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v75)
  %p.78 = getelementptr inbounds float, ptr %kept0, i64 %v72
  store <16 x float> %v76, ptr %p.78, align 4
  %t.79 = load <16 x float>, ptr %acc52.slot
  %v77 = fadd <16 x float> %t.79, %v76
  store <16 x float> %v77, ptr %acc52.slot
  %t.80 = add nsw i64 %c53, 64
  store i64 %t.80, ptr %c53.slot
  br label %loop.66.head
loop.66.exit:
  store i64 %v11, ptr %c78.slot
  br label %loop.81.head
loop.81.head:
  %c78 = load i64, ptr %c78.slot
  %t.82 = icmp slt i64 %c78, %v32
  br i1 %t.82, label %loop.81.body, label %loop.81.exit
loop.81.body:
  %v79 = add i64 %v13, %c78
  %p.83 = getelementptr inbounds float, ptr %in0, i64 %v79
  %v80 = load <16 x float>, ptr %p.83, align 4
  %v81 = fsub <16 x float> %v80, %v56
  %v82 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v81)
  %p.84 = getelementptr inbounds float, ptr %kept0, i64 %c78
  store <16 x float> %v82, ptr %p.84, align 4
  %t.85 = load <16 x float>, ptr %acc49.slot
  %v83 = fadd <16 x float> %t.85, %v82
  store <16 x float> %v83, ptr %acc49.slot
  %t.86 = add nsw i64 %c78, 16
  store i64 %t.86, ptr %c78.slot
  br label %loop.81.head
loop.81.exit:
  br i1 %v43, label %if.87.then, label %if.87.else
if.87.then:
  %v84 = sub i64 %n3, %v32
  %t.88 = call i64 @llvm.smin.i64(i64 %v84, i64 16)
  %t.89 = trunc i64 %t.88 to i32
  %t.90 = insertelement <16 x i32> poison, i32 %t.89, i64 0
  %t.91 = shufflevector <16 x i32> %t.90, <16 x i32> poison, <16 x i32> zeroinitializer
  %v85 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.91
  %v86 = add i64 %v13, %v32
  %p.92 = getelementptr inbounds float, ptr %in0, i64 %v86
  %v87 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.92, i32 4, <16 x i1> %v85, <16 x float> zeroinitializer)
  %v88 = fsub <16 x float> %v87, %v56
  %v89 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v88)
  %p.93 = getelementptr inbounds float, ptr %kept0, i64 %v32
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v89, ptr %p.93, i32 4, <16 x i1> %v85)
  %t.94 = load <16 x float>, ptr %acc49.slot
  %v90 = fadd <16 x float> %t.94, %v89
  %t.95 = load <16 x float>, ptr %acc49.slot
  %v91 = select <16 x i1> %v85, <16 x float> %v90, <16 x float> %t.95
  store <16 x float> %v91, ptr %acc49.slot
  br label %if.87.end
if.87.else:
  br label %if.87.end
if.87.end:
  %t.96 = load <16 x float>, ptr %acc49.slot
  %t.97 = load <16 x float>, ptr %acc50.slot
  %v92 = fadd <16 x float> %t.96, %t.97
  %t.98 = load <16 x float>, ptr %acc51.slot
  %v93 = fadd <16 x float> %v92, %t.98
  %t.99 = load <16 x float>, ptr %acc52.slot
  %v94 = fadd <16 x float> %v93, %t.99
  %v95 = call reassoc float @llvm.vector.reduce.fadd.v16f32(float -0.0, <16 x float> %v94)
  %v96 = select i1 true, float %v95, float %v95
  %t.100 = insertelement <16 x float> poison, float %v96, i64 0
  %v102 = shufflevector <16 x float> %t.100, <16 x float> poison, <16 x i32> zeroinitializer
  %v104 = mul i64 %row, %n6
  br i1 %v97, label %if.101.then, label %if.101.else
if.101.then:
  %v98 = udiv i64 %n3, 64
  %v99 = mul i64 %v98, 64
  store i64 0, ptr %c100.slot
  br label %loop.102.head
loop.102.head:
  %c100 = load i64, ptr %c100.slot
  %t.103 = icmp slt i64 %c100, %v99
  br i1 %t.103, label %loop.102.body, label %loop.102.exit
loop.102.body:
  %p.104 = getelementptr inbounds float, ptr %kept0, i64 %c100
  %v101 = load <16 x float>, ptr %p.104, align 4
  %v103 = fdiv <16 x float> %v101, %v102
  %v105 = add i64 %v104, %c100
  %p.105 = getelementptr inbounds float, ptr %out1, i64 %v105
  store <16 x float> %v103, ptr %p.105, align 64, !nontemporal !1
  %v106 = add i64 %c100, 16
  %p.106 = getelementptr inbounds float, ptr %kept0, i64 %v106
  %v107 = load <16 x float>, ptr %p.106, align 4
  %v108 = fdiv <16 x float> %v107, %v102
  %v109 = add i64 %v104, %v106
  %p.107 = getelementptr inbounds float, ptr %out1, i64 %v109
  store <16 x float> %v108, ptr %p.107, align 64, !nontemporal !1
  %v110 = add i64 %c100, 32
  %p.108 = getelementptr inbounds float, ptr %kept0, i64 %v110
  %v111 = load <16 x float>, ptr %p.108, align 4
  %v112 = fdiv <16 x float> %v111, %v102
  %v113 = add i64 %v104, %v110
  %p.109 = getelementptr inbounds float, ptr %out1, i64 %v113
  store <16 x float> %v112, ptr %p.109, align 64, !nontemporal !1
  %v114 = add i64 %c100, 48
  %p.110 = getelementptr inbounds float, ptr %kept0, i64 %v114
  %v115 = load <16 x float>, ptr %p.110, align 4
  %v116 = fdiv <16 x float> %v115, %v102
  %v117 = add i64 %v104, %v114
  %p.111 = getelementptr inbounds float, ptr %out1, i64 %v117
  store <16 x float> %v116, ptr %p.111, align 64, !nontemporal !1
  %t.112 = add nsw i64 %c100, 64
  store i64 %t.112, ptr %c100.slot
  br label %loop.102.head
loop.102.exit:
  %v118 = sub i64 %n3, %v99
  %v119 = udiv i64 %v118, 16
  %v120 = mul i64 %v119, 16
  %v121 = add i64 %v99, %v120
  store i64 %v99, ptr %c122.slot
  br label %loop.113.head
loop.113.head:
  %c122 = load i64, ptr %c122.slot
  %t.114 = icmp slt i64 %c122, %v121
  br i1 %t.114, label %loop.113.body, label %loop.113.exit
loop.113.body:
  %p.115 = getelementptr inbounds float, ptr %kept0, i64 %c122
  %v123 = load <16 x float>, ptr %p.115, align 4
  %v124 = fdiv <16 x float> %v123, %v102
  %v125 = add i64 %v104, %c122
  %p.116 = getelementptr inbounds float, ptr %out1, i64 %v125
  store <16 x float> %v124, ptr %p.116, align 64, !nontemporal !1
  %t.117 = add nsw i64 %c122, 16
  store i64 %t.117, ptr %c122.slot
  br label %loop.113.head
loop.113.exit:
  %v131 = icmp slt i64 %v121, %n3
  br i1 %v131, label %if.118.then, label %if.118.else
if.118.then:
  %v126 = sub i64 %n3, %v121
  %t.119 = call i64 @llvm.smin.i64(i64 %v126, i64 16)
  %t.120 = trunc i64 %t.119 to i32
  %t.121 = insertelement <16 x i32> poison, i32 %t.120, i64 0
  %t.122 = shufflevector <16 x i32> %t.121, <16 x i32> poison, <16 x i32> zeroinitializer
  %v127 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.122
  %p.123 = getelementptr inbounds float, ptr %kept0, i64 %v121
  %v128 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.123, i32 4, <16 x i1> %v127, <16 x float> zeroinitializer)
  %v129 = fdiv <16 x float> %v128, %v102
  %v130 = add i64 %v104, %v121
  %p.124 = getelementptr inbounds float, ptr %out1, i64 %v130
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v129, ptr %p.124, i32 4, <16 x i1> %v127)
  br label %if.118.end
if.118.else:
  br label %if.118.end
if.118.end:
  br label %if.101.end
if.101.else:
  %v132 = udiv i64 %n3, 64
  %v133 = mul i64 %v132, 64
  store i64 0, ptr %c134.slot
  br label %loop.125.head
loop.125.head:
  %c134 = load i64, ptr %c134.slot
  %t.126 = icmp slt i64 %c134, %v133
  br i1 %t.126, label %loop.125.body, label %loop.125.exit
loop.125.body:
  %p.127 = getelementptr inbounds float, ptr %kept0, i64 %c134
  %v135 = load <16 x float>, ptr %p.127, align 4
  %v136 = fdiv <16 x float> %v135, %v102
  %v137 = add i64 %v104, %c134
  %p.128 = getelementptr inbounds float, ptr %out1, i64 %v137
  store <16 x float> %v136, ptr %p.128, align 4
  %v138 = add i64 %c134, 16
  %p.129 = getelementptr inbounds float, ptr %kept0, i64 %v138
  %v139 = load <16 x float>, ptr %p.129, align 4
  %v140 = fdiv <16 x float> %v139, %v102
  %v141 = add i64 %v104, %v138
  %p.130 = getelementptr inbounds float, ptr %out1, i64 %v141
  store <16 x float> %v140, ptr %p.130, align 4
  %v142 = add i64 %c134, 32
  %p.131 = getelementptr inbounds float, ptr %kept0, i64 %v142
  %v143 = load <16 x float>, ptr %p.131, align 4
  %v144 = fdiv <16 x float> %v143, %v102
  %v145 = add i64 %v104, %v142
  %p.132 = getelementptr inbounds float, ptr %out1, i64 %v145
  store <16 x float> %v144, ptr %p.132, align 4
  %v146 = add i64 %c134, 48
  %p.133 = getelementptr inbounds float, ptr %kept0, i64 %v146
  %v147 = load <16 x float>, ptr %p.133, align 4
  %v148 = fdiv <16 x float> %v147, %v102
  %v149 = add i64 %v104, %v146
  %p.134 = getelementptr inbounds float, ptr %out1, i64 %v149
  store <16 x float> %v148, ptr %p.134, align 4
  %t.135 = add nsw i64 %c134, 64
  store i64 %t.135, ptr %c134.slot
  br label %loop.125.head
loop.125.exit:
  %v150 = sub i64 %n3, %v133
  %v151 = udiv i64 %v150, 16
  %v152 = mul i64 %v151, 16
  %v153 = add i64 %v133, %v152
  store i64 %v133, ptr %c154.slot
  br label %loop.136.head
loop.136.head:
  %c154 = load i64, ptr %c154.slot
  %t.137 = icmp slt i64 %c154, %v153
  br i1 %t.137, label %loop.136.body, label %loop.136.exit
loop.136.body:
  %p.138 = getelementptr inbounds float, ptr %kept0, i64 %c154
  %v155 = load <16 x float>, ptr %p.138, align 4
  %v156 = fdiv <16 x float> %v155, %v102
  %v157 = add i64 %v104, %c154
  %p.139 = getelementptr inbounds float, ptr %out1, i64 %v157
  store <16 x float> %v156, ptr %p.139, align 4
  %t.140 = add nsw i64 %c154, 16
  store i64 %t.140, ptr %c154.slot
  br label %loop.136.head
loop.136.exit:
  %v163 = icmp slt i64 %v153, %n3
  br i1 %v163, label %if.141.then, label %if.141.else
if.141.then:
  %v158 = sub i64 %n3, %v153
  %t.142 = call i64 @llvm.smin.i64(i64 %v158, i64 16)
  %t.143 = trunc i64 %t.142 to i32
  %t.144 = insertelement <16 x i32> poison, i32 %t.143, i64 0
  %t.145 = shufflevector <16 x i32> %t.144, <16 x i32> poison, <16 x i32> zeroinitializer
  %v159 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.145
  %p.146 = getelementptr inbounds float, ptr %kept0, i64 %v153
  %v160 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.146, i32 4, <16 x i1> %v159, <16 x float> zeroinitializer)
  %v161 = fdiv <16 x float> %v160, %v102
  %v162 = add i64 %v104, %v153
  %p.147 = getelementptr inbounds float, ptr %out1, i64 %v162
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v161, ptr %p.147, i32 4, <16 x i1> %v159)
  br label %if.141.end
if.141.else:
  br label %if.141.end
if.141.end:
  br label %if.101.end
if.101.end:
  %t.148 = add nsw i64 %row, 1
  store i64 %t.148, ptr %row.slot
  br label %loop.8.head
loop.8.exit:
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
  %n6.p = getelementptr i64, ptr %sizes, i64 6
  %n6 = load i64, ptr %n6.p, !invariant.load !0
  %t.1 = mul i64 %n1, 4
  %t.2 = add i64 %t.1, 63
  %t.3 = and i64 %t.2, -64
  %t.4 = mul i64 0, %t.3
  %t.5 = add i64 0, %t.4
  %t.6 = mul i64 %t.3, %n0
  %kept0 = getelementptr i8, ptr %scratch, i64 %t.5
  %t.7 = add i64 0, %t.6
  %t.8 = trunc i64 %n0 to i32
  call void @GOMP_parallel(ptr @softmax.region0, ptr %ctx, i32 %t.8, i32 0)
  %failed = load i64, ptr %status
  %code = trunc i64 %failed to i32
  ret i32 %code
}
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{}
!1 = !{i32 1}
