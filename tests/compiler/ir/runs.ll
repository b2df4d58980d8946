; SPDX-License-Identifier: Apache-2.0
; What the profile counted is noted before LLVM's passes make more or less of it. 'inflated' has
; weights that say 1,000,000,000 where 9,000 runs were counted: 'hot' is still hot beside it. What was
; taken from the entries of 'emptied' comes back. 'inlined' keeps none: its one call that is left
; never ran.
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-runs -S %s | FileCheck-19 --check-prefix=NOTE %s
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-guard -nw-frame=512 -S %s | FileCheck-19 --check-prefix=HOT %s
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-prepare -nw-frame=512 -S %s | FileCheck-19 --check-prefix=BACK %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; NOTE: define i32 @hot({{.*}} !nw.runs ![[ENTRIES:[0-9]+]]
; NOTE: load i32, ptr %p, align 4, !nw.runs ![[ENTRIES]]
; NOTE: ![[ENTRIES]] = !{i64 10000}

; HOT-LABEL: define i32 @hot(
; HOT-NOT:   @nw_guest_load(
; HOT:       define i32 @inflated(

; BACK: define i32 @emptied({{.*}} !prof ![[COUNT:[0-9]+]]
; BACK: define internal i32 @inlined({{.*}} !prof ![[NONE:[0-9]+]]
; BACK-DAG: ![[COUNT]] = !{!"function_entry_count", i64 4000}
; BACK-DAG: ![[NONE]] = !{!"function_entry_count", i64 0}

define i32 @hot(ptr %p) !prof !10 {
  %v = load i32, ptr %p, align 4
  ret i32 %v
}

define i32 @inflated(ptr %p, i64 %n) !prof !11 {
entry:
  br label %loop
loop:
  %q = phi ptr [ %p, %entry ], [ %next, %loop ]
  %next = load ptr, ptr %q, align 8, !nw.runs !15
  %more = icmp ne ptr %next, null
  br i1 %more, label %loop, label %done, !prof !12
done:
  ret i32 0
}

define i32 @emptied(ptr %p) !prof !16 !nw.runs !17 {
  ret i32 0
}

define internal i32 @inlined(ptr %p) !prof !16 !nw.runs !17 {
  %v = load i32, ptr %p, align 4
  ret i32 %v
}

define i32 @caller(ptr %p, i1 %seldom) !prof !10 {
  br i1 %seldom, label %never, label %always, !prof !18
never:
  %v = call i32 @inlined(ptr %p)
  ret i32 %v
always:
  ret i32 0
}

!llvm.module.flags = !{!0}
!0 = !{i32 1, !"ProfileSummary", !1}
!1 = !{!2, !3, !4, !5, !6, !7, !8, !9}
!2 = !{!"ProfileFormat", !"InstrProf"}
!3 = !{!"TotalCount", i64 30000}
!4 = !{!"MaxCount", i64 10000}
!5 = !{!"MaxInternalCount", i64 9000}
!6 = !{!"MaxFunctionCount", i64 10000}
!7 = !{!"NumCounts", i64 3}
!8 = !{!"NumFunctions", i64 3}
!9 = !{!"DetailedSummary", !13}
!10 = !{!"function_entry_count", i64 10000}
!11 = !{!"function_entry_count", i64 1000}
!12 = !{!"branch_weights", i32 1000000, i32 1}
!13 = !{!14}
!14 = !{i32 999999, i64 1000, i32 3}
!15 = !{i64 9000}
!16 = !{!"function_entry_count", i64 0}
!17 = !{i64 4000}
!18 = !{!"branch_weights", i32 0, i32 10000}
