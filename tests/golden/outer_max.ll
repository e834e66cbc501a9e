declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare <16 x float> @llvm.fabs.v16f32(<16 x float>)
declare i64 @llvm.smin.i64(i64, i64)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32 immarg, <16 x i1>, <16 x float>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, i32 immarg, <16 x i1>)
define internal void @outer_max.region0(ptr %ctx) #0 {
entry:
  %c2.slot = alloca i64
  %row.slot = alloca i64
  %c12.slot = alloca i64
  %c45.slot = alloca i64
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
  %v3 = add i64 %v1, %n1
  store i64 %v1, ptr %c2.slot
  br label %loop.5.head
loop.5.head:
  %c2 = load i64, ptr %c2.slot
  %t.6 = icmp slt i64 %c2, %v3
  br i1 %t.6, label %loop.5.body, label %loop.5.exit
loop.5.body:
  %p.7 = getelementptr inbounds float, ptr %part_r0, i64 %c2
  store float 0xFFF0000000000000, ptr %p.7, align 4
  %t.8 = add nsw i64 %c2, 1
  store i64 %t.8, ptr %c2.slot
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
  %v9 = sub i64 %n4, 0
  %v10 = udiv i64 %v9, 64
  %v11 = mul i64 %v10, 64
  %v14 = mul i64 %row, %n5
  store i64 0, ptr %c12.slot
  br label %loop.11.head
loop.11.head:
  %c12 = load i64, ptr %c12.slot
  %t.12 = icmp slt i64 %c12, %v11
  br i1 %t.12, label %loop.11.body, label %loop.11.exit
loop.11.body:
  %v13 = add i64 %v1, %c12
  %v15 = add i64 %v14, %c12
  %p.13 = getelementptr inbounds float, ptr %in0, i64 %v15
  %v16 = load <16 x float>, ptr %p.13, align 4
  %v17 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %v16)
  %p.14 = getelementptr inbounds float, ptr %part_r0, i64 %v13
  %v18 = load <16 x float>, ptr %p.14, align 4
  %t.15 = fcmp ogt <16 x float> %v18, %v17
  %t.16 = select <16 x i1> %t.15, <16 x float> %v18, <16 x float> %v17
  %t.17 = fcmp uno <16 x float> %v18, %v18
  %v19 = select <16 x i1> %t.17, <16 x float> %v18, <16 x float> %t.16
  %p.18 = getelementptr inbounds float, ptr %part_r0, i64 %v13
  store <16 x float> %v19, ptr %p.18, align 4
  %v20 = add i64 %c12, 16
  %v21 = add i64 %v1, %v20
  %v22 = add i64 %v14, %v20
  %p.19 = getelementptr inbounds float, ptr %in0, i64 %v22
  %v23 = load <16 x float>, ptr %p.19, align 4
  %v24 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %v23)
  %p.20 = getelementptr inbounds float, ptr %part_r0, i64 %v21
  %v25 = load <16 x float>, ptr %p.20, align 4
  %t.21 = fcmp ogt <16 x float> %v25, %v24
  %t.22 = select <16 x i1> %t.21, <16 x float> %v25, <16 x float> %v24
  %t.23 = fcmp uno <16 x float> %v25, %v25
  %v26 = select <16 x i1> %t.23, <16 x float> %v25, <16 x float> %t.22
  %p.24 = getelementptr inbounds float, ptr %part_r0, i64 %v21
  store <16 x float> %v26, ptr %p.24, align 4
  %v27 = add i64 %c12, 32
  %v28 = add i64 %v1, %v27
  %v29 = add i64 %v14, %v27
  %p.25 = getelementptr inbounds float, ptr %in0, i64 %v29
  %v30 = load <16 x float>, ptr %p.25, align 4
  %v31 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %v30)
  %p.26 = getelementptr inbounds float, ptr %part_r0, i64 %v28
  %v32 = load <16 x float>, ptr %p.26, align 4
  %t.27 = fcmp ogt <16 x float> %v32, %v31
  %t.28 = select <16 x i1> %t.27, <16 x float> %v32, <16 x float> %v31
  %t.29 = fcmp uno <16 x float> %v32, %v32
  %v33 = select <16 x i1> %t.29, <16 x float> %v32, <16 x float> %t.28
  %p.30 = getelementptr inbounds float, ptr %part_r0, i64 %v28
  store <16 x float> %v33, ptr %p.30, align 4
  %v34 = add i64 %c12, 48
  %v35 = add i64 %v1, %v34
  %v36 = add i64 %v14, %v34
  %p.31 = getelementptr inbounds float, ptr %in0, i64 %v36
  %v37 = load <16 x float>, ptr %p.31, align 4
  %v38 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %v37)
  %p.32 = getelementptr inbounds float, ptr %part_r0, i64 %v35
  %v39 = load <16 x float>, ptr %p.32, align 4
  %t.33 = fcmp ogt <16 x float> %v39, %v38
  %t.34 = select <16 x i1> %t.33, <16 x float> %v39, <16 x float> %v38
  %t.35 = fcmp uno <16 x float> %v39, %v39
  %v40 = select <16 x i1> %t.35, <16 x float> %v39, <16 x float> %t.34
  %p.36 = getelementptr inbounds float, ptr %part_r0, i64 %v35
  store <16 x float> %v40, ptr %p.36, align 4
  %t.37 = add nsw i64 %c12, 64
  store i64 %t.37, ptr %c12.slot
  br label %loop.11.head
loop.11.exit:
  %v41 = sub i64 %n4, %v11
  %v42 = udiv i64 %v41, 16
  %v43 = mul i64 %v42, 16
  %v44 = add i64 %v11, %v43
  store i64 %v11, ptr %c45.slot
  br label %loop.38.head
loop.38.head:
  %c45 = load i64, ptr %c45.slot
  %t.39 = icmp slt i64 %c45, %v44
  br i1 %t.39, label %loop.38.body, label %loop.38.exit
loop.38.body:
  %v46 = add i64 %v1, %c45
  %v47 = add i64 %v14, %c45
  %p.40 = getelementptr inbounds float, ptr %in0, i64 %v47
  %v48 = load <16 x float>, ptr %p.40, align 4
  %v49 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %v48)
  %p.41 = getelementptr inbounds float, ptr %part_r0, i64 %v46
  %v50 = load <16 x float>, ptr %p.41, align 4
  %t.42 = fcmp ogt <16 x float> %v50, %v49
  %t.43 = select <16 x i1> %t.42, <16 x float> %v50, <16 x float> %v49
  %t.44 = fcmp uno <16 x float> %v50, %v50
  %v51 = select <16 x i1> %t.44, <16 x float> %v50, <16 x float> %t.43
  %p.45 = getelementptr inbounds float, ptr %part_r0, i64 %v46
  store <16 x float> %v51, ptr %p.45, align 4
  %t.46 = add nsw i64 %c45, 16
  store i64 %t.46, ptr %c45.slot
  br label %loop.38.head
loop.38.exit:
  %v52 = sub i64 %n4, %v44
  %v60 = icmp slt i64 %v44, %n4
  br i1 %v60, label %if.47.then, label %if.47.else
if.47.then:
  %t.48 = call i64 @llvm.smin.i64(i64 %v52, i64 16)
  %t.49 = trunc i64 %t.48 to i32
  %t.50 = insertelement <16 x i32> poison, i32 %t.49, i64 0
  %t.51 = shufflevector <16 x i32> %t.50, <16 x i32> poison, <16 x i32> zeroinitializer
  %v53 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.51
  %v54 = add i64 %v1, %v44
  %v55 = add i64 %v14, %v44
  %p.52 = getelementptr inbounds float, ptr %in0, i64 %v55
  %v56 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.52, i32 4, <16 x i1> %v53, <16 x float> zeroinitializer)
  %v57 = call <16 x float> @llvm.fabs.v16f32(<16 x float> %v56)
  %p.53 = getelementptr inbounds float, ptr %part_r0, i64 %v54
  %v58 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.53, i32 4, <16 x i1> %v53, <16 x float> zeroinitializer)
  %t.54 = fcmp ogt <16 x float> %v58, %v57
  %t.55 = select <16 x i1> %t.54, <16 x float> %v58, <16 x float> %v57
  %t.56 = fcmp uno <16 x float> %v58, %v58
  %v59 = select <16 x i1> %t.56, <16 x float> %v58, <16 x float> %t.55
  %p.57 = getelementptr inbounds float, ptr %part_r0, i64 %v54
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v59, ptr %p.57, i32 4, <16 x i1> %v53)
  br label %if.47.end
if.47.else:
  br label %if.47.end
if.47.end:
  %t.58 = add nsw i64 %row, 1
  store i64 %t.58, ptr %row.slot
  br label %loop.9.head
loop.9.exit:
  ret void
}
define internal void @outer_max.region1(ptr %ctx) #0 {
entry:
  %c73.slot = alloca i64
  %total74.slot = alloca <16 x float>
  %t75.slot = alloca i64
  %total83.slot = alloca <16 x float>
  %t84.slot = alloca i64
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
  %v61 = mul i64 %tid2, %n6
  %v62 = udiv i64 %v61, %nth2
  %v63 = mul i64 %v62, 16
  %v64 = add i64 %tid2, 1
  %v65 = mul i64 %v64, %n6
  %v66 = udiv i64 %v65, %nth2
  %v67 = mul i64 %v66, 16
  %v68 = call i64 @llvm.smin.i64(i64 %v67, i64 %n4)
  %v69 = sub i64 %v68, %v63
  %v70 = udiv i64 %v69, 16
  %v71 = mul i64 %v70, 16
  %v72 = add i64 %v63, %v71
  store i64 %v63, ptr %c73.slot
  br label %loop.5.head
loop.5.head:
  %c73 = load i64, ptr %c73.slot
  %t.6 = icmp slt i64 %c73, %v72
  br i1 %t.6, label %loop.5.body, label %loop.5.exit
loop.5.body:
  store <16 x float> splat (float 0xFFF0000000000000), ptr %total74.slot
  store i64 0, ptr %t75.slot
  br label %loop.7.head
loop.7.head:
  %t75 = load i64, ptr %t75.slot
  %t.8 = icmp slt i64 %t75, %n0
  br i1 %t.8, label %loop.7.body, label %loop.7.exit
loop.7.body:
  %v76 = mul i64 %t75, %n1
  %v77 = add i64 %v76, %c73
  %p.9 = getelementptr inbounds float, ptr %part_r0, i64 %v77
  %v78 = load <16 x float>, ptr %p.9, align 4
  %t.10 = load <16 x float>, ptr %total74.slot
  %t.11 = fcmp ogt <16 x float> %t.10, %v78
  %t.12 = select <16 x i1> %t.11, <16 x float> %t.10, <16 x float> %v78
  %t.13 = fcmp uno <16 x float> %t.10, %t.10
  %v79 = select <16 x i1> %t.13, <16 x float> %t.10, <16 x float> %t.12
  store <16 x float> %v79, ptr %total74.slot
  %t.14 = add nsw i64 %t75, 1
  store i64 %t.14, ptr %t75.slot
  br label %loop.7.head
loop.7.exit:
  %t.15 = load <16 x float>, ptr %total74.slot
  %t.16 = load <16 x float>, ptr %total74.slot
  %v80 = select <16 x i1> splat (i1 true), <16 x float> %t.15, <16 x float> %t.16
  %p.17 = getelementptr inbounds float, ptr %out1, i64 %c73
  store <16 x float> %v80, ptr %p.17, align 4
  %t.18 = add nsw i64 %c73, 16
  store i64 %t.18, ptr %c73.slot
  br label %loop.5.head
loop.5.exit:
  %v90 = icmp slt i64 %v72, %v68
  br i1 %v90, label %if.19.then, label %if.19.else
if.19.then:
  %v81 = sub i64 %v68, %v72
  %t.20 = call i64 @llvm.smin.i64(i64 %v81, i64 16)
  %t.21 = trunc i64 %t.20 to i32
  %t.22 = insertelement <16 x i32> poison, i32 %t.21, i64 0
  %t.23 = shufflevector <16 x i32> %t.22, <16 x i32> poison, <16 x i32> zeroinitializer
  %v82 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.23
  store <16 x float> splat (float 0xFFF0000000000000), ptr %total83.slot
  store i64 0, ptr %t84.slot
  br label %loop.24.head
loop.24.head:
  %t84 = load i64, ptr %t84.slot
  %t.25 = icmp slt i64 %t84, %n0
  br i1 %t.25, label %loop.24.body, label %loop.24.exit
loop.24.body:
  %v85 = mul i64 %t84, %n1
  %v86 = add i64 %v85, %v72
  %p.26 = getelementptr inbounds float, ptr %part_r0, i64 %v86
  %v87 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.26, i32 4, <16 x i1> %v82, <16 x float> zeroinitializer)
  %t.27 = load <16 x float>, ptr %total83.slot
  %t.28 = fcmp ogt <16 x float> %t.27, %v87
  %t.29 = select <16 x i1> %t.28, <16 x float> %t.27, <16 x float> %v87
  %t.30 = fcmp uno <16 x float> %t.27, %t.27
  %v88 = select <16 x i1> %t.30, <16 x float> %t.27, <16 x float> %t.29
  store <16 x float> %v88, ptr %total83.slot
  %t.31 = add nsw i64 %t84, 1
  store i64 %t.31, ptr %t84.slot
  br label %loop.24.head
loop.24.exit:
  %t.32 = load <16 x float>, ptr %total83.slot
  %t.33 = load <16 x float>, ptr %total83.slot
  %v89 = select <16 x i1> splat (i1 true), <16 x float> %t.32, <16 x float> %t.33
  %p.34 = getelementptr inbounds float, ptr %out1, i64 %v72
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v89, ptr %p.34, i32 4, <16 x i1> %v82)
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
  %t.5 = trunc i64 %n0 to i32
  call void @GOMP_parallel(ptr @outer_max.region0, ptr %ctx, i32 %t.5, i32 0)
  %t.6 = trunc i64 %n0 to i32
  call void @GOMP_parallel(ptr @outer_max.region1, ptr %ctx, i32 %t.6, i32 0)
  %failed = load i64, ptr %status
  %code = trunc i64 %failed to i32
  ret i32 %code
}
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{}
!1 = !{i32 1}
