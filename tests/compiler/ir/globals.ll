; SPDX-License-Identifier: Apache-2.0
; Mutable globals and statics go to the sections of virtual memory, zeros to the one without file
; space; the object says what it was built for.
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-prepare -nw-frame=256 -nw-slots=7 -nw-lookaside=8 -S %s | FileCheck-19 %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

; CHECK: module asm ".weak \22nw_instrumented.use\22"
; CHECK: @given = global i32 5, section ".nw_vm.data"
@given = global i32 5
; CHECK: @zero = internal global [100 x i8] zeroinitializer, section ".bss.nw_vm"
@zero = internal global [100 x i8] zeroinitializer
; CHECK: @pointer = global ptr @given, section ".nw_vm.data"
@pointer = global ptr @given
; CHECK: @soft = weak global i32 0, section ".bss.nw_vm"
@soft = weak global i32 0
; CHECK: @fixed = constant i32 9{{$}}
@fixed = constant i32 9
; CHECK: @elsewhere = external global i32{{$}}
@elsewhere = external global i32
; CHECK: @nw_config_entry = private constant [3 x i16] [i16 256, i16 7, i16 8], section "nw_config"
; CHECK: @nw_guest_frame_bytes = weak constant i16 256
; CHECK: @nw_guest_slots = weak constant i16 7
; CHECK: @nw_guest_lookaside_entries = weak constant i16 8

define void @use(ptr %p) {
  %a = load i8, ptr @zero
  store i8 %a, ptr %p
  ret void
}
