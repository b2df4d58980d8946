; SPDX-License-Identifier: Apache-2.0
; Windows leave the counts of a profile as they are: a loop of 20,000 runs in 1,000 entries, of which a
; share is too short for windows, and one of 64,000 runs in 1,000. One entry of 17 does not run whole.
; RUN: opt-19 -load-pass-plugin %plugin -passes='function(loop-simplify),nw-windows,print<block-freq>' -nw-frame=512 -disable-output %s 2>&1 | FileCheck-19 %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK:       block-frequency-info: sum
; CHECK:         loop.whole: {{.*}} count = 18824{{$}}
; CHECK:       block-frequency-info: fixed
; CHECK:         loop.whole: {{.*}} count = 60235{{$}}
; CHECK:       block-frequency-info: sum.strips
; CHECK:         loop.short: {{.*}} count = 70{{$}}
; CHECK:         loop: {{.*}} count = 1089{{$}}
; CHECK:       block-frequency-info: fixed.strips
; CHECK:         loop: {{.*}} count = 3711{{$}}

define i32 @sum(ptr %p, i64 %n) !prof !10 {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i32 [ 0, %entry ], [ %t, %loop ]
  %q = getelementptr i32, ptr %p, i64 %i
  %v = load i32, ptr %q, align 4
  %t = add i32 %s, %v
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done, !prof !11
done:
  ret i32 %t
}

define i32 @fixed(ptr %p, i64 %n) !prof !10 {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i32 [ 0, %entry ], [ %t, %loop ]
  %q = getelementptr i32, ptr %p, i64 %i
  %v = load i32, ptr %q, align 4
  %t = add i32 %s, %v
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 64
  br i1 %more, label %loop, label %done, !prof !12
done:
  ret i32 %t
}

!llvm.module.flags = !{!0}
!0 = !{i32 1, !"ProfileSummary", !1}
!1 = !{!2, !3, !4, !5, !6, !7, !8, !9}
!2 = !{!"ProfileFormat", !"InstrProf"}
!3 = !{!"TotalCount", i64 86000}
!4 = !{!"MaxCount", i64 64000}
!5 = !{!"MaxInternalCount", i64 64000}
!6 = !{!"MaxFunctionCount", i64 1000}
!7 = !{!"NumCounts", i64 4}
!8 = !{!"NumFunctions", i64 2}
!9 = !{!"DetailedSummary", !13}
!10 = !{!"function_entry_count", i64 1000}
!11 = !{!"branch_weights", i32 19000, i32 1000}
!12 = !{!"branch_weights", i32 63000, i32 1000}
!13 = !{!14}
!14 = !{i32 999999, i64 1000, i32 4}
