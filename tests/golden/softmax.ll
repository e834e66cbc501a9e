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
  %total45.slot = alloca <16 x double>
  %total46.slot = alloca <16 x double>
  %total47.slot = alloca <16 x double>
  %total48.slot = alloca <16 x double>
  %count49.slot = alloca i64
  %c50.slot = alloca i64
  %c86.slot = alloca i64
  %c113.slot = alloca i64
  %c136.slot = alloca i64
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
  store <16 x double> splat (double 0x0000000000000000), ptr %total45.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %total46.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %total47.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %total48.slot
  store i64 0, ptr %count49.slot
  %t.59 = insertelement <16 x float> poison, float %v40, i64 0
  %v53 = shufflevector <16 x float> %t.59, <16 x float> poison, <16 x i32> zeroinitializer
  store i64 0, ptr %c50.slot
  br label %loop.60.head
loop.60.head:
  %c50 = load i64, ptr %c50.slot
  %t.61 = icmp slt i64 %c50, %v11
  br i1 %t.61, label %loop.60.body, label %loop.60.exit
loop.60.body:
  %v51 = add i64 %v13, %c50
  %p.62 = getelementptr inbounds float, ptr %in0, i64 %v51
  %v52 = load <16 x float>, ptr %p.62, align 4
  %v54 = fsub <16 x float> %v52, %v53
  %v55 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v54)
  %p.63 = getelementptr inbounds float, ptr %kept0, i64 %c50
  store <16 x float> %v55, ptr %p.63, align 4
  %t.64 = load <16 x float>, ptr %acc41.slot
  %v56 = fadd <16 x float> %t.64, %v55
  store <16 x float> %v56, ptr %acc41.slot
  %v57 = add i64 %c50, 16
  %v58 = add i64 %v13, %v57
  %p.65 = getelementptr inbounds float, ptr %in0, i64 %v58
  %v59 = load <16 x float>, ptr %p.65, align 4
  %v60 = fsub <16 x float> %v59, %v53
  %v61 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v60)
  %p.66 = getelementptr inbounds float, ptr %kept0, i64 %v57
  store <16 x float> %v61, ptr %p.66, align 4
  %t.67 = load <16 x float>, ptr %acc42.slot
  %v62 = fadd <16 x float> %t.67, %v61
  store <16 x float> %v62, ptr %acc42.slot
  %v63 = add i64 %c50, 32
  %v64 = add i64 %v13, %v63
  %p.68 = getelementptr inbounds float, ptr %in0, i64 %v64
  %v65 = load <16 x float>, ptr %p.68, align 4
  %v66 = fsub <16 x float> %v65, %v53
  %v67 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v66)
  %p.69 = getelementptr inbounds float, ptr %kept0, i64 %v63
  store <16 x float> %v67, ptr %p.69, align 4
  %t.70 = load <16 x float>, ptr %acc43.slot
  %v68 = fadd <16 x float> %t.70, %v67
  store <16 x float> %v68, ptr %acc43.slot
  %v69 = add i64 %c50, 48
  %v70 = add i64 %v13, %v69
  %p.71 = getelementptr inbounds float, ptr %in0, i64 %v70
  %v71 = load <16 x float>, ptr %p.71, align 4
  %v72 = fsub <16 x float> %v71, %v53
  %v73 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v72)
  %p.72 = getelementptr inbounds float, ptr %kept0, i64 %v69
  store <16 x float> %v73, ptr %p.72, align 4
  %t.73 = load <16 x float>, ptr %acc44.slot
  %v74 = fadd <16 x float> %t.73, %v73
  store <16 x float> %v74, ptr %acc44.slot
  %t.74 = load i64, ptr %count49.slot
  %v75 = add i64 %t.74, 1
  store i64 %v75, ptr %count49.slot
  %t.75 = load i64, ptr %count49.slot
  %v76 = and i64 %t.75, 63
  %v85 = icmp eq i64 %v76, 0
  br i1 %v85, label %if.76.then, label %if.76.else
if.76.then:
  %t.77 = load <16 x float>, ptr %acc41.slot
  %v77 = fpext <16 x float> %t.77 to <16 x double>
  %t.78 = load <16 x double>, ptr %total45.slot
  %v78 = fadd <16 x double> %t.78, %v77
  store <16 x double> %v78, ptr %total45.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc41.slot
  %t.79 = load <16 x float>, ptr %acc42.slot
  %v79 = fpext <16 x float> %t.79 to <16 x double>
  %t.80 = load <16 x double>, ptr %total46.slot
  %v80 = fadd <16 x double> %t.80, %v79
  store <16 x double> %v80, ptr %total46.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc42.slot
  %t.81 = load <16 x float>, ptr %acc43.slot
  %v81 = fpext <16 x float> %t.81 to <16 x double>
  %t.82 = load <16 x double>, ptr %total47.slot
  %v82 = fadd <16 x double> %t.82, %v81
  store <16 x double> %v82, ptr %total47.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc43.slot
  %t.83 = load <16 x float>, ptr %acc44.slot
  %v83 = fpext <16 x float> %t.83 to <16 x double>
  %t.84 = load <16 x double>, ptr %total48.slot
  %v84 = fadd <16 x double> %t.84, %v83
  store <16 x double> %v84, ptr %total48.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc44.slot
  br label %if.76.end
if.76.else:
  br label %if.76.end
if.76.end:
  %t.85 = add nsw i64 %c50, 64
  store i64 %t.85, ptr %c50.slot
  br label %loop.60.head
loop.60.exit:
  store i64 %v11, ptr %c86.slot
  br label %loop.86.head
loop.86.head:
  %c86 = load i64, ptr %c86.slot
  %t.87 = icmp slt i64 %c86, %n3
  br i1 %t.87, label %loop.86.body, label %loop.86.exit
loop.86.body:
  %v87 = sub i64 %n3, %c86
  %t.88 = call i64 @llvm.smin.i64(i64 %v87, i64 16)
  %t.89 = trunc i64 %t.88 to i32
  %t.90 = insertelement <16 x i32> poison, i32 %t.89, i64 0
  %t.91 = shufflevector <16 x i32> %t.90, <16 x i32> poison, <16 x i32> zeroinitializer
  %v88 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.91
  %v89 = add i64 %v13, %c86
  %p.92 = getelementptr inbounds float, ptr %in0, i64 %v89
  %v90 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.92, i32 4, <16 x i1> %v88, <16 x float> zeroinitializer)
  %v91 = fsub <16 x float> %v90, %v53
  %v92 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v91)
  %p.93 = getelementptr inbounds float, ptr %kept0, i64 %c86
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v92, ptr %p.93, i32 4, <16 x i1> %v88)
  %t.94 = load <16 x float>, ptr %acc41.slot
  %v93 = fadd <16 x float> %t.94, %v92
  %t.95 = load <16 x float>, ptr %acc41.slot
  %v94 = select <16 x i1> %v88, <16 x float> %v93, <16 x float> %t.95
  store <16 x float> %v94, ptr %acc41.slot
  %t.96 = add nsw i64 %c86, 16
  store i64 %t.96, ptr %c86.slot
  br label %loop.86.head
loop.86.exit:
  %t.97 = load i64, ptr %count49.slot
  %v107 = icmp sge i64 %t.97, 64
  br i1 %v107, label %if.98.then, label %if.98.else
if.98.then:
  %t.99 = load <16 x float>, ptr %acc41.slot
  %v95 = fpext <16 x float> %t.99 to <16 x double>
  %t.100 = load <16 x double>, ptr %total45.slot
  %v96 = fadd <16 x double> %t.100, %v95
  %v97 = fptrunc <16 x double> %v96 to <16 x float>
  store <16 x float> %v97, ptr %acc41.slot
  %t.101 = load <16 x float>, ptr %acc42.slot
  %v98 = fpext <16 x float> %t.101 to <16 x double>
  %t.102 = load <16 x double>, ptr %total46.slot
  %v99 = fadd <16 x double> %t.102, %v98
  %v100 = fptrunc <16 x double> %v99 to <16 x float>
  store <16 x float> %v100, ptr %acc42.slot
  %t.103 = load <16 x float>, ptr %acc43.slot
  %v101 = fpext <16 x float> %t.103 to <16 x double>
  %t.104 = load <16 x double>, ptr %total47.slot
  %v102 = fadd <16 x double> %t.104, %v101
  %v103 = fptrunc <16 x double> %v102 to <16 x float>
  store <16 x float> %v103, ptr %acc43.slot
  %t.105 = load <16 x float>, ptr %acc44.slot
  %v104 = fpext <16 x float> %t.105 to <16 x double>
  %t.106 = load <16 x double>, ptr %total48.slot
  %v105 = fadd <16 x double> %t.106, %v104
  %v106 = fptrunc <16 x double> %v105 to <16 x float>
  store <16 x float> %v106, ptr %acc44.slot
  br label %if.98.end
if.98.else:
  br label %if.98.end
if.98.end:
  %t.107 = load <16 x float>, ptr %acc41.slot
  %t.108 = load <16 x float>, ptr %acc42.slot
  %v108 = fadd <16 x float> %t.107, %t.108
  %t.109 = load <16 x float>, ptr %acc43.slot
  %v109 = fadd <16 x float> %v108, %t.109
  %t.110 = load <16 x float>, ptr %acc44.slot
  %v110 = fadd <16 x float> %v109, %t.110
  %v111 = call reassoc float @llvm.vector.reduce.fadd.v16f32(float -0.0, <16 x float> %v110)
  %v112 = select i1 true, float %v111, float %v111
  %v114 = add i64 %n4, %v13
  %t.111 = insertelement <16 x float> poison, float %v112, i64 0
  %v117 = shufflevector <16 x float> %t.111, <16 x float> poison, <16 x i32> zeroinitializer
  %v119 = mul i64 %row, %n5
  store i64 0, ptr %c113.slot
  br label %loop.112.head
loop.112.head:
  %c113 = load i64, ptr %c113.slot
  %t.113 = icmp slt i64 %c113, %v11
  br i1 %t.113, label %loop.112.body, label %loop.112.exit
loop.112.body:
  %v115 = add i64 %v114, %c113
  %p.114 = getelementptr float, ptr %in0, i64 %v115
  call void @llvm.prefetch.p0(ptr %p.114, i32 0, i32 2, i32 1)
  %p.115 = getelementptr inbounds float, ptr %kept0, i64 %c113
  %v116 = load <16 x float>, ptr %p.115, align 4
  %v118 = fdiv <16 x float> %v116, %v117
  %v120 = add i64 %v119, %c113
  %p.116 = getelementptr inbounds float, ptr %out1, i64 %v120
  store <16 x float> %v118, ptr %p.116, align 4
  %v121 = add i64 %c113, 16
  %v122 = add i64 %v114, %v121
  %p.117 = getelementptr float, ptr %in0, i64 %v122
  call void @llvm.prefetch.p0(ptr %p.117, i32 0, i32 2, i32 1)
  %p.118 = getelementptr inbounds float, ptr %kept0, i64 %v121
  %v123 = load <16 x float>, ptr %p.118, align 4
  %v124 = fdiv <16 x float> %v123, %v117
  %v125 = add i64 %v119, %v121
  %p.119 = getelementptr inbounds float, ptr %out1, i64 %v125
  store <16 x float> %v124, ptr %p.119, align 4
  %v126 = add i64 %c113, 32
  %v127 = add i64 %v114, %v126
  %p.120 = getelementptr float, ptr %in0, i64 %v127
  call void @llvm.prefetch.p0(ptr %p.120, i32 0, i32 2, i32 1)
  %p.121 = getelementptr inbounds float, ptr %kept0, i64 %v126
  %v128 = load <16 x float>, ptr %p.121, align 4
  %v129 = fdiv <16 x float> %v128, %v117
  %v130 = add i64 %v119, %v126
  %p.122 = getelementptr inbounds float, ptr %out1, i64 %v130
  store <16 x float> %v129, ptr %p.122, align 4
  %v131 = add i64 %c113, 48
  %v132 = add i64 %v114, %v131
  %p.123 = getelementptr float, ptr %in0, i64 %v132
  call void @llvm.prefetch.p0(ptr %p.123, i32 0, i32 2, i32 1)
  %p.124 = getelementptr inbounds float, ptr %kept0, i64 %v131
  %v133 = load <16 x float>, ptr %p.124, align 4
  %v134 = fdiv <16 x float> %v133, %v117
  %v135 = add i64 %v119, %v131
  %p.125 = getelementptr inbounds float, ptr %out1, i64 %v135
  store <16 x float> %v134, ptr %p.125, align 4
  %t.126 = add nsw i64 %c113, 64
  store i64 %t.126, ptr %c113.slot
  br label %loop.112.head
loop.112.exit:
  store i64 %v11, ptr %c136.slot
  br label %loop.127.head
loop.127.head:
  %c136 = load i64, ptr %c136.slot
  %t.128 = icmp slt i64 %c136, %n3
  br i1 %t.128, label %loop.127.body, label %loop.127.exit
loop.127.body:
  %v137 = sub i64 %n3, %c136
  %t.129 = call i64 @llvm.smin.i64(i64 %v137, i64 16)
  %t.130 = trunc i64 %t.129 to i32
  %t.131 = insertelement <16 x i32> poison, i32 %t.130, i64 0
  %t.132 = shufflevector <16 x i32> %t.131, <16 x i32> poison, <16 x i32> zeroinitializer
  %v138 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.132
  %p.133 = getelementptr inbounds float, ptr %kept0, i64 %c136
  %v139 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.133, i32 4, <16 x i1> %v138, <16 x float> zeroinitializer)
  %v140 = fdiv <16 x float> %v139, %v117
  %v141 = add i64 %v119, %c136
  %p.134 = getelementptr inbounds float, ptr %out1, i64 %v141
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v140, ptr %p.134, i32 4, <16 x i1> %v138)
  %t.135 = add nsw i64 %c136, 16
  store i64 %t.135, ptr %c136.slot
  br label %loop.127.head
loop.127.exit:
  %t.136 = add nsw i64 %row, 1
  store i64 %t.136, ptr %row.slot
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
