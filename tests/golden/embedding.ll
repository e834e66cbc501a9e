declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.smin.i64(i64, i64)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32 immarg, <16 x i1>, <16 x float>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, i32 immarg, <16 x i1>)
define internal void @embedding.region0(ptr %ctx) #0 {
entry:
  %row.slot = alloca i64
  %row11.slot = alloca i64
  %c26.slot = alloca i64
  %c53.slot = alloca i64
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
  %n6.p = getelementptr i64, ptr %sizes, i64 6
  %n6 = load i64, ptr %n6.p, !invariant.load !0
  %omp.tid = call i32 @omp_get_thread_num()
  %omp.nth = call i32 @omp_get_num_threads()
  %tid = sext i32 %omp.tid to i64
  %nth = sext i32 %omp.nth to i64
  %v1 = mul i64 %tid, %n1
  %v2 = udiv i64 %v1, %nth
  %v3 = add i64 %tid, 1
  %v4 = mul i64 %v3, %n1
  %v5 = udiv i64 %v4, %nth
  %v66 = add i64 %v5, %n2
  %v67 = sub i64 %v66, 1
  %v68 = udiv i64 %v67, %n2
  %v69 = udiv i64 %v2, %n2
  store i64 %v69, ptr %row.slot
  br label %loop.1.head
loop.1.head:
  %row = load i64, ptr %row.slot
  %t.2 = icmp slt i64 %row, %v68
  br i1 %t.2, label %loop.1.body, label %loop.1.exit
loop.1.body:
  %v6 = mul i64 %row, %n2
  %v7 = sub i64 %v2, %v6
  %v8 = call i64 @llvm.smax.i64(i64 %v7, i64 0)
  %v9 = sub i64 %v5, %v6
  %v10 = call i64 @llvm.smin.i64(i64 %v9, i64 %n2)
  %v19 = mul i64 %row, 65536
  %v20 = add i64 %v19, 65536
  %v21 = call i64 @llvm.smin.i64(i64 %v20, i64 %n4)
  %v22 = sub i64 %v21, %v19
  %v23 = udiv i64 %v22, 64
  %v24 = mul i64 %v23, 64
  %v25 = add i64 %v19, %v24
  %v49 = sub i64 %v21, %v25
  %v50 = udiv i64 %v49, 16
  %v51 = mul i64 %v50, 16
  %v52 = add i64 %v25, %v51
  %v58 = sub i64 %v21, %v52
  %t.3 = call i64 @llvm.smin.i64(i64 %v58, i64 16)
  %t.4 = trunc i64 %t.3 to i32
  %t.5 = insertelement <16 x i32> poison, i32 %t.4, i64 0
  %t.6 = shufflevector <16 x i32> %t.5, <16 x i32> poison, <16 x i32> zeroinitializer
  %v59 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.6
  %v65 = icmp slt i64 %v52, %v21
  store i64 %v8, ptr %row11.slot
  br label %loop.7.head
loop.7.head:
  %row11 = load i64, ptr %row11.slot
  %t.8 = icmp slt i64 %row11, %v10
  br i1 %t.8, label %loop.7.body, label %loop.7.exit
loop.7.body:
  %p.9 = getelementptr inbounds i64, ptr %in0, i64 %row11
  %v12 = load i64, ptr %p.9, align 8
  %v13 = icmp slt i64 %v12, 0
  %v14 = add i64 %v12, %n3
  %v15 = select i1 %v13, i64 %v14, i64 %v12
  %v16 = icmp sge i64 %v15, 0
  %v17 = icmp slt i64 %v15, %n3
  %v18 = and i1 %v16, %v17
  br i1 %v18, label %if.10.then, label %if.10.else
if.10.then:
  br label %if.10.end
if.10.else:
  store atomic i64 1, ptr %status monotonic, align 8
  br label %if.10.end
if.10.end:
  %v27 = mul i64 %v15, %n5
  %t.11 = insertelement <16 x i1> poison, i1 %v18, i64 0
  %v29 = shufflevector <16 x i1> %t.11, <16 x i1> poison, <16 x i32> zeroinitializer
  %v32 = mul i64 %row11, %n6
  store i64 %v19, ptr %c26.slot
  br label %loop.12.head
loop.12.head:
  %c26 = load i64, ptr %c26.slot
  %t.13 = icmp slt i64 %c26, %v25
  br i1 %t.13, label %loop.12.body, label %loop.12.exit
loop.12.body:
  %v28 = add i64 %v27, %c26
  %p.14 = getelementptr inbounds float, ptr %in1, i64 %v28
  %v30 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.14, i32 4, <16 x i1> %v29, <16 x float> zeroinitializer)
  %v31 = fmul <16 x float> %v30, splat (float 0x4000000000000000)
  %v33 = add i64 %v32, %c26
  %p.15 = getelementptr inbounds float, ptr %out2, i64 %v33
  store <16 x float> %v31, ptr %p.15, align 4
  %v34 = add i64 %c26, 16
  %v35 = add i64 %v27, %v34
  %p.16 = getelementptr inbounds float, ptr %in1, i64 %v35
  %v36 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.16, i32 4, <16 x i1> %v29, <16 x float> zeroinitializer)
  %v37 = fmul <16 x float> %v36, splat (float 0x4000000000000000)
  %v38 = add i64 %v32, %v34
  %p.17 = getelementptr inbounds float, ptr %out2, i64 %v38
  store <16 x float> %v37, ptr %p.17, align 4
  %v39 = add i64 %c26, 32
  %v40 = add i64 %v27, %v39
  %p.18 = getelementptr inbounds float, ptr %in1, i64 %v40
  %v41 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.18, i32 4, <16 x i1> %v29, <16 x float> zeroinitializer)
  %v42 = fmul <16 x float> %v41, splat (float 0x4000000000000000)
  %v43 = add i64 %v32, %v39
  %p.19 = getelementptr inbounds float, ptr %out2, i64 %v43
  store <16 x float> %v42, ptr %p.19, align 4
  %v44 = add i64 %c26, 48
  %v45 = add i64 %v27, %v44
  %p.20 = getelementptr inbounds float, ptr %in1, i64 %v45
  %v46 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.20, i32 4, <16 x i1> %v29, <16 x float> zeroinitializer)
  %v47 = fmul <16 x float> %v46, splat (float 0x4000000000000000)
  %v48 = add i64 %v32, %v44
  %p.21 = getelementptr inbounds float, ptr %out2, i64 %v48
  store <16 x float> %v47, ptr %p.21, align 4
  %t.22 = add nsw i64 %c26, 64
  store i64 %t.22, ptr %c26.slot
  br label %loop.12.head
loop.12.exit:
  store i64 %v25, ptr %c53.slot
  br label %loop.23.head
loop.23.head:
  %c53 = load i64, ptr %c53.slot
  %t.24 = icmp slt i64 %c53, %v52
  br i1 %t.24, label %loop.23.body, label %loop.23.exit
loop.23.body:
  %v54 = add i64 %v27, %c53
  %p.25 = getelementptr inbounds float, ptr %in1, i64 %v54
  %v55 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.25, i32 4, <16 x i1> %v29, <16 x float> zeroinitializer)
  %v56 = fmul <16 x float> %v55, splat (float 0x4000000000000000)
  %v57 = add i64 %v32, %c53
  %p.26 = getelementptr inbounds float, ptr %out2, i64 %v57
  store <16 x float> %v56, ptr %p.26, align 4
  %t.27 = add nsw i64 %c53, 16
  store i64 %t.27, ptr %c53.slot
  br label %loop.23.head
loop.23.exit:
  br i1 %v65, label %if.28.then, label %if.28.else
if.28.then:
  %v60 = add i64 %v27, %v52
  %v61 = and <16 x i1> %v29, %v59
  %p.29 = getelementptr inbounds float, ptr %in1, i64 %v60
  %v62 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.29, i32 4, <16 x i1> %v61, <16 x float> zeroinitializer)
  %v63 = fmul <16 x float> %v62, splat (float 0x4000000000000000)
  %v64 = add i64 %v32, %v52
  %p.30 = getelementptr inbounds float, ptr %out2, i64 %v64
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v63, ptr %p.30, i32 4, <16 x i1> %v59)
  br label %if.28.end
if.28.else:
  br label %if.28.end
if.28.end:
  %t.31 = add nsw i64 %row11, 1
  store i64 %t.31, ptr %row11.slot
  br label %loop.7.head
loop.7.exit:
  %t.32 = add nsw i64 %row, 1
  store i64 %t.32, ptr %row.slot
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
  %n6.p = getelementptr i64, ptr %sizes, i64 6
  %n6 = load i64, ptr %n6.p, !invariant.load !0
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
