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
  %c13.slot = alloca i64
  %c38.slot = alloca i64
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
  %v10 = sub i64 %n2, 0
  %v11 = udiv i64 %v10, 64
  %v12 = mul i64 %v11, 64
  %v14 = mul i64 %row, %n3
  store i64 0, ptr %c13.slot
  br label %loop.3.head
loop.3.head:
  %c13 = load i64, ptr %c13.slot
  %t.4 = icmp slt i64 %c13, %v12
  br i1 %t.4, label %loop.3.body, label %loop.3.exit
loop.3.body:
  %v15 = add i64 %v14, %c13
  %p.5 = getelementptr inbounds float, ptr %in0, i64 %v15
  %v16 = load <16 x float>, ptr %p.5, align 4
  %v17 = fmul <16 x float> %v16, %v16
  %t.6 = load <16 x float>, ptr %acc6.slot
  %v18 = fadd <16 x float> %t.6, %v17
  store <16 x float> %v18, ptr %acc6.slot
  %v19 = add i64 %c13, 16
  %v20 = add i64 %v14, %v19
  %p.7 = getelementptr inbounds float, ptr %in0, i64 %v20
  %v21 = load <16 x float>, ptr %p.7, align 4
  %v22 = fmul <16 x float> %v21, %v21
  %t.8 = load <16 x float>, ptr %acc7.slot
  %v23 = fadd <16 x float> %t.8, %v22
  store <16 x float> %v23, ptr %acc7.slot
  %v24 = add i64 %c13, 32
  %v25 = add i64 %v14, %v24
  %p.9 = getelementptr inbounds float, ptr %in0, i64 %v25
  %v26 = load <16 x float>, ptr %p.9, align 4
  %v27 = fmul <16 x float> %v26, %v26
  %t.10 = load <16 x float>, ptr %acc8.slot
  %v28 = fadd <16 x float> %t.10, %v27
  store <16 x float> %v28, ptr %acc8.slot
  %v29 = add i64 %c13, 48
  %v30 = add i64 %v14, %v29
  %p.11 = getelementptr inbounds float, ptr %in0, i64 %v30
  %v31 = load <16 x float>, ptr %p.11, align 4
  %v32 = fmul <16 x float> %v31, %v31
  %t.12 = load <16 x float>, ptr %acc9.slot
  %v33 = fadd <16 x float> %t.12, %v32
  store <16 x float> %v33, ptr %acc9.slot
  %t.13 = add nsw i64 %c13, 64
  store i64 %t.13, ptr %c13.slot
  br label %loop.3.head
loop.3.exit:
  %v34 = sub i64 %n2, %v12
  %v35 = udiv i64 %v34, 16
  %v36 = mul i64 %v35, 16
  %v37 = add i64 %v12, %v36
  store i64 %v12, ptr %c38.slot
  br label %loop.14.head
loop.14.head:
  %c38 = load i64, ptr %c38.slot
  %t.15 = icmp slt i64 %c38, %v37
  br i1 %t.15, label %loop.14.body, label %loop.14.exit
loop.14.body:
  %v39 = add i64 %v14, %c38
  %p.16 = getelementptr inbounds float, ptr %in0, i64 %v39
  %v40 = load <16 x float>, ptr %p.16, align 4
  %v41 = fmul <16 x float> %v40, %v40
  %t.17 = load <16 x float>, ptr %acc6.slot
  %v42 = fadd <16 x float> %t.17, %v41
  store <16 x float> %v42, ptr %acc6.slot
  %t.18 = add nsw i64 %c38, 16
  store i64 %t.18, ptr %c38.slot
  br label %loop.14.head
loop.14.exit:
  %v43 = sub i64 %n2, %v37
  %v50 = icmp slt i64 %v37, %n2
  br i1 %v50, label %if.19.then, label %if.19.else
if.19.then:
  %t.20 = call i64 @llvm.smin.i64(i64 %v43, i64 16)
  %t.21 = trunc i64 %t.20 to i32
  %t.22 = insertelement <16 x i32> poison, i32 %t.21, i64 0
  %t.23 = shufflevector <16 x i32> %t.22, <16 x i32> poison, <16 x i32> zeroinitializer
  %v44 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.23
  %v45 = add i64 %v14, %v37
  %p.24 = getelementptr inbounds float, ptr %in0, i64 %v45
  %v46 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.24, i32 4, <16 x i1> %v44, <16 x float> zeroinitializer)
  %v47 = fmul <16 x float> %v46, %v46
  %t.25 = load <16 x float>, ptr %acc6.slot
  %v48 = fadd <16 x float> %t.25, %v47
  %t.26 = load <16 x float>, ptr %acc6.slot
  %v49 = select <16 x i1> %v44, <16 x float> %v48, <16 x float> %t.26
  store <16 x float> %v49, ptr %acc6.slot
  br label %if.19.end
if.19.else:
  br label %if.19.end
if.19.end:
  %t.27 = load <16 x float>, ptr %acc6.slot
  %t.28 = load <16 x float>, ptr %acc7.slot
  %v51 = fadd <16 x float> %t.27, %t.28
  %t.29 = load <16 x float>, ptr %acc8.slot
  %v52 = fadd <16 x float> %v51, %t.29
  %t.30 = load <16 x float>, ptr %acc9.slot
  %v53 = fadd <16 x float> %v52, %t.30
  %v54 = call reassoc float @llvm.vector.reduce.fadd.v16f32(float -0.0, <16 x float> %v53)
  %v55 = select i1 true, float %v54, float %v54
  %p.31 = getelementptr inbounds float, ptr %out1, i64 %row
  store float %v55, ptr %p.31, align 4
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
