declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare i64 @llvm.smin.i64(i64, i64)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32 immarg, <16 x i1>, <16 x float>)
declare void @llvm.masked.store.v16f32.p0(<16 x float>, ptr, i32 immarg, <16 x i1>)
define internal void @embedding.region0(ptr %ctx) #0 {
entry:
  %row.slot = alloca i64
  %c23.slot = alloca i64
  %c50.slot = alloca i64
  %c70.slot = alloca i64
  %c94.slot = alloca i64
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
  %v15 = icmp ne i64 %n3, 0
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
  %v24 = mul i64 %v11, %n5
  %t.5 = insertelement <16 x i1> poison, i1 %v14, i64 0
  %v26 = shufflevector <16 x i1> %t.5, <16 x i1> poison, <16 x i32> zeroinitializer
  %v29 = mul i64 %v6, %n6
  br i1 %v15, label %if.6.then, label %if.6.else
if.6.then:
  %v16 = mul i64 %v7, 8192
  %v17 = add i64 %v16, 8192
  %v18 = call i64 @llvm.smin.i64(i64 %v17, i64 %n4)
  %v19 = sub i64 %v18, %v16
  %v20 = udiv i64 %v19, 64
  %v21 = mul i64 %v20, 64
  %v22 = add i64 %v16, %v21
  store i64 %v16, ptr %c23.slot
  br label %loop.7.head
loop.7.head:
  %c23 = load i64, ptr %c23.slot
  %t.8 = icmp slt i64 %c23, %v22
  br i1 %t.8, label %loop.7.body, label %loop.7.exit
loop.7.body:
  %v25 = add i64 %v24, %c23
  %p.9 = getelementptr inbounds float, ptr %in1, i64 %v25
  %v27 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.9, i32 4, <16 x i1> %v26, <16 x float> zeroinitializer)
  %v28 = fmul <16 x float> %v27, splat (float 0x4000000000000000)
  %v30 = add i64 %v29, %c23
  %p.10 = getelementptr inbounds float, ptr %out2, i64 %v30
  store <16 x float> %v28, ptr %p.10, align 64, !nontemporal !1
  %v31 = add i64 %c23, 16
  %v32 = add i64 %v24, %v31
  %p.11 = getelementptr inbounds float, ptr %in1, i64 %v32
  %v33 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.11, i32 4, <16 x i1> %v26, <16 x float> zeroinitializer)
  %v34 = fmul <16 x float> %v33, splat (float 0x4000000000000000)
  %v35 = add i64 %v29, %v31
  %p.12 = getelementptr inbounds float, ptr %out2, i64 %v35
  store <16 x float> %v34, ptr %p.12, align 64, !nontemporal !1
  %v36 = add i64 %c23, 32
  %v37 = add i64 %v24, %v36
  %p.13 = getelementptr inbounds float, ptr %in1, i64 %v37
  %v38 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.13, i32 4, <16 x i1> %v26, <16 x float> zeroinitializer)
  %v39 = fmul <16 x float> %v38, splat (float 0x4000000000000000)
  %v40 = add i64 %v29, %v36
  %p.14 = getelementptr inbounds float, ptr %out2, i64 %v40
  store <16 x float> %v39, ptr %p.14, align 64, !nontemporal !1
  %v41 = add i64 %c23, 48
  %v42 = add i64 %v24, %v41
  %p.15 = getelementptr inbounds float, ptr %in1, i64 %v42
  %v43 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.15, i32 4, <16 x i1> %v26, <16 x float> zeroinitializer)
  %v44 = fmul <16 x float> %v43, splat (float 0x4000000000000000)
  %v45 = add i64 %v29, %v41
  %p.16 = getelementptr inbounds float, ptr %out2, i64 %v45
  store <16 x float> %v44, ptr %p.16, align 64, !nontemporal !1
  %t.17 = add nsw i64 %c23, 64
  store i64 %t.17, ptr %c23.slot
  br label %loop.7.head
loop.7.exit:
  %v46 = sub i64 %v18, %v22
  %v47 = udiv i64 %v46, 16
  %v48 = mul i64 %v47, 16
  %v49 = add i64 %v22, %v48
  store i64 %v22, ptr %c50.slot
  br label %loop.18.head
loop.18.head:
  %c50 = load i64, ptr %c50.slot
  %t.19 = icmp slt i64 %c50, %v49
  br i1 %t.19, label %loop.18.body, label %loop.18.exit
loop.18.body:
  %v51 = add i64 %v24, %c50
  %p.20 = getelementptr inbounds float, ptr %in1, i64 %v51
  %v52 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.20, i32 4, <16 x i1> %v26, <16 x float> zeroinitializer)
  %v53 = fmul <16 x float> %v52, splat (float 0x4000000000000000)
  %v54 = add i64 %v29, %c50
  %p.21 = getelementptr inbounds float, ptr %out2, i64 %v54
  store <16 x float> %v53, ptr %p.21, align 64, !nontemporal !1
  %t.22 = add nsw i64 %c50, 16
  store i64 %t.22, ptr %c50.slot
  br label %loop.18.head
loop.18.exit:
  %v62 = icmp slt i64 %v49, %v18
  br i1 %v62, label %if.23.then, label %if.23.else
if.23.then:
  %v55 = sub i64 %v18, %v49
  %t.24 = call i64 @llvm.smin.i64(i64 %v55, i64 16)
  %t.25 = trunc i64 %t.24 to i32
  %t.26 = insertelement <16 x i32> poison, i32 %t.25, i64 0
  %t.27 = shufflevector <16 x i32> %t.26, <16 x i32> poison, <16 x i32> zeroinitializer
  %v56 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.27
  %v57 = add i64 %v24, %v49
  %v58 = and <16 x i1> %v26, %v56
  %p.28 = getelementptr inbounds float, ptr %in1, i64 %v57
  %v59 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.28, i32 4, <16 x i1> %v58, <16 x float> zeroinitializer)
  %v60 = fmul <16 x float> %v59, splat (float 0x4000000000000000)
  %v61 = add i64 %v29, %v49
  %p.29 = getelementptr inbounds float, ptr %out2, i64 %v61
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v60, ptr %p.29, i32 4, <16 x i1> %v56)
  br label %if.23.end
if.23.else:
  br label %if.23.end
if.23.end:
  br label %if.6.end
if.6.else:
  %v63 = mul i64 %v7, 8192
  %v64 = add i64 %v63, 8192
  %v65 = call i64 @llvm.smin.i64(i64 %v64, i64 %n4)
  %v66 = sub i64 %v65, %v63
  %v67 = udiv i64 %v66, 64
  %v68 = mul i64 %v67, 64
  %v69 = add i64 %v63, %v68
  store i64 %v63, ptr %c70.slot
  br label %loop.30.head
loop.30.head:
  %c70 = load i64, ptr %c70.slot
  %t.31 = icmp slt i64 %c70, %v69
  br i1 %t.31, label %loop.30.body, label %loop.30.exit
loop.30.body:
  %v71 = add i64 %v24, %c70
  %p.32 = getelementptr inbounds float, ptr %in1, i64 %v71
  %v72 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.32, i32 4, <16 x i1> %v26, <16 x float> zeroinitializer)
  %v73 = fmul <16 x float> %v72, splat (float 0x4000000000000000)
  %v74 = add i64 %v29, %c70
  %p.33 = getelementptr inbounds float, ptr %out2, i64 %v74
  store <16 x float> %v73, ptr %p.33, align 4
  %v75 = add i64 %c70, 16
  %v76 = add i64 %v24, %v75
  %p.34 = getelementptr inbounds float, ptr %in1, i64 %v76
  %v77 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.34, i32 4, <16 x i1> %v26, <16 x float> zeroinitializer)
  %v78 = fmul <16 x float> %v77, splat (float 0x4000000000000000)
  %v79 = add i64 %v29, %v75
  %p.35 = getelementptr inbounds float, ptr %out2, i64 %v79
  store <16 x float> %v78, ptr %p.35, align 4
  %v80 = add i64 %c70, 32
  %v81 = add i64 %v24, %v80
  %p.36 = getelementptr inbounds float, ptr %in1, i64 %v81
  %v82 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.36, i32 4, <16 x i1> %v26, <16 x float> zeroinitializer)
  %v83 = fmul <16 x float> %v82, splat (float 0x4000000000000000)
  %v84 = add i64 %v29, %v80
  %p.37 = getelementptr inbounds float, ptr %out2, i64 %v84
  store <16 x float> %v83, ptr %p.37, align 4
  %v85 = add i64 %c70, 48
  %v86 = add i64 %v24, %v85
  %p.38 = getelementptr inbounds float, ptr %in1, i64 %v86
  %v87 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.38, i32 4, <16 x i1> %v26, <16 x float> zeroinitializer)
  %v88 = fmul <16 x float> %v87, splat (float 0x4000000000000000)
  %v89 = add i64 %v29, %v85
  %p.39 = getelementptr inbounds float, ptr %out2, i64 %v89
  store <16 x float> %v88, ptr %p.39, align 4
  %t.40 = add nsw i64 %c70, 64
  store i64 %t.40, ptr %c70.slot
  br label %loop.30.head
loop.30.exit:
  %v90 = sub i64 %v65, %v69
  %v91 = udiv i64 %v90, 16
  %v92 = mul i64 %v91, 16
  %v93 = add i64 %v69, %v92
  store i64 %v69, ptr %c94.slot
  br label %loop.41.head
loop.41.head:
  %c94 = load i64, ptr %c94.slot
  %t.42 = icmp slt i64 %c94, %v93
  br i1 %t.42, label %loop.41.body, label %loop.41.exit
loop.41.body:
  %v95 = add i64 %v24, %c94
  %p.43 = getelementptr inbounds float, ptr %in1, i64 %v95
  %v96 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.43, i32 4, <16 x i1> %v26, <16 x float> zeroinitializer)
  %v97 = fmul <16 x float> %v96, splat (float 0x4000000000000000)
  %v98 = add i64 %v29, %c94
  %p.44 = getelementptr inbounds float, ptr %out2, i64 %v98
  store <16 x float> %v97, ptr %p.44, align 4
  %t.45 = add nsw i64 %c94, 16
  store i64 %t.45, ptr %c94.slot
  br label %loop.41.head
loop.41.exit:
  %v106 = icmp slt i64 %v93, %v65
  br i1 %v106, label %if.46.then, label %if.46.else
if.46.then:
  %v99 = sub i64 %v65, %v93
  %t.47 = call i64 @llvm.smin.i64(i64 %v99, i64 16)
  %t.48 = trunc i64 %t.47 to i32
  %t.49 = insertelement <16 x i32> poison, i32 %t.48, i64 0
  %t.50 = shufflevector <16 x i32> %t.49, <16 x i32> poison, <16 x i32> zeroinitializer
  %v100 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.50
  %v101 = add i64 %v24, %v93
  %v102 = and <16 x i1> %v26, %v100
  %p.51 = getelementptr inbounds float, ptr %in1, i64 %v101
  %v103 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.51, i32 4, <16 x i1> %v102, <16 x float> zeroinitializer)
  %v104 = fmul <16 x float> %v103, splat (float 0x4000000000000000)
  %v105 = add i64 %v29, %v93
  %p.52 = getelementptr inbounds float, ptr %out2, i64 %v105
  call void @llvm.masked.store.v16f32.p0(<16 x float> %v104, ptr %p.52, i32 4, <16 x i1> %v100)
  br label %if.46.end
if.46.else:
  br label %if.46.end
if.46.end:
  br label %if.6.end
if.6.end:
  %t.53 = add nsw i64 %row, 1
  store i64 %t.53, ptr %row.slot
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
  %t.1 = trunc i64 %n0 to i32
  call void @GOMP_parallel(ptr @embedding.region0, ptr %ctx, i32 %t.1, i32 0)
  %failed = load i64, ptr %status
  %code = trunc i64 %failed to i32
  ret i32 %code
}
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{}
!1 = !{i32 1}
