; SPDX-License-Identifier: Apache-2.0
; A guarded access inside a page window must not take the slot that holds the window's page. With two
; slots the two windows hold one each; @t is an address in both, and was once dealt one slot for the
; whole function: with both windows' slots to keep off it got the first window's, whose page went,
; and the raw pointer read another page.
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-windows,nw-guard -nw-count=0 -nw-slots=2 -nw-lookaside=0 -S %s | FileCheck-19 %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@t = external global i32

define i32 @two(ptr %p, ptr %q, i64 %n) {
; CHECK-LABEL: define i32 @two(
; CHECK:       call preserve_mostcc void @nw_guest_window_read(ptr @nw_guest_slot_table,
; CHECK:       first.add:
; CHECK:       @nw_guest_span_write(ptr getelementptr inbounds (i8, ptr @nw_guest_slot_table, i64 32),
; CHECK:       first.next:
; CHECK:       @nw_guest_window_read(ptr getelementptr inbounds (i8, ptr @nw_guest_slot_table, i64 32),
; CHECK:       second.add:
; CHECK:       @nw_guest_span_write(ptr @nw_guest_slot_table,
; CHECK:       second.next:
entry:
  br label %first
first:
  %i = phi i64 [ 0, %entry ], [ %i1, %first.next ]
  %pi = getelementptr i32, ptr %p, i64 %i
  %a = load i32, ptr %pi, align 4
  %odd = trunc i32 %a to i1
  br i1 %odd, label %first.add, label %first.next
first.add:
  %ta = load i32, ptr @t, align 4
  %tb = add i32 %ta, %a
  store i32 %tb, ptr @t, align 4
  br label %first.next
first.next:
  %i1 = add i64 %i, 1
  %more = icmp ult i64 %i1, %n
  br i1 %more, label %first, label %between
between:
  br label %second
second:
  %j = phi i64 [ 0, %between ], [ %j1, %second.next ]
  %qj = getelementptr i32, ptr %q, i64 %j
  %b = load i32, ptr %qj, align 4
  %even = trunc i32 %b to i1
  br i1 %even, label %second.add, label %second.next
second.add:
  %tc = load i32, ptr @t, align 4
  %td = add i32 %tc, %b
  store i32 %td, ptr @t, align 4
  br label %second.next
second.next:
  %j1 = add i64 %j, 1
  %again = icmp ult i64 %j1, %n
  br i1 %again, label %second, label %done
done:
  ret i32 0
}
