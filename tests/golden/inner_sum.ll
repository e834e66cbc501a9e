declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare i64 @llvm.smin.i64(i64, i64)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32 immarg, <16 x i1>, <16 x float>)
declare float @llvm.vector.reduce.fadd.v16f32(float, <16 x float>)
define internal void @inner_sum.region0(ptr %ctx) #0 {
entry:
  %row.slot = alloca i64
  %acc6.slot = alloca <16 x float>
  %acc7.slot = alloca <16 x float>
  %acc8.slot = alloca <16 x float>
  %acc9.slot = alloca <16 x float>
  %c12.slot = alloca i64
  %c37.slot = alloca i64
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
  store <16 x float> splat (float 0x0000000000000000), ptr %acc6.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc7.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc8.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc9.slot
  %v10 = udiv i64 %n2, 64
  %v11 = mul i64 %v10, 64
  %v13 = mul i64 %row, %n3
  store i64 0, ptr %c12.slot
  br label %loop.3.head
loop.3.head:
  %c12 = load i64, ptr %c12.slot
  %t.4 = icmp slt i64 %c12, %v11
  br i1 %t.4, label %loop.3.body, label %loop.3.exit
loop.3.body:
  %v14 = add i64 %v13, %c12
  %p.5 = getelementptr inbounds float, ptr %in0, i64 %v14
  %v15 = load <16 x float>, ptr %p.5, align 4
  %v16 = fmul <16 x float> %v15, %v15
  %t.6 = load <16 x float>, ptr %acc6.slot
  %v17 = fadd <16 x float> %t.6, %v16
  store <16 x float> %v17, ptr %acc6.slot
  %v18 = add i64 %c12, 16
  %v19 = add i64 %v13, %v18
  %p.7 = getelementptr inbounds float, ptr %in0, i64 %v19
  %v20 = load <16 x float>, ptr %p.7, align 4
  %v21 = fmul <16 x float> %v20, %v20
  %t.8 = load <16 x float>, ptr %acc7.slot
  %v22 = fadd <16 x float> %t.8, %v21
  store <16 x float> %v22, ptr %acc7.slot
  %v23 = add i64 %c12, 32
  %v24 = add i64 %v13, %v23
  %p.9 = getelementptr inbounds float, ptr %in0, i64 %v24
  %v25 = load <16 x float>, ptr %p.9, align 4
  %v26 = fmul <16 x float> %v25, %v25
  %t.10 = load <16 x float>, ptr %acc8.slot
  %v27 = fadd <16 x float> %t.10, %v26
  store <16 x float> %v27, ptr %acc8.slot
  %v28 = add i64 %c12, 48
  %v29 = add i64 %v13, %v28
  %p.11 = getelementptr inbounds float, ptr %in0, i64 %v29
  %v30 = load <16 x float>, ptr %p.11, align 4
  %v31 = fmul <16 x float> %v30, %v30
  %t.12 = load <16 x float>, ptr %acc9.slot
  %v32 = fadd <16 x float> %t.12, %v31
  store <16 x float> %v32, ptr %acc9.slot
  %t.13 = add nsw i64 %c12, 64
  store i64 %t.13, ptr %c12.slot
  br label %loop.3.head
loop.3.exit:
  %v33 = sub i64 %n2, %v11
  %v34 = udiv i64 %v33, 16
  %v35 = mul i64 %v34, 16
  %v36 = add i64 %v11, %v35
  store i64 %v11, ptr %c37.slot
  br label %loop.14.head
loop.14.head:
  %c37 = load i64, ptr %c37.slot
  %t.15 = icmp slt i64 %c37, %v36
  br i1 %t.15, label %loop.14.body, label %loop.14.exit
loop.14.body:
  %v38 = add i64 %v13, %c37
  %p.16 = getelementptr inbounds float, ptr %in0, i64 %v38
  %v39 = load <16 x float>, ptr %p.16, align 4
  %v40 = fmul <16 x float> %v39, %v39
  %t.17 = load <16 x float>, ptr %acc6.slot
  %v41 = fadd <16 x float> %t.17, %v40
  store <16 x float> %v41, ptr %acc6.slot
  %t.18 = add nsw i64 %c37, 16
  store i64 %t.18, ptr %c37.slot
  br label %loop.14.head
loop.14.exit:
  %v49 = icmp slt i64 %v36, %n2
  br i1 %v49, label %if.19.then, label %if.19.else
if.19.then:
  %v42 = sub i64 %n2, %v36
  %t.20 = call i64 @llvm.smin.i64(i64 %v42, i64 16)
  %t.21 = trunc i64 %t.20 to i32
  %t.22 = insertelement <16 x i32> poison, i32 %t.21, i64 0
  %t.23 = shufflevector <16 x i32> %t.22, <16 x i32> poison, <16 x i32> zeroinitializer
  %v43 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.23
  %v44 = add i64 %v13, %v36
  %p.24 = getelementptr inbounds float, ptr %in0, i64 %v44
  %v45 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.24, i32 4, <16 x i1> %v43, <16 x float> zeroinitializer)
  %v46 = fmul <16 x float> %v45, %v45
  %t.25 = load <16 x float>, ptr %acc6.slot
  %v47 = fadd <16 x float> %t.25, %v46
  %t.26 = load <16 x float>, ptr %acc6.slot
  %v48 = select <16 x i1> %v43, <16 x float> %v47, <16 x float> %t.26
  store <16 x float> %v48, ptr %acc6.slot
  br label %if.19.end
if.19.else:
  br label %if.19.end
if.19.end:
  %t.27 = load <16 x float>, ptr %acc6.slot
  %t.28 = load <16 x float>, ptr %acc7.slot
  %v50 = fadd <16 x float> %t.27, %t.28
  %t.29 = load <16 x float>, ptr %acc8.slot
  %v51 = fadd <16 x float> %v50, %t.29
  %t.30 = load <16 x float>, ptr %acc9.slot
  %v52 = fadd <16 x float> %v51, %t.30
  %v53 = call reassoc float @llvm.vector.reduce.fadd.v16f32(float -0.0, <16 x float> %v52)
  %v54 = select i1 true, float %v53, float %v53
  %p.31 = getelementptr inbounds float, ptr %out1, i64 %row
  store float %v54, ptr %p.31, align 4
  %t.32 = add nsw i64 %row, 1
  store i64 %t.32, ptr %row.slot
  br label %loop.1.head
loop.1.exit:
  ret void
}
define i32 @inner_sum(ptr %in0, ptr %out1, ptr %sizes, ptr %scratch) #0 {
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
  %t.1 = trunc i64 %n0 to i32
  call void @GOMP_parallel(ptr @inner_sum.region0, ptr %ctx, i32 %t.1, i32 0)
  %failed = load i64, ptr %status
  %code = trunc i64 %failed to i32
  ret i32 %code
}
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{}
!1 = !{i32 1}
