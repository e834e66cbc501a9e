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
  %c21.slot = alloca i64
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
  %v17 = sub i64 %v8, %v12
  %v18 = udiv i64 %v17, 16
  %v19 = mul i64 %v18, 16
  %v20 = add i64 %v12, %v19
  store i64 %v12, ptr %c21.slot
  br label %loop.10.head
loop.10.head:
  %c21 = load i64, ptr %c21.slot
  %t.11 = icmp slt i64 %c21, %v20
  br i1 %t.11, label %loop.10.body, label %loop.10.exit
loop.10.body:
  %p.12 = getelementptr inbounds float, ptr %out, i64 %c21
  store <16 x float> splat (float 0x0000000000000000), ptr %p.12, align 4
  %t.13 = add nsw i64 %c21, 16
  store i64 %t.13, ptr %c21.slot
  br label %loop.10.head
loop.10.exit:
  %v22 = sub i64 %v8, %v20
  %t.14 = call i64 @llvm.smin.i64(i64 %v22, i64 16)
  %t.15 = trunc i64 %t.14 to i32
  %t.16 = insertelement <16 x i32> poison, i32 %t.15, i64 0
  %t.17 = shufflevector <16 x i32> %t.16, <16 x i32> poison, <16 x i32> zeroinitializer
  %v23 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.17
  %v24 = icmp slt i64 %v20, %v8
  br i1 %v24, label %if.18.then, label %if.18.else
if.18.then:
  %p.19 = getelementptr inbounds float, ptr %out, i64 %v20
  call void @llvm.masked.store.v16f32.p0(<16 x float> splat (float 0x0000000000000000), ptr %p.19, i32 4, <16 x i1> %v23)
  br label %if.18.end
if.18.else:
  br label %if.18.end
if.18.end:
  %t.20 = add nsw i64 %row, 1
  store i64 %t.20, ptr %row.slot
  br label %loop.1.head
loop.1.exit:
  ret void
}
define internal void @embedding_backward.region1(ptr %ctx) #0 {
entry:
  %row.slot = alloca i64
  %c47.slot = alloca i64
  %c81.slot = alloca i64
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
  %v25 = mul i64 %tid, %n4
  %v26 = udiv i64 %v25, %nth
  %v27 = add i64 %tid, 1
  %v28 = mul i64 %v27, %n4
  %v29 = udiv i64 %v28, %nth
  %v45 = udiv i64 %n6, 64
  %v46 = mul i64 %v45, 64
  %v77 = sub i64 %n6, %v46
  %v78 = udiv i64 %v77, 16
  %v79 = mul i64 %v78, 16
  %v80 = add i64 %v46, %v79
  %v88 = sub i64 %n6, %v80
  %t.1 = call i64 @llvm.smin.i64(i64 %v88, i64 16)
  %t.2 = trunc i64 %t.1 to i32
  %t.3 = insertelement <16 x i32> poison, i32 %t.2, i64 0
  %t.4 = shufflevector <16 x i32> %t.3, <16 x i32> poison, <16 x i32> zeroinitializer
  %v89 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.4
  %v96 = icmp slt i64 %v80, %n6
  store i64 0, ptr %row.slot
  br label %loop.5.head
loop.5.head:
  %row = load i64, ptr %row.slot
  %t.6 = icmp slt i64 %row, %n3
  br i1 %t.6, label %loop.5.body, label %loop.5.exit
loop.5.body:
  %p.7 = getelementptr inbounds i64, ptr %in0, i64 %row
  %v30 = load i64, ptr %p.7, align 8
  %v31 = icmp slt i64 %v30, 0
  %v32 = add i64 %v30, %n5
  %v33 = select i1 %v31, i64 %v32, i64 %v30
  %v34 = icmp sge i64 %v33, 0
  %v35 = icmp slt i64 %v33, %n5
  %v36 = and i1 %v34, %v35
  %v37 = icmp ne i64 %v30, 1
  %v38 = xor i1 %v37, true
  %v39 = or i1 %v36, %v38
  br i1 %v39, label %if.8.then, label %if.8.else
if.8.then:
  br label %if.8.end
if.8.else:
  store atomic i64 1, ptr %status monotonic, align 8
  br label %if.8.end
if.8.end:
  %v40 = and i1 %v37, %v36
  %v41 = icmp sge i64 %v33, %v26
  %v42 = and i1 %v40, %v41
  %v43 = icmp slt i64 %v33, %v29
  %v44 = and i1 %v42, %v43
  br i1 %v44, label %if.9.then, label %if.9.else
if.9.then:
  %v48 = mul i64 %row, %n7
  %v52 = mul i64 %v33, %n8
  store i64 0, ptr %c47.slot
  br label %loop.10.head
loop.10.head:
  %c47 = load i64, ptr %c47.slot
  %t.11 = icmp slt i64 %c47, %v46
  br i1 %t.11, label %loop.10.body, label %loop.10.exit
loop.10.body:
  %v49 = add i64 %v48, %c47
  %p.12 = getelementptr inbounds float, ptr %in1, i64 %v49
  %v50 = load <16 x float>, ptr %p.12, align 4
  %v51 = fmul <16 x float> %v50, splat (float 0x4000000000000000)
  %v53 = add i64 %v52, %c47
  %p.13 = getelementptr inbounds float, ptr %out, i64 %v53
  %v54 = load <16 x float>, ptr %p.13, align 4
  %v55 = fadd <16 x float> %v54, %v51
  %p.14 = getelementptr inbounds float, ptr %out, i64 %v53
  store <16 x float> %v55, ptr %p.14, align 4
  %v56 = add i64 %c47, 16
  %v57 = add i64 %v48, %v56
  %p.15 = getelementptr inbounds float, ptr %in1, i64 %v57
  %v58 = load <16 x float>, ptr %p.15, align 4
  %v59 = fmul <16 x float> %v58, splat (float 0x4000000000000000)
  %v60 = add i64 %v52, %v56
  %p.16 = getelementptr inbounds float, ptr %out, i64 %v60
  %v61 = load <16 x float>, ptr %p.16, align 4
  %v62 = fadd <16 x float> %v61, %v59
  %p.17 = getelementptr inbounds float, ptr %out, i64 %v60
  store <16 x float> %v62, ptr %p.17, align 4
  %v63 = add i64 %c47, 32
  %v64 = add i64 %v48, %v63
  %p.18 = getelementptr inbounds float, ptr %in1, i64 %v64
  %v65 = load <16 x float>, ptr %p.18, align 4
  %v66 = fmul <16 x float> %v65, splat (float 0x4000000000000000)
  %v67 = add i64 %v52, %v63
  %p.19 = getelementptr inbounds float, ptr %out, i64 %v67
  %v68 = load <16 x float>, ptr %p.19, align 4
  %v69 = fadd <16 x float> %v68, %v66
  %p.20 = getelementptr inbounds float, ptr %out, i64 %v67
  store <16 x float> %v69, ptr %p.20, align 4
  %v70 = add i64 %c47, 48
  %v71 = add i64 %v48, %v70
  %p.21 = getelementptr inbounds float, ptr %in1, i64 %v71
  %v72 = load <16 x float>, ptr %p.21, align 4
  %v73 = fmul <16 x float> %v72, splat (float 0x4000000000000000)
  %v74 = add i64 %v52, %v70
  %p.22 = getelementptr inbounds float, ptr %out, i64 %v74
  %v75 = load <16 x float>, ptr %p.22, align 4
  %v76 = fadd <16 x float> %v75, %v73
  %p.23 = getelementptr inbounds float, ptr %out, i64 %v74
  store <16 x float> %v76, ptr %p.23, align 4
  %t.24 = add nsw i64 %c47, 64
  store i64 %t.24, ptr %c47.slot
  br label %loop.10.head
loop.10.exit:
  store i64 %v46, ptr %c81.slot
  br label %loop.25.head
loop.25.head:
  %c81 = load i64, ptr %c81.slot
  %t.26 = icmp slt i64 %c81, %v80
  br i1 %t.26, label %loop.25.body, label %loop.25.exit
loop.25.body:
  %v82 = add i64 %v48, %c81
  %p.27 = getelementptr inbounds float, ptr %in1, i64 %v82
  %v83 = load <16 x float>, ptr %p.27, align 4
  %v84 = fmul <16 x float> %v83, splat (float 0x4000000000000000)
  %v85 = add i64 %v52, %c81
  %p.28 = getelementptr inbounds float, ptr %out, i64 %v85
  %v86 = load <16 x float>, ptr %p.28, align 4
  %v87 = fadd <16 x float> %v86, %v84
  %p.29 = getelementptr inbounds float, ptr %out, i64 %v85
  store <16 x float> %v87, ptr %p.29, align 4
  %t.30 = add nsw i64 %c81, 16
  store i64 %t.30, ptr %c81.slot
  br label %loop.25.head
loop.25.exit:
  br i1 %v96, label %if.31.then, label %if.31.else
if.31.then:
  %v90 = add i64 %v48, %v80
  %p.32 = getelementptr inbounds float, ptr %in1, i64 %v90
  %v91 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.32, i32 4, <16 x i1> %v89, <16 x float> zeroinitializer)
  %v92 = fmul <16 x float> %v91, splat (float 0x4000000000000000)
  %v93 = add i64 %v52, %v80
  %p.33 = getelementptr inbounds float, ptr %out, i64 %v93
  %v94 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.33, i32 4, <16 x i1> %v89, <16 x float> zeroinitializer)
  %v95 = fadd <16 x float> %v94, %v92
  %p.34 = getelementptr inbounds float, ptr %out, i64 %v93
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v95, ptr %p.34, i32 4, <16 x i1> %v89)
  br label %if.31.end
if.31.else:
  br label %if.31.end
if.31.end:
  br label %if.9.end
if.9.else:
  br label %if.9.end
if.9.end:
  %t.35 = add nsw i64 %row, 1
  store i64 %t.35, ptr %row.slot
  br label %loop.5.head
loop.5.exit:
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
