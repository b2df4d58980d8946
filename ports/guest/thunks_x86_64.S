/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thunks_x86_64.S - the slow sides of guards under LLVM's preserve_most: every general register but
 * r11 (and rax where a pointer is returned) is as before, so the code around a guard keeps its
 * values in registers. Vector registers are the caller's to save, as usual.
 */
#if defined(__x86_64__)
        .text

        .macro  enter
        .cfi_startproc
        push    %rcx
        .cfi_adjust_cfa_offset 8
        push    %rdx
        .cfi_adjust_cfa_offset 8
        push    %rsi
        .cfi_adjust_cfa_offset 8
        push    %rdi
        .cfi_adjust_cfa_offset 8
        push    %r8
        .cfi_adjust_cfa_offset 8
        push    %r9
        .cfi_adjust_cfa_offset 8
        push    %r10
        .cfi_adjust_cfa_offset 8
        .endm

        .macro  leave_thunk
        pop     %r10
        .cfi_adjust_cfa_offset -8
        pop     %r9
        .cfi_adjust_cfa_offset -8
        pop     %r8
        .cfi_adjust_cfa_offset -8
        pop     %rdi
        .cfi_adjust_cfa_offset -8
        pop     %rsi
        .cfi_adjust_cfa_offset -8
        pop     %rdx
        .cfi_adjust_cfa_offset -8
        pop     %rcx
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_endproc
        .endm

        /* Seven pushes and the return address: the stack is aligned for the call. */
        .macro  returning name
        .globl  nw_guest_\name
        .type   nw_guest_\name, @function
        .p2align 4
nw_guest_\name:
        enter
        call    nw_guest_c_\name
        leave_thunk
        .size   nw_guest_\name, . - nw_guest_\name
        .endm

        /* A function without a result keeps rax as well. */
        .macro  void name
        .globl  nw_guest_\name
        .type   nw_guest_\name, @function
        .p2align 4
nw_guest_\name:
        enter
        push    %rax
        .cfi_adjust_cfa_offset 8
        sub     $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    nw_guest_c_\name
        add     $8, %rsp
        .cfi_adjust_cfa_offset -8
        pop     %rax
        .cfi_adjust_cfa_offset -8
        leave_thunk
        .size   nw_guest_\name, . - nw_guest_\name
        .endm

        returning load_miss
        returning modify_miss
        returning span_read
        returning span_write
        void    store_miss_1
        void    store_miss_2
        void    store_miss_4
        void    store_miss_8
        void    store_miss_n
        void    window_read
        void    window_write
        void    dirty

        /* Outlined guards: rdi slot, or 0 for the look-aside entry of the address; rsi address; rdx
           bytes or value. Only r11 is lost, and rax by loads. */

        /* r11: the entry of the address in rsi. rax is lost. */
        .macro  lookaside
        mov     %rsi, %r11
        movzbl  nw_guest_frame_shift(%rip), %eax
        xchg    %rcx, %rax
        shr     %cl, %r11
        xchg    %rcx, %rax
        and     nw_guest_lookaside_mask(%rip), %r11
        shl     $5, %r11
        lea     nw_guest_lookaside(%rip), %rax
        add     %rax, %r11
        .endm

        .globl  nw_guest_load
        .type   nw_guest_load, @function
        .p2align 4
nw_guest_load:
        .cfi_startproc
        mov     %rdi, %r11
        test    %rdi, %rdi
        jnz     1f
        lookaside
1:      mov     %rsi, %rax
        sub     (%r11), %rax            /* read tag */
        push    %rdx
        .cfi_adjust_cfa_offset 8
        neg     %rdx
        add     nw_guest_frame_word(%rip), %rdx
        cmp     %rdx, %rax
        pop     %rdx
        .cfi_adjust_cfa_offset -8
        ja      nw_guest_load_miss
        add     16(%r11), %rax          /* base */
        ret
        .cfi_endproc
        .size   nw_guest_load, . - nw_guest_load

        .macro  store bytes value
        .globl  nw_guest_store_\bytes
        .type   nw_guest_store_\bytes, @function
        .p2align 4
nw_guest_store_\bytes:
        .cfi_startproc
        push    %rax
        .cfi_adjust_cfa_offset 8
        mov     %rdi, %r11
        test    %rdi, %rdi
        jnz     1f
        lookaside
1:      mov     nw_guest_frame_word(%rip), %rax
        push    %rsi
        .cfi_adjust_cfa_offset 8
        sub     8(%r11), %rsi           /* write tag */
        sub     $\bytes, %rax
        cmp     %rax, %rsi
        ja      2f
        add     16(%r11), %rsi          /* base */
        mov     \value, (%rsi)
        pop     %rsi
        .cfi_adjust_cfa_offset -8
        pop     %rax
        .cfi_adjust_cfa_offset -8
        ret
        .cfi_adjust_cfa_offset 16
2:      pop     %rsi
        .cfi_adjust_cfa_offset -8
        pop     %rax
        .cfi_adjust_cfa_offset -8
        jmp     nw_guest_store_miss_\bytes
        .cfi_endproc
        .size   nw_guest_store_\bytes, . - nw_guest_store_\bytes
        .endm

        store   1 %dl
        store   2 %dx
        store   4 %edx
        store   8 %rdx
#endif
        .section .note.GNU-stack, "", @progbits
