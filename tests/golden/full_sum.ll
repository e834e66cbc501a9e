declare void @GOMP_parallel(ptr, ptr, i32, i32)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
declare i64 @llvm.smin.i64(i64, i64)
declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32 immarg, <16 x i1>, <16 x float>)
declare float @llvm.vector.reduce.fadd.v16f32(float, <16 x float>)
define internal void @full_sum.region0(ptr %ctx) #0 {
entry:
  %total4.slot = alloca double
  %c5.slot = alloca i64
  %row.slot = alloca i64
  %acc10.slot = alloca <16 x float>
  %acc11.slot = alloca <16 x float>
  %acc12.slot = alloca <16 x float>
  %acc13.slot = alloca <16 x float>
  %total14.slot = alloca <16 x double>
  %total15.slot = alloca <16 x double>
  %total16.slot = alloca <16 x double>
  %total17.slot = alloca <16 x double>
  %some18.slot = alloca i64
  %b27.slot = alloca i64
  %c26.slot = alloca i64
  %c67.slot = alloca i64
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
  store <16 x float> splat (float 0x0000000000000000), ptr %acc10.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc11.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc12.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc13.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %total14.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %total15.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %total16.slot
  store <16 x double> splat (double 0x0000000000000000), ptr %total17.slot
  store i64 0, ptr %some18.slot
  %v19 = mul i64 %row, 8192
  %v20 = add i64 %v19, 8192
  %v21 = call i64 @llvm.smin.i64(i64 %v20, i64 %n2)
  %v22 = sub i64 %v21, %v19
  %v23 = udiv i64 %v22, 64
  %v24 = mul i64 %v23, 64
  %v25 = add i64 %v19, %v24
  store i64 %v19, ptr %b27.slot
  br label %loop.11.head
loop.11.head:
  %b27 = load i64, ptr %b27.slot
  %t.12 = icmp slt i64 %b27, %v25
  br i1 %t.12, label %loop.11.body, label %loop.11.exit
loop.11.body:
  %v28 = add i64 %b27, 4096
  %v29 = call i64 @llvm.smin.i64(i64 %v28, i64 %v25)
  store i64 %b27, ptr %c26.slot
  br label %loop.13.head
loop.13.head:
  %c26 = load i64, ptr %c26.slot
  %t.14 = icmp slt i64 %c26, %v29
  br i1 %t.14, label %loop.13.body, label %loop.13.exit
loop.13.body:
  %p.15 = getelementptr inbounds float, ptr %in0, i64 %c26
  %v30 = load <16 x float>, ptr %p.15, align 4
  %p.16 = getelementptr inbounds float, ptr %in1, i64 %c26
  %v31 = load <16 x float>, ptr %p.16, align 4
  %v32 = fsub <16 x float> %v30, %v31
  %v33 = fmul <16 x float> %v32, %v32
  %t.17 = load <16 x float>, ptr %acc10.slot
  %v34 = fadd <16 x float> %t.17, %v33
  store <16 x float> %v34, ptr %acc10.slot
  %v35 = add i64 %c26, 16
  %p.18 = getelementptr inbounds float, ptr %in0, i64 %v35
  %v36 = load <16 x float>, ptr %p.18, align 4
  %p.19 = getelementptr inbounds float, ptr %in1, i64 %v35
  %v37 = load <16 x float>, ptr %p.19, align 4
  %v38 = fsub <16 x float> %v36, %v37
  %v39 = fmul <16 x float> %v38, %v38
  %t.20 = load <16 x float>, ptr %acc11.slot
  %v40 = fadd <16 x float> %t.20, %v39
  store <16 x float> %v40, ptr %acc11.slot
  %v41 = add i64 %c26, 32
  %p.21 = getelementptr inbounds float, ptr %in0, i64 %v41
  %v42 = load <16 x float>, ptr %p.21, align 4
  %p.22 = getelementptr inbounds float, ptr %in1, i64 %v41
  %v43 = load <16 x float>, ptr %p.22, align 4
  %v44 = fsub <16 x float> %v42, %v43
  %v45 = fmul <16 x float> %v44, %v44
  %t.23 = load <16 x float>, ptr %acc12.slot
  %v46 = fadd <16 x float> %t.23, %v45
  store <16 x float> %v46, ptr %acc12.slot
  %v47 = add i64 %c26, 48
  %p.24 = getelementptr inbounds float, ptr %in0, i64 %v47
  %v48 = load <16 x float>, ptr %p.24, align 4
  %p.25 = getelementptr inbounds float, ptr %in1, i64 %v47
  %v49 = load <16 x float>, ptr %p.25, align 4
  %v50 = fsub <16 x float> %v48, %v49
  %v51 = fmul <16 x float> %v50, %v50
  %t.26 = load <16 x float>, ptr %acc13.slot
  %v52 = fadd <16 x float> %t.26, %v51
  store <16 x float> %v52, ptr %acc13.slot
  %t.27 = add nsw i64 %c26, 64
  store i64 %t.27, ptr %c26.slot
  br label %loop.13.head
loop.13.exit:
  %v53 = sub i64 %v29, %b27
  %v54 = icmp eq i64 %v53, 4096
  br i1 %v54, label %if.28.then, label %if.28.else
if.28.then:
  %t.29 = load <16 x float>, ptr %acc10.slot
  %v55 = fpext <16 x float> %t.29 to <16 x double>
  %t.30 = load <16 x double>, ptr %total14.slot
  %v56 = fadd <16 x double> %t.30, %v55
  store <16 x double> %v56, ptr %total14.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc10.slot
  %t.31 = load <16 x float>, ptr %acc11.slot
  %v57 = fpext <16 x float> %t.31 to <16 x double>
  %t.32 = load <16 x double>, ptr %total15.slot
  %v58 = fadd <16 x double> %t.32, %v57
  store <16 x double> %v58, ptr %total15.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc11.slot
  %t.33 = load <16 x float>, ptr %acc12.slot
  %v59 = fpext <16 x float> %t.33 to <16 x double>
  %t.34 = load <16 x double>, ptr %total16.slot
  %v60 = fadd <16 x double> %t.34, %v59
  store <16 x double> %v60, ptr %total16.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc12.slot
  %t.35 = load <16 x float>, ptr %acc13.slot
  %v61 = fpext <16 x float> %t.35 to <16 x double>
  %t.36 = load <16 x double>, ptr %total17.slot
  %v62 = fadd <16 x double> %t.36, %v61
  store <16 x double> %v62, ptr %total17.slot
  store <16 x float> splat (float 0x0000000000000000), ptr %acc13.slot
  store i64 1, ptr %some18.slot
  br label %if.28.end
if.28.else:
  br label %if.28.end
if.28.end:
  %t.37 = add nsw i64 %b27, 4096
  store i64 %t.37, ptr %b27.slot
  br label %loop.11.head
loop.11.exit:
  %v63 = sub i64 %v21, %v25
  %v64 = udiv i64 %v63, 16
  %v65 = mul i64 %v64, 16
  %v66 = add i64 %v25, %v65
  store i64 %v25, ptr %c67.slot
  br label %loop.38.head
loop.38.head:
  %c67 = load i64, ptr %c67.slot
  %t.39 = icmp slt i64 %c67, %v66
  br i1 %t.39, label %loop.38.body, label %loop.38.exit
loop.38.body:
  %p.40 = getelementptr inbounds float, ptr %in0, i64 %c67
  %v68 = load <16 x float>, ptr %p.40, align 4
  %p.41 = getelementptr inbounds float, ptr %in1, i64 %c67
  %v69 = load <16 x float>, ptr %p.41, align 4
  %v70 = fsub <16 x float> %v68, %v69
  %v71 = fmul <16 x float> %v70, %v70
  %t.42 = load <16 x float>, ptr %acc10.slot
  %v72 = fadd <16 x float> %t.42, %v71
  store <16 x float> %v72, ptr %acc10.slot
  %t.43 = add nsw i64 %c67, 16
  store i64 %t.43, ptr %c67.slot
  br label %loop.38.head
loop.38.exit:
  %v73 = sub i64 %v21, %v66
  %t.44 = call i64 @llvm.smin.i64(i64 %v73, i64 16)
  %t.45 = trunc i64 %t.44 to i32
  %t.46 = insertelement <16 x i32> poison, i32 %t.45, i64 0
  %t.47 = shufflevector <16 x i32> %t.46, <16 x i32> poison, <16 x i32> zeroinitializer
  %v74 = icmp slt <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>, %t.47
  %v81 = icmp slt i64 %v66, %v21
  br i1 %v81, label %if.48.then, label %if.48.else
if.48.then:
  %p.49 = getelementptr inbounds float, ptr %in0, i64 %v66
  %v75 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.49, i32 4, <16 x i1> %v74, <16 x float> zeroinitializer)
  %p.50 = getelementptr inbounds float, ptr %in1, i64 %v66
  %v76 = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p.50, i32 4, <16 x i1> %v74, <16 x float> zeroinitializer)
  %v77 = fsub <16 x float> %v75, %v76
  %v78 = fmul <16 x float> %v77, %v77
  %t.51 = load <16 x float>, ptr %acc10.slot
  %v79 = fadd <16 x float> %t.51, %v78
  %t.52 = load <16 x float>, ptr %acc10.slot
  %v80 = select <16 x i1> %v74, <16 x float> %v79, <16 x float> %t.52
  store <16 x float> %v80, ptr %acc10.slot
  br label %if.48.end
if.48.else:
  br label %if.48.end
if.48.end:
  %t.53 = load i64, ptr %some18.slot
  %v94 = icmp eq i64 %t.53, 1
  br i1 %v94, label %if.54.then, label %if.54.else
if.54.then:
  %t.55 = load <16 x float>, ptr %acc10.slot
  %v82 = fpext <16 x float> %t.55 to <16 x double>
  %t.56 = load <16 x double>, ptr %total14.slot
  %v83 = fadd <16 x double> %t.56, %v82
  %v84 = fptrunc <16 x double> %v83 to <16 x float>
  store <16 x float> %v84, ptr %acc10.slot
  %t.57 = load <16 x float>, ptr %acc11.slot
  %v85 = fpext <16 x float> %t.57 to <16 x double>
  %t.58 = load <16 x double>, ptr %total15.slot
  %v86 = fadd <16 x double> %t.58, %v85
  %v87 = fptrunc <16 x double> %v86 to <16 x float>
  store <16 x float> %v87, ptr %acc11.slot
  %t.59 = load <16 x float>, ptr %acc12.slot
  %v88 = fpext <16 x float> %t.59 to <16 x double>
  %t.60 = load <16 x double>, ptr %total16.slot
  %v89 = fadd <16 x double> %t.60, %v88
  %v90 = fptrunc <16 x double> %v89 to <16 x float>
  store <16 x float> %v90, ptr %acc12.slot
  %t.61 = load <16 x float>, ptr %acc13.slot
  %v91 = fpext <16 x float> %t.61 to <16 x double>
  %t.62 = load <16 x double>, ptr %total17.slot
  %v92 = fadd <16 x double> %t.62, %v91
  %v93 = fptrunc <16 x double> %v92 to <16 x float>
  store <16 x float> %v93, ptr %acc13.slot
  br label %if.54.end
if.54.else:
  br label %if.54.end
if.54.end:
  %t.63 = load <16 x float>, ptr %acc10.slot
  %t.64 = load <16 x float>, ptr %acc11.slot
  %v95 = fadd <16 x float> %t.63, %t.64
  %t.65 = load <16 x float>, ptr %acc12.slot
  %v96 = fadd <16 x float> %v95, %t.65
  %t.66 = load <16 x float>, ptr %acc13.slot
  %v97 = fadd <16 x float> %v96, %t.66
  %v98 = call reassoc float @llvm.vector.reduce.fadd.v16f32(float -0.0, <16 x float> %v97)
  %v99 = fpext float %v98 to double
  %t.67 = load double, ptr %total4.slot
  %v100 = fadd double %t.67, %v99
  store double %v100, ptr %total4.slot
  %t.68 = add nsw i64 %row, 1
  store i64 %t.68, ptr %row.slot
  br label %loop.9.head
loop.9.exit:
  %t.69 = load double, ptr %total4.slot
  %p.70 = getelementptr inbounds double, ptr %part_r0, i64 %tid
  store double %t.69, ptr %p.70, align 8
  ret void
}
define i32 @full_sum(ptr %in0, ptr %in1, ptr %out2, ptr %sizes, ptr %scratch) #0 {
entry:
  %total101.slot = alloca double
  %t102.slot = alloca i64
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
  store double 0x0000000000000000, ptr %total101.slot
  store i64 0, ptr %t102.slot
  br label %loop.8.head
loop.8.head:
  %t102 = load i64, ptr %t102.slot
  %t.9 = icmp slt i64 %t102, %n0
  br i1 %t.9, label %loop.8.body, label %loop.8.exit
loop.8.body:
  %p.10 = getelementptr inbounds double, ptr %part_r0, i64 %t102
  %v103 = load double, ptr %p.10, align 8
  %t.11 = load double, ptr %total101.slot
  %v104 = fadd double %t.11, %v103
  store double %v104, ptr %total101.slot
  %t.12 = add nsw i64 %t102, 1
  store i64 %t.12, ptr %t102.slot
  br label %loop.8.head
loop.8.exit:
  %t.13 = load double, ptr %total101.slot
  %t.14 = load double, ptr %total101.slot
  %v105 = select i1 true, double %t.13, double %t.14
  %v106 = fptrunc double %v105 to float
  %p.15 = getelementptr inbounds float, ptr %out2, i64 0
  store float %v106, ptr %p.15, align 4
  %failed = load i64, ptr %status
  %code = trunc i64 %failed to i32
  ret i32 %code
}
attributes #0 = { nounwind "no-trapping-math"="true" }
!0 = !{}
!1 = !{i32 1}
