declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare i64 @llvm.smin.i64(i64, i64)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32 immarg, <16 x i1>, <16 x float>)
declare i32 @llvm.vector.reduce.smax.v16i32(<16 x i32>)
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
  %t.65 = bitcast <16 x float> %v46 to <16 x i32>
  %t.66 = ashr <16 x i32> %t.65, splat (i32 31)
  %t.67 = lshr <16 x i32> %t.66, splat (i32 1)
  %t.68 = xor <16 x i32> %t.65, %t.67
  %t.69 = call i32 @llvm.vector.reduce.smax.v16i32(<16 x i32> %t.68)
  %t.70 = ashr i32 %t.69, 31
  %t.71 = lshr i32 %t.70, 1
  %t.72 = xor i32 %t.69, %t.71
  %t.73 = bitcast i32 %t.72 to float
  %t.74 = fcmp uno <16 x float> %v46, %v46
  %t.75 = bitcast <16 x i1> %t.74 to i16
  %t.76 = icmp ne i16 %t.75, 0
  %v47 = select i1 %t.76, float 0x7FF8000000000000, float %t.73
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
  %t.77 = insertelement <16 x float> poison, float %v48, i64 0
  %v64 = shufflevector <16 x float> %t.77, <16 x float> poison, <16 x i32> zeroinitializer
  store i64 0, ptr %b59.slot
  br label %loop.78.head
loop.78.head:
  %b59 = load i64, ptr %b59.slot
  %t.79 = icmp slt i64 %b59, %v11
  br i1 %t.79, label %loop.78.body, label %loop.78.exit
loop.78.body:
  %v60 = add i64 %b59, 4096
  %v61 = call i64 @llvm.smin.i64(i64 %v60, i64 %v11)
  store i64 %b59, ptr %c58.slot
  br label %loop.80.head
loop.80.head:
  %c58 = load i64, ptr %c58.slot
  %t.81 = icmp slt i64 %c58, %v61
  br i1 %t.81, label %loop.80.body, label %loop.80.exit
loop.80.body:
  %v62 = add i64 %v13, %c58
  %p.82 = getelementptr inbounds float, ptr %in0, i64 %v62
  %v63 = load <16 x float>, ptr %p.82, align 4
  %v65 = fsub <16 x float> %v63, %v64
  %v66 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v65)
  %p.83 = getelementptr inbounds float, ptr %kept0, i64 %c58
  store <16 x float> %v66, ptr %p.83, align 4
  %t.84 = load <16 x float>, ptr %acc49.slot
  %v67 = fadd <16 x float> %t.84, %v66
  store <16 x float> %v67, ptr %acc49.slot
  %v68 = add i64 %c58, 16
  %v69 = add i64 %v13, %v68
  %p.85 = getelementptr inbounds float, ptr %in0, i64 %v69
  %v70 = load <16 x float>, ptr %p.85, align 4
  %v71 = fsub <16 x float> %v70, %v64
  %v72 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v71)
  %p.86 = getelementptr inbounds float, ptr %kept0, i64 %v68
  store <16 x float> %v72, ptr %p.86, align 4
  %t.87 = load <16 x float>, ptr %acc50.slot
  %v73 = fadd <16 x float> %t.87, %v72
  store <16 x float> %v73, ptr %acc50.slot
  %v74 = add i64 %c58, 32
  %v75 = add i64 %v13, %v74
  %p.88 = getelementptr inbounds float, ptr %in0, i64 %v75
  %v76 = load <16 x float>, ptr %p.88, align 4
  %v77 = fsub <16 x float> %v76, %v64
  %v78 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v77)
  %p.89 = getelementptr inbounds float, ptr %kept0, i64 %v74
  store <16 x float> %v78, ptr %p.89, align 4
  %t.90 = load <16 x float>, ptr %acc51.slot
  %v79 = fadd <16 x float> %t.90, %v78
  store <16 x float> %v79, ptr %acc51.slot
  %v80 = add i64 %c58, 48
  %v81 = add i64 %v13, %v80
  %p.91 = getelementptr inbounds float, ptr %in0, i64 %v81
  %v82 = load <16 x float>, ptr %p.91, align 4
  %v83 = fsub <16 x float> %v82, %v64
  %v84 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v83)
  %p.92 = getelementptr inbounds float, ptr %kept0, i64 %v80
  store <16 x float> %v84, ptr %p.92, align 4
  %t.93 = load <16 x float>, ptr %acc52.slot
  %v85 = fadd <16 x float> %t.93, %v84
  store <16 x float> %v85, ptr %acc52.slot
  %t.94 = add nsw i64 %c58, 64
  store i64 %t.94, ptr %c58.slot
  br label %loop.80.head
loop.80.exit:
  %v86 = sub i64 %v61, %b59
  %v87 = icmp eq i64 %v86, 4096
  br i1 %v87, label %if.95.then, label %if.95.else
if.95.then:
  %t.96 = load <16 x float>, ptr %acc49.slot
  %v88 = fpext <16 x float> %t.96 to <16 x double>
  %t.97 = load <16 x double>, ptr %total53.slot
  %v89 = fadd <16 x double> %t.97, %v88
  store <16 x double> %v89, ptr %total53.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc49.slot
  %t.98 = load <16 x float>, ptr %acc50.slot
  %v90 = fpext <16 x float> %t.98 to <16 x double>
  %t.99 = load <16 x double>, ptr %total54.slot
  %v91 = fadd <16 x double> %t.99, %v90
  store <16 x double> %v91, ptr %total54.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc50.slot
  %t.100 = load <16 x float>, ptr %acc51.slot
  %v92 = fpext <16 x float> %t.100 to <16 x double>
  %t.101 = load <16 x double>, ptr %total55.slot
  %v93 = fadd <16 x double> %t.101, %v92
  store <16 x double> %v93, ptr %total55.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc51.slot
  %t.102 = load <16 x float>, ptr %acc52.slot
  %v94 = fpext <16 x float> %t.102 to <16 x double>
  %t.103 = load <16 x double>, ptr %total56.slot
  %v95 = fadd <16 x double> %t.103, %v94
  store <16 x double> %v95, ptr %total56.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc52.slot
  store i64 1, ptr %some57.slot
  br label %if.95.end
if.95.else:
  br label %if.95.end
if.95.end:
  %t.104 = add nsw i64 %b59, 4096
  store i64 %t.104, ptr %b59.slot
  br label %loop.78.head
loop.78.exit:
  store i64 %v11, ptr %c96.slot
  br label %loop.105.head
loop.105.head:
  %c96 = load i64, ptr %c96.slot
  %t.106 = icmp slt i64 %c96, %v32
  br i1 %t.106, label %loop.105.body, label %loop.105.exit
loop.105.body:
  %v97 = add i64 %v13, %c96
  %p.107 = getelementptr inbounds float, ptr %in0, i64 %v97
  %v98 = load <16 x float>, ptr %p.107, align 4
  %v99 = fsub <16 x float> %v98, %v64
  %v100 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v99)
  %p.108 = getelementptr inbounds float, ptr %kept0, i64 %c96
  store <16 x float> %v100, ptr %p.108, align 4
  %t.109 = load <16 x float>, ptr %acc49.slot
  %v101 = fadd <16 x float> %t.109, %v100
  store <16 x float> %v101, ptr %acc49.slot
  %t.110 = add nsw i64 %c96, 16
  store i64 %t.110, ptr %c96.slot
  br label %loop.105.head
loop.105.exit:
  br i1 %v43, label %if.111.then, label %if.111.else
if.111.then:
  %v102 = add i64 %v13, %v32
  %p.112 = getelementptr inbounds float, ptr %in0, i64 %v102
  %v103 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.112, i32 4, <16 x i1> %v38, <16 x float> zeroinitializer)
  %v104 = fsub <16 x float> %v103, %v64
  %v105 = call <16 x float> @Sleef_expf16_u10(<16 x float> %v104)
  %p.113 = getelementptr inbounds float, ptr %kept0, i64 %v32
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v105, ptr %p.113, i32 4, <16 x i1> %v38)
  %t.114 = load <16 x float>, ptr %acc49.slot
  %v106 = fadd <16 x float> %t.114, %v105
  %t.115 = load <16 x float>, ptr %acc49.slot
  %v107 = select <16 x i1> %v38, <16 x float> %v106, <16 x float> %t.115
  store <16 x float> %v107, ptr %acc49.slot
  br label %if.111.end
if.111.else:
  br label %if.111.end
if.111.end:
  %t.116 = load i64, ptr %some57.slot
  %v120 = icmp eq i64 %t.116, 1
  br i1 %v120, label %if.117.then, label %if.117.else
if.117.then:
  %t.118 = load <16 x float>, ptr %acc49.slot
  %v108 = fpext <16 x float> %t.118 to <16 x double>
  %t.119 = load <16 x double>, ptr %total53.slot
  %v109 = fadd <16 x double> %t.119, %v108
  %v110 = fptrunc <16 x double> %v109 to <16 x float>
  store <16 x float> %v110, ptr %acc49.slot
  %t.120 = load <16 x float>, ptr %acc50.slot
  %v111 = fpext <16 x float> %t.120 to <16 x double>
  %t.121 = load <16 x double>, ptr %total54.slot
  %v112 = fadd <16 x double> %t.121, %v111
  %v113 = fptrunc <16 x double> %v112 to <16 x float>
  store <16 x float> %v113, ptr %acc50.slot
  %t.122 = load <16 x float>, ptr %acc51.slot
  %v114 = fpext <16 x float> %t.122 to <16 x double>
  %t.123 = load <16 x double>, ptr %total55.slot
  %v115 = fadd <16 x double> %t.123, %v114
  %v116 = fptrunc <16 x double> %v115 to <16 x float>
  store <16 x float> %v116, ptr %acc51.slot
  %t.124 = load <16 x float>, ptr %acc52.slot
  %v117 = fpext <16 x float> %t.124 to <16 x double>
  %t.125 = load <16 x double>, ptr %total56.slot
  %v118 = fadd <16 x double> %t.125, %v117
  %v119 = fptrunc <16 x double> %v118 to <16 x float>
  store <16 x float> %v119, ptr %acc52.slot
  br label %if.117.end
if.117.else:
  br label %if.117.end
if.117.end:
  %t.126 = load <16 x float>, ptr %acc49.slot
  %t.127 = load <16 x float>, ptr %acc50.slot
  %v121 = fadd <16 x float> %t.126, %t.127
  %t.128 = load <16 x float>, ptr %acc51.slot
  %v122 = fadd <16 x float> %v121, %t.128
  %t.129 = load <16 x float>, ptr %acc52.slot
  %v123 = fadd <16 x float> %v122, %t.129
  %v124 = call reassoc float @llvm.vector.reduce.fadd.v16f32(float -0.0, <16 x float> %v123)
  %v125 = select i1 true, float %v124, float %v124
  %v127 = add i64 %n4, %v13
  %t.130 = insertelement <16 x float> poison, float %v125, i64 0
  %v130 = shufflevector <16 x float> %t.130, <16 x float> poison, <16 x i32> zeroinitializer
  %v132 = mul i64 %row, %n5
  store i64 0, ptr %c126.slot
  br label %loop.131.head
loop.131.head:
  %c126 = load i64, ptr %c126.slot
  %t.132 = icmp slt i64 %c126, %v11
  br i1 %t.132, label %loop.131.body, label %loop.131.exit
loop.131.body:
  %v128 = add i64 %v127, %c126
  %p.133 = getelementptr float, ptr %in0, i64 %v128
  call void @llvm.prefetch.p0(ptr %p.133, i32 0, i32 2, i32 1)
  %p.134 = getelementptr inbounds float, ptr %kept0, i64 %c126
  %v129 = load <16 x float>, ptr %p.134, align 4
  %v131 = fdiv <16 x float> %v129, %v130
  %v133 = add i64 %v132, %c126
  %p.135 = getelementptr inbounds float, ptr %out1, i64 %v133
  store <16 x float> %v131, ptr %p.135, align 4
  %v134 = add i64 %c126, 16
  %v135 = add i64 %v127, %v134
  %p.136 = getelementptr float, ptr %in0, i64 %v135
  call void @llvm.prefetch.p0(ptr %p.136, i32 0, i32 2, i32 1)
  %p.137 = getelementptr inbounds float, ptr %kept0, i64 %v134
  %v136 = load <16 x float>, ptr %p.137, align 4
  %v137 = fdiv <16 x float> %v136, %v130
  %v138 = add i64 %v132, %v134
  %p.138 = getelementptr inbounds float, ptr %out1, i64 %v138
  store <16 x float> %v137, ptr %p.138, align 4
  %v139 = add i64 %c126, 32
  %v140 = add i64 %v127, %v139
  %p.139 = getelementptr float, ptr %in0, i64 %v140
  call void @llvm.prefetch.p0(ptr %p.139, i32 0, i32 2, i32 1)
  %p.140 = getelementptr inbounds float, ptr %kept0, i64 %v139
  %v141 = load <16 x float>, ptr %p.140, align 4
  %v142 = fdiv <16 x float> %v141, %v130
  %v143 = add i64 %v132, %v139
  %p.141 = getelementptr inbounds float, ptr %out1, i64 %v143
  store <16 x float> %v142, ptr %p.141, align 4
  %v144 = add i64 %c126, 48
  %v145 = add i64 %v127, %v144
  %p.142 = getelementptr float, ptr %in0, i64 %v145
  call void @llvm.prefetch.p0(ptr %p.142, i32 0, i32 2, i32 1)
  %p.143 = getelementptr inbounds float, ptr %kept0, i64 %v144
  %v146 = load <16 x float>, ptr %p.143, align 4
  %v147 = fdiv <16 x float> %v146, %v130
  %v148 = add i64 %v132, %v144
  %p.144 = getelementptr inbounds float, ptr %out1, i64 %v148
  store <16 x float> %v147, ptr %p.144, align 4
  %t.145 = add nsw i64 %c126, 64
  store i64 %t.145, ptr %c126.slot
  br label %loop.131.head
loop.131.exit:
  store i64 %v11, ptr %c149.slot
  br label %loop.146.head
loop.146.head:
  %c149 = load i64, ptr %c149.slot
  %t.147 = icmp slt i64 %c149, %v32
  br i1 %t.147, label %loop.146.body, label %loop.146.exit
loop.146.body:
  %v150 = add i64 %v127, %c149
  %p.148 = getelementptr float, ptr %in0, i64 %v150
  call void @llvm.prefetch.p0(ptr %p.148, i32 0, i32 2, i32 1)
  %p.149 = getelementptr inbounds float, ptr %kept0, i64 %c149
  %v151 = load <16 x float>, ptr %p.149, align 4
  %v152 = fdiv <16 x float> %v151, %v130
  %v153 = add i64 %v132, %c149
  %p.150 = getelementptr inbounds float, ptr %out1, i64 %v153
  store <16 x float> %v152, ptr %p.150, align 4
  %t.151 = add nsw i64 %c149, 16
  store i64 %t.151, ptr %c149.slot
  br label %loop.146.head
loop.146.exit:
  br i1 %v43, label %if.152.then, label %if.152.else
if.152.then:
  %p.153 = getelementptr inbounds float, ptr %kept0, i64 %v32
  %v154 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.153, i32 4, <16 x i1> %v38, <16 x float> zeroinitializer)
  %v155 = fdiv <16 x float> %v154, %v130
  %v156 = add i64 %v132, %v32
  %p.154 = getelementptr inbounds float, ptr %out1, i64 %v156
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v155, ptr %p.154, i32 4, <16 x i1> %v38)
  br label %if.152.end
if.152.else:
  br label %if.152.end
if.152.end:
  %t.155 = add nsw i64 %row, 1
  store i64 %t.155, ptr %row.slot
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
