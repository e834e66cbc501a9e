declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare <16 x float> @llvm.fabs.v16f32(<16 x float>)
declare i64 @llvm.smin.i64(i64, i64)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32 immarg, <16 x i1>, <16 x float>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, i32 immarg, <16 x i1>)
define internal void @outer_max.region0(ptr %ctx) #0 {
entry:
  %c3.slot = alloca i64
  %row.slot = alloca i64
  %c11.slot = alloca i64
  %c40.slot = alloca i64
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
  %v1 = mul i64 %tid, %n1
  %v2 = add i64 %v1, %n1
  store i64 %v1, ptr %c3.slot
  br label %loop.5.head
loop.5.head:
  %c3 = load i64, ptr %c3.slot
  %t.6 = icmp slt i64 %c3, %v2
  br i1 %t.6, label %loop.5.body, label %loop.5.exit
loop.5.body:
  %p.7 = getelementptr inbounds float, ptr %part_r0, i64 %c3
  store float 0xFFF0000000000000, ptr %p.7, align 4
  %t.8 = add nsw i64 %c3, 1
  store i64 %t.8, ptr %c3.slot
  br label %loop.5.head
loop.5.exit:
  %v4 = mul i64 %tid, %n3
  %v5 = udiv i64 %v4, %nth
  %v6 = add i64 %tid, 1
  %v7 = mul i64 %v6, %n3
  %v8 = udiv i64 %v7, %nth
  store i64 %v5, ptr %row.slot
  br label %loop.9.head
loop.9.head:
  %row = load i64, ptr %row.slot
  %t.10 = icmp slt i64 %row, %v8
  br i1 %t.10, label %loop.9.body, label %loop.9.exit
loop.9.body:
  %v9 = udiv i64 %n4, 64
  %v10 = mul i64 %v9, 64
  %v13 = mul i64 %row, %n5
  store i64 0, ptr %c11.slot
  br label %loop.11.head
loop.11.head:
  %c11 = load i64, ptr %c11.slot
  %t.12 = icmp slt i64 %c11, %v10
  br i1 %t.12, label %loop.11.body, label %loop.11.exit
loop.11.body:
  %v12 = add i64 %v1, %c11
  %v14 = add i64 %v13, %c11
  %p.13 = getelementptr inbounds float, ptr %in0, i64 %v14
  %v15 = load <16 x float>, ptr %p.13, align 4
  %v16 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %v15)
  %p.14 = getelementptr inbounds float, ptr %part_r0, i64 %v12
  %v17 = load <16 x float>, ptr %p.14, align 4
  %t.15 = fcmp ogt <16 x float> %v17, %v16
  %t.16 = select <16 x i1> %t.15, <16 x float> %v17, <16 x float> %v16
  %t.17 = fcmp uno <16 x float> %v17, %v17
  %v18 = select <16 x i1> %t.17, <16 x float> %v17, <16 x float> %t.16
  %p.18 = getelementptr inbounds float, ptr %part_r0, i64 %v12
  store <16 x float> %v18, ptr %p.18, align 4
  %v19 = add i64 %c11, 16
  %v20 = add i64 %v1, %v19
  %v21 = add i64 %v13, %v19
  %p.19 = getelementptr inbounds float, ptr %in0, i64 %v21
  %v22 = load <16 x float>, ptr %p.19, align 4
  %v23 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %v22)
  %p.20 = getelementptr inbounds float, ptr %part_r0, i64 %v20
  %v24 = load <16 x float>, ptr %p.20, align 4
  %t.21 = fcmp ogt <16 x float> %v24, %v23
  %t.22 = select <16 x i1> %t.21, <16 x float> %v24, <16 x float> %v23
  %t.23 = fcmp uno <16 x float> %v24, %v24
  %v25 = select <16 x i1> %t.23, <16 x float> %v24, <16 x float> %t.22
  %p.24 = getelementptr inbounds float, ptr %part_r0, i64 %v20
  store <16 x float> %v25, ptr %p.24, align 4
  %v26 = add i64 %c11, 32
  %v27 = add i64 %v1, %v26
  %v28 = add i64 %v13, %v26
  %p.25 = getelementptr inbounds float, ptr %in0, i64 %v28
  %v29 = load <16 x float>, ptr %p.25, align 4
  %v30 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %v29)
  %p.26 = getelementptr inbounds float, ptr %part_r0, i64 %v27
  %v31 = load <16 x float>, ptr %p.26, align 4
  %t.27 = fcmp ogt <16 x float> %v31, %v30
  %t.28 = select <16 x i1> %t.27, <16 x float> %v31, <16 x float> %v30
  %t.29 = fcmp uno <16 x float> %v31, %v31
  %v32 = select <16 x i1> %t.29, <16 x float> %v31, <16 x float> %t.28
  %p.30 = getelementptr inbounds float, ptr %part_r0, i64 %v27
  store <16 x float> %v32, ptr %p.30, align 4
  %v33 = add i64 %c11, 48
  %v34 = add i64 %v1, %v33
  %v35 = add i64 %v13, %v33
  %p.31 = getelementptr inbounds float, ptr %in0, i64 %v35
  %v36 = load <16 x float>, ptr %p.31, align 4
  %v37 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %v36)
  %p.32 = getelementptr inbounds float, ptr %part_r0, i64 %v34
  %v38 = load <16 x float>, ptr %p.32, align 4
  %t.33 = fcmp ogt <16 x float> %v38, %v37
  %t.34 = select <16 x i1> %t.33, <16 x float> %v38, <16 x float> %v37
  %t.35 = fcmp uno <16 x float> %v38, %v38
  %v39 = select <16 x i1> %t.35, <16 x float> %v38, <16 x float> %t.34
  %p.36 = getelementptr inbounds float, ptr %part_r0, i64 %v34
  store <16 x float> %v39, ptr %p.36, align 4
  %t.37 = add nsw i64 %c11, 64
  store i64 %t.37, ptr %c11.slot
  br label %loop.11.head
loop.11.exit:
  store i64 %v10, ptr %c40.slot
  br label %loop.38.head
loop.38.head:
  %c40 = load i64, ptr %c40.slot
  %t.39 = icmp slt i64 %c40, %n4
  br i1 %t.39, label %loop.38.body, label %loop.38.exit
loop.38.body:
  %v41 = sub i64 %n4, %c40
  %t.40 = call i64 @llvm.smin.i64(i64 %v41, i64 16)
  %t.41 = trunc i64 %t.40 to i32
  %t.42 = insertelement <16 x i32> poison, i32 %t.41, i64 0
  %t.43 = shufflevector <16 x i32> %t.42, <16 x i32> poison, <16 x i32> zeroinitializer
  %v42 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.43
  %v43 = add i64 %v1, %c40
  %v44 = add i64 %v13, %c40
  %p.44 = getelementptr inbounds float, ptr %in0, i64 %v44
  %v45 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.44, i32 4, <16 x i1> %v42, <16 x float> zeroinitializer)
  %v46 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %v45)
  %p.45 = getelementptr inbounds float, ptr %part_r0, i64 %v43
  %v47 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.45, i32 4, <16 x i1> %v42, <16 x float> zeroinitializer)
  %t.46 = fcmp ogt <16 x float> %v47, %v46
  %t.47 = select <16 x i1> %t.46, <16 x float> %v47, <16 x float> %v46
  %t.48 = fcmp uno <16 x float> %v47, %v47
  %v48 = select <16 x i1> %t.48, <16 x float> %v47, <16 x float> %t.47
  %p.49 = getelementptr inbounds float, ptr %part_r0, i64 %v43
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v48, ptr %p.49, i32 4, <16 x i1> %v42)
  %t.50 = add nsw i64 %c40, 16
  store i64 %t.50, ptr %c40.slot
  br label %loop.38.head
loop.38.exit:
  %t.51 = add nsw i64 %row, 1
  store i64 %t.51, ptr %row.slot
  br label %loop.9.head
loop.9.exit:
  ret void
}
define internal void @outer_max.region1(ptr %ctx) #0 {
entry:
  %c61.slot = alloca i64
  %total62.slot = alloca <16 x float>
  %t63.slot = alloca i64
  %total71.slot = alloca <16 x float>
  %t72.slot = alloca i64
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
  %v49 = mul i64 %tid2, %n6
  %v50 = udiv i64 %v49, %nth2
  %v51 = mul i64 %v50, 16
  %v52 = add i64 %tid2, 1
  %v53 = mul i64 %v52, %n6
  %v54 = udiv i64 %v53, %nth2
  %v55 = mul i64 %v54, 16
  %v56 = call i64 @llvm.smin.i64(i64 %v55, i64 %n4)
  %v57 = sub i64 %v56, %v51
  %v58 = udiv i64 %v57, 16
  %v59 = mul i64 %v58, 16
  %v60 = add i64 %v51, %v59
  store i64 %v51, ptr %c61.slot
  br label %loop.5.head
loop.5.head:
  %c61 = load i64, ptr %c61.slot
  %t.6 = icmp slt i64 %c61, %v60
  br i1 %t.6, label %loop.5.body, label %loop.5.exit
loop.5.body:
  store <16 x float> splat (float 0xFFF0000000000000), ptr %total62.slot
  store i64 0, ptr %t63.slot
  br label %loop.7.head
loop.7.head:
  %t63 = load i64, ptr %t63.slot
  %t.8 = icmp slt i64 %t63, %n0
  br i1 %t.8, label %loop.7.body, label %loop.7.exit
loop.7.body:
  %v64 = mul i64 %t63, %n1
  %v65 = add i64 %v64, %c61
  %p.9 = getelementptr inbounds float, ptr %part_r0, i64 %v65
  %v66 = load <16 x float>, ptr %p.9, align 4
  %t.10 = load <16 x float>, ptr %total62.slot
  %t.11 = fcmp ogt <16 x float> %t.10, %v66
  %t.12 = select <16 x i1> %t.11, <16 x float> %t.10, <16 x float> %v66
  %t.13 = fcmp uno <16 x float> %t.10, %t.10
  %v67 = select <16 x i1> %t.13, <16 x float> %t.10, <16 x float> %t.12
  store <16 x float> %v67, ptr %total62.slot
  %t.14 = add nsw i64 %t63, 1
  store i64 %t.14, ptr %t63.slot
  br label %loop.7.head
loop.7.exit:
  %t.15 = load <16 x float>, ptr %total62.slot
  %t.16 = load <16 x float>, ptr %total62.slot
  %v68 = select <16 x i1> splat (i1 true), <16 x float> %t.15, <16 x float> %t.16
  %p.17 = getelementptr inbounds float, ptr %out1, i64 %c61
  store <16 x float> %v68, ptr %p.17, align 4
  %t.18 = add nsw i64 %c61, 16
  store i64 %t.18, ptr %c61.slot
  br label %loop.5.head
loop.5.exit:
  %v78 = icmp slt i64 %v60, %v56
  br i1 %v78, label %if.19.then, label %if.19.else
if.19.then:
  %v69 = sub i64 %v56, %v60
  %t.20 = call i64 @llvm.smin.i64(i64 %v69, i64 16)
  %t.21 = trunc i64 %t.20 to i32
  %t.22 = insertelement <16 x i32> poison, i32 %t.21, i64 0
  %t.23 = shufflevector <16 x i32> %t.22, <16 x i32> poison, <16 x i32> zeroinitializer
  %v70 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.23
  store <16 x float> splat (float 0xFFF0000000000000), ptr %total71.slot
  store i64 0, ptr %t72.slot
  br label %loop.24.head
loop.24.head:
  %t72 = load i64, ptr %t72.slot
  %t.25 = icmp slt i64 %t72, %n0
  br i1 %t.25, label %loop.24.body, label %loop.24.exit
loop.24.body:
  %v73 = mul i64 %t72, %n1
  %v74 = add i64 %v73, %v60
  %p.26 = getelementptr inbounds float, ptr %part_r0, i64 %v74
  %v75 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.26, i32 4, <16 x i1> %v70, <16 x float> zeroinitializer)
  %t.27 = load <16 x float>, ptr %total71.slot
  %t.28 = fcmp ogt <16 x float> %t.27, %v75
  %t.29 = select <16 x i1> %t.28, <16 x float> %t.27, <16 x float> %v75
  %t.30 = fcmp uno <16 x float> %t.27, %t.27
  %v76 = select <16 x i1> %t.30, <16 x float> %t.27, <16 x float> %t.29
  store <16 x float> %v76, ptr %total71.slot
  %t.31 = add nsw i64 %t72, 1
  store i64 %t.31, ptr %t72.slot
  br label %loop.24.head
loop.24.exit:
  %t.32 = load <16 x float>, ptr %total71.slot
  %t.33 = load <16 x float>, ptr %total71.slot
  %v77 = select <16 x i1> splat (i1 true), <16 x float> %t.32, <16 x float> %t.33
  %p.34 = getelementptr inbounds float, ptr %out1, i64 %v60
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v77, ptr %p.34, i32 4, <16 x i1> %v70)
  br label %if.19.end
if.19.else:
  br label %if.19.end
if.19.end:
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
