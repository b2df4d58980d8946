/* SPDX-License-Identifier: Apache-2.0 */
/* An interpreter of byte code: code, stack and variables in memory, a few accesses an instruction.
 * The program finds the longest way down of numbers that are halved or tripled. */
#include <stdint.h>
#include <stdio.h>

enum { END, PUSH, LOAD, STORE, ADD, MULTIPLY, HALVE, IS_ODD, IS_LESS, JUMP, JUMP_IF_NOT };
enum { START, NUMBER, STEPS, BEST, MOST };

static uint8_t code[128];
static uint32_t stack[32], variables[8];
static unsigned bytes;

static unsigned put(int operation, int operand)
{
    code[bytes++] = (uint8_t)operation;
    code[bytes++] = (uint8_t)operand;
    return bytes - 1;
}

static void put_assignment(int from, int to)
{
    put(LOAD, from);
    put(STORE, to);
}

static void put_addition(int variable, int number)
{
    put(LOAD, variable);
    put(PUSH, number);
    put(ADD, 0);
    put(STORE, variable);
}

static void write_program(void)
{
    put(PUSH, 1);
    put(STORE, START);
    unsigned outer = bytes;
    put_assignment(START, NUMBER);
    put(PUSH, 0);
    put(STORE, STEPS);
    unsigned inner = bytes;
    put(PUSH, 1);
    put(LOAD, NUMBER);
    put(IS_LESS, 0);
    unsigned done = put(JUMP_IF_NOT, 0);
    put(LOAD, NUMBER);
    put(IS_ODD, 0);
    unsigned even = put(JUMP_IF_NOT, 0);
    put(LOAD, NUMBER);
    put(PUSH, 3);
    put(MULTIPLY, 0);
    put(STORE, NUMBER);
    put_addition(NUMBER, 1);
    unsigned counted = put(JUMP, 0);
    code[even] = (uint8_t)bytes;
    put(LOAD, NUMBER);
    put(HALVE, 0);
    put(STORE, NUMBER);
    code[counted] = (uint8_t)bytes;
    put_addition(STEPS, 1);
    put(JUMP, (int)inner);
    code[done] = (uint8_t)bytes;
    put(LOAD, MOST);
    put(LOAD, STEPS);
    put(IS_LESS, 0);
    unsigned no_better = put(JUMP_IF_NOT, 0);
    put_assignment(STEPS, MOST);
    put_assignment(START, BEST);
    code[no_better] = (uint8_t)bytes;
    put_addition(START, 1);
    put(LOAD, START);
    put(PUSH, 250);
    put(IS_LESS, 0);
    unsigned over = put(JUMP_IF_NOT, 0);
    put(JUMP, (int)outer);
    code[over] = (uint8_t)bytes;
    put(END, 0);
}

static uint32_t run(void)
{
    uint32_t *top = stack, executed = 0;

    for (const uint8_t *at = code; *at != END; executed++) {
        uint8_t operand = at[1];
        uint8_t operation = at[0];

        at += 2;
        switch (operation) {
        case PUSH:
            *top++ = operand;
            break;
        case LOAD:
            *top++ = variables[operand];
            break;
        case STORE:
            variables[operand] = *--top;
            break;
        case ADD:
            top--;
            top[-1] += top[0];
            break;
        case MULTIPLY:
            top--;
            top[-1] *= top[0];
            break;
        case HALVE:
            top[-1] /= 2;
            break;
        case IS_ODD:
            top[-1] %= 2;
            break;
        case IS_LESS:
            top--;
            top[-1] = top[-1] < top[0];
            break;
        case JUMP:
            at = code + operand;
            break;
        default:
            at = *--top == 0 ? code + operand : at;
            break;
        }
    }
    return executed;
}

int main(void)
{
    write_program();
    uint32_t executed = run();
    printf("%u bytes, %u instructions: %u takes %u\n", bytes, executed, variables[BEST],
           variables[MOST]);
    return 0;
}
