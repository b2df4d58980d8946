/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - calls the program's main (by the linker's --wrap=main) with its stack and its arguments
 * at places that, seen from a page frame, do not hang on the environment or on address
 * randomisation. A slot may hold a page of plain memory, so where the stack lies within frames
 * would change the counts of slot hits from run to run.
 */
#include <alloca.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The largest frame. */
#define ALIGNMENT 32768U

int __real_main(int argc, char **argv, char **environment);
int __wrap_main(int argc, char **argv, char **environment);

/* The arguments as main gets them, in memory of our own; as they are when there is none. */
static char **copy_arguments(int argc, char **argv)
{
    size_t pointers = ((size_t)argc + 1) * sizeof *argv, bytes = pointers;
    char **copy, *text;

    for (int i = 0; i < argc; i++) {
        bytes += strlen(argv[i]) + 1;
    }
    copy = aligned_alloc(ALIGNMENT, (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1));
    if (copy == NULL) {
        return argv;
    }
    text = (char *)copy + pointers;
    for (int i = 0; i < argc; i++) {
        copy[i] = strcpy(text, argv[i]);
        text += strlen(argv[i]) + 1;
    }
    copy[argc] = NULL;
    return copy;
}

int __wrap_main(int argc, char **argv, char **environment)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    char *gap = alloca(here % ALIGNMENT);
    int status;

    __asm__ volatile("" : : "r"(gap) : "memory"); /* the gap stays, though nobody looks at it */
    status = __real_main(argc, copy_arguments(argc, argv), environment);
    __asm__ volatile("" : : "r"(gap) : "memory");
    return status;
}
