declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare i64 @llvm.smin.i64(i64, i64)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32 immarg, <16 x i1>, <16 x float>)
declare double @llvm.vector.reduce.fadd.v16f64(double, <16 x double>)
define internal void @full_sum.region0(ptr %ctx) #0 {
entry:
  %total1.slot = alloca double
  %row.slot = alloca i64
  %acc7.slot = alloca <16 x double>
  %acc8.slot = alloca <16 x double>
  %acc9.slot = alloca <16 x double>
  %acc10.slot = alloca <16 x double>
  %c18.slot = alloca i64
  %c46.slot = alloca i64
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
  store <16 x double> splat (double 0x0000000000000000), ptr %acc7.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %acc8.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %acc9.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %acc10.slot
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
  %v23 = fpext <16 x float> %v22 to <16 x double>
  %t.11 = load <16 x double>, ptr %acc7.slot
  %v24 = fadd <16 x double> %t.11, %v23
  store <16 x double> %v24, ptr %acc7.slot
  %v25 = add i64 %c18, 16
  %p.12 = getelementptr inbounds float, ptr %in0, i64 %v25
  %v26 = load <16 x float>, ptr %p.12, align 4
  %p.13 = getelementptr inbounds float, ptr %in1, i64 %v25
  %v27 = load <16 x float>, ptr %p.13, align 4
  %v28 = fsub <16 x float> %v26, %v27
  %v29 = fmul <16 x float> %v28, %v28
  %v30 = fpext <16 x float> %v29 to <16 x double>
  %t.14 = load <16 x double>, ptr %acc8.slot
  %v31 = fadd <16 x double> %t.14, %v30
  store <16 x double> %v31, ptr %acc8.slot
  %v32 = add i64 %c18, 32
  %p.15 = getelementptr inbounds float, ptr %in0, i64 %v32
  %v33 = load <16 x float>, ptr %p.15, align 4
  %p.16 = getelementptr inbounds float, ptr %in1, i64 %v32
  %v34 = load <16 x float>, ptr %p.16, align 4
  %v35 = fsub <16 x float> %v33, %v34
  %v36 = fmul <16 x float> %v35, %v35
  %v37 = fpext <16 x float> %v36 to <16 x double>
  %t.17 = load <16 x double>, ptr %acc9.slot
  %v38 = fadd <16 x double> %t.17, %v37
  store <16 x double> %v38, ptr %acc9.slot
  %v39 = add i64 %c18, 48
  %p.18 = getelementptr inbounds float, ptr %in0, i64 %v39
  %v40 = load <16 x float>, ptr %p.18, align 4
  %p.19 = getelementptr inbounds float, ptr %in1, i64 %v39
  %v41 = load <16 x float>, ptr %p.19, align 4
  %v42 = fsub <16 x float> %v40, %v41
  %v43 = fmul <16 x float> %v42, %v42
  %v44 = fpext <16 x float> %v43 to <16 x double>
  %t.20 = load <16 x double>, ptr %acc10.slot
  %v45 = fadd <16 x double> %t.20, %v44
  store <16 x double> %v45, ptr %acc10.slot
  %t.21 = add nsw i64 %c18, 64
  store i64 %t.21, ptr %c18.slot
  br label %loop.7.head
loop.7.exit:
  store i64 %v17, ptr %c46.slot
  br label %loop.22.head
loop.22.head:
  %c46 = load i64, ptr %c46.slot
  %t.23 = icmp slt i64 %c46, %v13
  br i1 %t.23, label %loop.22.body, label %loop.22.exit
loop.22.body:
  %v47 = sub i64 %v13, %c46
  %t.24 = call i64 @llvm.smin.i64(i64 %v47, i64 16)
  %t.25 = trunc i64 %t.24 to i32
  %t.26 = insertelement <16 x i32> poison, i32 %t.25, i64 0
  %t.27 = shufflevector <16 x i32> %t.26, <16 x i32> poison, <16 x i32> zeroinitializer
  %v48 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.27
  %p.28 = getelementptr inbounds float, ptr %in0, i64 %c46
  %v49 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.28, i32 4, <16 x i1> %v48, <16 x float> zeroinitializer)
  %p.29 = getelementptr inbounds float, ptr %in1, i64 %c46
  %v50 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.29, i32 4, <16 x i1> %v48, <16 x float> zeroinitializer)
  %v51 = fsub <16 x float> %v49, %v50
  %v52 = fmul <16 x float> %v51, %v51
  %v53 = fpext <16 x float> %v52 to <16 x double>
  %t.30 = load <16 x double>, ptr %acc7.slot
  %v54 = fadd <16 x double> %t.30, %v53
  %t.31 = load <16 x double>, ptr %acc7.slot
  %v55 = select <16 x i1> %v48, <16 x double> %v54, <16 x double> %t.31
  store <16 x double> %v55, ptr %acc7.slot
  %t.32 = add nsw i64 %c46, 16
  store i64 %t.32, ptr %c46.slot
  br label %loop.22.head
loop.22.exit:
  %t.33 = load <16 x double>, ptr %acc7.slot
  %t.34 = load <16 x double>, ptr %acc8.slot
  %v56 = fadd <16 x double> %t.33, %t.34
  %t.35 = load <16 x double>, ptr %acc9.slot
  %v57 = fadd <16 x double> %v56, %t.35
  %t.36 = load <16 x double>, ptr %acc10.slot
  %v58 = fadd <16 x double> %v57, %t.36
  %v59 = call reassoc double @llvm.vector.reduce.fadd.v16f64(double -0.0, <16 x double> %v58)
  %t.37 = load double, ptr %total1.slot
  %v60 = fadd double %t.37, %v59
  store double %v60, ptr %total1.slot
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
  %total61.slot = alloca double
  %t62.slot = alloca i64
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
  store double 0x0000000000000000, ptr %total61.slot
  store i64 0, ptr %t62.slot
  br label %loop.8.head
loop.8.head:
  %t62 = load i64, ptr %t62.slot
  %t.9 = icmp slt i64 %t62, %n0
  br i1 %t.9, label %loop.8.body, label %loop.8.exit
loop.8.body:
  %p.10 = getelementptr inbounds double, ptr %part_r0, i64 %t62
  %v63 = load double, ptr %p.10, align 8
  %t.11 = load double, ptr %total61.slot
  %v64 = fadd double %t.11, %v63
  store double %v64, ptr %total61.slot
  %t.12 = add nsw i64 %t62, 1
  store i64 %t.12, ptr %t62.slot
  br label %loop.8.head
loop.8.exit:
  %t.13 = load double, ptr %total61.slot
  %t.14 = load double, ptr %total61.slot
  %v65 = select i1 true, double %t.13, double %t.14
  %v66 = fptrunc double %v65 to float
  %p.15 = getelementptr inbounds float, ptr %out2, i64 0
  store float %v66, ptr %p.15, align 4
  %failed = load i64, ptr %status
  %code = trunc i64 %failed to i32
  ret i32 %code
}
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{}
!1 = !{i32 1}
