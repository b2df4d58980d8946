/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jump.c - setjmp and longjmp with the jmp_buf in virtual memory. The pass gives setjmp itself a
 * plain buffer on the stack; after its first return the content goes to the program's jmp_buf, and
 * longjmp fetches it from there. No slot state has to be saved: slots are reloaded after every
 * call.
 */
#include "internal.h"

#include <setjmp.h>

#if defined(__GLIBC__)
#define host_longjmp siglongjmp
#else /* small libraries know one pair, and no mask of signals */
#define host_longjmp longjmp
#endif

void nw_guest_setjmp_done(void *env, const void *storage, int result);

void nw_guest_setjmp_done(void *env, const void *storage, int result)
{
    if (result == 0) {
        nw_guest_copy(env, storage, sizeof(jmp_buf));
    }
}

NW_LIBC(void, longjmp, (jmp_buf env, int value))
{
    jmp_buf own;

    nw_guest_copy(own, env, sizeof own);
    host_longjmp(own, value); /* restores the signal mask if it was saved, like either spelling */
}
NW_LIBC_ALIAS(void, _longjmp, longjmp, (jmp_buf env, int value));
NW_LIBC_ALIAS(void, siglongjmp, longjmp, (jmp_buf env, int value));
