# SPDX-License-Identifier: Apache-2.0
"""Programs whose calls have arguments that branch, and what they print.

Values stay within 16 bits, so that the host's compiler prints the same as that of a small board.
"""

import random

_HEAD = r"""
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
static volatile int16_t inputs[] = {%s};
static volatile int32_t wide = %d;
__attribute__((noinline)) static void
many(long a, long b, long c, long d, int e, int f, signed char g)
{
    printf("%%ld %%ld %%ld %%ld %%d %%d %%d\n", a, b, c, d, e, f, g);
}
__attribute__((noinline)) static int sum(int count, ...)
{
    va_list list;
    int all = 0;
    va_start(list, count);
    while (count-- > 0) all += va_arg(list, int);
    va_end(list);
    return all;
}
"""
_INTS = (
    "a > b",
    "a > b ? a : 1234",
    "a != 0",
    "!b",
    "a && b",
    "a < c || b > c",
    "(a & 15) << (b & 3)",
    "a < 0 ? -a : a",
    "a == b ? 'x' : 'y'",
    "c > 7 ? (b < c ? 1 : 2) : 3",
    "sum(3, a > b, c != 0, b < c ? 5 : 6)",
    "a >> (c & 7)",
    "a",
    "17",
)
_LONGS = ("l >> (a & 15)", "l > a ? l : (long)b", "(long)a << (b & 7)", "(long)(l != a)", "l")
_TEXTS = ('a > b ? "more" : "less"', 'c ? "yes" : "no"', '"text"')


def _line(draw: random.Random) -> str:
    if draw.random() < 0.2:
        longs = ", ".join(f"(long)({draw.choice(_LONGS)})" for _ in range(4))
        ints = ", ".join(draw.choice(_INTS) for _ in range(2))
        return f"    many({longs}, {ints}, {draw.choice(_INTS)});"
    formats, values = [], []
    for _ in range(draw.randint(1, 5)):
        kind, choice = draw.choice((("%d", _INTS), ("%d", _INTS), ("%ld", _LONGS), ("%s", _TEXTS)))
        formats.append(kind)
        values.append(draw.choice(choice) if kind != "%ld" else f"(long)({draw.choice(choice)})")
    return f'    printf("{" ".join(formats)}\\n", {", ".join(values)});'


def program(seed: int, functions: int = 6, lines: int = 4) -> str:
    """C text."""
    draw = random.Random(seed)
    inputs = ", ".join(str(draw.choice((0, 1, 7, 8, -3, 120, -99, 64))) for _ in range(7))
    text = [_HEAD % (inputs, draw.randint(-70000, 70000))]
    for number in range(functions):
        text.append(f"__attribute__((noinline)) static int f{number}(int a, int b, int c, long l)")
        text.append("{")
        text += [_line(draw) for _ in range(lines)]
        text.append("    return a < c;\n}")
    text.append("int main(void)\n{\n    int all = 0;\n    for (int i = 0; i < 5; i++) {")
    text += [
        f"        all += f{number}(inputs[i], inputs[i + 1], inputs[i + 2], wide + i);"
        for number in range(functions)
    ]
    text.append('    }\n    printf("%d\\n", all > 5 ? all : -all);\n    return 0;\n}\n')
    return "\n".join(text)
