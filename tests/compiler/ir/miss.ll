; SPDX-License-Identifier: Apache-2.0
; Where no thunk spares the caller's registers, a miss is given the look-aside entry the guard has
; looked at: finding it again took a tenth of a miss. A member of a group whose span lies on two
; pages has no entry: the run time checks and finds one.
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-guard -nw-count=0 -S %s | FileCheck-19 %s
target datalayout = "e-m:e-p:32:32-Fi8-i64:64-v128:64:128-a:0:32-n32-S64"
target triple = "thumbv7m-none-unknown-eabi"

define i32 @load(ptr %p) {
; CHECK-LABEL: define i32 @load(
; CHECK:         [[ENTRY:%.*]] = getelementptr i8, ptr @nw_guest_lookaside, i32
; CHECK:         call ptr @nw_guest_load_miss(ptr [[ENTRY]], i32 {{.*}}, i32 4)
  %v = load i32, ptr %p, align 4
  ret i32 %v
}

define void @store(ptr %p, i32 %v) {
; CHECK-LABEL: define void @store(
; CHECK:         [[ENTRY:%.*]] = getelementptr i8, ptr @nw_guest_lookaside, i32
; CHECK:         call void @nw_guest_store_miss_4(ptr [[ENTRY]], i32 {{.*}}, i32 %v)
  store i32 %v, ptr %p, align 4
  ret void
}

define i32 @neighbours(ptr %p) {
; CHECK-LABEL: define i32 @neighbours(
; CHECK:         [[ENTRY:%.*]] = getelementptr i8, ptr @nw_guest_lookaside, i32
; CHECK:         call ptr @nw_guest_span_read(ptr [[ENTRY]], i32 {{.*}}, i32 8)
; CHECK:         call ptr @nw_guest_load(ptr null, i32 {{.*}}, i32 4)
; CHECK:         call ptr @nw_guest_load(ptr null, i32 {{.*}}, i32 4)
  %q = getelementptr i8, ptr %p, i32 4
  %a = load i32, ptr %p, align 4
  %b = load i32, ptr %q, align 4
  %s = add i32 %a, %b
  ret i32 %s
}
