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
  %some14.slot = alloca i64
  %b18.slot = alloca i64
  %c17.slot = alloca i64
  %c55.slot = alloca i64
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
  %v15 = udiv i64 %n2, 64
  %v16 = mul i64 %v15, 64
  %v51 = sub i64 %n2, %v16
  %v52 = udiv i64 %v51, 16
  %v53 = mul i64 %v52, 16
  %v54 = add i64 %v16, %v53
  %v60 = sub i64 %n2, %v54
  %t.1 = call i64 @llvm.smin.i64(i64 %v60, i64 16)
  %t.2 = trunc i64 %t.1 to i32
  %t.3 = insertelement <16 x i32> poison, i32 %t.2, i64 0
  %t.4 = shufflevector <16 x i32> %t.3, <16 x i32> poison, <16 x i32> zeroinitializer
  %v61 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.4
  %v67 = icmp slt i64 %v54, %n2
  store i64 %v2, ptr %row.slot
  br label %loop.5.head
loop.5.head:
  %row = load i64, ptr %row.slot
  %t.6 = icmp slt i64 %row, %v5
  br i1 %t.6, label %loop.5.body, label %loop.5.exit
loop.5.body:
  store <16 x float> splat (float 0x0000000000000000), ptr %acc6.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc7.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc8.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc9.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %total10.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %total11.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %total12.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %total13.slot
  store i64 0, ptr %some14.slot
  %v21 = mul i64 %row, %n3
  store i64 0, ptr %b18.slot
  br label %loop.7.head
loop.7.head:
  %b18 = load i64, ptr %b18.slot
  %t.8 = icmp slt i64 %b18, %v16
  br i1 %t.8, label %loop.7.body, label %loop.7.exit
loop.7.body:
  %v19 = add i64 %b18, 4096
  %v20 = call i64 @llvm.smin.i64(i64 %v19, i64 %v16)
  store i64 %b18, ptr %c17.slot
  br label %loop.9.head
loop.9.head:
  %c17 = load i64, ptr %c17.slot
  %t.10 = icmp slt i64 %c17, %v20
  br i1 %t.10, label %loop.9.body, label %loop.9.exit
loop.9.body:
  %v22 = add i64 %v21, %c17
  %p.11 = getelementptr inbounds float, ptr %in0, i64 %v22
  %v23 = load <16 x float>, ptr %p.11, align 4
  %v24 = fmul <16 x float> %v23, %v23
  %t.12 = load <16 x float>, ptr %acc6.slot
  %v25 = fadd <16 x float> %t.12, %v24
  store <16 x float> %v25, ptr %acc6.slot
  %v26 = add i64 %c17, 16
  %v27 = add i64 %v21, %v26
  %p.13 = getelementptr inbounds float, ptr %in0, i64 %v27
  %v28 = load <16 x float>, ptr %p.13, align 4
  %v29 = fmul <16 x float> %v28, %v28
  %t.14 = load <16 x float>, ptr %acc7.slot
  %v30 = fadd <16 x float> %t.14, %v29
  store <16 x float> %v30, ptr %acc7.slot
  %v31 = add i64 %c17, 32
  %v32 = add i64 %v21, %v31
  %p.15 = getelementptr inbounds float, ptr %in0, i64 %v32
  %v33 = load <16 x float>, ptr %p.15, align 4
  %v34 = fmul <16 x float> %v33, %v33
  %t.16 = load <16 x float>, ptr %acc8.slot
  %v35 = fadd <16 x float> %t.16, %v34
  store <16 x float> %v35, ptr %acc8.slot
  %v36 = add i64 %c17, 48
  %v37 = add i64 %v21, %v36
  %p.17 = getelementptr inbounds float, ptr %in0, i64 %v37
  %v38 = load <16 x float>, ptr %p.17, align 4
  %v39 = fmul <16 x float> %v38, %v38
  %t.18 = load <16 x float>, ptr %acc9.slot
  %v40 = fadd <16 x float> %t.18, %v39
  store <16 x float> %v40, ptr %acc9.slot
  %t.19 = add nsw i64 %c17, 64
  store i64 %t.19, ptr %c17.slot
  br label %loop.9.head
loop.9.exit:
  %v41 = sub i64 %v20, %b18
  %v42 = icmp eq i64 %v41, 4096
  br i1 %v42, label %if.20.then, label %if.20.else
if.20.then:
  %t.21 = load <16 x float>, ptr %acc6.slot
  %v43 = fpext <16 x float> %t.21 to <16 x double>
  %t.22 = load <16 x double>, ptr %total10.slot
  %v44 = fadd <16 x double> %t.22, %v43
  store <16 x double> %v44, ptr %total10.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc6.slot
  %t.23 = load <16 x float>, ptr %acc7.slot
  %v45 = fpext <16 x float> %t.23 to <16 x double>
  %t.24 = load <16 x double>, ptr %total11.slot
  %v46 = fadd <16 x double> %t.24, %v45
  store <16 x double> %v46, ptr %total11.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc7.slot
  %t.25 = load <16 x float>, ptr %acc8.slot
  %v47 = fpext <16 x float> %t.25 to <16 x double>
  %t.26 = load <16 x double>, ptr %total12.slot
  %v48 = fadd <16 x double> %t.26, %v47
  store <16 x double> %v48, ptr %total12.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc8.slot
  %t.27 = load <16 x float>, ptr %acc9.slot
  %v49 = fpext <16 x float> %t.27 to <16 x double>
  %t.28 = load <16 x double>, ptr %total13.slot
  %v50 = fadd <16 x double> %t.28, %v49
  store <16 x double> %v50, ptr %total13.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc9.slot
  store i64 1, ptr %some14.slot
  br label %if.20.end
if.20.else:
  br label %if.20.end
if.20.end:
  %t.29 = add nsw i64 %b18, 4096
  store i64 %t.29, ptr %b18.slot
  br label %loop.7.head
loop.7.exit:
  store i64 %v16, ptr %c55.slot
  br label %loop.30.head
loop.30.head:
  %c55 = load i64, ptr %c55.slot
  %t.31 = icmp slt i64 %c55, %v54
  br i1 %t.31, label %loop.30.body, label %loop.30.exit
loop.30.body:
  %v56 = add i64 %v21, %c55
  %p.32 = getelementptr inbounds float, ptr %in0, i64 %v56
  %v57 = load <16 x float>, ptr %p.32, align 4
  %v58 = fmul <16 x float> %v57, %v57
  %t.33 = load <16 x float>, ptr %acc6.slot
  %v59 = fadd <16 x float> %t.33, %v58
  store <16 x float> %v59, ptr %acc6.slot
  %t.34 = add nsw i64 %c55, 16
  store i64 %t.34, ptr %c55.slot
  br label %loop.30.head
loop.30.exit:
  br i1 %v67, label %if.35.then, label %if.35.else
if.35.then:
  %v62 = add i64 %v21, %v54
  %p.36 = getelementptr inbounds float, ptr %in0, i64 %v62
  %v63 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.36, i32 4, <16 x i1> %v61, <16 x float> zeroinitializer)
  %v64 = fmul <16 x float> %v63, %v63
  %t.37 = load <16 x float>, ptr %acc6.slot
  %v65 = fadd <16 x float> %t.37, %v64
  %t.38 = load <16 x float>, ptr %acc6.slot
  %v66 = select <16 x i1> %v61, <16 x float> %v65, <16 x float> %t.38
  store <16 x float> %v66, ptr %acc6.slot
  br label %if.35.end
if.35.else:
  br label %if.35.end
if.35.end:
  %t.39 = load i64, ptr %some14.slot
  %v80 = icmp eq i64 %t.39, 1
  br i1 %v80, label %if.40.then, label %if.40.else
if.40.then:
  %t.41 = load <16 x float>, ptr %acc6.slot
  %v68 = fpext <16 x float> %t.41 to <16 x double>
  %t.42 = load <16 x double>, ptr %total10.slot
  %v69 = fadd <16 x double> %t.42, %v68
  %v70 = fptrunc <16 x double> %v69 to <16 x float>
  store <16 x float> %v70, ptr %acc6.slot
  %t.43 = load <16 x float>, ptr %acc7.slot
  %v71 = fpext <16 x float> %t.43 to <16 x double>
  %t.44 = load <16 x double>, ptr %total11.slot
  %v72 = fadd <16 x double> %t.44, %v71
  %v73 = fptrunc <16 x double> %v72 to <16 x float>
  store <16 x float> %v73, ptr %acc7.slot
  %t.45 = load <16 x float>, ptr %acc8.slot
  %v74 = fpext <16 x float> %t.45 to <16 x double>
  %t.46 = load <16 x double>, ptr %total12.slot
  %v75 = fadd <16 x double> %t.46, %v74
  %v76 = fptrunc <16 x double> %v75 to <16 x float>
  store <16 x float> %v76, ptr %acc8.slot
  %t.47 = load <16 x float>, ptr %acc9.slot
  %v77 = fpext <16 x float> %t.47 to <16 x double>
  %t.48 = load <16 x double>, ptr %total13.slot
  %v78 = fadd <16 x double> %t.48, %v77
  %v79 = fptrunc <16 x double> %v78 to <16 x float>
  store <16 x float> %v79, ptr %acc9.slot
  br label %if.40.end
if.40.else:
  br label %if.40.end
if.40.end:
  %t.49 = load <16 x float>, ptr %acc6.slot
  %t.50 = load <16 x float>, ptr %acc7.slot
  %v81 = fadd <16 x float> %t.49, %t.50
  %t.51 = load <16 x float>, ptr %acc8.slot
  %v82 = fadd <16 x float> %v81, %t.51
  %t.52 = load <16 x float>, ptr %acc9.slot
  %v83 = fadd <16 x float> %v82, %t.52
  %v84 = call reassoc float @llvm.vector.reduce.fadd.v16f32(float -0.0, <16 x float> %v83)
  %v85 = select i1 true, float %v84, float %v84
  %p.53 = getelementptr inbounds float, ptr %out1, i64 %row
  store float %v85, ptr %p.53, align 4
  %t.54 = add nsw i64 %row, 1
  store i64 %t.54, ptr %row.slot
  br label %loop.5.head
loop.5.exit:
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
