declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare i64 @llvm.smin.i64(i64, i64)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32 immarg, <16 x i1>, <16 x float>)
declare float @llvm.vector.reduce.fmaximum.v16f32(<16 x float>)
declare <16 x float> @Sleef_expf16_u10(<16 x float>) nounwind memory(none)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, i32 immarg, <16 x i1>)
declare float @llvm.vector.reduce.fadd.v16f32(float, <16 x float>)
declare void @llvm.prefetch.p0(ptr, i32 immarg, i32 immarg, i32 immarg)
define internal void @softmax.region0(ptr %ctx) #0 {
entry:
  %row.slot = alloca i64
  %acc6.slot = alloca <16 x float>
  %acc7.slot = alloca <16 x float>
  %acc8.slot = alloca <16 x float>
  %acc9.slot = alloca <16 x float>
  %c12.slot = alloca i64
  %c29.slot = alloca i64
  %acc41.slot = alloca <16 x float>
  %acc42.slot = alloca <16 x float>
  %acc43.slot = alloca <16 x float>
  %acc44.slot = alloca <16 x float>
  %c45.slot = alloca i64
  %c70.slot = alloca i64
  %c84.slot = alloca i64
  %c107.slot = alloca i64
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
  store i64 %v11, ptr %c29.slot
  br label %loop.33.head
loop.33.head:
  %c29 = load i64, ptr %c29.slot
  %t.34 = icmp slt i64 %c29, %n3
  br i1 %t.34, label %loop.33.body, label %loop.33.exit
loop.33.body:
  %v30 = sub i64 %n3, %c29
  %t.35 = call i64 @llvm.smin.i64(i64 %v30, i64 16)
  %t.36 = trunc i64 %t.35 to i32
  %t.37 = insertelement <16 x i32> poison, i32 %t.36, i64 0
  %t.38 = shufflevector <16 x i32> %t.37, <16 x i32> poison, <16 x i32> zeroinitializer
  %v31 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.38
  %v32 = add i64 %v13, %c29
  %p.39 = getelementptr inbounds float, ptr %in0, i64 %v32
  %v33 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.39, i32 4, <16 x i1> %v31, <16 x float> zeroinitializer)
  %t.40 = load <16 x float>, ptr %acc6.slot
  %t.41 = fcmp ogt <16 x float> %t.40, %v33
  %t.42 = select <16 x i1> %t.41, <16 x float> %t.40, <16 x float> %v33
  %t.43 = fcmp uno <16 x float> %t.40, %t.40
  %v34 = select <16 x i1> %t.43, <16 x float> %t.40, <16 x float> %t.42
  %t.44 = load <16 x float>, ptr %acc6.slot
  %v35 = select <16 x i1> %v31, <16 x float> %v34, <16 x float> %t.44
  store <16 x float> %v35, ptr %acc6.slot
  %t.45 = add nsw i64 %c29, 16
  store i64 %t.45, ptr %c29.slot
  br label %loop.33.head
loop.33.exit:
  %t.46 = load <16 x float>, ptr %acc6.slot
  %t.47 = load <16 x float>, ptr %acc7.slot
  %t.48 = fcmp ogt <16 x float> %t.46, %t.47
  %t.49 = select <16 x i1> %t.48, <16 x float> %t.46, <16 x float> %t.47
  %t.50 = fcmp uno <16 x float> %t.46, %t.46
  %v36 = select <16 x i1> %t.50, <16 x float> %t.46, <16 x float> %t.49
  %t.51 = load <16 x float>, ptr %acc8.slot
  %t.52 = fcmp ogt <16 x float> %v36, %t.51
  %t.53 = select <16 x i1> %t.52, <16 x float> %v36, <16 x float> %t.51
  %t.54 = fcmp uno <16 x float> %v36, %v36
  %v37 = select <16 x i1> %t.54, <16 x float> %v36, <16 x float> %t.53
  %t.55 = load <16 x float>, ptr %acc9.slot
  %t.56 = fcmp ogt <16 x float> %v37, %t.55
  %t.57 = select <16 x i1> %t.56, <16 x float> %v37, <16 x float> %t.55
  %t.58 = fcmp uno <16 x float> %v37, %v37
  %v38 = select <16 x i1> %t.58, <16 x float> %v37, <16 x float> %t.57
  %v39 = call float @llvm.vector.reduce.fmaximum.v16f32(<16 x float> %v38)
  %v40 = select i1 true, float %v39, float %v39
  store <16 x float> splat (float 0x0000000000000000), ptr %acc41.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc42.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc43.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc44.slot
  %t.59 = insertelement <16 x float> poison, float %v40, i64 0
  %v48 = shufflevector <16 x float> %t.59, <16 x float> poison, <16 x i32> zeroinitializer
  store i64 0, ptr %c45.slot
  br label %loop.60.head
loop.60.head:
  %c45 = load i64, ptr %c45.slot
  %t.61 = icmp slt i64 %c45, %v11
  br i1 %t.61, label %loop.60.body, label %loop.60.exit
loop.60.body:
  %v46 = add i64 %v13, %c45
  %p.62 = getelementptr inbounds float, ptr %in0, i64 %v46
  %v47 = load <16 x float>, ptr %p.62, align 4
  %v49 = fsub <16 x float> %v47, %v48
  %v50 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v49)
  %p.63 = getelementptr inbounds float, ptr %kept0, i64 %c45
  store <16 x float> %v50, ptr %p.63, align 4
  %t.64 = load <16 x float>, ptr %acc41.slot
  %v51 = fadd <16 x float> %t.64, %v50
  store <16 x float> %v51, ptr %acc41.slot
  %v52 = add i64 %c45, 16
  %v53 = add i64 %v13, %v52
  %p.65 = getelementptr inbounds float, ptr %in0, i64 %v53
  %v54 = load <16 x float>, ptr %p.65, align 4
  %v55 = fsub <16 x float> %v54, %v48
  %v56 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v55)
  %p.66 = getelementptr inbounds float, ptr %kept0, i64 %v52
  store <16 x float> %v56, ptr %p.66, align 4
  %t.67 = load <16 x float>, ptr %acc42.slot
  %v57 = fadd <16 x float> %t.67, %v56
  store <16 x float> %v57, ptr %acc42.slot
  %v58 = add i64 %c45, 32
  %v59 = add i64 %v13, %v58
  %p.68 = getelementptr inbounds float, ptr %in0, i64 %v59
  %v60 = load <16 x float>, ptr %p.68, align 4
  %v61 = fsub <16 x float> %v60, %v48
  %v62 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v61)
  %p.69 = getelementptr inbounds float, ptr %kept0, i64 %v58
  store <16 x float> %v62, ptr %p.69, align 4
  %t.70 = load <16 x float>, ptr %acc43.slot
  %v63 = fadd <16 x float> %t.70, %v62
  store <16 x float> %v63, ptr %acc43.slot
  %v64 = add i64 %c45, 48
  %v65 = add i64 %v13, %v64
  %p.71 = getelementptr inbounds float, ptr %in0, i64 %v65
  %v66 = load <16 x float>, ptr %p.71, align 4
  %v67 = fsub <16 x float> %v66, %v48
  %v68 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v67)
  %p.72 = getelementptr inbounds float, ptr %kept0, i64 %v64
  store <16 x float> %v68, ptr %p.72, align 4
  %t.73 = load <16 x float>, ptr %acc44.slot
  %v69 = fadd <16 x float> %t.73, %v68
  store <16 x float> %v69, ptr %acc44.slot
  %t.74 = add nsw i64 %c45, 64
  store i64 %t.74, ptr %c45.slot
  br label %loop.60.head
loop.60.exit:
  store i64 %v11, ptr %c70.slot
  br label %loop.75.head
loop.75.head:
  %c70 = load i64, ptr %c70.slot
  %t.76 = icmp slt i64 %c70, %n3
  br i1 %t.76, label %loop.75.body, label %loop.75.exit
loop.75.body:
  %v71 = sub i64 %n3, %c70
  %t.77 = call i64 @llvm.smin.i64(i64 %v71, i64 16)
  %t.78 = trunc i64 %t.77 to i32
  %t.79 = insertelement <16 x i32> poison, i32 %t.78, i64 0
  %t.80 = shufflevector <16 x i32> %t.79, <16 x i32> poison, <16 x i32> zeroinitializer
  %v72 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.80
  %v73 = add i64 %v13, %c70
  %p.81 = getelementptr inbounds float, ptr %in0, i64 %v73
  %v74 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.81, i32 4, <16 x i1> %v72, <16 x float> zeroinitializer)
  %v75 = fsub <16 x float> %v74, %v48
  %v76 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v75)
  %p.82 = getelementptr inbounds float, ptr %kept0, i64 %c70
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v76, ptr %p.82, i32 4, <16 x i1> %v72)
  %t.83 = load <16 x float>, ptr %acc41.slot
  %v77 = fadd <16 x float> %t.83, %v76
  %t.84 = load <16 x float>, ptr %acc41.slot
  %v78 = select <16 x i1> %v72, <16 x float> %v77, <16 x float> %t.84
  store <16 x float> %v78, ptr %acc41.slot
  %t.85 = add nsw i64 %c70, 16
  store i64 %t.85, ptr %c70.slot
  br label %loop.75.head
loop.75.exit:
  %t.86 = load <16 x float>, ptr %acc41.slot
  %t.87 = load <16 x float>, ptr %acc42.slot
  %v79 = fadd <16 x float> %t.86, %t.87
  %t.88 = load <16 x float>, ptr %acc43.slot
  %v80 = fadd <16 x float> %v79, %t.88
  %t.89 = load <16 x float>, ptr %acc44.slot
  %v81 = fadd <16 x float> %v80, %t.89
  %v82 = call reassoc float @llvm.vector.reduce.fadd.v16f32(float -0.0, <16 x float> %v81)
  %v83 = select i1 true, float %v82, float %v82
  %v85 = add i64 %n4, %v13
  %t.90 = insertelement <16 x float> poison, float %v83, i64 0
  %v88 = shufflevector <16 x float> %t.90, <16 x float> poison, <16 x i32> zeroinitializer
  %v90 = mul i64 %row, %n5
  store i64 0, ptr %c84.slot
  br label %loop.91.head
loop.91.head:
  %c84 = load i64, ptr %c84.slot
  %t.92 = icmp slt i64 %c84, %v11
  br i1 %t.92, label %loop.91.body, label %loop.91.exit
loop.91.body:
  %v86 = add i64 %v85, %c84
  %p.93 = getelementptr float, ptr %in0, i64 %v86
  call void @llvm.prefetch.p0(ptr %p.93, i32 0, i32 2, i32 1)
  %p.94 = getelementptr inbounds float, ptr %kept0, i64 %c84
  %v87 = load <16 x float>, ptr %p.94, align 4
  %v89 = fdiv <16 x float> %v87, %v88
  %v91 = add i64 %v90, %c84
  %p.95 = getelementptr inbounds float, ptr %out1, i64 %v91
  store <16 x float> %v89, ptr %p.95, align 4
  %v92 = add i64 %c84, 16
  %v93 = add i64 %v85, %v92
  %p.96 = getelementptr float, ptr %in0, i64 %v93
  call void @llvm.prefetch.p0(ptr %p.96, i32 0, i32 2, i32 1)
  %p.97 = getelementptr inbounds float, ptr %kept0, i64 %v92
  %v94 = load <16 x float>, ptr %p.97, align 4
  %v95 = fdiv <16 x float> %v94, %v88
  %v96 = add i64 %v90, %v92
  %p.98 = getelementptr inbounds float, ptr %out1, i64 %v96
  store <16 x float> %v95, ptr %p.98, align 4
  %v97 = add i64 %c84, 32
  %v98 = add i64 %v85, %v97
  %p.99 = getelementptr float, ptr %in0, i64 %v98
  call void @llvm.prefetch.p0(ptr %p.99, i32 0, i32 2, i32 1)
  %p.100 = getelementptr inbounds float, ptr %kept0, i64 %v97
  %v99 = load <16 x float>, ptr %p.100, align 4
  %v100 = fdiv <16 x float> %v99, %v88
  %v101 = add i64 %v90, %v97
  %p.101 = getelementptr inbounds float, ptr %out1, i64 %v101
  store <16 x float> %v100, ptr %p.101, align 4
  %v102 = add i64 %c84, 48
  %v103 = add i64 %v85, %v102
  %p.102 = getelementptr float, ptr %in0, i64 %v103
  call void @llvm.prefetch.p0(ptr %p.102, i32 0, i32 2, i32 1)
  %p.103 = getelementptr inbounds float, ptr %kept0, i64 %v102
  %v104 = load <16 x float>, ptr %p.103, align 4
  %v105 = fdiv <16 x float> %v104, %v88
  %v106 = add i64 %v90, %v102
  %p.104 = getelementptr inbounds float, ptr %out1, i64 %v106
  store <16 x float> %v105, ptr %p.104, align 4
  %t.105 = add nsw i64 %c84, 64
  store i64 %t.105, ptr %c84.slot
  br label %loop.91.head
loop.91.exit:
  store i64 %v11, ptr %c107.slot
  br label %loop.106.head
loop.106.head:
  %c107 = load i64, ptr %c107.slot
  %t.107 = icmp slt i64 %c107, %n3
  br i1 %t.107, label %loop.106.body, label %loop.106.exit
loop.106.body:
  %v108 = sub i64 %n3, %c107
  %t.108 = call i64 @llvm.smin.i64(i64 %v108, i64 16)
  %t.109 = trunc i64 %t.108 to i32
  %t.110 = insertelement <16 x i32> poison, i32 %t.109, i64 0
  %t.111 = shufflevector <16 x i32> %t.110, <16 x i32> poison, <16 x i32> zeroinitializer
  %v109 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.111
  %p.112 = getelementptr inbounds float, ptr %kept0, i64 %c107
  %v110 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.112, i32 4, <16 x i1> %v109, <16 x float> zeroinitializer)
  %v111 = fdiv <16 x float> %v110, %v88
  %v112 = add i64 %v90, %c107
  %p.113 = getelementptr inbounds float, ptr %out1, i64 %v112
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v111, ptr %p.113, i32 4, <16 x i1> %v109)
  %t.114 = add nsw i64 %c107, 16
  store i64 %t.114, ptr %c107.slot
  br label %loop.106.head
loop.106.exit:
  %t.115 = add nsw i64 %row, 1
  store i64 %t.115, ptr %row.slot
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
  %t.1 = mul i64 %n1, 4
  %t.2 = add i64 %t.1, 63
  %t.3 = and i64 %t.2, -64
  %t.4 = mul i64 0, %t.3
  %t.5 = add i64 0, %t.4
  %t.6 = mul i64 %t.3, %n0
  %kept0 = getelementptr i8, ptr %scratch, i64 %t.5
  %t.7 = add i64 0, %t.6
  %t.8 = icmp eq i64 %n0, 1
  br i1 %t.8, label %team.10.alone, label %team.10.all
team.10.alone:
  call void @softmax.region0(ptr %ctx)
  br label %team.10.end
team.10.all:
  %t.9 = trunc i64 %n0 to i32
  call void @GOMP_parallel(ptr @softmax.region0, ptr %ctx, i32 %t.9, i32 0)
  br label %team.10.end
team.10.end:
  %failed = load i64, ptr %status
  %code = trunc i64 %failed to i32
  ret i32 %code
}
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{}
!1 = !{i32 1}
