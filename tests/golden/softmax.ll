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
  %c128.slot = alloca i64
  %c151.slot = alloca i64
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
  %v102 = sub i64 %n3, %v32
  %t.100 = call i64 @llvm.smin.i64(i64 %v102, i64 16)
  %t.101 = trunc i64 %t.100 to i32
  %t.102 = insertelement <16 x i32> poison, i32 %t.101, i64 0
  %t.103 = shufflevector <16 x i32> %t.102, <16 x i32> poison, <16 x i32> zeroinitializer
  %v103 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.103
  %v104 = add i64 %v13, %v32
  %p.104 = getelementptr inbounds float, ptr %in0, i64 %v104
  %v105 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.104, i32 4, <16 x i1> %v103, <16 x float> zeroinitializer)
  %v106 = fsub <16 x float> %v105, %v64
  %v107 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v106)
  %p.105 = getelementptr inbounds float, ptr %kept0, i64 %v32
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v107, ptr %p.105, i32 4, <16 x i1> %v103)
  %t.106 = load <16 x float>, ptr %acc49.slot
  %v108 = fadd <16 x float> %t.106, %v107
  %t.107 = load <16 x float>, ptr %acc49.slot
  %v109 = select <16 x i1> %v103, <16 x float> %v108, <16 x float> %t.107
  store <16 x float> %v109, ptr %acc49.slot
  br label %if.99.end
if.99.else:
  br label %if.99.end
if.99.end:
  %t.108 = load i64, ptr %some57.slot
  %v122 = icmp eq i64 %t.108, 1
  br i1 %v122, label %if.109.then, label %if.109.else
if.109.then:
  %t.110 = load <16 x float>, ptr %acc49.slot
  %v110 = fpext <16 x float> %t.110 to <16 x double>
  %t.111 = load <16 x double>, ptr %total53.slot
  %v111 = fadd <16 x double> %t.111, %v110
  %v112 = fptrunc <16 x double> %v111 to <16 x float>
  store <16 x float> %v112, ptr %acc49.slot
  %t.112 = load <16 x float>, ptr %acc50.slot
  %v113 = fpext <16 x float> %t.112 to <16 x double>
  %t.113 = load <16 x double>, ptr %total54.slot
  %v114 = fadd <16 x double> %t.113, %v113
  %v115 = fptrunc <16 x double> %v114 to <16 x float>
  store <16 x float> %v115, ptr %acc50.slot
  %t.114 = load <16 x float>, ptr %acc51.slot
  %v116 = fpext <16 x float> %t.114 to <16 x double>
  %t.115 = load <16 x double>, ptr %total55.slot
  %v117 = fadd <16 x double> %t.115, %v116
  %v118 = fptrunc <16 x double> %v117 to <16 x float>
  store <16 x float> %v118, ptr %acc51.slot
  %t.116 = load <16 x float>, ptr %acc52.slot
  %v119 = fpext <16 x float> %t.116 to <16 x double>
  %t.117 = load <16 x double>, ptr %total56.slot
  %v120 = fadd <16 x double> %t.117, %v119
  %v121 = fptrunc <16 x double> %v120 to <16 x float>
  store <16 x float> %v121, ptr %acc52.slot
  br label %if.109.end
if.109.else:
  br label %if.109.end
if.109.end:
  %t.118 = load <16 x float>, ptr %acc49.slot
  %t.119 = load <16 x float>, ptr %acc50.slot
  %v123 = fadd <16 x float> %t.118, %t.119
  %t.120 = load <16 x float>, ptr %acc51.slot
  %v124 = fadd <16 x float> %v123, %t.120
  %t.121 = load <16 x float>, ptr %acc52.slot
  %v125 = fadd <16 x float> %v124, %t.121
  %v126 = call reassoc float @llvm.vector.reduce.fadd.v16f32(float -0.0, <16 x float> %v125)
  %v127 = select i1 true, float %v126, float %v126
  %v129 = add i64 %n4, %v13
  %t.122 = insertelement <16 x float> poison, float %v127, i64 0
  %v132 = shufflevector <16 x float> %t.122, <16 x float> poison, <16 x i32> zeroinitializer
  %v134 = mul i64 %row, %n5
  store i64 0, ptr %c128.slot
  br label %loop.123.head
loop.123.head:
  %c128 = load i64, ptr %c128.slot
  %t.124 = icmp slt i64 %c128, %v11
  br i1 %t.124, label %loop.123.body, label %loop.123.exit
loop.123.body:
  %v130 = add i64 %v129, %c128
  %p.125 = getelementptr float, ptr %in0, i64 %v130
  call void @llvm.prefetch.p0(ptr %p.125, i32 0, i32 2, i32 1)
  %p.126 = getelementptr inbounds float, ptr %kept0, i64 %c128
  %v131 = load <16 x float>, ptr %p.126, align 4
  %v133 = fdiv <16 x float> %v131, %v132
  %v135 = add i64 %v134, %c128
  %p.127 = getelementptr inbounds float, ptr %out1, i64 %v135
  store <16 x float> %v133, ptr %p.127, align 4
  %v136 = add i64 %c128, 16
  %v137 = add i64 %v129, %v136
  %p.128 = getelementptr float, ptr %in0, i64 %v137
  call void @llvm.prefetch.p0(ptr %p.128, i32 0, i32 2, i32 1)
  %p.129 = getelementptr inbounds float, ptr %kept0, i64 %v136
  %v138 = load <16 x float>, ptr %p.129, align 4
  %v139 = fdiv <16 x float> %v138, %v132
  %v140 = add i64 %v134, %v136
  %p.130 = getelementptr inbounds float, ptr %out1, i64 %v140
  store <16 x float> %v139, ptr %p.130, align 4
  %v141 = add i64 %c128, 32
  %v142 = add i64 %v129, %v141
  %p.131 = getelementptr float, ptr %in0, i64 %v142
  call void @llvm.prefetch.p0(ptr %p.131, i32 0, i32 2, i32 1)
  %p.132 = getelementptr inbounds float, ptr %kept0, i64 %v141
  %v143 = load <16 x float>, ptr %p.132, align 4
  %v144 = fdiv <16 x float> %v143, %v132
  %v145 = add i64 %v134, %v141
  %p.133 = getelementptr inbounds float, ptr %out1, i64 %v145
  store <16 x float> %v144, ptr %p.133, align 4
  %v146 = add i64 %c128, 48
  %v147 = add i64 %v129, %v146
  %p.134 = getelementptr float, ptr %in0, i64 %v147
  call void @llvm.prefetch.p0(ptr %p.134, i32 0, i32 2, i32 1)
  %p.135 = getelementptr inbounds float, ptr %kept0, i64 %v146
  %v148 = load <16 x float>, ptr %p.135, align 4
  %v149 = fdiv <16 x float> %v148, %v132
  %v150 = add i64 %v134, %v146
  %p.136 = getelementptr inbounds float, ptr %out1, i64 %v150
  store <16 x float> %v149, ptr %p.136, align 4
  %t.137 = add nsw i64 %c128, 64
  store i64 %t.137, ptr %c128.slot
  br label %loop.123.head
loop.123.exit:
  store i64 %v11, ptr %c151.slot
  br label %loop.138.head
loop.138.head:
  %c151 = load i64, ptr %c151.slot
  %t.139 = icmp slt i64 %c151, %v32
  br i1 %t.139, label %loop.138.body, label %loop.138.exit
loop.138.body:
  %v152 = add i64 %v129, %c151
  %p.140 = getelementptr float, ptr %in0, i64 %v152
  call void @llvm.prefetch.p0(ptr %p.140, i32 0, i32 2, i32 1)
  %p.141 = getelementptr inbounds float, ptr %kept0, i64 %c151
  %v153 = load <16 x float>, ptr %p.141, align 4
  %v154 = fdiv <16 x float> %v153, %v132
  %v155 = add i64 %v134, %c151
  %p.142 = getelementptr inbounds float, ptr %out1, i64 %v155
  store <16 x float> %v154, ptr %p.142, align 4
  %t.143 = add nsw i64 %c151, 16
  store i64 %t.143, ptr %c151.slot
  br label %loop.138.head
loop.138.exit:
  br i1 %v43, label %if.144.then, label %if.144.else
if.144.then:
  %v156 = sub i64 %n3, %v32
  %t.145 = call i64 @llvm.smin.i64(i64 %v156, i64 16)
  %t.146 = trunc i64 %t.145 to i32
  %t.147 = insertelement <16 x i32> poison, i32 %t.146, i64 0
  %t.148 = shufflevector <16 x i32> %t.147, <16 x i32> poison, <16 x i32> zeroinitializer
  %v157 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.148
  %p.149 = getelementptr inbounds float, ptr %kept0, i64 %v32
  %v158 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.149, i32 4, <16 x i1> %v157, <16 x float> zeroinitializer)
  %v159 = fdiv <16 x float> %v158, %v132
  %v160 = add i64 %v134, %v32
  %p.150 = getelementptr inbounds float, ptr %out1, i64 %v160
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v159, ptr %p.150, i32 4, <16 x i1> %v157)
  br label %if.144.end
if.144.else:
  br label %if.144.end
if.144.end:
  %t.151 = add nsw i64 %row, 1
  store i64 %t.151, ptr %row.slot
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
