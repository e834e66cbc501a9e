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
  %some49.slot = alloca i64
  %b51.slot = alloca i64
  %c50.slot = alloca i64
  %c88.slot = alloca i64
  %c115.slot = alloca i64
  %c138.slot = alloca i64
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
  store i64 0, ptr %some49.slot
  %t.59 = insertelement <16 x float> poison, float %v40, i64 0
  %v56 = shufflevector <16 x float> %t.59, <16 x float> poison, <16 x i32> zeroinitializer
  store i64 0, ptr %b51.slot
  br label %loop.60.head
loop.60.head:
  %b51 = load i64, ptr %b51.slot
  %t.61 = icmp slt i64 %b51, %v11
  br i1 %t.61, label %loop.60.body, label %loop.60.exit
loop.60.body:
  %v52 = add i64 %b51, 4096
  %v53 = call i64 @llvm.smin.i64(i64 %v52, i64 %v11)
  store i64 %b51, ptr %c50.slot
  br label %loop.62.head
loop.62.head:
  %c50 = load i64, ptr %c50.slot
  %t.63 = icmp slt i64 %c50, %v53
  br i1 %t.63, label %loop.62.body, label %loop.62.exit
loop.62.body:
  %v54 = add i64 %v13, %c50
  %p.64 = getelementptr inbounds float, ptr %in0, i64 %v54
  %v55 = load <16 x float>, ptr %p.64, align 4
  %v57 = fsub <16 x float> %v55, %v56
  %v58 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v57)
  %p.65 = getelementptr inbounds float, ptr %kept0, i64 %c50
  store <16 x float> %v58, ptr %p.65, align 4
  %t.66 = load <16 x float>, ptr %acc41.slot
  %v59 = fadd <16 x float> %t.66, %v58
  store <16 x float> %v59, ptr %acc41.slot
  %v60 = add i64 %c50, 16
  %v61 = add i64 %v13, %v60
  %p.67 = getelementptr inbounds float, ptr %in0, i64 %v61
  %v62 = load <16 x float>, ptr %p.67, align 4
  %v63 = fsub <16 x float> %v62, %v56
  %v64 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v63)
  %p.68 = getelementptr inbounds float, ptr %kept0, i64 %v60
  store <16 x float> %v64, ptr %p.68, align 4
  %t.69 = load <16 x float>, ptr %acc42.slot
  %v65 = fadd <16 x float> %t.69, %v64
  store <16 x float> %v65, ptr %acc42.slot
  %v66 = add i64 %c50, 32
  %v67 = add i64 %v13, %v66
  %p.70 = getelementptr inbounds float, ptr %in0, i64 %v67
  %v68 = load <16 x float>, ptr %p.70, align 4
  %v69 = fsub <16 x float> %v68, %v56
  %v70 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v69)
  %p.71 = getelementptr inbounds float, ptr %kept0, i64 %v66
  store <16 x float> %v70, ptr %p.71, align 4
  %t.72 = load <16 x float>, ptr %acc43.slot
  %v71 = fadd <16 x float> %t.72, %v70
  store <16 x float> %v71, ptr %acc43.slot
  %v72 = add i64 %c50, 48
  %v73 = add i64 %v13, %v72
  %p.73 = getelementptr inbounds float, ptr %in0, i64 %v73
  %v74 = load <16 x float>, ptr %p.73, align 4
  %v75 = fsub <16 x float> %v74, %v56
  %v76 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v75)
  %p.74 = getelementptr inbounds float, ptr %kept0, i64 %v72
  store <16 x float> %v76, ptr %p.74, align 4
  %t.75 = load <16 x float>, ptr %acc44.slot
  %v77 = fadd <16 x float> %t.75, %v76
  store <16 x float> %v77, ptr %acc44.slot
  %t.76 = add nsw i64 %c50, 64
  store i64 %t.76, ptr %c50.slot
  br label %loop.62.head
loop.62.exit:
  %v78 = sub i64 %v53, %b51
  %v79 = icmp eq i64 %v78, 4096
  br i1 %v79, label %if.77.then, label %if.77.else
if.77.then:
  %t.78 = load <16 x float>, ptr %acc41.slot
  %v80 = fpext <16 x float> %t.78 to <16 x double>
  %t.79 = load <16 x double>, ptr %total45.slot
  %v81 = fadd <16 x double> %t.79, %v80
  store <16 x double> %v81, ptr %total45.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc41.slot
  %t.80 = load <16 x float>, ptr %acc42.slot
  %v82 = fpext <16 x float> %t.80 to <16 x double>
  %t.81 = load <16 x double>, ptr %total46.slot
  %v83 = fadd <16 x double> %t.81, %v82
  store <16 x double> %v83, ptr %total46.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc42.slot
  %t.82 = load <16 x float>, ptr %acc43.slot
  %v84 = fpext <16 x float> %t.82 to <16 x double>
  %t.83 = load <16 x double>, ptr %total47.slot
  %v85 = fadd <16 x double> %t.83, %v84
  store <16 x double> %v85, ptr %total47.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc43.slot
  %t.84 = load <16 x float>, ptr %acc44.slot
  %v86 = fpext <16 x float> %t.84 to <16 x double>
  %t.85 = load <16 x double>, ptr %total48.slot
  %v87 = fadd <16 x double> %t.85, %v86
  store <16 x double> %v87, ptr %total48.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc44.slot
  store i64 1, ptr %some49.slot
  br label %if.77.end
if.77.else:
  br label %if.77.end
if.77.end:
  %t.86 = add nsw i64 %b51, 4096
  store i64 %t.86, ptr %b51.slot
  br label %loop.60.head
loop.60.exit:
  store i64 %v11, ptr %c88.slot
  br label %loop.87.head
loop.87.head:
  %c88 = load i64, ptr %c88.slot
  %t.88 = icmp slt i64 %c88, %n3
  br i1 %t.88, label %loop.87.body, label %loop.87.exit
loop.87.body:
  %v89 = sub i64 %n3, %c88
  %t.89 = call i64 @llvm.smin.i64(i64 %v89, i64 16)
  %t.90 = trunc i64 %t.89 to i32
  %t.91 = insertelement <16 x i32> poison, i32 %t.90, i64 0
  %t.92 = shufflevector <16 x i32> %t.91, <16 x i32> poison, <16 x i32> zeroinitializer
  %v90 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.92
  %v91 = add i64 %v13, %c88
  %p.93 = getelementptr inbounds float, ptr %in0, i64 %v91
  %v92 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.93, i32 4, <16 x i1> %v90, <16 x float> zeroinitializer)
  %v93 = fsub <16 x float> %v92, %v56
  %v94 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v93)
  %p.94 = getelementptr inbounds float, ptr %kept0, i64 %c88
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v94, ptr %p.94, i32 4, <16 x i1> %v90)
  %t.95 = load <16 x float>, ptr %acc41.slot
  %v95 = fadd <16 x float> %t.95, %v94
  %t.96 = load <16 x float>, ptr %acc41.slot
  %v96 = select <16 x i1> %v90, <16 x float> %v95, <16 x float> %t.96
  store <16 x float> %v96, ptr %acc41.slot
  %t.97 = add nsw i64 %c88, 16
  store i64 %t.97, ptr %c88.slot
  br label %loop.87.head
loop.87.exit:
  %t.98 = load i64, ptr %some49.slot
  %v109 = icmp eq i64 %t.98, 1
  br i1 %v109, label %if.99.then, label %if.99.else
if.99.then:
  %t.100 = load <16 x float>, ptr %acc41.slot
  %v97 = fpext <16 x float> %t.100 to <16 x double>
  %t.101 = load <16 x double>, ptr %total45.slot
  %v98 = fadd <16 x double> %t.101, %v97
  %v99 = fptrunc <16 x double> %v98 to <16 x float>
  store <16 x float> %v99, ptr %acc41.slot
  %t.102 = load <16 x float>, ptr %acc42.slot
  %v100 = fpext <16 x float> %t.102 to <16 x double>
  %t.103 = load <16 x double>, ptr %total46.slot
  %v101 = fadd <16 x double> %t.103, %v100
  %v102 = fptrunc <16 x double> %v101 to <16 x float>
  store <16 x float> %v102, ptr %acc42.slot
  %t.104 = load <16 x float>, ptr %acc43.slot
  %v103 = fpext <16 x float> %t.104 to <16 x double>
  %t.105 = load <16 x double>, ptr %total47.slot
  %v104 = fadd <16 x double> %t.105, %v103
  %v105 = fptrunc <16 x double> %v104 to <16 x float>
  store <16 x float> %v105, ptr %acc43.slot
  %t.106 = load <16 x float>, ptr %acc44.slot
  %v106 = fpext <16 x float> %t.106 to <16 x double>
  %t.107 = load <16 x double>, ptr %total48.slot
  %v107 = fadd <16 x double> %t.107, %v106
  %v108 = fptrunc <16 x double> %v107 to <16 x float>
  store <16 x float> %v108, ptr %acc44.slot
  br label %if.99.end
if.99.else:
  br label %if.99.end
if.99.end:
  %t.108 = load <16 x float>, ptr %acc41.slot
  %t.109 = load <16 x float>, ptr %acc42.slot
  %v110 = fadd <16 x float> %t.108, %t.109
  %t.110 = load <16 x float>, ptr %acc43.slot
  %v111 = fadd <16 x float> %v110, %t.110
  %t.111 = load <16 x float>, ptr %acc44.slot
  %v112 = fadd <16 x float> %v111, %t.111
  %v113 = call reassoc float @llvm.vector.reduce.fadd.v16f32(float -0.0, <16 x float> %v112)
  %v114 = select i1 true, float %v113, float %v113
  %v116 = add i64 %n4, %v13
  %t.112 = insertelement <16 x float> poison, float %v114, i64 0
  %v119 = shufflevector <16 x float> %t.112, <16 x float> poison, <16 x i32> zeroinitializer
  %v121 = mul i64 %row, %n5
  store i64 0, ptr %c115.slot
  br label %loop.113.head
loop.113.head:
  %c115 = load i64, ptr %c115.slot
  %t.114 = icmp slt i64 %c115, %v11
  br i1 %t.114, label %loop.113.body, label %loop.113.exit
loop.113.body:
  %v117 = add i64 %v116, %c115
  %p.115 = getelementptr float, ptr %in0, i64 %v117
  call void @llvm.prefetch.p0(ptr %p.115, i32 0, i32 2, i32 1)
  %p.116 = getelementptr inbounds float, ptr %kept0, i64 %c115
  %v118 = load <16 x float>, ptr %p.116, align 4
  %v120 = fdiv <16 x float> %v118, %v119
  %v122 = add i64 %v121, %c115
  %p.117 = getelementptr inbounds float, ptr %out1, i64 %v122
  store <16 x float> %v120, ptr %p.117, align 4
  %v123 = add i64 %c115, 16
  %v124 = add i64 %v116, %v123
  %p.118 = getelementptr float, ptr %in0, i64 %v124
  call void @llvm.prefetch.p0(ptr %p.118, i32 0, i32 2, i32 1)
  %p.119 = getelementptr inbounds float, ptr %kept0, i64 %v123
  %v125 = load <16 x float>, ptr %p.119, align 4
  %v126 = fdiv <16 x float> %v125, %v119
  %v127 = add i64 %v121, %v123
  %p.120 = getelementptr inbounds float, ptr %out1, i64 %v127
  store <16 x float> %v126, ptr %p.120, align 4
  %v128 = add i64 %c115, 32
  %v129 = add i64 %v116, %v128
  %p.121 = getelementptr float, ptr %in0, i64 %v129
  call void @llvm.prefetch.p0(ptr %p.121, i32 0, i32 2, i32 1)
  %p.122 = getelementptr inbounds float, ptr %kept0, i64 %v128
  %v130 = load <16 x float>, ptr %p.122, align 4
  %v131 = fdiv <16 x float> %v130, %v119
  %v132 = add i64 %v121, %v128
  %p.123 = getelementptr inbounds float, ptr %out1, i64 %v132
  store <16 x float> %v131, ptr %p.123, align 4
  %v133 = add i64 %c115, 48
  %v134 = add i64 %v116, %v133
  %p.124 = getelementptr float, ptr %in0, i64 %v134
  call void @llvm.prefetch.p0(ptr %p.124, i32 0, i32 2, i32 1)
  %p.125 = getelementptr inbounds float, ptr %kept0, i64 %v133
  %v135 = load <16 x float>, ptr %p.125, align 4
  %v136 = fdiv <16 x float> %v135, %v119
  %v137 = add i64 %v121, %v133
  %p.126 = getelementptr inbounds float, ptr %out1, i64 %v137
  store <16 x float> %v136, ptr %p.126, align 4
  %t.127 = add nsw i64 %c115, 64
  store i64 %t.127, ptr %c115.slot
  br label %loop.113.head
loop.113.exit:
  store i64 %v11, ptr %c138.slot
  br label %loop.128.head
loop.128.head:
  %c138 = load i64, ptr %c138.slot
  %t.129 = icmp slt i64 %c138, %n3
  br i1 %t.129, label %loop.128.body, label %loop.128.exit
loop.128.body:
  %v139 = sub i64 %n3, %c138
  %t.130 = call i64 @llvm.smin.i64(i64 %v139, i64 16)
  %t.131 = trunc i64 %t.130 to i32
  %t.132 = insertelement <16 x i32> poison, i32 %t.131, i64 0
  %t.133 = shufflevector <16 x i32> %t.132, <16 x i32> poison, <16 x i32> zeroinitializer
  %v140 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.133
  %p.134 = getelementptr inbounds float, ptr %kept0, i64 %c138
  %v141 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.134, i32 4, <16 x i1> %v140, <16 x float> zeroinitializer)
  %v142 = fdiv <16 x float> %v141, %v119
  %v143 = add i64 %v121, %c138
  %p.135 = getelementptr inbounds float, ptr %out1, i64 %v143
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v142, ptr %p.135, i32 4, <16 x i1> %v140)
  %t.136 = add nsw i64 %c138, 16
  store i64 %t.136, ptr %c138.slot
  br label %loop.128.head
loop.128.exit:
  %t.137 = add nsw i64 %row, 1
  store i64 %t.137, ptr %row.slot
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
