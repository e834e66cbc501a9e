declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare i64 @llvm.smin.i64(i64, i64)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, i32 immarg, <16 x i1>)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32 immarg, <16 x i1>, <16 x float>)
define internal void @embedding_backward.region0(ptr %ctx) #0 {
entry:
  %row.slot = alloca i64
  %c13.slot = alloca i64
  %c17.slot = alloca i64
  %ctx.0 = getelementptr i64, ptr %ctx, i64 0
  %in0 = load ptr, ptr %ctx.0
  %ctx.1 = getelementptr i64, ptr %ctx, i64 1
  %in1 = load ptr, ptr %ctx.1
  %ctx.2 = getelementptr i64, ptr %ctx, i64 2
  %out = load ptr, ptr %ctx.2
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
  %n7.p = getelementptr i64, ptr %sizes, i64 7
  %n7 = load i64, ptr %n7.p, !invariant.load !0
  %n8.p = getelementptr i64, ptr %sizes, i64 8
  %n8 = load i64, ptr %n8.p, !invariant.load !0
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
  %v6 = mul i64 %row, 8192
  %v7 = add i64 %v6, 8192
  %v8 = call i64 @llvm.smin.i64(i64 %v7, i64 %n2)
  %v9 = sub i64 %v8, %v6
  %v10 = udiv i64 %v9, 64
  %v11 = mul i64 %v10, 64
  %v12 = add i64 %v6, %v11
  store i64 %v6, ptr %c13.slot
  br label %loop.3.head
loop.3.head:
  %c13 = load i64, ptr %c13.slot
  %t.4 = icmp slt i64 %c13, %v12
  br i1 %t.4, label %loop.3.body, label %loop.3.exit
loop.3.body:
  %p.5 = getelementptr inbounds float, ptr %out, i64 %c13
  store <16 x float> splat (float 0x0000000000000000), ptr %p.5, align 4
  %v14 = add i64 %c13, 16
  %p.6 = getelementptr inbounds float, ptr %out, i64 %v14
  store <16 x float> splat (float 0x0000000000000000), ptr %p.6, align 4
  %v15 = add i64 %c13, 32
  %p.7 = getelementptr inbounds float, ptr %out, i64 %v15
  store <16 x float> splat (float 0x0000000000000000), ptr %p.7, align 4
  %v16 = add i64 %c13, 48
  %p.8 = getelementptr inbounds float, ptr %out, i64 %v16
  store <16 x float> splat (float 0x0000000000000000), ptr %p.8, align 4
  %t.9 = add nsw i64 %c13, 64
  store i64 %t.9, ptr %c13.slot
  br label %loop.3.head
loop.3.exit:
  store i64 %v12, ptr %c17.slot
  br label %loop.10.head
loop.10.head:
  %c17 = load i64, ptr %c17.slot
  %t.11 = icmp slt i64 %c17, %v8
  br i1 %t.11, label %loop.10.body, label %loop.10.exit
loop.10.body:
  %v18 = sub i64 %v8, %c17
  %t.12 = call i64 @llvm.smin.i64(i64 %v18, i64 16)
  %t.13 = trunc i64 %t.12 to i32
  %t.14 = insertelement <16 x i32> poison, i32 %t.13, i64 0
  %t.15 = shufflevector <16 x i32> %t.14, <16 x i32> poison, <16 x i32> zeroinitializer
  %v19 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.15
  %p.16 = getelementptr inbounds float, ptr %out, i64 %c17
  call void @llvm.masked.store.v16f32.p0(<16 x float> splat (float 0x0000000000000000), ptr %p.16, i32 4, <16 x i1> %v19)
  %t.17 = add nsw i64 %c17, 16
  store i64 %t.17, ptr %c17.slot
  br label %loop.10.head
loop.10.exit:
  %t.18 = add nsw i64 %row, 1
  store i64 %t.18, ptr %row.slot
  br label %loop.1.head
loop.1.exit:
  ret void
}
define internal void @embedding_backward.region1(ptr %ctx) #0 {
entry:
  %row.slot = alloca i64
  %c42.slot = alloca i64
  %c72.slot = alloca i64
  %ctx.0 = getelementptr i64, ptr %ctx, i64 0
  %in0 = load ptr, ptr %ctx.0
  %ctx.1 = getelementptr i64, ptr %ctx, i64 1
  %in1 = load ptr, ptr %ctx.1
  %ctx.2 = getelementptr i64, ptr %ctx, i64 2
  %out = load ptr, ptr %ctx.2
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
  %n7.p = getelementptr i64, ptr %sizes, i64 7
  %n7 = load i64, ptr %n7.p, !invariant.load !0
  %n8.p = getelementptr i64, ptr %sizes, i64 8
  %n8 = load i64, ptr %n8.p, !invariant.load !0
  %omp.tid = call i32 @omp_get_thread_num()
  %omp.nth = call i32 @omp_get_num_threads()
  %tid = sext i32 %omp.tid to i64
  %nth = sext i32 %omp.nth to i64
  %v20 = mul i64 %tid, %n4
  %v21 = udiv i64 %v20, %nth
  %v22 = add i64 %tid, 1
  %v23 = mul i64 %v22, %n4
  %v24 = udiv i64 %v23, %nth
  store i64 0, ptr %row.slot
  br label %loop.1.head
loop.1.head:
  %row = load i64, ptr %row.slot
  %t.2 = icmp slt i64 %row, %n3
  br i1 %t.2, label %loop.1.body, label %loop.1.exit
loop.1.body:
  %p.3 = getelementptr inbounds i64, ptr %in0, i64 %row
  %v25 = load i64, ptr %p.3, align 8
  %v26 = icmp slt i64 %v25, 0
  %v27 = add i64 %v25, %n5
  %v28 = select i1 %v26, i64 %v27, i64 %v25
  %v29 = icmp sge i64 %v28, 0
  %v30 = icmp slt i64 %v28, %n5
  %v31 = and i1 %v29, %v30
  %v32 = icmp ne i64 %v25, 1
  %v33 = xor i1 %v32, true
  %v34 = or i1 %v31, %v33
  br i1 %v34, label %if.4.then, label %if.4.else
if.4.then:
  br label %if.4.end
if.4.else:
  store atomic i64 1, ptr %status monotonic, align 8
  br label %if.4.end
if.4.end:
  %v35 = and i1 %v32, %v31
  %v36 = icmp sge i64 %v28, %v21
  %v37 = and i1 %v35, %v36
  %v38 = icmp slt i64 %v28, %v24
  %v39 = and i1 %v37, %v38
  br i1 %v39, label %if.5.then, label %if.5.else
if.5.then:
  %v40 = udiv i64 %n6, 64
  %v41 = mul i64 %v40, 64
  %v43 = mul i64 %row, %n7
  %v47 = mul i64 %v28, %n8
  store i64 0, ptr %c42.slot
  br label %loop.6.head
loop.6.head:
  %c42 = load i64, ptr %c42.slot
  %t.7 = icmp slt i64 %c42, %v41
  br i1 %t.7, label %loop.6.body, label %loop.6.exit
loop.6.body:
  %v44 = add i64 %v43, %c42
  %p.8 = getelementptr inbounds float, ptr %in1, i64 %v44
  %v45 = load <16 x float>, ptr %p.8, align 4
  %v46 = fmul <16 x float> %v45, splat (float 0x4000000000000000)
  %v48 = add i64 %v47, %c42
  %p.9 = getelementptr inbounds float, ptr %out, i64 %v48
  %v49 = load <16 x float>, ptr %p.9, align 4
  %v50 = fadd <16 x float> %v49, %v46
  %p.10 = getelementptr inbounds float, ptr %out, i64 %v48
  store <16 x float> %v50, ptr %p.10, align 4
  %v51 = add i64 %c42, 16
  %v52 = add i64 %v43, %v51
  %p.11 = getelementptr inbounds float, ptr %in1, i64 %v52
  %v53 = load <16 x float>, ptr %p.11, align 4
  %v54 = fmul <16 x float> %v53, splat (float 0x4000000000000000)
  %v55 = add i64 %v47, %v51
  %p.12 = getelementptr inbounds float, ptr %out, i64 %v55
  %v56 = load <16 x float>, ptr %p.12, align 4
  %v57 = fadd <16 x float> %v56, %v54
  %p.13 = getelementptr inbounds float, ptr %out, i64 %v55
  store <16 x float> %v57, ptr %p.13, align 4
  %v58 = add i64 %c42, 32
  %v59 = add i64 %v43, %v58
  %p.14 = getelementptr inbounds float, ptr %in1, i64 %v59
  %v60 = load <16 x float>, ptr %p.14, align 4
  %v61 = fmul <16 x float> %v60, splat (float 0x4000000000000000)
  %v62 = add i64 %v47, %v58
  %p.15 = getelementptr inbounds float, ptr %out, i64 %v62
  %v63 = load <16 x float>, ptr %p.15, align 4
  %v64 = fadd <16 x float> %v63, %v61
  %p.16 = getelementptr inbounds float, ptr %out, i64 %v62
  store <16 x float> %v64, ptr %p.16, align 4
  %v65 = add i64 %c42, 48
  %v66 = add i64 %v43, %v65
  %p.17 = getelementptr inbounds float, ptr %in1, i64 %v66
  %v67 = load <16 x float>, ptr %p.17, align 4
  %v68 = fmul <16 x float> %v67, splat (float 0x4000000000000000)
  %v69 = add i64 %v47, %v65
  %p.18 = getelementptr inbounds float, ptr %out, i64 %v69
  %v70 = load <16 x float>, ptr %p.18, align 4
  %v71 = fadd <16 x float> %v70, %v68
  %p.19 = getelementptr inbounds float, ptr %out, i64 %v69
  store <16 x float> %v71, ptr %p.19, align 4
  %t.20 = add nsw i64 %c42, 64
  store i64 %t.20, ptr %c42.slot
  br label %loop.6.head
loop.6.exit:
  store i64 %v41, ptr %c72.slot
  br label %loop.21.head
loop.21.head:
  %c72 = load i64, ptr %c72.slot
  %t.22 = icmp slt i64 %c72, %n6
  br i1 %t.22, label %loop.21.body, label %loop.21.exit
loop.21.body:
  %v73 = sub i64 %n6, %c72
  %t.23 = call i64 @llvm.smin.i64(i64 %v73, i64 16)
  %t.24 = trunc i64 %t.23 to i32
  %t.25 = insertelement <16 x i32> poison, i32 %t.24, i64 0
  %t.26 = shufflevector <16 x i32> %t.25, <16 x i32> poison, <16 x i32> zeroinitializer
  %v74 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.26
  %v75 = add i64 %v43, %c72
  %p.27 = getelementptr inbounds float, ptr %in1, i64 %v75
  %v76 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.27, i32 4, <16 x i1> %v74, <16 x float> zeroinitializer)
  %v77 = fmul <16 x float> %v76, splat (float 0x4000000000000000)
  %v78 = add i64 %v47, %c72
  %p.28 = getelementptr inbounds float, ptr %out, i64 %v78
  %v79 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.28, i32 4, <16 x i1> %v74, <16 x float> zeroinitializer)
  %v80 = fadd <16 x float> %v79, %v77
  %p.29 = getelementptr inbounds float, ptr %out, i64 %v78
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v80, ptr %p.29, i32 4, <16 x i1> %v74)
  %t.30 = add nsw i64 %c72, 16
  store i64 %t.30, ptr %c72.slot
  br label %loop.21.head
loop.21.exit:
  br label %if.5.end
if.5.else:
  br label %if.5.end
if.5.end:
  %t.31 = add nsw i64 %row, 1
  store i64 %t.31, ptr %row.slot
  br label %loop.1.head
loop.1.exit:
  ret void
}
define i32 @embedding_backward(ptr %in0, ptr %in1, ptr %out, ptr %sizes, ptr %scratch) #0 {
entry:
  %ctx = alloca [6 x i64], align 16
  %status = alloca i64, align 8
  store i64 0, ptr %status
  %ctx.0 = getelementptr i64, ptr %ctx, i64 0
  store ptr %in0, ptr %ctx.0
  %ctx.1 = getelementptr i64, ptr %ctx, i64 1
  store ptr %in1, ptr %ctx.1
  %ctx.2 = getelementptr i64, ptr %ctx, i64 2
  store ptr %out, ptr %ctx.2
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
  %n7.p = getelementptr i64, ptr %sizes, i64 7
  %n7 = load i64, ptr %n7.p, !invariant.load !0
  %n8.p = getelementptr i64, ptr %sizes, i64 8
  %n8 = load i64, ptr %n8.p, !invariant.load !0
  %t.1 = icmp eq i64 %n0, 1
  br i1 %t.1, label %team.3.alone, label %team.3.all
team.3.alone:
  call void @embedding_backward.region0(ptr %ctx)
  br label %team.3.end
team.3.all:
  %t.2 = trunc i64 %n0 to i32
  call void @GOMP_parallel(ptr @embedding_backward.region0, ptr %ctx, i32 %t.2, i32 0)
  br label %team.3.end
team.3.end:
  %t.4 = icmp eq i64 %n0, 1
  br i1 %t.4, label %team.6.alone, label %team.6.all
team.6.alone:
  call void @embedding_backward.region1(ptr %ctx)
  br label %team.6.end
team.6.all:
  %t.5 = trunc i64 %n0 to i32
  call void @GOMP_parallel(ptr @embedding_backward.region1, ptr %ctx, i32 %t.5, i32 0)
  br label %team.6.end
team.6.end:
  %failed = load i64, ptr %status
  %code = trunc i64 %failed to i32
  ret i32 %code
}
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{}
!1 = !{i32 1}
