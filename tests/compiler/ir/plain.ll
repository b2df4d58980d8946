; SPDX-License-Identifier: Apache-2.0
; Provably plain memory is left alone: locals through any path, constants, thread-locals, NW_RAM
; objects, byval arguments, and arguments that only ever receive such pointers.
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw -nw-count=0 -S %s | FileCheck-19 %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

@ram = global i32 1
@table = constant [4 x i32] [i32 1, i32 2, i32 3, i32 4]
@own = thread_local global i32 0
@section = global i32 3, section "mine"
@.note = private unnamed_addr constant [7 x i8] c"nw_ram\00", section "llvm.metadata"
@.file = private unnamed_addr constant [4 x i8] c"f.c\00", section "llvm.metadata"
@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @ram, ptr @.note, ptr @.file, i32 1, ptr null }], section "llvm.metadata"

; CHECK: @ram = global i32 1{{$}}
; CHECK: @section = global i32 3, section "mine"

define i32 @objects(i64 %i, i1 %c) {
; CHECK-LABEL: define i32 @objects(
; CHECK-NOT:     @nw_guest
; CHECK:         ret i32
  %local = alloca [8 x i32]
  %other = alloca i32
  store volatile i32 5, ptr %other
  %in = getelementptr [8 x i32], ptr %local, i64 0, i64 %i
  store volatile i32 3, ptr %in
  %either = select i1 %c, ptr %in, ptr %other
  %a = load volatile i32, ptr %either
  %t = getelementptr [4 x i32], ptr @table, i64 0, i64 %i
  %b = load volatile i32, ptr %t
  %m = call ptr @llvm.threadlocal.address.p0(ptr @own)
  %d = load volatile i32, ptr %m
  %e = load volatile i32, ptr @ram
  %f = load volatile i32, ptr @section
  %s1 = add i32 %a, %b
  %s2 = add i32 %d, %e
  %s3 = add i32 %s1, %s2
  %s4 = add i32 %s3, %f
  ret i32 %s4
}

define internal i32 @only_locals(ptr %p) noinline {
; CHECK-LABEL: define internal i32 @only_locals(
; CHECK-NOT:     @nw_guest
; CHECK:         ret i32
  %v = load volatile i32, ptr %p
  ret i32 %v
}

define internal i32 @anything(ptr %p) noinline {
; CHECK-LABEL: define internal i32 @anything(
; CHECK:         @nw_guest_load_miss
  %v = load volatile i32, ptr %p
  ret i32 %v
}

define i32 @callers(ptr %q) {
  %a = alloca i32
  store i32 1, ptr %a
  %v = call i32 @only_locals(ptr %a)
  %w = call i32 @anything(ptr %a)
  %x = call i32 @anything(ptr %q)
  %s = add i32 %v, %w
  %t = add i32 %s, %x
  ret i32 %t
}

define i32 @by_value(ptr byval([4 x i32]) %p) {
; CHECK-LABEL: define i32 @by_value(
; CHECK-NOT:     @nw_guest
; CHECK:         ret i32
  %v = load volatile i32, ptr %p
  ret i32 %v
}

declare ptr @llvm.threadlocal.address.p0(ptr)

; Other address spaces are other memory.
define i32 @segment(ptr addrspace(256) %p) {
; CHECK-LABEL: define i32 @segment(
; CHECK-NOT:     @nw_guest
; CHECK:         ret i32
  %v = load volatile i32, ptr addrspace(256) %p
  ret i32 %v
}
