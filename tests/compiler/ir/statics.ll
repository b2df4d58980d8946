; SPDX-License-Identifier: Apache-2.0
; Under a budget the hottest globals stay in RAM: loops, callers and profiles weigh, what may go to
; one of two counts half for each; volatile and atomic accesses as others. Not chosen: what is larger
; than the budget, what another file may define otherwise, what nobody accesses.
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-prepare -nw-statics=80 -S %s | FileCheck-19 %s
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-prepare -S %s | FileCheck-19 %s --check-prefix=NONE
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw -nw-statics=80 -nw-windows=0 -S %s | FileCheck-19 %s --check-prefix=GUARD
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; NONE-NOT: nw_statics
; NONE: @looped = internal global i32 0, section ".bss.nw_vm"

; CHECK:      .pushsection .nw_statics
; CHECK-SAME: \22\22
; CHECK-NEXT: .ascii
; CHECK-SAME: budget_bytes
; CHECK:      .popsection

; CHECK: @looped = internal global i32 0{{$}}
@looped = internal global i32 0
; CHECK: @passed = internal global [15 x i32] zeroinitializer{{$}}
@passed = internal global [15 x i32] zeroinitializer
; CHECK: @profiled = internal global i32 1{{$}}
@profiled = internal global i32 1
; CHECK: @once = internal global i32 1, section ".nw_vm.data"
@once = internal global i32 1
; CHECK: @large = internal global [21 x i32] zeroinitializer, section ".bss.nw_vm"
@large = internal global [21 x i32] zeroinitializer
; CHECK: @seen = internal global i32 0{{$}}
@seen = internal global i32 0
; CHECK: @counted = internal global i32 0{{$}}
@counted = internal global i32 0
; CHECK: @soft = weak global i32 0, section ".bss.nw_vm"
@soft = weak global i32 0
; CHECK: @unused = internal global i32 0, section ".bss.nw_vm"
@unused = internal global i32 0
; CHECK: @fixed = internal constant [2 x i32]
@fixed = internal constant [2 x i32] [i32 1, i32 2]
; CHECK: @nw_guest_statics_bytes = constant i32 80

; GUARD-LABEL: define i32 @main(
define i32 @main(i64 %n, i1 %c) {
entry:
  br label %loop
; GUARD: loop:
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
; Plain for the guards: no slot is looked at.
; GUARD: store i32 %{{.*}}, ptr @looped
  %was = load i32, ptr @looped
  %now = add i32 %was, 1
  store i32 %now, ptr @looped
  %l = getelementptr [21 x i32], ptr @large, i64 0, i64 %i
  store i32 %now, ptr %l
; GUARD: store volatile i32 %{{.*}}, ptr @seen
; GUARD: atomicrmw add ptr @counted, i32 1 seq_cst
  store volatile i32 %now, ptr @seen
  %before = atomicrmw add ptr @counted, i32 1 seq_cst
  store i32 %now, ptr @soft
  %k = getelementptr [2 x i32], ptr @fixed, i64 0, i64 %i
  %f = load i32, ptr %k
  call void @through(ptr @passed, i32 %f)
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %out
out:
  %a = load i32, ptr @once
  call void @hot()
  ret i32 %a
}

; What goes through an argument goes to what the callers pass.
define internal void @through(ptr %p, i32 %v) noinline {
  %q = getelementptr i32, ptr %p, i64 3
  store i32 %v, ptr %q
  ret void
}

; Called once, as it looks; the profile knows better.
define internal void @hot() noinline !prof !0 {
  %v = load i32, ptr @profiled
  %w = add i32 %v, 1
  store i32 %w, ptr @profiled
  ret void
}

!0 = !{!"function_entry_count", i64 1000}
