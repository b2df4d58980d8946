; SPDX-License-Identifier: Apache-2.0
; The choice is the best there is: @dense has the most accesses a byte, but keeps @wide out, which
; has more in all. Shares are of all accesses that may be virtual.
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-prepare -nw-statics=64 -S %s | FileCheck-19 %s
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-prepare -nw-statics=68 -S %s | FileCheck-19 %s --check-prefix=BOTH
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK:      .ascii
; CHECK-SAME: coverage
; CHECK-SAME: :32,{{[^:]*}}:0.2{{0*1?}}}
; CHECK-SAME: :64,{{[^:]*}}:0.59999999999999998}
; CHECK-SAME: :1088,{{[^:]*}}:0.8{{0*4?}}}
; CHECK-SAME: kept
; CHECK-SAME: wide
; CHECK-SAME: left
; CHECK-SAME: dense
; CHECK-SAME: room
; CHECK: @dense = internal global i32 0, section ".bss.nw_vm"
; CHECK: @wide = internal global [16 x i32] zeroinitializer{{(, align .*)?$}}
; BOTH: @dense = internal global i32 0{{$}}
; BOTH: @wide = internal global [16 x i32] zeroinitializer{{(, align .*)?$}}
@dense = internal global i32 0
@wide = internal global [16 x i32] zeroinitializer, align 4

define void @use(ptr %anywhere, i1 %c) {
  store i32 1, ptr @wide
  %b = getelementptr i32, ptr @wide, i64 5
  store i32 2, ptr %b
; One of two: half an access to each.
  %either = select i1 %c, ptr @wide, ptr @dense
  store i32 3, ptr %either
  %other = select i1 %c, ptr @wide, ptr @dense
  %v = load i32, ptr %other
  store i32 %v, ptr %anywhere
  ret void
}
