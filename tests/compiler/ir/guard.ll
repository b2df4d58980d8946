; SPDX-License-Identifier: Apache-2.0
; The guard's shape: a load and a store through the look-aside entry of their address, with bounds
; frame - n whatever the alignment says.
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-guard -nw-count=0 -S %s | FileCheck-19 %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

define i32 @load(ptr %p) {
; CHECK-LABEL: define i32 @load(
; CHECK:         [[A:%.*]] = ptrtoint ptr %p to i64
; CHECK:         [[SHIFTED:%.*]] = lshr i64 [[A]], 4
; CHECK:         and i64 [[SHIFTED]], 2016
; CHECK:         [[TAG:%.*]] = load i64, ptr
; CHECK:         [[O:%.*]] = sub i64 [[A]], [[TAG]]
; CHECK:         [[HIT:%.*]] = icmp ule i64 [[O]], 508
; CHECK:         br i1 [[HIT]], label %{{.*}}, label %{{.*}}, !prof
; CHECK:         call preserve_mostcc ptr @nw_guest_load_miss(ptr null, i64 [[A]], i64 4)
  %v = load i32, ptr %p, align 4
  ret i32 %v
}

define void @store(ptr %p, double %v) {
; CHECK-LABEL: define void @store(
; CHECK:         icmp ule i64 {{.*}}, 504
; CHECK:         store double %v, ptr
; CHECK:         [[BITS:%.*]] = bitcast double %v to i64
; CHECK:         call preserve_mostcc void @nw_guest_store_miss_8(ptr null, i64 %{{.*}}, i64 [[BITS]])
  store double %v, ptr %p, align 1
  ret void
}

define x86_fp80 @odd_size(ptr %p) {
; CHECK-LABEL: define x86_fp80 @odd_size(
; CHECK:         icmp ule i64 {{.*}}, 502
; CHECK:         @nw_guest_load_miss({{.*}}, i64 10)
  %v = load x86_fp80, ptr %p, align 16
  ret x86_fp80 %v
}

define <8 x i32> @wide(ptr %p) {
; CHECK-LABEL: define <8 x i32> @wide(
; CHECK:         icmp ule i64 {{.*}}, 480
; CHECK:         call void @nw_guest_copy(ptr [[HOME:%.*]], ptr %p, i64 32)
; CHECK:         load <8 x i32>, ptr [[HOME]]
  %v = load <8 x i32>, ptr %p, align 32
  ret <8 x i32> %v
}

define i32 @atomic(ptr %p) {
; CHECK-LABEL: define i32 @atomic(
; CHECK:         call preserve_mostcc ptr @nw_guest_modify_miss(
; CHECK:         [[AT:%.*]] = phi ptr
; CHECK:         atomicrmw add ptr [[AT]], i32 1 seq_cst
  %v = atomicrmw add ptr %p, i32 1 seq_cst
  ret i32 %v
}
