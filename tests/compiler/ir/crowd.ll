; SPDX-License-Identifier: Apache-2.0
; More walking addresses in a loop than slots: those that would take turns on one slot go to the
; look-aside entries. A column of a matrix, unrolled, missed at every second access otherwise.
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-guard -nw-count=0 -nw-slots=2 -nw-merge=0 -S %s | FileCheck-19 %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

define i32 @column(ptr %p, i64 %n) {
; CHECK-LABEL: define i32 @column(
; CHECK-DAG:     call preserve_mostcc ptr @nw_guest_load_miss(ptr @nw_guest_slot_table,
; CHECK-DAG:     call preserve_mostcc ptr @nw_guest_load_miss(ptr getelementptr inbounds (i8, ptr @nw_guest_slot_table, i64 32),
; CHECK-DAG:     call preserve_mostcc ptr @nw_guest_load_miss(ptr null,
; CHECK:         ret i32
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i32 [ 0, %entry ], [ %t, %loop ]
  %q = getelementptr i32, ptr %p, i64 %i
  %q1 = getelementptr i8, ptr %q, i64 400
  %q2 = getelementptr i8, ptr %q, i64 800
  %v = load i32, ptr %q, align 4
  %v1 = load i32, ptr %q1, align 4
  %v2 = load i32, ptr %q2, align 4
  %a = add i32 %v, %v1
  %b = add i32 %a, %v2
  %t = add i32 %s, %b
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret i32 %t
}
