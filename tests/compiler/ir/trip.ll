; SPDX-License-Identifier: Apache-2.0
; A loop that may be too short for windows is tested in front, and runs as it would without them.
; RUN: opt-19 -load-pass-plugin %plugin -passes='function(loop-simplify),nw-windows,function(loop-simplify),nw-guard' -nw-count=0 -nw-frame=512 -nw-slots=16 -S %s | FileCheck-19 %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

define i32 @sum(ptr %p, i64 %n) {
; CHECK-LABEL: define i32 @sum(
; Fewer than eight iterations, for one stream of one access: the latch goes back once less.
; CHECK:         %short = icmp ult i64 %{{.*}}, 7
; CHECK-NEXT:    br i1 %short, label %loop.short.preheader, label %{{.*}}, !prof ![[EVEN:[0-9]+]]
; Slots stay in registers as in any loop, the guard is in place.
; CHECK:       loop.short.preheader:
; CHECK:         load i64, ptr @nw_guest_slot_table
; CHECK:       nw.strip:
; CHECK:       nw.hold:
; CHECK:       loop.short:
; CHECK-NOT:     @nw_guest
; CHECK:         icmp ule i64 %{{.*}}, 508
; CHECK:         br i1 %more.short, label %loop.short, label %{{.*}}, !prof ![[SHORT:[0-9]+]]
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

; 64 iterations pay for any window.
define i32 @fixed(ptr %p, i64 %n) {
; CHECK-LABEL: define i32 @fixed(
; CHECK-NOT:     .short
; CHECK:       nw.strip:
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi i32 [ 0, %entry ], [ %t, %loop ]
  %q = getelementptr i32, ptr %p, i64 %i
  %v = load i32, ptr %q, align 4
  %t = add i32 %s, %v
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, 64
  br i1 %more, label %loop, label %done
done:
  ret i32 %t
}

; Where code is to be small there is no third loop.
define i32 @small(ptr %p, i64 %n) optsize {
; CHECK-LABEL: define i32 @small(
; CHECK-NOT:     .short
; CHECK:       nw.strip:
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

; CHECK:       ![[EVEN]] = !{!"branch_weights", i32 524288, i32 524288}
; CHECK:       ![[SHORT]] = !{!"branch_weights", i32 786432, i32 262144}
