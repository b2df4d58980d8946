; SPDX-License-Identifier: Apache-2.0
; A small loop runs whole where its bytes lie on pages that are held. What does not is a function of its
; own: there a loop that may be too short for windows runs as it would without them.
; RUN: opt-19 -load-pass-plugin %plugin -passes='function(loop-simplify),nw-windows,function(loop-simplify),nw-guard' -nw-count=0 -nw-frame=512 -nw-slots=16 -S %s | FileCheck-19 %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

define i32 @sum(ptr %p, i64 %n) {
; CHECK-LABEL: define i32 @sum(
; Its page has 128 places, and the first byte of all comes early enough for the turns there are.
; CHECK:         %[[TURNS:.*]] = call i64 @llvm.umin.i64(i64 %{{.*}}, i64 128)
; CHECK:         %[[WAY:.*]] = mul i64 %[[TURNS]], 4
; CHECK:         call i64 @llvm.usub.sat.i64(i64 509, i64 %[[WAY]])
; CHECK:         br i1 %{{.*}}, label %nw.whole, label %codeRepl
; CHECK:         call void @sum.strips(
; CHECK:       nw.whole:
; CHECK:         %[[HERE:.*]] = getelementptr i8, ptr %p, i64 %delta
; CHECK:       loop.whole:
; CHECK-NOT:     @nw_guest
; CHECK:         getelementptr i32, ptr %[[HERE]], i64 %i.whole
; CHECK-NOT:     @nw_guest
; CHECK:         br i1 %more.whole, label %loop.whole
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

; 64 iterations pay for any window, and take half a page.
define i32 @fixed(ptr %p, i64 %n) {
; CHECK-LABEL: define i32 @fixed(
; CHECK:       nw.whole:
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

; 65 take more: most entries would not stay on one.
define i32 @wide(ptr %p, i64 %n) {
; CHECK-LABEL: define i32 @wide(
; CHECK-NOT:     nw.whole
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
  %more = icmp ult i64 %next, 65
  br i1 %more, label %loop, label %done
done:
  ret i32 %t
}

; Downwards the lowest byte is the last turn's.
define void @down(ptr %p, i64 %n) {
; CHECK-LABEL: define void @down(
; CHECK:         %[[TURNS:.*]] = call i64 @llvm.umin.i64(i64 %{{.*}}, i64 128)
; CHECK:         %[[WAY:.*]] = mul i64 %[[TURNS]], 4
; CHECK:         %[[LIMIT:.*]] = call i64 @llvm.usub.sat.i64(i64 509, i64 %[[WAY]])
; CHECK:         %[[LOWEST:.*]] = sub i64 %first, %[[WAY]]
; CHECK:         %[[TAG:.*]] = load i64, ptr getelementptr inbounds (i8, ptr @nw_guest_slot_table
; CHECK:         %[[PLACE:.*]] = sub i64 %[[LOWEST]], %[[TAG]]
; CHECK:         icmp ult i64 %[[PLACE]], %[[LIMIT]]
; CHECK:       loop.whole:
entry:
  br label %loop
loop:
  %i = phi i64 [ %n, %entry ], [ %next, %loop ]
  %q = getelementptr i32, ptr %p, i64 %i
  store i32 7, ptr %q, align 4
  %next = add i64 %i, -1
  %more = icmp ugt i64 %next, 0
  br i1 %more, label %loop, label %done
done:
  ret void
}

; Where code is to be small there is no third loop.
define i32 @small(ptr %p, i64 %n) optsize {
; CHECK-LABEL: define i32 @small(
; CHECK-NOT:     .short
; CHECK-NOT:     .whole
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

; A handler that is always inlined, in a section of its own: of these only the section holds for its
; strips. The loop may leave before anyone looks at its bound or an address, which then need no value.
define i32 @handler(ptr %p, i64 %n) alwaysinline "interrupt"="IRQ" "signal" "target-cpu"="x86-64" section ".fast" {
; CHECK-LABEL: define i32 @handler(
; CHECK:         %[[BOUND:.*]] = freeze i64
; CHECK:         freeze i64 %first
; CHECK:         call i64 @llvm.umin.i64(i64 %[[BOUND]], i64 512)
; CHECK:         call void @handler.strips(
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %more ]
  %q = getelementptr i8, ptr %p, i64 %i
  %v = load i8, ptr %q, align 1
  %is = icmp eq i8 %v, 7
  br i1 %is, label %done, label %more
more:
  %next = add i64 %i, 1
  %on = icmp ult i64 %next, %n
  br i1 %on, label %loop, label %done
done:
  %r = phi i32 [ 1, %loop ], [ 0, %more ]
  ret i32 %r
}

; Fewer than eight iterations, for one stream of one access: the latch goes back once less.
; CHECK-LABEL: define internal void @sum.strips(
; CHECK:         %short = icmp ult i64 %{{.*}}, 7
; CHECK-NEXT:    br i1 %short, label %loop.short{{.*}}, label %{{.*}}, !prof ![[EVEN:[0-9]+]]
; CHECK:       loop.short:
; CHECK-NOT:     @nw_guest
; CHECK:         icmp ule i64 %{{.*}}, 508
; CHECK:         br i1 %more.short, label %loop.short, label %{{.*}}, !prof ![[SHORT:[0-9]+]]
; CHECK:       nw.strip:
; CHECK:       nw.hold:

; CHECK:       define internal void @handler.strips({{.*}}) #[[OF_STRIPS:[0-9]+]] section ".fast"
; CHECK:       attributes #[[OF_STRIPS]] = { noinline "target-cpu"="x86-64" }
; CHECK:       ![[EVEN]] = !{!"branch_weights", i32 524288, i32 524288}
; CHECK:       ![[SHORT]] = !{!"branch_weights", i32 786432, i32 262144}
