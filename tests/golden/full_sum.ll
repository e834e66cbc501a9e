declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare i64 @llvm.smin.i64(i64, i64)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32 immarg, <16 x i1>, <16 x float>)
declare float @llvm.vector.reduce.fadd.v16f32(float, <16 x float>)
define internal void @full_sum.region0(ptr %ctx) #0 {
entry:
  %total1.slot = alloca double
  %row.slot = alloca i64
  %acc7.slot = alloca <16 x float>
  %acc8.slot = alloca <16 x float>
  %acc9.slot = alloca <16 x float>
  %acc10.slot = alloca <16 x float>
  %c18.slot = alloca i64
  %c42.slot = alloca i64
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
  %omp.tid = call i32 @omp_get_thread_num()
  %omp.nth = call i32 @omp_get_num_threads()
  %tid = sext i32 %omp.tid to i64
  %nth = sext i32 %omp.nth to i64
  %t.1 = mul i64 %n0, 8
  %t.2 = add i64 %t.1, 63
  %t.3 = and i64 %t.2, -64
  %part_r0 = getelementptr i8, ptr %scratch, i64 0
  %t.4 = add i64 0, %t.3
  store double 0x0000000000000000, ptr %total1.slot
  %v2 = mul i64 %tid, %n1
  %v3 = udiv i64 %v2, %nth
  %v4 = add i64 %tid, 1
  %v5 = mul i64 %v4, %n1
  %v6 = udiv i64 %v5, %nth
  store i64 %v3, ptr %row.slot
  br label %loop.5.head
loop.5.head:
  %row = load i64, ptr %row.slot
  %t.6 = icmp slt i64 %row, %v6
  br i1 %t.6, label %loop.5.body, label %loop.5.exit
loop.5.body:
  store <16 x float> splat (float 0x0000000000000000), ptr %acc7.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc8.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc9.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc10.slot
  %v11 = mul i64 %row, 8192
  %v12 = add i64 %v11, 8192
  %v13 = call i64 @llvm.smin.i64(i64 %v12, i64 %n2)
  %v14 = sub i64 %v13, %v11
  %v15 = udiv i64 %v14, 64
  %v16 = mul i64 %v15, 64
  %v17 = add i64 %v11, %v16
  store i64 %v11, ptr %c18.slot
  br label %loop.7.head
loop.7.head:
  %c18 = load i64, ptr %c18.slot
  %t.8 = icmp slt i64 %c18, %v17
  br i1 %t.8, label %loop.7.body, label %loop.7.exit
loop.7.body:
  %p.9 = getelementptr inbounds float, ptr %in0, i64 %c18
  %v19 = load <16 x float>, ptr %p.9, align 4
  %p.10 = getelementptr inbounds float, ptr %in1, i64 %c18
  %v20 = load <16 x float>, ptr %p.10, align 4
  %v21 = fsub <16 x float> %v19, %v20
  %v22 = fmul <16 x float> %v21, %v21
  %t.11 = load <16 x float>, ptr %acc7.slot
  %v23 = fadd <16 x float> %t.11, %v22
  store <16 x float> %v23, ptr %acc7.slot
  %v24 = add i64 %c18, 16
  %p.12 = getelementptr inbounds float, ptr %in0, i64 %v24
  %v25 = load <16 x float>, ptr %p.12, align 4
  %p.13 = getelementptr inbounds float, ptr %in1, i64 %v24
  %v26 = load <16 x float>, ptr %p.13, align 4
  %v27 = fsub <16 x float> %v25, %v26
  %v28 = fmul <16 x float> %v27, %v27
  %t.14 = load <16 x float>, ptr %acc8.slot
  %v29 = fadd <16 x float> %t.14, %v28
  store <16 x float> %v29, ptr %acc8.slot
  %v30 = add i64 %c18, 32
  %p.15 = getelementptr inbounds float, ptr %in0, i64 %v30
  %v31 = load <16 x float>, ptr %p.15, align 4
  %p.16 = getelementptr inbounds float, ptr %in1, i64 %v30
  %v32 = load <16 x float>, ptr %p.16, align 4
  %v33 = fsub <16 x float> %v31, %v32
  %v34 = fmul <16 x float> %v33, %v33
  %t.17 = load <16 x float>, ptr %acc9.slot
  %v35 = fadd <16 x float> %t.17, %v34
  store <16 x float> %v35, ptr %acc9.slot
  %v36 = add i64 %c18, 48
  %p.18 = getelementptr inbounds float, ptr %in0, i64 %v36
  %v37 = load <16 x float>, ptr %p.18, align 4
  %p.19 = getelementptr inbounds float, ptr %in1, i64 %v36
  %v38 = load <16 x float>, ptr %p.19, align 4
  %v39 = fsub <16 x float> %v37, %v38
  %v40 = fmul <16 x float> %v39, %v39
  %t.20 = load <16 x float>, ptr %acc10.slot
  %v41 = fadd <16 x float> %t.20, %v40
  store <16 x float> %v41, ptr %acc10.slot
  %t.21 = add nsw i64 %c18, 64
  store i64 %t.21, ptr %c18.slot
  br label %loop.7.head
loop.7.exit:
  store i64 %v17, ptr %c42.slot
  br label %loop.22.head
loop.22.head:
  %c42 = load i64, ptr %c42.slot
  %t.23 = icmp slt i64 %c42, %v13
  br i1 %t.23, label %loop.22.body, label %loop.22.exit
loop.22.body:
  %v43 = sub i64 %v13, %c42
  %t.24 = call i64 @llvm.smin.i64(i64 %v43, i64 16)
  %t.25 = trunc i64 %t.24 to i32
  %t.26 = insertelement <16 x i32> poison, i32 %t.25, i64 0
  %t.27 = shufflevector <16 x i32> %t.26, <16 x i32> poison, <16 x i32> zeroinitializer
  %v44 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.27
  %p.28 = getelementptr inbounds float, ptr %in0, i64 %c42
  %v45 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.28, i32 4, <16 x i1> %v44, <16 x float> zeroinitializer)
  %p.29 = getelementptr inbounds float, ptr %in1, i64 %c42
  %v46 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.29, i32 4, <16 x i1> %v44, <16 x float> zeroinitializer)
  %v47 = fsub <16 x float> %v45, %v46
  %v48 = fmul <16 x float> %v47, %v47
  %t.30 = load <16 x float>, ptr %acc7.slot
  %v49 = fadd <16 x float> %t.30, %v48
  %t.31 = load <16 x float>, ptr %acc7.slot
  %v50 = select <16 x i1> %v44, <16 x float> %v49, <16 x float> %t.31
  store <16 x float> %v50, ptr %acc7.slot
  %t.32 = add nsw i64 %c42, 16
  store i64 %t.32, ptr %c42.slot
  br label %loop.22.head
loop.22.exit:
  %t.33 = load <16 x float>, ptr %acc7.slot
  %t.34 = load <16 x float>, ptr %acc8.slot
  %v51 = fadd <16 x float> %t.33, %t.34
  %t.35 = load <16 x float>, ptr %acc9.slot
  %v52 = fadd <16 x float> %v51, %t.35
  %t.36 = load <16 x float>, ptr %acc10.slot
  %v53 = fadd <16 x float> %v52, %t.36
  %v54 = call reassoc float @llvm.vector.reduce.fadd.v16f32(float -0.0, <16 x float> %v53)
  %v55 = fpext float %v54 to double
  %t.37 = load double, ptr %total1.slot
  %v56 = fadd double %t.37, %v55
  store double %v56, ptr %total1.slot
  %t.38 = add nsw i64 %row, 1
  store i64 %t.38, ptr %row.slot
  br label %loop.5.head
loop.5.exit:
  %t.39 = load double, ptr %total1.slot
  %p.40 = getelementptr inbounds double, ptr %part_r0, i64 %tid
  store double %t.39, ptr %p.40, align 8
  ret void
}
define i32 @full_sum(ptr %in0, ptr %in1, ptr %out2, ptr %sizes, ptr %scratch) #0 {
entry:
  %total57.slot = alloca double
  %t58.slot = alloca i64
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
  %t.1 = mul i64 %n0, 8
  %t.2 = add i64 %t.1, 63
  %t.3 = and i64 %t.2, -64
  %part_r0 = getelementptr i8, ptr %scratch, i64 0
  %t.4 = add i64 0, %t.3
  %t.5 = icmp eq i64 %n0, 1
  br i1 %t.5, label %team.7.alone, label %team.7.all
team.7.alone:
  call void @full_sum.region0(ptr %ctx)
  br label %team.7.end
team.7.all:
  %t.6 = trunc i64 %n0 to i32
  call void @GOMP_parallel(ptr @full_sum.region0, ptr %ctx, i32 %t.6, i32 0)
  br label %team.7.end
team.7.end:
  store double 0x0000000000000000, ptr %total57.slot
  store i64 0, ptr %t58.slot
  br label %loop.8.head
loop.8.head:
  %t58 = load i64, ptr %t58.slot
  %t.9 = icmp slt i64 %t58, %n0
  br i1 %t.9, label %loop.8.body, label %loop.8.exit
loop.8.body:
  %p.10 = getelementptr inbounds double, ptr %part_r0, i64 %t58
  %v59 = load double, ptr %p.10, align 8
  %t.11 = load double, ptr %total57.slot
  %v60 = fadd double %t.11, %v59
  store double %v60, ptr %total57.slot
  %t.12 = add nsw i64 %t58, 1
  store i64 %t.12, ptr %t58.slot
  br label %loop.8.head
loop.8.exit:
  %t.13 = load double, ptr %total57.slot
  %t.14 = load double, ptr %total57.slot
  %v61 = select i1 true, double %t.13, double %t.14
  %v62 = fptrunc double %v61 to float
  %p.15 = getelementptr inbounds float, ptr %out2, i64 0
  store float %v62, ptr %p.15, align 4
  %failed = load i64, ptr %status
  %code = trunc i64 %failed to i32
  ret i32 %code
}
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{}
!1 = !{i32 1}
