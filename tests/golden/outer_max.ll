declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare i64 @llvm.smin.i64(i64, i64)
declare <16 x float> @llvm.fabs.v16f32(<16 x float>)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32 immarg, <16 x i1>, <16 x float>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, i32 immarg, <16 x i1>)
define internal void @outer_max.region0(ptr %ctx) #0 {
entry:
  %c6.slot = alloca i64
  %row.slot = alloca i64
  %c13.slot = alloca i64
  %c46.slot = alloca i64
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
  %t.1 = mul i64 %n2, 4
  %t.2 = add i64 %t.1, 63
  %t.3 = and i64 %t.2, -64
  %part_r0 = getelementptr i8, ptr %scratch, i64 0
  %t.4 = add i64 0, %t.3
  %v1 = add i64 %tid, 1
  %v2 = icmp eq i64 %v1, %nth
  %v3 = select i1 %v2, i64 %n0, i64 %v1
  %v4 = mul i64 %tid, %n1
  %v5 = mul i64 %v3, %n1
  store i64 %v4, ptr %c6.slot
  br label %loop.5.head
loop.5.head:
  %c6 = load i64, ptr %c6.slot
  %t.6 = icmp slt i64 %c6, %v5
  br i1 %t.6, label %loop.5.body, label %loop.5.exit
loop.5.body:
  %p.7 = getelementptr inbounds float, ptr %part_r0, i64 %c6
  store float 0xFFF0000000000000, ptr %p.7, align 4
  %t.8 = add nsw i64 %c6, 1
  store i64 %t.8, ptr %c6.slot
  br label %loop.5.head
loop.5.exit:
  %v7 = mul i64 %tid, %n3
  %v8 = udiv i64 %v7, %nth
  %v9 = mul i64 %v1, %n3
  %v10 = udiv i64 %v9, %nth
  %v11 = udiv i64 %n4, 64
  %v12 = mul i64 %v11, 64
  %v42 = sub i64 %n4, %v12
  %v43 = udiv i64 %v42, 16
  %v44 = mul i64 %v43, 16
  %v45 = add i64 %v12, %v44
  %v53 = sub i64 %n4, %v45
  %t.9 = call i64 @llvm.smin.i64(i64 %v53, i64 16)
  %t.10 = trunc i64 %t.9 to i32
  %t.11 = insertelement <16 x i32> poison, i32 %t.10, i64 0
  %t.12 = shufflevector <16 x i32> %t.11, <16 x i32> poison, <16 x i32> zeroinitializer
  %v54 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.12
  %v61 = icmp slt i64 %v45, %n4
  store i64 %v8, ptr %row.slot
  br label %loop.13.head
loop.13.head:
  %row = load i64, ptr %row.slot
  %t.14 = icmp slt i64 %row, %v10
  br i1 %t.14, label %loop.13.body, label %loop.13.exit
loop.13.body:
  %v15 = mul i64 %row, %n5
  store i64 0, ptr %c13.slot
  br label %loop.15.head
loop.15.head:
  %c13 = load i64, ptr %c13.slot
  %t.16 = icmp slt i64 %c13, %v12
  br i1 %t.16, label %loop.15.body, label %loop.15.exit
loop.15.body:
  %v14 = add i64 %v4, %c13
  %v16 = add i64 %v15, %c13
  %p.17 = getelementptr inbounds float, ptr %in0, i64 %v16
  %v17 = load <16 x float>, ptr %p.17, align 4
  %v18 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %v17)
  %p.18 = getelementptr inbounds float, ptr %part_r0, i64 %v14
  %v19 = load <16 x float>, ptr %p.18, align 4
  %t.19 = fcmp ogt <16 x float> %v19, %v18
  %t.20 = select <16 x i1> %t.19, <16 x float> %v19, <16 x float> %v18
  %t.21 = fcmp uno <16 x float> %v19, %v19
  %v20 = select <16 x i1> %t.21, <16 x float> %v19, <16 x float> %t.20
  %p.22 = getelementptr inbounds float, ptr %part_r0, i64 %v14
  store <16 x float> %v20, ptr %p.22, align 4
  %v21 = add i64 %c13, 16
  %v22 = add i64 %v4, %v21
  %v23 = add i64 %v15, %v21
  %p.23 = getelementptr inbounds float, ptr %in0, i64 %v23
  %v24 = load <16 x float>, ptr %p.23, align 4
  %v25 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %v24)
  %p.24 = getelementptr inbounds float, ptr %part_r0, i64 %v22
  %v26 = load <16 x float>, ptr %p.24, align 4
  %t.25 = fcmp ogt <16 x float> %v26, %v25
  %t.26 = select <16 x i1> %t.25, <16 x float> %v26, <16 x float> %v25
  %t.27 = fcmp uno <16 x float> %v26, %v26
  %v27 = select <16 x i1> %t.27, <16 x float> %v26, <16 x float> %t.26
  %p.28 = getelementptr inbounds float, ptr %part_r0, i64 %v22
  store <16 x float> %v27, ptr %p.28, align 4
  %v28 = add i64 %c13, 32
  %v29 = add i64 %v4, %v28
  %v30 = add i64 %v15, %v28
  %p.29 = getelementptr inbounds float, ptr %in0, i64 %v30
  %v31 = load <16 x float>, ptr %p.29, align 4
  %v32 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %v31)
  %p.30 = getelementptr inbounds float, ptr %part_r0, i64 %v29
  %v33 = load <16 x float>, ptr %p.30, align 4
  %t.31 = fcmp ogt <16 x float> %v33, %v32
  %t.32 = select <16 x i1> %t.31, <16 x float> %v33, <16 x float> %v32
  %t.33 = fcmp uno <16 x float> %v33, %v33
  %v34 = select <16 x i1> %t.33, <16 x float> %v33, <16 x float> %t.32
  %p.34 = getelementptr inbounds float, ptr %part_r0, i64 %v29
  store <16 x float> %v34, ptr %p.34, align 4
  %v35 = add i64 %c13, 48
  %v36 = add i64 %v4, %v35
  %v37 = add i64 %v15, %v35
  %p.35 = getelementptr inbounds float, ptr %in0, i64 %v37
  %v38 = load <16 x float>, ptr %p.35, align 4
  %v39 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %v38)
  %p.36 = getelementptr inbounds float, ptr %part_r0, i64 %v36
  %v40 = load <16 x float>, ptr %p.36, align 4
  %t.37 = fcmp ogt <16 x float> %v40, %v39
  %t.38 = select <16 x i1> %t.37, <16 x float> %v40, <16 x float> %v39
  %t.39 = fcmp uno <16 x float> %v40, %v40
  %v41 = select <16 x i1> %t.39, <16 x float> %v40, <16 x float> %t.38
  %p.40 = getelementptr inbounds float, ptr %part_r0, i64 %v36
  store <16 x float> %v41, ptr %p.40, align 4
  %t.41 = add nsw i64 %c13, 64
  store i64 %t.41, ptr %c13.slot
  br label %loop.15.head
loop.15.exit:
  store i64 %v12, ptr %c46.slot
  br label %loop.42.head
loop.42.head:
  %c46 = load i64, ptr %c46.slot
  %t.43 = icmp slt i64 %c46, %v45
  br i1 %t.43, label %loop.42.body, label %loop.42.exit
loop.42.body:
  %v47 = add i64 %v4, %c46
  %v48 = add i64 %v15, %c46
  %p.44 = getelementptr inbounds float, ptr %in0, i64 %v48
  %v49 = load <16 x float>, ptr %p.44, align 4
  %v50 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %v49)
  %p.45 = getelementptr inbounds float, ptr %part_r0, i64 %v47
  %v51 = load <16 x float>, ptr %p.45, align 4
  %t.46 = fcmp ogt <16 x float> %v51, %v50
  %t.47 = select <16 x i1> %t.46, <16 x float> %v51, <16 x float> %v50
  %t.48 = fcmp uno <16 x float> %v51, %v51
  %v52 = select <16 x i1> %t.48, <16 x float> %v51, <16 x float> %t.47
  %p.49 = getelementptr inbounds float, ptr %part_r0, i64 %v47
  store <16 x float> %v52, ptr %p.49, align 4
  %t.50 = add nsw i64 %c46, 16
  store i64 %t.50, ptr %c46.slot
  br label %loop.42.head
loop.42.exit:
  br i1 %v61, label %if.51.then, label %if.51.else
if.51.then:
  %v55 = add i64 %v4, %v45
  %v56 = add i64 %v15, %v45
  %p.52 = getelementptr inbounds float, ptr %in0, i64 %v56
  %v57 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.52, i32 4, <16 x i1> %v54, <16 x float> zeroinitializer)
  %v58 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %v57)
  %p.53 = getelementptr inbounds float, ptr %part_r0, i64 %v55
  %v59 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.53, i32 4, <16 x i1> %v54, <16 x float> zeroinitializer)
  %t.54 = fcmp ogt <16 x float> %v59, %v58
  %t.55 = select <16 x i1> %t.54, <16 x float> %v59, <16 x float> %v58
  %t.56 = fcmp uno <16 x float> %v59, %v59
  %v60 = select <16 x i1> %t.56, <16 x float> %v59, <16 x float> %t.55
  %p.57 = getelementptr inbounds float, ptr %part_r0, i64 %v55
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v60, ptr %p.57, i32 4, <16 x i1> %v54)
  br label %if.51.end
if.51.else:
  br label %if.51.end
if.51.end:
  %t.58 = add nsw i64 %row, 1
  store i64 %t.58, ptr %row.slot
  br label %loop.13.head
loop.13.exit:
  ret void
}
define internal void @outer_max.region1(ptr %ctx) #0 {
entry:
  %c74.slot = alloca i64
  %total75.slot = alloca <16 x float>
  %t76.slot = alloca i64
  %total84.slot = alloca <16 x float>
  %t85.slot = alloca i64
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
  %tid2 = sext i32 %omp.tid to i64
  %nth2 = sext i32 %omp.nth to i64
  %t.1 = mul i64 %n2, 4
  %t.2 = add i64 %t.1, 63
  %t.3 = and i64 %t.2, -64
  %part_r0 = getelementptr i8, ptr %scratch, i64 0
  %t.4 = add i64 0, %t.3
  %v62 = mul i64 %tid2, %n6
  %v63 = udiv i64 %v62, %nth2
  %v64 = mul i64 %v63, 16
  %v65 = add i64 %tid2, 1
  %v66 = mul i64 %v65, %n6
  %v67 = udiv i64 %v66, %nth2
  %v68 = mul i64 %v67, 16
  %v69 = call i64 @llvm.smin.i64(i64 %v68, i64 %n4)
  %v70 = sub i64 %v69, %v64
  %v71 = udiv i64 %v70, 16
  %v72 = mul i64 %v71, 16
  %v73 = add i64 %v64, %v72
  store i64 %v64, ptr %c74.slot
  br label %loop.5.head
loop.5.head:
  %c74 = load i64, ptr %c74.slot
  %t.6 = icmp slt i64 %c74, %v73
  br i1 %t.6, label %loop.5.body, label %loop.5.exit
loop.5.body:
  store <16 x float> splat (float 0xFFF0000000000000), ptr %total75.slot
  store i64 0, ptr %t76.slot
  br label %loop.7.head
loop.7.head:
  %t76 = load i64, ptr %t76.slot
  %t.8 = icmp slt i64 %t76, %n0
  br i1 %t.8, label %loop.7.body, label %loop.7.exit
loop.7.body:
  %v77 = mul i64 %t76, %n1
  %v78 = add i64 %v77, %c74
  %p.9 = getelementptr inbounds float, ptr %part_r0, i64 %v78
  %v79 = load <16 x float>, ptr %p.9, align 4
  %t.10 = load <16 x float>, ptr %total75.slot
  %t.11 = fcmp ogt <16 x float> %t.10, %v79
  %t.12 = select <16 x i1> %t.11, <16 x float> %t.10, <16 x float> %v79
  %t.13 = fcmp uno <16 x float> %t.10, %t.10
  %v80 = select <16 x i1> %t.13, <16 x float> %t.10, <16 x float> %t.12
  store <16 x float> %v80, ptr %total75.slot
  %t.14 = add nsw i64 %t76, 1
  store i64 %t.14, ptr %t76.slot
  br label %loop.7.head
loop.7.exit:
  %t.15 = load <16 x float>, ptr %total75.slot
  %t.16 = load <16 x float>, ptr %total75.slot
  %v81 = select <16 x i1> splat (i1 true), <16 x float> %t.15, <16 x float> %t.16
  %p.17 = getelementptr inbounds float, ptr %out1, i64 %c74
  store <16 x float> %v81, ptr %p.17, align 4
  %t.18 = add nsw i64 %c74, 16
  store i64 %t.18, ptr %c74.slot
  br label %loop.5.head
loop.5.exit:
  %v82 = sub i64 %v69, %v73
  %t.19 = call i64 @llvm.smin.i64(i64 %v82, i64 16)
  %t.20 = trunc i64 %t.19 to i32
  %t.21 = insertelement <16 x i32> poison, i32 %t.20, i64 0
  %t.22 = shufflevector <16 x i32> %t.21, <16 x i32> poison, <16 x i32> zeroinitializer
  %v83 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.22
  %v91 = icmp slt i64 %v73, %v69
  br i1 %v91, label %if.23.then, label %if.23.else
if.23.then:
  store <16 x float> splat (float 0xFFF0000000000000), ptr %total84.slot
  store i64 0, ptr %t85.slot
  br label %loop.24.head
loop.24.head:
  %t85 = load i64, ptr %t85.slot
  %t.25 = icmp slt i64 %t85, %n0
  br i1 %t.25, label %loop.24.body, label %loop.24.exit
loop.24.body:
  %v86 = mul i64 %t85, %n1
  %v87 = add i64 %v86, %v73
  %p.26 = getelementptr inbounds float, ptr %part_r0, i64 %v87
  %v88 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.26, i32 4, <16 x i1> %v83, <16 x float> zeroinitializer)
  %t.27 = load <16 x float>, ptr %total84.slot
  %t.28 = fcmp ogt <16 x float> %t.27, %v88
  %t.29 = select <16 x i1> %t.28, <16 x float> %t.27, <16 x float> %v88
  %t.30 = fcmp uno <16 x float> %t.27, %t.27
  %v89 = select <16 x i1> %t.30, <16 x float> %t.27, <16 x float> %t.29
  store <16 x float> %v89, ptr %total84.slot
  %t.31 = add nsw i64 %t85, 1
  store i64 %t.31, ptr %t85.slot
  br label %loop.24.head
loop.24.exit:
  %t.32 = load <16 x float>, ptr %total84.slot
  %t.33 = load <16 x float>, ptr %total84.slot
  %v90 = select <16 x i1> splat (i1 true), <16 x float> %t.32, <16 x float> %t.33
  %p.34 = getelementptr inbounds float, ptr %out1, i64 %v73
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v90, ptr %p.34, i32 4, <16 x i1> %v83)
  br label %if.23.end
if.23.else:
  br label %if.23.end
if.23.end:
  ret void
}
define i32 @outer_max(ptr %in0, ptr %out1, ptr %sizes, ptr %scratch) #0 {
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
  %t.1 = mul i64 %n2, 4
  %t.2 = add i64 %t.1, 63
  %t.3 = and i64 %t.2, -64
  %part_r0 = getelementptr i8, ptr %scratch, i64 0
  %t.4 = add i64 0, %t.3
  %t.5 = icmp eq i64 %n0, 1
  br i1 %t.5, label %team.7.alone, label %team.7.all
team.7.alone:
  call void @outer_max.region0(ptr %ctx)
  br label %team.7.end
team.7.all:
  %t.6 = trunc i64 %n0 to i32
  call void @GOMP_parallel(ptr @outer_max.region0, ptr %ctx, i32 %t.6, i32 0)
  br label %team.7.end
team.7.end:
  %t.8 = icmp eq i64 %n0, 1
  br i1 %t.8, label %team.10.alone, label %team.10.all
team.10.alone:
  call void @outer_max.region1(ptr %ctx)
  br label %team.10.end
team.10.all:
  %t.9 = trunc i64 %n0 to i32
  call void @GOMP_parallel(ptr @outer_max.region1, ptr %ctx, i32 %t.9, i32 0)
  br label %team.10.end
team.10.end:
  %failed = load i64, ptr %status
  %code = trunc i64 %failed to i32
  ret i32 %code
}
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{}
!1 = !{i32 1}
