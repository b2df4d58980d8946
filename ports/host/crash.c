/* SPDX-License-Identifier: Apache-2.0 */
#include "crash.h"

#include "end.h"
#include "symbol.h"

#include "nandwich-guest/guest.h"
#include "nandwich/error.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

enum { STACK_BYTES = 65536, FRAMES = 64, NAME_BYTES = 256 };

enum how { BY_EXIT, BY_SIGNAL, BY_STORAGE, BY_MISUSE };

static struct {
    uintptr_t vm_base;
    uint64_t vm_bytes;
    enum how how;
    int number; /* the signal, or the error of the storage */
    int has_address;
    uintptr_t address; /* what was accessed */
    uintptr_t pc;      /* the instruction of the program's own that did it; 0: unknown */
    char function[NAME_BYTES];
} crash;

static uint8_t signal_stack[STACK_BYTES] __attribute__((aligned(16)));

static const char *signal_name(int number)
{
    switch (number) {
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGILL: return "SIGILL";
    case SIGFPE: return "SIGFPE";
    default: return "SIGABRT";
    }
}

static uintptr_t fault_pc(const void *context)
{
    const ucontext_t *machine = context;

#if defined(__x86_64__)
    return (uintptr_t)machine->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)machine->uc_mcontext.pc;
#else
#error "ports/host knows x86-64 and AArch64"
#endif
}

/* From the linker script: the code of the run time and the layers below it. */
extern const uint8_t nw_text_start[], nw_text_end[];

/* A function of the program itself: what a reader of the message can look up. */
static int find_program_function(uintptr_t pc)
{
    if (pc >= (uintptr_t)nw_text_start && pc < (uintptr_t)nw_text_end) {
        return 0;
    }
    crash.pc = pc;
    if (!nw_host_symbol(pc, crash.function, sizeof crash.function)) {
        return 0;
    }
    crash.function[strcspn(crash.function, ".")] = '\0'; /* a part of it that the compiler made */
    return 1;
}

static _Unwind_Reason_Code look_for_program(struct _Unwind_Context *frame, void *left)
{
    int before = 0;
    uintptr_t pc = (uintptr_t)_Unwind_GetIPInfo(frame, &before);

    /* A return address may be the first of the next function: look at the call before it. */
    if (find_program_function(before ? pc : pc - 1)) {
        return _URC_END_OF_STACK;
    }
    return --*(int *)left > 0 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* The program's function at `pc`, or the nearest caller that is one. */
static void find_function(uintptr_t pc)
{
    int left = FRAMES;

    if (pc == 0 || !find_program_function(pc)) {
        _Unwind_Backtrace(look_for_program, &left);
    }
    if (crash.function[0] == '\0') {
        crash.pc = pc;
    }
}

static void say(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));

    (void)ignored;
}

static void say_hex(uintptr_t value)
{
    char text[2 + 2 * sizeof value + 1] = "0x";
    char *to = text + 2;
    int shift = 8 * (int)sizeof value - 4;

    while (shift > 0 && (value >> shift) == 0) {
        shift -= 4;
    }
    for (; shift >= 0; shift -= 4) {
        *to++ = "0123456789abcdef"[(value >> shift) & 15U];
    }
    *to = '\0';
    say(text);
}

static int unguarded(void)
{
    return crash.how == BY_SIGNAL && crash.has_address && nw_guest_signal == 0 &&
           crash.address - crash.vm_base < crash.vm_bytes;
}

/* How it ended, in words. */
static const char *what(void)
{
    switch (crash.how) {
    case BY_SIGNAL: return signal_name(crash.number);
    case BY_MISUSE: return nw_guest_misuse;
    default: return nw_error_text(crash.number);
    }
}

static void say_all(void)
{
    say("nandwich: error: ");
    say(unguarded() ? "access to virtual memory past the guards" : what());
    if (nw_guest_signal != 0) {
        say(": ");
        say(nw_guest_misuse);
    }
    if (crash.has_address) {
        say(" at address ");
        say_hex(crash.address);
    }
    if (crash.function[0] != '\0') {
        say(" in function ");
        say(crash.function);
    }
    if (crash.pc != 0) {
        say(" (pc ");
        say_hex(crash.pc);
        say(")");
    }
    say(unguarded() ? "; build the code that does it with `nandwich cc`\n" : "\n");
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    crash.how = BY_SIGNAL;
    crash.number = number;
    crash.has_address = number == SIGSEGV || number == SIGBUS;
    crash.address = (uintptr_t)info->si_addr;
    signal(number, SIG_DFL);
    find_function(number == SIGABRT ? 0 : fault_pc(context));
    if (number != SIGABRT) {
        say_all();
    }
    nw_host_end();
    raise(number); /* blocked now; taken, with its usual effect, when this returns */
}

static _Unwind_Reason_Code no_step(struct _Unwind_Context *frame, void *unused)
{
    (void)frame;
    (void)unused;
    return _URC_END_OF_STACK;
}

void nw_host_crash_watch(uintptr_t base, uint64_t bytes)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    struct sigaction action;

    crash.vm_base = base;
    crash.vm_bytes = bytes;
    _Unwind_Backtrace(no_step, NULL); /* loads the unwinder now: in the handler malloc is out */
    sigaltstack(&stack, NULL);
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        sigaction(numbers[i], &action, NULL);
    }
}

_Noreturn void nw_host_panic(int error, uintptr_t address)
{
    if (error == NW_ERR_READ_ONLY) {
        nw_guest_signal = SIGSEGV;
        nw_guest_misuse = nw_error_text(error);
    }
    crash.how = nw_guest_signal != 0 ? BY_SIGNAL : nw_guest_misuse != NULL ? BY_MISUSE : BY_STORAGE;
    crash.number = nw_guest_signal != 0 ? nw_guest_signal : error;
    crash.has_address = 1;
    crash.address = address;
    signal(SIGABRT, SIG_DFL);
    find_function(0);
    say_all();
    nw_host_end();
    if (nw_guest_signal != 0) {
        signal(nw_guest_signal, SIG_DFL);
        raise(nw_guest_signal);
    }
    abort();
}

int nw_host_crashed(void)
{
    return crash.how != BY_EXIT;
}

void nw_host_crash_report(struct nw_json *json)
{
    static const char *const kinds[] = {"exit", "signal", "storage", "misuse"};

    nw_json_open(json, "end");
    nw_json_text(json, "kind", kinds[crash.how]);
    if (crash.how != BY_EXIT) {
        nw_json_text(json, "what", what());
        nw_json_bool(json, "unguarded", unguarded());
        if (crash.has_address) {
            nw_json_number(json, "address", crash.address);
        }
        nw_json_number(json, "pc", crash.pc);
        nw_json_text(json, "function", crash.function);
    }
    nw_json_close(json);
}
