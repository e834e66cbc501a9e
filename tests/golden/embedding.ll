declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare i64 @llvm.smin.i64(i64, i64)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32 immarg, <16 x i1>, <16 x float>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, i32 immarg, <16 x i1>)
define internal void @embedding.region0(ptr %ctx) #0 {
entry:
  %row.slot = alloca i64
  %c22.slot = alloca i64
  %c49.slot = alloca i64
  %ctx.0 = getelementptr i64, ptr %ctx, i64 0
  %in0 = load ptr, ptr %ctx.0
  %ctx.1 = getelementptr i64, ptr %ctx, i64 1
  %in1 = load ptr, ptr %ctx.1
  %ctx.2 = getelementptr i64, ptr %ctx, i64 2
  %out2 = load ptr, ptr %ctx.2
  %ctx.3 = getelementptr i64, ptr %ctx, i64 3
  %sizes = load ptr, ptr %ctx.3
  %ctx.4 = getelementptr i64, ptr %ctx, i64 4
  %scratch = load ptr, ptr %ctx.4
  %ctx.5 = getelementptr i64, ptr %ctx, i64 5
  %status = load ptr, ptr %ctx.5
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
  store i64 %v2, ptr %row.slot
  br label %loop.1.head
loop.1.head:
  %row = load i64, ptr %row.slot
  %t.2 = icmp slt i64 %row, %v5
  br i1 %t.2, label %loop.1.body, label %loop.1.exit
loop.1.body:
  %v6 = udiv i64 %row, 1
  %v7 = sub i64 %row, %v6
  %p.3 = getelementptr inbounds i64, ptr %in0, i64 %v6
  %v8 = load i64, ptr %p.3, align 8
  %v9 = icmp slt i64 %v8, 0
  %v10 = add i64 %v8, %n2
  %v11 = select i1 %v9, i64 %v10, i64 %v8
  %v12 = icmp sge i64 %v11, 0
  %v13 = icmp slt i64 %v11, %n2
  %v14 = and i1 %v12, %v13
  br i1 %v14, label %if.4.then, label %if.4.else
if.4.then:
  br label %if.4.end
if.4.else:
  store atomic i64 1, ptr %status monotonic, align 8
  br label %if.4.end
if.4.end:
  %v15 = mul i64 %v7, 8192
  %v16 = add i64 %v15, 8192
  %v17 = call i64 @llvm.smin.i64(i64 %v16, i64 %n3)
  %v18 = sub i64 %v17, %v15
  %v19 = udiv i64 %v18, 64
  %v20 = mul i64 %v19, 64
  %v21 = add i64 %v15, %v20
  %v23 = mul i64 %v11, %n4
  %t.5 = insertelement <16 x i1> poison, i1 %v14, i64 0
  %v25 = shufflevector <16 x i1> %t.5, <16 x i1> poison, <16 x i32> zeroinitializer
  %v28 = mul i64 %v6, %n5
  store i64 %v15, ptr %c22.slot
  br label %loop.6.head
loop.6.head:
  %c22 = load i64, ptr %c22.slot
  %t.7 = icmp slt i64 %c22, %v21
  br i1 %t.7, label %loop.6.body, label %loop.6.exit
loop.6.body:
  %v24 = add i64 %v23, %c22
  %p.8 = getelementptr inbounds float, ptr %in1, i64 %v24
  %v26 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.8, i32 4, <16 x i1> %v25, <16 x float> zeroinitializer)
  %v27 = fmul <16 x float> %v26, splat (float 0x4000000000000000)
  %v29 = add i64 %v28, %c22
  %p.9 = getelementptr inbounds float, ptr %out2, i64 %v29
  store <16 x float> %v27, ptr %p.9, align 4
  %v30 = add i64 %c22, 16
  %v31 = add i64 %v23, %v30
  %p.10 = getelementptr inbounds float, ptr %in1, i64 %v31
  %v32 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.10, i32 4, <16 x i1> %v25, <16 x float> zeroinitializer)
  %v33 = fmul <16 x float> %v32, splat (float 0x4000000000000000)
  %v34 = add i64 %v28, %v30
  %p.11 = getelementptr inbounds float, ptr %out2, i64 %v34
  store <16 x float> %v33, ptr %p.11, align 4
  %v35 = add i64 %c22, 32
  %v36 = add i64 %v23, %v35
  %p.12 = getelementptr inbounds float, ptr %in1, i64 %v36
  %v37 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.12, i32 4, <16 x i1> %v25, <16 x float> zeroinitializer)
  %v38 = fmul <16 x float> %v37, splat (float 0x4000000000000000)
  %v39 = add i64 %v28, %v35
  %p.13 = getelementptr inbounds float, ptr %out2, i64 %v39
  store <16 x float> %v38, ptr %p.13, align 4
  %v40 = add i64 %c22, 48
  %v41 = add i64 %v23, %v40
  %p.14 = getelementptr inbounds float, ptr %in1, i64 %v41
  %v42 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.14, i32 4, <16 x i1> %v25, <16 x float> zeroinitializer)
  %v43 = fmul <16 x float> %v42, splat (float 0x4000000000000000)
  %v44 = add i64 %v28, %v40
  %p.15 = getelementptr inbounds float, ptr %out2, i64 %v44
  store <16 x float> %v43, ptr %p.15, align 4
  %t.16 = add nsw i64 %c22, 64
  store i64 %t.16, ptr %c22.slot
  br label %loop.6.head
loop.6.exit:
  %v45 = sub i64 %v17, %v21
  %v46 = udiv i64 %v45, 16
  %v47 = mul i64 %v46, 16
  %v48 = add i64 %v21, %v47
  store i64 %v21, ptr %c49.slot
  br label %loop.17.head
loop.17.head:
  %c49 = load i64, ptr %c49.slot
  %t.18 = icmp slt i64 %c49, %v48
  br i1 %t.18, label %loop.17.body, label %loop.17.exit
loop.17.body:
  %v50 = add i64 %v23, %c49
  %p.19 = getelementptr inbounds float, ptr %in1, i64 %v50
  %v51 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.19, i32 4, <16 x i1> %v25, <16 x float> zeroinitializer)
  %v52 = fmul <16 x float> %v51, splat (float 0x4000000000000000)
  %v53 = add i64 %v28, %c49
  %p.20 = getelementptr inbounds float, ptr %out2, i64 %v53
  store <16 x float> %v52, ptr %p.20, align 4
  %t.21 = add nsw i64 %c49, 16
  store i64 %t.21, ptr %c49.slot
  br label %loop.17.head
loop.17.exit:
  %v61 = icmp slt i64 %v48, %v17
  br i1 %v61, label %if.22.then, label %if.22.else
if.22.then:
  %v54 = sub i64 %v17, %v48
  %t.23 = call i64 @llvm.smin.i64(i64 %v54, i64 16)
  %t.24 = trunc i64 %t.23 to i32
  %t.25 = insertelement <16 x i32> poison, i32 %t.24, i64 0
  %t.26 = shufflevector <16 x i32> %t.25, <16 x i32> poison, <16 x i32> zeroinitializer
  %v55 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.26
  %v56 = add i64 %v23, %v48
  %v57 = and <16 x i1> %v25, %v55
  %p.27 = getelementptr inbounds float, ptr %in1, i64 %v56
  %v58 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.27, i32 4, <16 x i1> %v57, <16 x float> zeroinitializer)
  %v59 = fmul <16 x float> %v58, splat (float 0x4000000000000000)
  %v60 = add i64 %v28, %v48
  %p.28 = getelementptr inbounds float, ptr %out2, i64 %v60
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v59, ptr %p.28, i32 4, <16 x i1> %v55)
  br label %if.22.end
if.22.else:
  br label %if.22.end
if.22.end:
  %t.29 = add nsw i64 %row, 1
  store i64 %t.29, ptr %row.slot
  br label %loop.1.head
loop.1.exit:
  ret void
}
define i32 @embedding(ptr %in0, ptr %in1, ptr %out2, ptr %sizes, ptr %scratch) #0 {
entry:
  %ctx = alloca [6 x i64], align 16
  %status = alloca i64, align 8
  store i64 0, ptr %status
  %ctx.0 = getelementptr i64, ptr %ctx, i64 0
  store ptr %in0, ptr %ctx.0
  %ctx.1 = getelementptr i64, ptr %ctx, i64 1
  store ptr %in1, ptr %ctx.1
  %ctx.2 = getelementptr i64, ptr %ctx, i64 2
  store ptr %out2, ptr %ctx.2
  %ctx.3 = getelementptr i64, ptr %ctx, i64 3
  store ptr %sizes, ptr %ctx.3
  %ctx.4 = getelementptr i64, ptr %ctx, i64 4
  store ptr %scratch, ptr %ctx.4
  %ctx.5 = getelementptr i64, ptr %ctx, i64 5
  store ptr %status, ptr %ctx.5
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
  %t.1 = icmp eq i64 %n0, 1
  br i1 %t.1, label %team.3.alone, label %team.3.all
team.3.alone:
  call void @embedding.region0(ptr %ctx)
  br label %team.3.end
team.3.all:
  %t.2 = trunc i64 %n0 to i32
  call void @GOMP_parallel(ptr @embedding.region0, ptr %ctx, i32 %t.2, i32 0)
  br label %team.3.end
team.3.end:
  %failed = load i64, ptr %status
  %code = trunc i64 %failed to i32
  ret i32 %code
}
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{}
!1 = !{i32 1}
