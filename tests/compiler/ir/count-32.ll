; SPDX-License-Identifier: Apache-2.0
; On a processor of 32 bits the counter has 32, as nw_count of nandwich/stats.h there.
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-guard -S %s | FileCheck-19 %s
target datalayout = "e-m:e-p:32:32-Fi8-i64:64-v128:64:128-a:0:32-n32-S64"
target triple = "thumbv7m-none-unknown-eabi"

define void @one(ptr %p) {
; CHECK-LABEL: define void @one(
; CHECK:         [[OLD:%.*]] = load i32, ptr @nw_guest_accesses
; CHECK:         [[NEW:%.*]] = add i32 [[OLD]]
; CHECK:         store i32 [[NEW]], ptr @nw_guest_accesses
  store i32 0, ptr %p
  ret void
}
