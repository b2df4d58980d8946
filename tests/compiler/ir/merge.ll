; SPDX-License-Identifier: Apache-2.0
; Neighbours share one check of the whole span; a call between them, too long a span, volatile, or a
; different pointer do not.
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-guard -nw-count=0 -S %s | FileCheck-19 %s
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-guard -nw-count=0 -nw-merge=0 -S %s | FileCheck-19 --check-prefix=OFF %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

declare void @other()

define i32 @neighbours(ptr %p) {
; CHECK-LABEL: define i32 @neighbours(
; CHECK:         icmp ule i64 {{.*}}, 500
; CHECK:         [[MISSED:%.*]] = call preserve_mostcc ptr @nw_guest_span_write(ptr null, i64 %{{.*}}, i64 12)
; CHECK:         [[SPAN:%.*]] = phi ptr [ %{{.*}}, %{{.*}} ], [ [[MISSED]], %{{.*}} ]
; CHECK:         icmp ne ptr [[SPAN]], null
; CHECK:         icmp ne ptr [[SPAN]], null
; CHECK-NOT:     @nw_guest_span
; CHECK:         ret i32
; OFF-LABEL:   define i32 @neighbours(
; OFF-NOT:       @nw_guest_span
; OFF:           ret i32
  %q = getelementptr i8, ptr %p, i64 8
  %v = load i32, ptr %q, align 4
  store i32 %v, ptr %p, align 4
  ret i32 %v
}

; Standing together they take the look-aside entry of their page; with another access between them,
; which may evict, a slot, which pins.
define i32 @apart(ptr %p, ptr %other) {
; CHECK-LABEL: define i32 @apart(
; CHECK:         call preserve_mostcc ptr @nw_guest_span_read(ptr getelementptr inbounds (i8, ptr @nw_guest_slot_table, {{.*}}, i64 12)
; CHECK:         ret i32
  %q = getelementptr i8, ptr %p, i64 8
  %v = load i32, ptr %q, align 4
  %o = load i32, ptr %other, align 4
  %w = load i32, ptr %p, align 4
  %s = add i32 %v, %w
  %t = add i32 %s, %o
  ret i32 %t
}

define i32 @with_call(ptr %p) {
; CHECK-LABEL: define i32 @with_call(
; CHECK-NOT:     @nw_guest_span
; CHECK:         ret i32
  %q = getelementptr i8, ptr %p, i64 8
  %v = load i32, ptr %q, align 4
  call void @other()
  %w = load i32, ptr %p, align 4
  %s = add i32 %v, %w
  ret i32 %s
}

define i32 @far(ptr %p) {
; CHECK-LABEL: define i32 @far(
; CHECK-NOT:     @nw_guest_span
; CHECK:         ret i32
  %q = getelementptr i8, ptr %p, i64 200
  %v = load i32, ptr %q, align 4
  %w = load i32, ptr %p, align 4
  %s = add i32 %v, %w
  ret i32 %s
}

define i32 @volatiles(ptr %p) {
; CHECK-LABEL: define i32 @volatiles(
; CHECK-NOT:     @nw_guest_span
; CHECK:         load volatile i32
; CHECK:         load volatile i32
; CHECK:         ret i32
  %v = load volatile i32, ptr %p, align 4
  %w = load volatile i32, ptr %p, align 4
  %s = add i32 %v, %w
  ret i32 %s
}
