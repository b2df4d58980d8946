; SPDX-License-Identifier: Apache-2.0
; Page windows: a counted loop, one with an early exit, a short loop inside another,
; and what is refused.
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-windows,nw-guard -nw-count=0 -nw-frame=512 -nw-slots=16 -S %s | FileCheck-19 %s
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-windows,nw-guard -nw-count=0 -nw-windows=0 -S %s | FileCheck-19 --check-prefix=OFF %s
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-windows -pass-remarks=nandwich -pass-remarks-missed=nandwich -disable-output %s 2>&1 | FileCheck-19 --check-prefix=SAID %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

declare void @other()

; OFF-NOT: nw.strip
; SAID:       page window: 1 streams, 0 accesses keep their guards
; SAID:       page window: 1 streams, 0 accesses keep their guards
; SAID:       no page window: it runs only 4 times
; SAID:       page window: 1 streams, 0 accesses keep their guards
; SAID:       no page window: no address walks in small steps
; SAID:       no page window: it calls other, which may touch virtual memory

define i32 @sum(ptr %p, i64 %n) {
; CHECK-LABEL: define i32 @sum(
; A small loop runs whole where its bytes lie on a page (trip.ll); its strips stand at the end.
; CHECK:         call void @sum.strips(
; CHECK:       loop.whole:
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

define i64 @find(ptr %p) {
; CHECK-LABEL: define i64 @find(
; The program's own test stays, the window's end comes behind it.
; CHECK:       loop:
; CHECK-NOT:     @nw_guest
; CHECK:         %end = icmp eq i8 %v, 0
; CHECK:         br i1 %end, label %done, label %nw.turn
; CHECK:       done:
; CHECK:         phi i64 [ %i, %loop ], [ %{{.*}}, %loop.guarded ]
; CHECK:       loop.guarded:
; CHECK:         @nw_guest_load(
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %q = getelementptr i8, ptr %p, i64 %i
  %v = load i8, ptr %q, align 1
  %next = add i64 %i, 1
  %end = icmp eq i8 %v, 0
  br i1 %end, label %done, label %loop
done:
  %r = phi i64 [ %i, %loop ]
  ret i64 %r
}

; Four words a turn, in a loop of their own: the window is the outer loop's.
define i32 @nested(ptr %p, i64 %n) {
; CHECK-LABEL: define i32 @nested(
; CHECK:         call void @nested.strips(
; CHECK:       inner.whole:
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %inext, %latch ]
  %s0 = phi i32 [ 0, %entry ], [ %t, %latch ]
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %jnext, %inner ]
  %s = phi i32 [ %s0, %outer ], [ %t, %inner ]
  %row = getelementptr [4 x i32], ptr %p, i64 %i
  %q = getelementptr i32, ptr %row, i64 %j
  %v = load i32, ptr %q, align 4
  %t = add i32 %s, %v
  %jnext = add nuw nsw i64 %j, 1
  %jmore = icmp ult i64 %jnext, 4
  br i1 %jmore, label %inner, label %latch
latch:
  %inext = add i64 %i, 1
  %more = icmp ult i64 %inext, %n
  br i1 %more, label %outer, label %done
done:
  ret i32 %t
}

; A call may evict any page, and steps of a page have nothing to hold.
define void @refused(ptr %p, i64 %n) {
; CHECK-LABEL: define void @refused(
; CHECK-NOT:     nw.strip
; CHECK:         ret void
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %q = getelementptr i32, ptr %p, i64 %i
  store i32 1, ptr %q, align 4
  call void @other()
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %second
second:
  br label %wide
wide:
  %k = phi i64 [ 0, %second ], [ %knext, %wide ]
  %w = getelementptr [512 x i8], ptr %p, i64 %k
  store i32 2, ptr %w, align 4
  %knext = add i64 %k, 1
  %wmore = icmp ult i64 %knext, %n
  br i1 %wmore, label %wide, label %done
done:
  ret void
}

; The slot of the stream, the way to the page's end, the raw loop. What straddles: guarded, once.
; CHECK-LABEL: define internal void @sum.strips(
; CHECK:       nw.strip:
; CHECK:         sub i64 %{{.*}}, %done
; CHECK:         icmp ule i64 %{{.*}}, 508
; CHECK:       nw.hold:
; CHECK:         call preserve_mostcc void @nw_guest_window_read(
; CHECK:       nw.window:
; CHECK:         udiv i64 %{{.*}}, 4
; CHECK:         call i64 @llvm.umin.i64(
; CHECK:         %[[DELTA:delta.*]] = sub i64
; CHECK:         %[[HERE:.*]] = getelementptr i8, ptr %p, i64 %[[DELTA]]
; CHECK:       loop.guarded:
; CHECK:         call preserve_mostcc ptr @nw_guest_load(
; CHECK:       loop:
; CHECK-NOT:     @nw_guest
; CHECK:         getelementptr i32, ptr %[[HERE]], i64 %i
; CHECK-NOT:     @nw_guest
; CHECK:         br i1 %{{.*}}, label %nw.strip.end, label %loop

; CHECK-LABEL: define internal void @nested.strips(
; CHECK:       nw.strip:
; CHECK:         icmp ule i64 %{{.*}}, 496
; CHECK:       nw.window:
; CHECK:         udiv i64 %{{.*}}, 16
; CHECK:         %[[ROWS:.*]] = getelementptr i8, ptr %p, i64 %delta
; CHECK:       outer:
; CHECK:         getelementptr [4 x i32], ptr %[[ROWS]], i64 %i
; CHECK:       latch.guarded:
