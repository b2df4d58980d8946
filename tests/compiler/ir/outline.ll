; SPDX-License-Identifier: Apache-2.0
; Guards out of line: everywhere by choice, outside loops in functions built for size.
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-guard -nw-count=0 -nw-guards=outline -S %s | FileCheck-19 --check-prefixes=CHECK,OUT %s
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-guard -nw-count=0 -S %s | FileCheck-19 --check-prefixes=CHECK,IN %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

define i32 @fast(ptr %p, ptr %q) {
; CHECK-LABEL: define i32 @fast(
; OUT:           call preserve_mostcc ptr @nw_guest_load(ptr null, i64 %{{.*}}, i64 4)
; OUT:           call preserve_mostcc void @nw_guest_store_4(
; IN:            icmp ule
; CHECK:         ret i32
  %v = load i32, ptr %p
  store i32 %v, ptr %q
  ret i32 %v
}

define i32 @small(ptr %p) optsize {
; CHECK-LABEL: define i32 @small(
; CHECK:         call preserve_mostcc ptr @nw_guest_load(
; CHECK:         ret i32
  %v = load i32, ptr %p
  ret i32 %v
}

; The rare side of a branch is out of line too.
define i32 @rare(ptr %p, i32 %n) {
; CHECK-LABEL: define i32 @rare(
; CHECK:         call preserve_mostcc ptr @nw_guest_load(
; CHECK:         ret i32
entry:
  %c = icmp eq i32 %n, 0
  br i1 %c, label %seldom, label %done, !prof !0
seldom:
  %v = load i32, ptr %p
  br label %done
done:
  %r = phi i32 [ %v, %seldom ], [ 1, %entry ]
  ret i32 %r
}

!0 = !{!"branch_weights", i32 1, i32 1000}
