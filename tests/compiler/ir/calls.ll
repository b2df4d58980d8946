; SPDX-License-Identifier: Apache-2.0
; Library calls go to their wrappers by name, address taken or not; block operations, arguments in
; memory and setjmp are lowered; a function that is not seen must turn out to be instrumented.
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-prepare -S %s | FileCheck-19 %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%big = type { [10 x i64] }
@env = global [200 x i8] zeroinitializer, align 16
@hook = global ptr @strlen

; CHECK: @hook = global ptr @nw_libc_strlen
; CHECK: @nw_from = private constant ptr @nw_instrumented.unseen, section ".nw_from.{{.*}} in calls"

declare i64 @strlen(ptr nocapture) memory(argmem: read) nofree
declare ptr @malloc(i64) allockind("alloc,uninitialized") allocsize(0)
declare double @sin(double)
declare void @unseen(ptr)
declare void @unseen_but_harmless(i32)
declare i32 @_setjmp(ptr) returns_twice
declare void @takes(ptr byval(%big))
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define void @calls(ptr nocapture readonly %p, i64 %n) nosync nofree memory(argmem: read) {
; CHECK-LABEL: define void @calls(ptr %p, i64 %n) {
; CHECK:         call i64 @nw_libc_strlen(ptr %p){{$}}
; CHECK:         call ptr @nw_libc_malloc(i64 8)
; CHECK:         call double @sin(
; CHECK:         call void @unseen(ptr %p)
  %l = call i64 @strlen(ptr nocapture %p) nofree memory(argmem: read)
  %m = call ptr @malloc(i64 8)
  %s = call double @sin(double 1.0)
  call void @unseen(ptr %p)
  call void @unseen_but_harmless(i32 1)
  ret void
}

define void @blocks(ptr %p, ptr %q, i64 %n) {
; CHECK-LABEL: define void @blocks(
; CHECK:         call void @nw_guest_copy(ptr %p, ptr %q, i64 %n)
; CHECK:         call void @nw_guest_move(ptr %p, ptr %q, i64 %n)
; CHECK:         call void @nw_guest_fill(ptr %p, i32 7, i64 %n)
; CHECK:         [[W:%.*]] = load i64, ptr
; CHECK:         store i64 [[W]], ptr
; CHECK:         [[X:%.*]] = load i32, ptr
; CHECK:         store i32 [[X]], ptr
; CHECK:         call void @llvm.memset.p0.i64(ptr %local
; CHECK-NOT:     call
; CHECK:         ret void
  %local = alloca [64 x i8]
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %n, i1 false)
  call void @llvm.memmove.p0.p0.i64(ptr %p, ptr %q, i64 %n, i1 false)
  call void @llvm.memset.p0.i64(ptr %p, i8 7, i64 %n, i1 false)
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 12, i1 false)
  call void @llvm.memset.p0.i64(ptr %local, i8 7, i64 64, i1 false)
  ret void
}

define i32 @special(ptr %p) {
; CHECK-LABEL: define i32 @special(
; CHECK:         call void @nw_guest_copy(ptr [[COPY:%.*]], ptr %p, i64 80)
; CHECK:         call void @takes(ptr byval(%big) [[COPY]])
; CHECK:         [[R:%.*]] = call i32 @_setjmp(ptr [[LOCAL:%.*]])
; CHECK:         call void @nw_guest_setjmp_done(ptr @env, ptr [[LOCAL]], i32 [[R]])
  call void @takes(ptr byval(%big) %p)
  %r = call i32 @_setjmp(ptr @env) returns_twice
  ret i32 %r
}
