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
  %total10.slot = alloca <16 x double>
  %total11.slot = alloca <16 x double>
  %total12.slot = alloca <16 x double>
  %total13.slot = alloca <16 x double>
  %count14.slot = alloca i64
  %c17.slot = alloca i64
  %c49.slot = alloca i64
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
  store <16 x double> splat (double 0x0000000000000000), ptr %total10.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %total11.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %total12.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %total13.slot
  store i64 0, ptr %count14.slot
  %v15 = udiv i64 %n2, 64
  %v16 = mul i64 %v15, 64
  %v18 = mul i64 %row, %n3
  store i64 0, ptr %c17.slot
  br label %loop.3.head
loop.3.head:
  %c17 = load i64, ptr %c17.slot
  %t.4 = icmp slt i64 %c17, %v16
  br i1 %t.4, label %loop.3.body, label %loop.3.exit
loop.3.body:
  %v19 = add i64 %v18, %c17
  %p.5 = getelementptr inbounds float, ptr %in0, i64 %v19
  %v20 = load <16 x float>, ptr %p.5, align 4
  %v21 = fmul <16 x float> %v20, %v20
  %t.6 = load <16 x float>, ptr %acc6.slot
  %v22 = fadd <16 x float> %t.6, %v21
  store <16 x float> %v22, ptr %acc6.slot
  %v23 = add i64 %c17, 16
  %v24 = add i64 %v18, %v23
  %p.7 = getelementptr inbounds float, ptr %in0, i64 %v24
  %v25 = load <16 x float>, ptr %p.7, align 4
  %v26 = fmul <16 x float> %v25, %v25
  %t.8 = load <16 x float>, ptr %acc7.slot
  %v27 = fadd <16 x float> %t.8, %v26
  store <16 x float> %v27, ptr %acc7.slot
  %v28 = add i64 %c17, 32
  %v29 = add i64 %v18, %v28
  %p.9 = getelementptr inbounds float, ptr %in0, i64 %v29
  %v30 = load <16 x float>, ptr %p.9, align 4
  %v31 = fmul <16 x float> %v30, %v30
  %t.10 = load <16 x float>, ptr %acc8.slot
  %v32 = fadd <16 x float> %t.10, %v31
  store <16 x float> %v32, ptr %acc8.slot
  %v33 = add i64 %c17, 48
  %v34 = add i64 %v18, %v33
  %p.11 = getelementptr inbounds float, ptr %in0, i64 %v34
  %v35 = load <16 x float>, ptr %p.11, align 4
  %v36 = fmul <16 x float> %v35, %v35
  %t.12 = load <16 x float>, ptr %acc9.slot
  %v37 = fadd <16 x float> %t.12, %v36
  store <16 x float> %v37, ptr %acc9.slot
  %t.13 = load i64, ptr %count14.slot
  %v38 = add i64 %t.13, 1
  store i64 %v38, ptr %count14.slot
  %t.14 = load i64, ptr %count14.slot
  %v39 = and i64 %t.14, 63
  %v48 = icmp eq i64 %v39, 0
  br i1 %v48, label %if.15.then, label %if.15.else
if.15.then:
  %t.16 = load <16 x float>, ptr %acc6.slot
  %v40 = fpext <16 x float> %t.16 to <16 x double>
  %t.17 = load <16 x double>, ptr %total10.slot
  %v41 = fadd <16 x double> %t.17, %v40
  store <16 x double> %v41, ptr %total10.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc6.slot
  %t.18 = load <16 x float>, ptr %acc7.slot
  %v42 = fpext <16 x float> %t.18 to <16 x double>
  %t.19 = load <16 x double>, ptr %total11.slot
  %v43 = fadd <16 x double> %t.19, %v42
  store <16 x double> %v43, ptr %total11.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc7.slot
  %t.20 = load <16 x float>, ptr %acc8.slot
  %v44 = fpext <16 x float> %t.20 to <16 x double>
  %t.21 = load <16 x double>, ptr %total12.slot
  %v45 = fadd <16 x double> %t.21, %v44
  store <16 x double> %v45, ptr %total12.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc8.slot
  %t.22 = load <16 x float>, ptr %acc9.slot
  %v46 = fpext <16 x float> %t.22 to <16 x double>
  %t.23 = load <16 x double>, ptr %total13.slot
  %v47 = fadd <16 x double> %t.23, %v46
  store <16 x double> %v47, ptr %total13.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc9.slot
  br label %if.15.end
if.15.else:
  br label %if.15.end
if.15.end:
  %t.24 = add nsw i64 %c17, 64
  store i64 %t.24, ptr %c17.slot
  br label %loop.3.head
loop.3.exit:
  store i64 %v16, ptr %c49.slot
  br label %loop.25.head
loop.25.head:
  %c49 = load i64, ptr %c49.slot
  %t.26 = icmp slt i64 %c49, %n2
  br i1 %t.26, label %loop.25.body, label %loop.25.exit
loop.25.body:
  %v50 = sub i64 %n2, %c49
  %t.27 = call i64 @llvm.smin.i64(i64 %v50, i64 16)
  %t.28 = trunc i64 %t.27 to i32
  %t.29 = insertelement <16 x i32> poison, i32 %t.28, i64 0
  %t.30 = shufflevector <16 x i32> %t.29, <16 x i32> poison, <16 x i32> zeroinitializer
  %v51 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.30
  %v52 = add i64 %v18, %c49
  %p.31 = getelementptr inbounds float, ptr %in0, i64 %v52
  %v53 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.31, i32 4, <16 x i1> %v51, <16 x float> zeroinitializer)
  %v54 = fmul <16 x float> %v53, %v53
  %t.32 = load <16 x float>, ptr %acc6.slot
  %v55 = fadd <16 x float> %t.32, %v54
  %t.33 = load <16 x float>, ptr %acc6.slot
  %v56 = select <16 x i1> %v51, <16 x float> %v55, <16 x float> %t.33
  store <16 x float> %v56, ptr %acc6.slot
  %t.34 = add nsw i64 %c49, 16
  store i64 %t.34, ptr %c49.slot
  br label %loop.25.head
loop.25.exit:
  %t.35 = load i64, ptr %count14.slot
  %v69 = icmp sge i64 %t.35, 64
  br i1 %v69, label %if.36.then, label %if.36.else
if.36.then:
  %t.37 = load <16 x float>, ptr %acc6.slot
  %v57 = fpext <16 x float> %t.37 to <16 x double>
  %t.38 = load <16 x double>, ptr %total10.slot
  %v58 = fadd <16 x double> %t.38, %v57
  %v59 = fptrunc <16 x double> %v58 to <16 x float>
  store <16 x float> %v59, ptr %acc6.slot
  %t.39 = load <16 x float>, ptr %acc7.slot
  %v60 = fpext <16 x float> %t.39 to <16 x double>
  %t.40 = load <16 x double>, ptr %total11.slot
  %v61 = fadd <16 x double> %t.40, %v60
  %v62 = fptrunc <16 x double> %v61 to <16 x float>
  store <16 x float> %v62, ptr %acc7.slot
  %t.41 = load <16 x float>, ptr %acc8.slot
  %v63 = fpext <16 x float> %t.41 to <16 x double>
  %t.42 = load <16 x double>, ptr %total12.slot
  %v64 = fadd <16 x double> %t.42, %v63
  %v65 = fptrunc <16 x double> %v64 to <16 x float>
  store <16 x float> %v65, ptr %acc8.slot
  %t.43 = load <16 x float>, ptr %acc9.slot
  %v66 = fpext <16 x float> %t.43 to <16 x double>
  %t.44 = load <16 x double>, ptr %total13.slot
  %v67 = fadd <16 x double> %t.44, %v66
  %v68 = fptrunc <16 x double> %v67 to <16 x float>
  store <16 x float> %v68, ptr %acc9.slot
  br label %if.36.end
if.36.else:
  br label %if.36.end
if.36.end:
  %t.45 = load <16 x float>, ptr %acc6.slot
  %t.46 = load <16 x float>, ptr %acc7.slot
  %v70 = fadd <16 x float> %t.45, %t.46
  %t.47 = load <16 x float>, ptr %acc8.slot
  %v71 = fadd <16 x float> %v70, %t.47
  %t.48 = load <16 x float>, ptr %acc9.slot
  %v72 = fadd <16 x float> %v71, %t.48
  %v73 = call reassoc float @llvm.vector.reduce.fadd.v16f32(float -0.0, <16 x float> %v72)
  %v74 = select i1 true, float %v73, float %v73
  %p.49 = getelementptr inbounds float, ptr %out1, i64 %row
  store float %v74, ptr %p.49, align 4
  %t.50 = add nsw i64 %row, 1
  store i64 %t.50, ptr %row.slot
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
