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
  %c33.slot = alloca i64
  %acc49.slot = alloca <16 x float>
  %acc50.slot = alloca <16 x float>
  %acc51.slot = alloca <16 x float>
  %acc52.slot = alloca <16 x float>
  %total53.slot = alloca <16 x double>
  %total54.slot = alloca <16 x double>
  %total55.slot = alloca <16 x double>
  %total56.slot = alloca <16 x double>
  %some57.slot = alloca i64
  %b59.slot = alloca i64
  %c58.slot = alloca i64
  %c96.slot = alloca i64
  %c126.slot = alloca i64
  %c149.slot = alloca i64
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
  %v10 = udiv i64 %n3, 64
  %v11 = mul i64 %v10, 64
  %v29 = sub i64 %n3, %v11
  %v30 = udiv i64 %v29, 16
  %v31 = mul i64 %v30, 16
  %v32 = add i64 %v11, %v31
  %v37 = sub i64 %n3, %v32
  %t.8 = call i64 @llvm.smin.i64(i64 %v37, i64 16)
  %t.9 = trunc i64 %t.8 to i32
  %t.10 = insertelement <16 x i32> poison, i32 %t.9, i64 0
  %t.11 = shufflevector <16 x i32> %t.10, <16 x i32> poison, <16 x i32> zeroinitializer
  %v38 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.11
  %v43 = icmp slt i64 %v32, %n3
  store i64 %v2, ptr %row.slot
  br label %loop.12.head
loop.12.head:
  %row = load i64, ptr %row.slot
  %t.13 = icmp slt i64 %row, %v5
  br i1 %t.13, label %loop.12.body, label %loop.12.exit
loop.12.body:
  store <16 x float> splat (float 0xFFF0000000000000), ptr %acc6.slot
  store <16 x float> splat (float 0xFFF0000000000000), ptr %acc7.slot
  store <16 x float> splat (float 0xFFF0000000000000), ptr %acc8.slot
  store <16 x float> splat (float 0xFFF0000000000000), ptr %acc9.slot
  %v13 = mul i64 %row, %n4
  store i64 0, ptr %c12.slot
  br label %loop.14.head
loop.14.head:
  %c12 = load i64, ptr %c12.slot
  %t.15 = icmp slt i64 %c12, %v11
  br i1 %t.15, label %loop.14.body, label %loop.14.exit
loop.14.body:
  %v14 = add i64 %v13, %c12
  %p.16 = getelementptr inbounds float, ptr %in0, i64 %v14
  %v15 = load <16 x float>, ptr %p.16, align 4
  %t.17 = load <16 x float>, ptr %acc6.slot
  %t.18 = fcmp ogt <16 x float> %t.17, %v15
  %t.19 = select <16 x i1> %t.18, <16 x float> %t.17, <16 x float> %v15
  %t.20 = fcmp uno <16 x float> %t.17, %t.17
  %v16 = select <16 x i1> %t.20, <16 x float> %t.17, <16 x float> %t.19
  store <16 x float> %v16, ptr %acc6.slot
  %v17 = add i64 %c12, 16
  %v18 = add i64 %v13, %v17
  %p.21 = getelementptr inbounds float, ptr %in0, i64 %v18
  %v19 = load <16 x float>, ptr %p.21, align 4
  %t.22 = load <16 x float>, ptr %acc7.slot
  %t.23 = fcmp ogt <16 x float> %t.22, %v19
  %t.24 = select <16 x i1> %t.23, <16 x float> %t.22, <16 x float> %v19
  %t.25 = fcmp uno <16 x float> %t.22, %t.22
  %v20 = select <16 x i1> %t.25, <16 x float> %t.22, <16 x float> %t.24
  store <16 x float> %v20, ptr %acc7.slot
  %v21 = add i64 %c12, 32
  %v22 = add i64 %v13, %v21
  %p.26 = getelementptr inbounds float, ptr %in0, i64 %v22
  %v23 = load <16 x float>, ptr %p.26, align 4
  %t.27 = load <16 x float>, ptr %acc8.slot
  %t.28 = fcmp ogt <16 x float> %t.27, %v23
  %t.29 = select <16 x i1> %t.28, <16 x float> %t.27, <16 x float> %v23
  %t.30 = fcmp uno <16 x float> %t.27, %t.27
  %v24 = select <16 x i1> %t.30, <16 x float> %t.27, <16 x float> %t.29
  store <16 x float> %v24, ptr %acc8.slot
  %v25 = add i64 %c12, 48
  %v26 = add i64 %v13, %v25
  %p.31 = getelementptr inbounds float, ptr %in0, i64 %v26
  %v27 = load <16 x float>, ptr %p.31, align 4
  %t.32 = load <16 x float>, ptr %acc9.slot
  %t.33 = fcmp ogt <16 x float> %t.32, %v27
  %t.34 = select <16 x i1> %t.33, <16 x float> %t.32, <16 x float> %v27
  %t.35 = fcmp uno <16 x float> %t.32, %t.32
  %v28 = select <16 x i1> %t.35, <16 x float> %t.32, <16 x float> %t.34
  store <16 x float> %v28, ptr %acc9.slot
  %t.36 = add nsw i64 %c12, 64
  store i64 %t.36, ptr %c12.slot
  br label %loop.14.head
loop.14.exit:
  store i64 %v11, ptr %c33.slot
  br label %loop.37.head
loop.37.head:
  %c33 = load i64, ptr %c33.slot
  %t.38 = icmp slt i64 %c33, %v32
  br i1 %t.38, label %loop.37.body, label %loop.37.exit
loop.37.body:
  %v34 = add i64 %v13, %c33
  %p.39 = getelementptr inbounds float, ptr %in0, i64 %v34
  %v35 = load <16 x float>, ptr %p.39, align 4
  %t.40 = load <16 x float>, ptr %acc6.slot
  %t.41 = fcmp ogt <16 x float> %t.40, %v35
  %t.42 = select <16 x i1> %t.41, <16 x float> %t.40, <16 x float> %v35
  %t.43 = fcmp uno <16 x float> %t.40, %t.40
  %v36 = select <16 x i1> %t.43, <16 x float> %t.40, <16 x float> %t.42
  store <16 x float> %v36, ptr %acc6.slot
  %t.44 = add nsw i64 %c33, 16
  store i64 %t.44, ptr %c33.slot
  br label %loop.37.head
loop.37.exit:
  br i1 %v43, label %if.45.then, label %if.45.else
if.45.then:
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
  br label %if.45.end
if.45.else:
  br label %if.45.end
if.45.end:
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
  store <16 x double> splat (double 0x0000000000000000), ptr %total53.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %total54.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %total55.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %total56.slot
  store i64 0, ptr %some57.slot
  %t.65 = insertelement <16 x float> poison, float %v48, i64 0
  %v64 = shufflevector <16 x float> %t.65, <16 x float> poison, <16 x i32> zeroinitializer
  store i64 0, ptr %b59.slot
  br label %loop.66.head
loop.66.head:
  %b59 = load i64, ptr %b59.slot
  %t.67 = icmp slt i64 %b59, %v11
  br i1 %t.67, label %loop.66.body, label %loop.66.exit
loop.66.body:
  %v60 = add i64 %b59, 4096
  %v61 = call i64 @llvm.smin.i64(i64 %v60, i64 %v11)
  store i64 %b59, ptr %c58.slot
  br label %loop.68.head
loop.68.head:
  %c58 = load i64, ptr %c58.slot
  %t.69 = icmp slt i64 %c58, %v61
  br i1 %t.69, label %loop.68.body, label %loop.68.exit
loop.68.body:
  %v62 = add i64 %v13, %c58
  %p.70 = getelementptr inbounds float, ptr %in0, i64 %v62
  %v63 = load <16 x float>, ptr %p.70, align 4
  %v65 = fsub <16 x float> %v63, %v64
  %v66 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v65)
  %p.71 = getelementptr inbounds float, ptr %kept0, i64 %c58
  store <16 x float> %v66, ptr %p.71, align 4
  %t.72 = load <16 x float>, ptr %acc49.slot
  %v67 = fadd <16 x float> %t.72, %v66
  store <16 x float> %v67, ptr %acc49.slot
  %v68 = add i64 %c58, 16
  %v69 = add i64 %v13, %v68
  %p.73 = getelementptr inbounds float, ptr %in0, i64 %v69
  %v70 = load <16 x float>, ptr %p.73, align 4
  %v71 = fsub <16 x float> %v70, %v64
  %v72 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v71)
  %p.74 = getelementptr inbounds float, ptr %kept0, i64 %v68
  store <16 x float> %v72, ptr %p.74, align 4
  %t.75 = load <16 x float>, ptr %acc50.slot
  %v73 = fadd <16 x float> %t.75, %v72
  store <16 x float> %v73, ptr %acc50.slot
  %v74 = add i64 %c58, 32
  %v75 = add i64 %v13, %v74
  %p.76 = getelementptr inbounds float, ptr %in0, i64 %v75
  %v76 = load <16 x float>, ptr %p.76, align 4
  %v77 = fsub <16 x float> %v76, %v64
  %v78 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v77)
  %p.77 = getelementptr inbounds float, ptr %kept0, i64 %v74
  store <16 x float> %v78, ptr %p.77, align 4
  %t.78 = load <16 x float>, ptr %acc51.slot
  %v79 = fadd <16 x float> %t.78, %v78
  store <16 x float> %v79, ptr %acc51.slot
  %v80 = add i64 %c58, 48
  %v81 = add i64 %v13, %v80
  %p.79 = getelementptr inbounds float, ptr %in0, i64 %v81
  %v82 = load <16 x float>, ptr %p.79, align 4
  %v83 = fsub <16 x float> %v82, %v64
  %v84 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v83)
  %p.80 = getelementptr inbounds float, ptr %kept0, i64 %v80
  store <16 x float> %v84, ptr %p.80, align 4
  %t.81 = load <16 x float>, ptr %acc52.slot
  %v85 = fadd <16 x float> %t.81, %v84
  store <16 x float> %v85, ptr %acc52.slot
  %t.82 = add nsw i64 %c58, 64
  store i64 %t.82, ptr %c58.slot
  br label %loop.68.head
loop.68.exit:
  %v86 = sub i64 %v61, %b59
  %v87 = icmp eq i64 %v86, 4096
  br i1 %v87, label %if.83.then, label %if.83.else
if.83.then:
  %t.84 = load <16 x float>, ptr %acc49.slot
  %v88 = fpext <16 x float> %t.84 to <16 x double>
  %t.85 = load <16 x double>, ptr %total53.slot
  %v89 = fadd <16 x double> %t.85, %v88
  store <16 x double> %v89, ptr %total53.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc49.slot
  %t.86 = load <16 x float>, ptr %acc50.slot
  %v90 = fpext <16 x float> %t.86 to <16 x double>
  %t.87 = load <16 x double>, ptr %total54.slot
  %v91 = fadd <16 x double> %t.87, %v90
  store <16 x double> %v91, ptr %total54.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc50.slot
  %t.88 = load <16 x float>, ptr %acc51.slot
  %v92 = fpext <16 x float> %t.88 to <16 x double>
  %t.89 = load <16 x double>, ptr %total55.slot
  %v93 = fadd <16 x double> %t.89, %v92
  store <16 x double> %v93, ptr %total55.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc51.slot
  %t.90 = load <16 x float>, ptr %acc52.slot
  %v94 = fpext <16 x float> %t.90 to <16 x double>
  %t.91 = load <16 x double>, ptr %total56.slot
  %v95 = fadd <16 x double> %t.91, %v94
  store <16 x double> %v95, ptr %total56.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc52.slot
  store i64 1, ptr %some57.slot
  br label %if.83.end
if.83.else:
  br label %if.83.end
if.83.end:
  %t.92 = add nsw i64 %b59, 4096
  store i64 %t.92, ptr %b59.slot
  br label %loop.66.head
loop.66.exit:
  store i64 %v11, ptr %c96.slot
  br label %loop.93.head
loop.93.head:
  %c96 = load i64, ptr %c96.slot
  %t.94 = icmp slt i64 %c96, %v32
  br i1 %t.94, label %loop.93.body, label %loop.93.exit
loop.93.body:
  %v97 = add i64 %v13, %c96
  %p.95 = getelementptr inbounds float, ptr %in0, i64 %v97
  %v98 = load <16 x float>, ptr %p.95, align 4
  %v99 = fsub <16 x float> %v98, %v64
  %v100 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v99)
  %p.96 = getelementptr inbounds float, ptr %kept0, i64 %c96
  store <16 x float> %v100, ptr %p.96, align 4
  %t.97 = load <16 x float>, ptr %acc49.slot
  %v101 = fadd <16 x float> %t.97, %v100
  store <16 x float> %v101, ptr %acc49.slot
  %t.98 = add nsw i64 %c96, 16
  store i64 %t.98, ptr %c96.slot
  br label %loop.93.head
loop.93.exit:
  br i1 %v43, label %if.99.then, label %if.99.else
if.99.then:
  %v102 = add i64 %v13, %v32
  %p.100 = getelementptr inbounds float, ptr %in0, i64 %v102
  %v103 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.100, i32 4, <16 x i1> %v38, <16 x float> zeroinitializer)
  %v104 = fsub <16 x float> %v103, %v64
  %v105 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v104)
  %p.101 = getelementptr inbounds float, ptr %kept0, i64 %v32
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v105, ptr %p.101, i32 4, <16 x i1> %v38)
  %t.102 = load <16 x float>, ptr %acc49.slot
  %v106 = fadd <16 x float> %t.102, %v105
  %t.103 = load <16 x float>, ptr %acc49.slot
  %v107 = select <16 x i1> %v38, <16 x float> %v106, <16 x float> %t.103
  store <16 x float> %v107, ptr %acc49.slot
  br label %if.99.end
if.99.else:
  br label %if.99.end
if.99.end:
  %t.104 = load i64, ptr %some57.slot
  %v120 = icmp eq i64 %t.104, 1
  br i1 %v120, label %if.105.then, label %if.105.else
if.105.then:
  %t.106 = load <16 x float>, ptr %acc49.slot
  %v108 = fpext <16 x float> %t.106 to <16 x double>
  %t.107 = load <16 x double>, ptr %total53.slot
  %v109 = fadd <16 x double> %t.107, %v108
  %v110 = fptrunc <16 x double> %v109 to <16 x float>
  store <16 x float> %v110, ptr %acc49.slot
  %t.108 = load <16 x float>, ptr %acc50.slot
  %v111 = fpext <16 x float> %t.108 to <16 x double>
  %t.109 = load <16 x double>, ptr %total54.slot
  %v112 = fadd <16 x double> %t.109, %v111
  %v113 = fptrunc <16 x double> %v112 to <16 x float>
  store <16 x float> %v113, ptr %acc50.slot
  %t.110 = load <16 x float>, ptr %acc51.slot
  %v114 = fpext <16 x float> %t.110 to <16 x double>
  %t.111 = load <16 x double>, ptr %total55.slot
  %v115 = fadd <16 x double> %t.111, %v114
  %v116 = fptrunc <16 x double> %v115 to <16 x float>
  store <16 x float> %v116, ptr %acc51.slot
  %t.112 = load <16 x float>, ptr %acc52.slot
  %v117 = fpext <16 x float> %t.112 to <16 x double>
  %t.113 = load <16 x double>, ptr %total56.slot
  %v118 = fadd <16 x double> %t.113, %v117
  %v119 = fptrunc <16 x double> %v118 to <16 x float>
  store <16 x float> %v119, ptr %acc52.slot
  br label %if.105.end
if.105.else:
  br label %if.105.end
if.105.end:
  %t.114 = load <16 x float>, ptr %acc49.slot
  %t.115 = load <16 x float>, ptr %acc50.slot
  %v121 = fadd <16 x float> %t.114, %t.115
  %t.116 = load <16 x float>, ptr %acc51.slot
  %v122 = fadd <16 x float> %v121, %t.116
  %t.117 = load <16 x float>, ptr %acc52.slot
  %v123 = fadd <16 x float> %v122, %t.117
  %v124 = call reassoc float @llvm.vector.reduce.fadd.v16f32(float -0.0, <16 x float> %v123)
  %v125 = select i1 true, float %v124, float %v124
  %v127 = add i64 %n4, %v13
  %t.118 = insertelement <16 x float> poison, float %v125, i64 0
  %v130 = shufflevector <16 x float> %t.118, <16 x float> poison, <16 x i32> zeroinitializer
  %v132 = mul i64 %row, %n5
  store i64 0, ptr %c126.slot
  br label %loop.119.head
loop.119.head:
  %c126 = load i64, ptr %c126.slot
  %t.120 = icmp slt i64 %c126, %v11
  br i1 %t.120, label %loop.119.body, label %loop.119.exit
loop.119.body:
  %v128 = add i64 %v127, %c126
  %p.121 = getelementptr float, ptr %in0, i64 %v128
  call void @llvm.prefetch.p0(ptr %p.121, i32 0, i32 2, i32 1)
  %p.122 = getelementptr inbounds float, ptr %kept0, i64 %c126
  %v129 = load <16 x float>, ptr %p.122, align 4
  %v131 = fdiv <16 x float> %v129, %v130
  %v133 = add i64 %v132, %c126
  %p.123 = getelementptr inbounds float, ptr %out1, i64 %v133
  store <16 x float> %v131, ptr %p.123, align 4
  %v134 = add i64 %c126, 16
  %v135 = add i64 %v127, %v134
  %p.124 = getelementptr float, ptr %in0, i64 %v135
  call void @llvm.prefetch.p0(ptr %p.124, i32 0, i32 2, i32 1)
  %p.125 = getelementptr inbounds float, ptr %kept0, i64 %v134
  %v136 = load <16 x float>, ptr %p.125, align 4
  %v137 = fdiv <16 x float> %v136, %v130
  %v138 = add i64 %v132, %v134
  %p.126 = getelementptr inbounds float, ptr %out1, i64 %v138
  store <16 x float> %v137, ptr %p.126, align 4
  %v139 = add i64 %c126, 32
  %v140 = add i64 %v127, %v139
  %p.127 = getelementptr float, ptr %in0, i64 %v140
  call void @llvm.prefetch.p0(ptr %p.127, i32 0, i32 2, i32 1)
  %p.128 = getelementptr inbounds float, ptr %kept0, i64 %v139
  %v141 = load <16 x float>, ptr %p.128, align 4
  %v142 = fdiv <16 x float> %v141, %v130
  %v143 = add i64 %v132, %v139
  %p.129 = getelementptr inbounds float, ptr %out1, i64 %v143
  store <16 x float> %v142, ptr %p.129, align 4
  %v144 = add i64 %c126, 48
  %v145 = add i64 %v127, %v144
  %p.130 = getelementptr float, ptr %in0, i64 %v145
  call void @llvm.prefetch.p0(ptr %p.130, i32 0, i32 2, i32 1)
  %p.131 = getelementptr inbounds float, ptr %kept0, i64 %v144
  %v146 = load <16 x float>, ptr %p.131, align 4
  %v147 = fdiv <16 x float> %v146, %v130
  %v148 = add i64 %v132, %v144
  %p.132 = getelementptr inbounds float, ptr %out1, i64 %v148
  store <16 x float> %v147, ptr %p.132, align 4
  %t.133 = add nsw i64 %c126, 64
  store i64 %t.133, ptr %c126.slot
  br label %loop.119.head
loop.119.exit:
  store i64 %v11, ptr %c149.slot
  br label %loop.134.head
loop.134.head:
  %c149 = load i64, ptr %c149.slot
  %t.135 = icmp slt i64 %c149, %v32
  br i1 %t.135, label %loop.134.body, label %loop.134.exit
loop.134.body:
  %v150 = add i64 %v127, %c149
  %p.136 = getelementptr float, ptr %in0, i64 %v150
  call void @llvm.prefetch.p0(ptr %p.136, i32 0, i32 2, i32 1)
  %p.137 = getelementptr inbounds float, ptr %kept0, i64 %c149
  %v151 = load <16 x float>, ptr %p.137, align 4
  %v152 = fdiv <16 x float> %v151, %v130
  %v153 = add i64 %v132, %c149
  %p.138 = getelementptr inbounds float, ptr %out1, i64 %v153
  store <16 x float> %v152, ptr %p.138, align 4
  %t.139 = add nsw i64 %c149, 16
  store i64 %t.139, ptr %c149.slot
  br label %loop.134.head
loop.134.exit:
  br i1 %v43, label %if.140.then, label %if.140.else
if.140.then:
  %p.141 = getelementptr inbounds float, ptr %kept0, i64 %v32
  %v154 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.141, i32 4, <16 x i1> %v38, <16 x float> zeroinitializer)
  %v155 = fdiv <16 x float> %v154, %v130
  %v156 = add i64 %v132, %v32
  %p.142 = getelementptr inbounds float, ptr %out1, i64 %v156
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v155, ptr %p.142, i32 4, <16 x i1> %v38)
  br label %if.140.end
if.140.else:
  br label %if.140.end
if.140.end:
  %t.143 = add nsw i64 %row, 1
  store i64 %t.143, ptr %row.slot
  br label %loop.12.head
loop.12.exit:
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
