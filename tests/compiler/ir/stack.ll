; SPDX-License-Identifier: Apache-2.0
; On an AVR a function that passes arguments on the stack gets a byte there that looks used, so that
; LLVM sets up a frame for the call; arguments in registers (18 bytes) need none. Nothing elsewhere,
; and a stack that grows as the function runs is refused.
; RUN: opt-19 -load-pass-plugin %plugin -passes=nw-stack -S %s | FileCheck-19 %s
; RUN: sed -e 's/^target.*//' %s | opt-19 -load-pass-plugin %plugin -passes=nw-stack -S | FileCheck-19 --check-prefix=OTHER %s
; RUN: { sed -e 's/, i16 4$/, i16 %n/' %s | opt-19 -load-pass-plugin %plugin -passes=nw-stack -S 2>&1 || true; } | FileCheck-19 --check-prefix=GROWS %s
target datalayout = "e-P1-p:16:8-i8:8-i16:8-i32:8-i64:8-f32:8-f64:8-n8-a:8"
target triple = "avr"

; OTHER-NOT: nw.frame
; GROWS: in 'in_registers': an array of variable length, or alloca(): LLVM's code for them is wrong on an AVR

declare i16 @printf(ptr, ...) addrspace(1)
declare void @nine(i32, i32, i32, i32, i16) addrspace(1)
declare void @ten(i32, i32, i32, i32, i16, i8) addrspace(1)

define void @variadic(ptr %format, i1 %c) addrspace(1) {
; CHECK-LABEL: define void @variadic(
; CHECK:         %nw.frame = alloca i8
; CHECK:         call addrspace({{[01]}}) void asm sideeffect "", "=*Q"(ptr elementtype(i8) %nw.frame)
; CHECK:         call addrspace(1) i16 (ptr, ...) @printf
  %x = select i1 %c, i16 1, i16 2
  %n = call addrspace(1) i16 (ptr, ...) @printf(ptr %format, i16 %x)
  ret void
}

define void @in_registers(i32 %a, i16 %n) addrspace(1) {
; CHECK-LABEL: define void @in_registers(
; CHECK-NOT:     nw.frame
; CHECK:         ret void
  %place = alloca i8, i16 4
  store volatile i8 0, ptr %place
  call addrspace(1) void @nine(i32 %a, i32 %a, i32 %a, i32 %a, i16 %n)
  ret void
}

define void @on_the_stack(i32 %a, i16 %n) addrspace(1) {
; CHECK-LABEL: define void @on_the_stack(
; CHECK:         %nw.frame = alloca i8
  call addrspace(1) void @ten(i32 %a, i32 %a, i32 %a, i32 %a, i16 %n, i8 0)
  ret void
}

define void @none(i16 %n) addrspace(1) {
; CHECK-LABEL: define void @none(
; CHECK-NEXT:    ret void
  ret void
}
