declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
define internal void @cumulative.region0(ptr %ctx) #0 {
entry:
  %row.slot = alloca i64
  %scan6.slot = alloca double
  %c7.slot = alloca i64
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
  store double 0x0000000000000000, ptr %scan6.slot
  %v8 = mul i64 %row, %n3
  %v15 = mul i64 %row, %n4
  store i64 0, ptr %c7.slot
  br label %loop.3.head
loop.3.head:
  %c7 = load i64, ptr %c7.slot
  %t.4 = icmp slt i64 %c7, %n2
  br i1 %t.4, label %loop.3.body, label %loop.3.exit
loop.3.body:
  %v9 = add i64 %v8, %c7
  %p.5 = getelementptr inbounds float, ptr %in0, i64 %v9
  %v10 = load float, ptr %p.5, align 4
  %v11 = fmul float %v10, 0x3FE0000000000000
  %v12 = fpext float %v11 to double
  %t.6 = load double, ptr %scan6.slot
  %v13 = fadd double %t.6, %v12
  store double %v13, ptr %scan6.slot
  %v14 = fptrunc double %v13 to float
  %v16 = add i64 %v15, %c7
  %p.7 = getelementptr inbounds float, ptr %out1, i64 %v16
  store float %v14, ptr %p.7, align 4
  %t.8 = add nsw i64 %c7, 1
  store i64 %t.8, ptr %c7.slot
  br label %loop.3.head
loop.3.exit:
  %t.9 = add nsw i64 %row, 1
  store i64 %t.9, ptr %row.slot
  br label %loop.1.head
loop.1.exit:
  ret void
}
define i32 @cumulative(ptr %in0, ptr %out1, ptr %sizes, ptr %scratch) #0 {
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
  %t.1 = icmp eq i64 %n0, 1
  br i1 %t.1, label %team.3.alone, label %team.3.all
team.3.alone:
  call void @cumulative.region0(ptr %ctx)
  br label %team.3.end
team.3.all:
  %t.2 = trunc i64 %n0 to i32
  call void @GOMP_parallel(ptr @cumulative.region0, ptr %ctx, i32 %t.2, i32 0)
  br label %team.3.end
team.3.end:
  %failed = load i64, ptr %status
  %code = trunc i64 %failed to i32
  ret i32 %code
}
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{}
!1 = !{i32 1}
