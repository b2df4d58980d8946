; SPDX-License-Identifier: Apache-2.0
; Accesses are summed in a register and go to the global counter before calls and at the end.
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-guard -S %s | FileCheck-19 %s
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-guard -nw-count=0 -S %s | FileCheck-19 --check-prefix=OFF %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
; OFF-NOT: @nw_guest_accesses

declare void @other()

define void @two_and_one(ptr %p, ptr %q) {
; CHECK-LABEL: define void @two_and_one(
; CHECK:         [[SUM:%.*]] = add i64 0, 2
; CHECK:         [[OLD:%.*]] = load i64, ptr @nw_guest_accesses
; CHECK:         [[NEW:%.*]] = add i64 [[OLD]], [[SUM]]
; CHECK:         store i64 [[NEW]], ptr @nw_guest_accesses
; CHECK-NEXT:    call void @other()
; CHECK:         load i64, ptr @nw_guest_accesses
; CHECK:         store i64 %{{.*}}, ptr @nw_guest_accesses
; CHECK-NEXT:    ret void
  %v = load i32, ptr %p
  store i32 %v, ptr %q
  call void @other()
  store i32 %v, ptr %p
  ret void
}

define void @none() {
; CHECK-LABEL: define void @none(
; CHECK-NEXT:    call void @other()
; CHECK-NEXT:    ret void
  call void @other()
  ret void
}
