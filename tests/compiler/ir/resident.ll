; SPDX-License-Identifier: Apache-2.0
; In a loop without calls a stream's slot lives in registers: its fields are read before the loop and
; after a miss, not at each turn. A call in the loop ends that.
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-guard -nw-count=0 -S %s | FileCheck-19 %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

declare void @other()

define i32 @sum(ptr %p, i64 %n) {
; CHECK-LABEL: define i32 @sum(
; CHECK:       entry:
; CHECK:         load i64, ptr @nw_guest_slot_table
; CHECK:       loop:
; CHECK:         [[TAG:%.*]] = phi i64
; CHECK-NOT:     load i64
; CHECK:         sub i64 %{{.*}}, [[TAG]]
; CHECK:         call preserve_mostcc ptr @nw_guest_load_miss(ptr @nw_guest_slot_table,
; CHECK:         load i64, ptr @nw_guest_slot_table
; CHECK:         ret i32
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
  br i1 %more, label %loop, label %done
done:
  ret i32 %t
}

define i32 @sum_with_call(ptr %p, i64 %n) {
; CHECK-LABEL: define i32 @sum_with_call(
; CHECK:       loop:
; CHECK:         @nw_guest_lookaside
; CHECK:         load i64, ptr
; CHECK:         @nw_guest_load_miss(
; CHECK:         ret i32
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i32 [ 0, %entry ], [ %t, %loop ]
  %q = getelementptr i32, ptr %p, i64 %i
  %v = load i32, ptr %q, align 4
  call void @other()
  %t = add i32 %s, %v
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret i32 %t
}
