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
  %c33.slot = alloca i64
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
  store i64 %v11, ptr %c33.slot
  br label %loop.14.head
loop.14.head:
  %c33 = load i64, ptr %c33.slot
  %t.15 = icmp slt i64 %c33, %n2
  br i1 %t.15, label %loop.14.body, label %loop.14.exit
loop.14.body:
  %v34 = sub i64 %n2, %c33
  %t.16 = call i64 @llvm.smin.i64(i64 %v34, i64 16)
  %t.17 = trunc i64 %t.16 to i32
  %t.18 = insertelement <16 x i32> poison, i32 %t.17, i64 0
  %t.19 = shufflevector <16 x i32> %t.18, <16 x i32> poison, <16 x i32> zeroinitializer
  %v35 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.19
  %v36 = add i64 %v13, %c33
  %p.20 = getelementptr inbounds float, ptr %in0, i64 %v36
  %v37 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.20, i32 4, <16 x i1> %v35, <16 x float> zeroinitializer)
  %v38 = fmul <16 x float> %v37, %v37
  %t.21 = load <16 x float>, ptr %acc6.slot
  %v39 = fadd <16 x float> %t.21, %v38
  %t.22 = load <16 x float>, ptr %acc6.slot
  %v40 = select <16 x i1> %v35, <16 x float> %v39, <16 x float> %t.22
  store <16 x float> %v40, ptr %acc6.slot
  %t.23 = add nsw i64 %c33, 16
  store i64 %t.23, ptr %c33.slot
  br label %loop.14.head
loop.14.exit:
  %t.24 = load <16 x float>, ptr %acc6.slot
  %t.25 = load <16 x float>, ptr %acc7.slot
  %v41 = fadd <16 x float> %t.24, %t.25
  %t.26 = load <16 x float>, ptr %acc8.slot
  %v42 = fadd <16 x float> %v41, %t.26
  %t.27 = load <16 x float>, ptr %acc9.slot
  %v43 = fadd <16 x float> %v42, %t.27
  %v44 = call reassoc float @llvm.vector.reduce.fadd.v16f32(float -0.0, <16 x float> %v43)
  %v45 = select i1 true, float %v44, float %v44
  %p.28 = getelementptr inbounds float, ptr %out1, i64 %row
  store float %v45, ptr %p.28, align 4
  %t.29 = add nsw i64 %row, 1
  store i64 %t.29, ptr %row.slot
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
  %t.1 = icmp eq i64 %n0, 1
  br i1 %t.1, label %team.3.alone, label %team.3.all
team.3.alone:
  call void @inner_sum.region0(ptr %ctx)
  br label %team.3.end
team.3.all:
  %t.2 = trunc i64 %n0 to i32
  call void @GOMP_parallel(ptr @inner_sum.region0, ptr %ctx, i32 %t.2, i32 0)
  br label %team.3.end
team.3.end:
  %failed = load i64, ptr %status
  %code = trunc i64 %failed to i32
  ret i32 %code
}
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{}
!1 = !{i32 1}
