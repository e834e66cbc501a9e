declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare i64 @llvm.smin.i64(i64, i64)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32 immarg, <16 x i1>, <16 x float>)
declare double @llvm.vector.reduce.fadd.v16f64(double, <16 x double>)
define internal void @full_sum.region0(ptr %ctx) #0 {
entry:
  %total4.slot = alloca double
  %c5.slot = alloca i64
  %row.slot = alloca i64
  %acc10.slot = alloca <16 x double>
  %acc11.slot = alloca <16 x double>
  %acc12.slot = alloca <16 x double>
  %acc13.slot = alloca <16 x double>
  %c21.slot = alloca i64
  %c53.slot = alloca i64
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
  %v1 = add i64 %tid, 1
  %v2 = icmp eq i64 %v1, %nth
  %v3 = select i1 %v2, i64 %n0, i64 %v1
  store double 0x0000000000000000, ptr %total4.slot
  store i64 %tid, ptr %c5.slot
  br label %loop.5.head
loop.5.head:
  %c5 = load i64, ptr %c5.slot
  %t.6 = icmp slt i64 %c5, %v3
  br i1 %t.6, label %loop.5.body, label %loop.5.exit
loop.5.body:
  %p.7 = getelementptr inbounds double, ptr %part_r0, i64 %c5
  store double 0x0000000000000000, ptr %p.7, align 8
  %t.8 = add nsw i64 %c5, 1
  store i64 %t.8, ptr %c5.slot
  br label %loop.5.head
loop.5.exit:
  %v6 = mul i64 %tid, %n1
  %v7 = udiv i64 %v6, %nth
  %v8 = mul i64 %v1, %n1
  %v9 = udiv i64 %v8, %nth
  store i64 %v7, ptr %row.slot
  br label %loop.9.head
loop.9.head:
  %row = load i64, ptr %row.slot
  %t.10 = icmp slt i64 %row, %v9
  br i1 %t.10, label %loop.9.body, label %loop.9.exit
loop.9.body:
  store <16 x double> splat (double 0x0000000000000000), ptr %acc10.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %acc11.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %acc12.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %acc13.slot
  %v14 = mul i64 %row, 8192
  %v15 = add i64 %v14, 8192
  %v16 = call i64 @llvm.smin.i64(i64 %v15, i64 %n2)
  %v17 = sub i64 %v16, %v14
  %v18 = udiv i64 %v17, 64
  %v19 = mul i64 %v18, 64
  %v20 = add i64 %v14, %v19
  store i64 %v14, ptr %c21.slot
  br label %loop.11.head
loop.11.head:
  %c21 = load i64, ptr %c21.slot
  %t.12 = icmp slt i64 %c21, %v20
  br i1 %t.12, label %loop.11.body, label %loop.11.exit
loop.11.body:
  %p.13 = getelementptr inbounds float, ptr %in0, i64 %c21
  %v22 = load <16 x float>, ptr %p.13, align 4
  %p.14 = getelementptr inbounds float, ptr %in1, i64 %c21
  %v23 = load <16 x float>, ptr %p.14, align 4
  %v24 = fsub <16 x float> %v22, %v23
  %v25 = fmul <16 x float> %v24, %v24
  %v26 = fpext <16 x float> %v25 to <16 x double>
  %t.15 = load <16 x double>, ptr %acc10.slot
  %v27 = fadd <16 x double> %t.15, %v26
  store <16 x double> %v27, ptr %acc10.slot
  %v28 = add i64 %c21, 16
  %p.16 = getelementptr inbounds float, ptr %in0, i64 %v28
  %v29 = load <16 x float>, ptr %p.16, align 4
  %p.17 = getelementptr inbounds float, ptr %in1, i64 %v28
  %v30 = load <16 x float>, ptr %p.17, align 4
  %v31 = fsub <16 x float> %v29, %v30
  %v32 = fmul <16 x float> %v31, %v31
  %v33 = fpext <16 x float> %v32 to <16 x double>
  %t.18 = load <16 x double>, ptr %acc11.slot
  %v34 = fadd <16 x double> %t.18, %v33
  store <16 x double> %v34, ptr %acc11.slot
  %v35 = add i64 %c21, 32
  %p.19 = getelementptr inbounds float, ptr %in0, i64 %v35
  %v36 = load <16 x float>, ptr %p.19, align 4
  %p.20 = getelementptr inbounds float, ptr %in1, i64 %v35
  %v37 = load <16 x float>, ptr %p.20, align 4
  %v38 = fsub <16 x float> %v36, %v37
  %v39 = fmul <16 x float> %v38, %v38
  %v40 = fpext <16 x float> %v39 to <16 x double>
  %t.21 = load <16 x double>, ptr %acc12.slot
  %v41 = fadd <16 x double> %t.21, %v40
  store <16 x double> %v41, ptr %acc12.slot
  %v42 = add i64 %c21, 48
  %p.22 = getelementptr inbounds float, ptr %in0, i64 %v42
  %v43 = load <16 x float>, ptr %p.22, align 4
  %p.23 = getelementptr inbounds float, ptr %in1, i64 %v42
  %v44 = load <16 x float>, ptr %p.23, align 4
  %v45 = fsub <16 x float> %v43, %v44
  %v46 = fmul <16 x float> %v45, %v45
  %v47 = fpext <16 x float> %v46 to <16 x double>
  %t.24 = load <16 x double>, ptr %acc13.slot
  %v48 = fadd <16 x double> %t.24, %v47
  store <16 x double> %v48, ptr %acc13.slot
  %t.25 = add nsw i64 %c21, 64
  store i64 %t.25, ptr %c21.slot
  br label %loop.11.head
loop.11.exit:
  %v49 = sub i64 %v16, %v20
  %v50 = udiv i64 %v49, 16
  %v51 = mul i64 %v50, 16
  %v52 = add i64 %v20, %v51
  store i64 %v20, ptr %c53.slot
  br label %loop.26.head
loop.26.head:
  %c53 = load i64, ptr %c53.slot
  %t.27 = icmp slt i64 %c53, %v52
  br i1 %t.27, label %loop.26.body, label %loop.26.exit
loop.26.body:
  %p.28 = getelementptr inbounds float, ptr %in0, i64 %c53
  %v54 = load <16 x float>, ptr %p.28, align 4
  %p.29 = getelementptr inbounds float, ptr %in1, i64 %c53
  %v55 = load <16 x float>, ptr %p.29, align 4
  %v56 = fsub <16 x float> %v54, %v55
  %v57 = fmul <16 x float> %v56, %v56
  %v58 = fpext <16 x float> %v57 to <16 x double>
  %t.30 = load <16 x double>, ptr %acc10.slot
  %v59 = fadd <16 x double> %t.30, %v58
  store <16 x double> %v59, ptr %acc10.slot
  %t.31 = add nsw i64 %c53, 16
  store i64 %t.31, ptr %c53.slot
  br label %loop.26.head
loop.26.exit:
  %v60 = sub i64 %v16, %v52
  %t.32 = call i64 @llvm.smin.i64(i64 %v60, i64 16)
  %t.33 = trunc i64 %t.32 to i32
  %t.34 = insertelement <16 x i32> poison, i32 %t.33, i64 0
  %t.35 = shufflevector <16 x i32> %t.34, <16 x i32> poison, <16 x i32> zeroinitializer
  %v61 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.35
  %v69 = icmp slt i64 %v52, %v16
  br i1 %v69, label %if.36.then, label %if.36.else
if.36.then:
  %p.37 = getelementptr inbounds float, ptr %in0, i64 %v52
  %v62 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.37, i32 4, <16 x i1> %v61, <16 x float> zeroinitializer)
  %p.38 = getelementptr inbounds float, ptr %in1, i64 %v52
  %v63 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.38, i32 4, <16 x i1> %v61, <16 x float> zeroinitializer)
  %v64 = fsub <16 x float> %v62, %v63
  %v65 = fmul <16 x float> %v64, %v64
  %v66 = fpext <16 x float> %v65 to <16 x double>
  %t.39 = load <16 x double>, ptr %acc10.slot
  %v67 = fadd <16 x double> %t.39, %v66
  %t.40 = load <16 x double>, ptr %acc10.slot
  %v68 = select <16 x i1> %v61, <16 x double> %v67, <16 x double> %t.40
  store <16 x double> %v68, ptr %acc10.slot
  br label %if.36.end
if.36.else:
  br label %if.36.end
if.36.end:
  %t.41 = load <16 x double>, ptr %acc10.slot
  %t.42 = load <16 x double>, ptr %acc11.slot
  %v70 = fadd <16 x double> %t.41, %t.42
  %t.43 = load <16 x double>, ptr %acc12.slot
  %v71 = fadd <16 x double> %v70, %t.43
  %t.44 = load <16 x double>, ptr %acc13.slot
  %v72 = fadd <16 x double> %v71, %t.44
  %v73 = call reassoc double @llvm.vector.reduce.fadd.v16f64(double -0.0, <16 x double> %v72)
  %t.45 = load double, ptr %total4.slot
  %v74 = fadd double %t.45, %v73
  store double %v74, ptr %total4.slot
  %t.46 = add nsw i64 %row, 1
  store i64 %t.46, ptr %row.slot
  br label %loop.9.head
loop.9.exit:
  %t.47 = load double, ptr %total4.slot
  %p.48 = getelementptr inbounds double, ptr %part_r0, i64 %tid
  store double %t.47, ptr %p.48, align 8
  ret void
}
define i32 @full_sum(ptr %in0, ptr %in1, ptr %out2, ptr %sizes, ptr %scratch) #0 {
entry:
  %total75.slot = alloca double
  %t76.slot = alloca i64
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
  store double 0x0000000000000000, ptr %total75.slot
  store i64 0, ptr %t76.slot
  br label %loop.8.head
loop.8.head:
  %t76 = load i64, ptr %t76.slot
  %t.9 = icmp slt i64 %t76, %n0
  br i1 %t.9, label %loop.8.body, label %loop.8.exit
loop.8.body:
  %p.10 = getelementptr inbounds double, ptr %part_r0, i64 %t76
  %v77 = load double, ptr %p.10, align 8
  %t.11 = load double, ptr %total75.slot
  %v78 = fadd double %t.11, %v77
  store double %v78, ptr %total75.slot
  %t.12 = add nsw i64 %t76, 1
  store i64 %t.12, ptr %t76.slot
  br label %loop.8.head
loop.8.exit:
  %t.13 = load double, ptr %total75.slot
  %t.14 = load double, ptr %total75.slot
  %v79 = select i1 true, double %t.13, double %t.14
  %v80 = fptrunc double %v79 to float
  %p.15 = getelementptr inbounds float, ptr %out2, i64 0
  store float %v80, ptr %p.15, align 4
  %failed = load i64, ptr %status
  %code = trunc i64 %failed to i32
  ret i32 %code
}
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{}
!1 = !{i32 1}
