# SPDX-License-Identifier: Apache-2.0
"""Random loop nests, for the page windows: strides, early exits, aliasing streams, straddling.

`program` makes a C program of several nests over a few arrays, and of small loops that are entered
often; it prints a checksum after each, and how far early exits came. Nothing in it is undefined,
nor depends on where memory lies.
"""

import random

#: Bytes of each array; indices are reckoned to stay inside.
ARRAY_BYTES = 3000
TYPES = ("uint8_t", "uint16_t", "int32_t", "uint64_t")
BYTES = {"uint8_t": 1, "uint16_t": 2, "int32_t": 4, "uint64_t": 8}

_HEAD = """\
/* seed {seed} */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t pad0[{pad0}];
static union {{ uint8_t uint8_t_[{bytes}]; uint16_t uint16_t_[{bytes} / 2];
    int32_t int32_t_[{bytes} / 4]; uint64_t uint64_t_[{bytes} / 8]; }} m0, m1;
static uint8_t pad1[{pad1}];
static uint8_t odd[{bytes} + 16];
static uint8_t *heap;
struct __attribute__((packed)) thing {{ uint8_t a; uint32_t b; uint16_t c; uint64_t d; }};
static struct thing things[{bytes} / 15];
static uint64_t total;

static void fill(unsigned seed)
{{
    uint64_t x = seed * 2654435761u + 1;
    for (int i = 0; i < {bytes}; i++) {{
        x ^= x << 13; x ^= x >> 7; x ^= x << 17;
        m0.uint8_t_[i] = (uint8_t)x; m1.uint8_t_[i] = (uint8_t)(x >> 8);
        odd[i] = (uint8_t)(x >> 16); heap[i] = (uint8_t)(x >> 24);
    }}
    for (int i = 0; i < {bytes} / 15; i++) {{
        things[i].a = (uint8_t)x; things[i].b = (uint32_t)(x + i); things[i].c = (uint16_t)(x * i);
        things[i].d = x - i;
    }}
}}

static void tell(const char *what)
{{
    uint64_t sum = total;
    for (int i = 0; i < {bytes}; i++) {{
        sum = sum * 31 + m0.uint8_t_[i] + 3 * m1.uint8_t_[i] + 5 * odd[i] + 7 * heap[i];
    }}
    for (int i = 0; i < {bytes} / 15; i++) {{
        sum = sum * 37 + things[i].a + things[i].b + things[i].c + things[i].d;
    }}
    printf("%s %016llx\\n", what, (unsigned long long)sum);
    fflush(stdout);
}}

static __attribute__((noinline)) uint64_t mix(uint64_t x) {{ return (x ^ (x >> 5)) * 77u; }}
static __attribute__((noinline)) void touch(int i) {{ m1.uint8_t_[i % {bytes}] += 1; }}
"""


def _array(rng: random.Random, kind: str) -> tuple[str, int]:
    """An expression of a pointer to `kind`, and the elements behind it."""
    room = ARRAY_BYTES // BYTES[kind]
    choice = rng.randrange(5)
    if choice == 0:
        return f"m0.{kind}_", room
    if choice == 1:
        return f"m1.{kind}_", room
    if choice == 2:
        shift = rng.randrange(1, 8)  # accesses across two pages
        return f"(({kind}_u *)(odd + {shift}))", room
    if choice == 3:
        shift = rng.randrange(room // 2)
        return f"(m0.{kind}_ + {shift})", room - shift  # another name of the first
    return f"(({kind} *)heap)", room


def _index(rng: random.Random, variable: str, turns: int, room: int) -> str | None:
    """An index that stays in 0 .. room - 1 while the variable is in 0 .. turns - 1."""
    steps = [s for s in (0, 1, 1, 1, 2, 3, 5, 7, 16, 40) if s * (turns - 1) < room]
    step = rng.choice(steps)
    reach = step * (turns - 1)
    offset = rng.randrange(room - reach)
    if step and rng.random() < 0.3:
        return f"{offset + reach} - {step} * {variable}"
    return f"{offset} + {step} * {variable}"


def _statement(rng: random.Random, variable: str, turns: int) -> str:
    def place() -> tuple[str, str]:
        if rng.random() < 0.12:
            count = ARRAY_BYTES // 15
            field = rng.choice("abcd")
            return f"things[{_index(rng, variable, min(turns, count), count)}].{field}", "uint64_t"
        kind = rng.choice(TYPES)
        name, room = _array(rng, kind)
        if turns > room:
            return f"{name}[({variable}) % {room}]", kind
        return f"{name}[{_index(rng, variable, turns, room)}]", kind

    turns = min(turns, ARRAY_BYTES // 15) if turns <= ARRAY_BYTES // 15 else turns
    (to, _), (a, _), (b, _) = place(), place(), place()
    if turns > ARRAY_BYTES // 15:
        to, a, b = (("total" if "things" in one else one) for one in (to, a, b))
    choice = rng.randrange(9)
    if choice == 0:
        return f"total += {a};"
    if choice == 1:
        return f"total = total * 3 + {a} * (uint64_t){b};"
    if choice == 2:
        return f"if ({a} > {b}) {{ {to} = {b}; }}"
    if choice == 3:
        return f"{to} = {a} + {b};"
    if choice == 4:
        return f"{to} ^= (uint8_t)({a} + {variable});"
    if choice == 5:
        return f"total += m1.uint8_t_[(uint32_t){a} % {ARRAY_BYTES}];"
    if choice == 6:
        return f"{to} = mix({a});"
    if choice == 7:
        return f"if (({a} & 15) == 3) {{ total += {b}; {to} = {variable}; }}"
    return f"{to} = {a};"


def _exit(rng: random.Random, variable: str) -> str:
    where = f"m{rng.randrange(2)}.uint8_t_[{variable} % {ARRAY_BYTES}]"
    test = f"{where} == {rng.randrange(256)}"
    if rng.random() < 0.5:
        return f"if ({test}) {{ total += {variable}; break; }}"
    return f"if ({test}) {{ total ^= {variable}; goto out; }}"


def _nest(rng: random.Random, number: int) -> list[str]:
    lines = [f"static void nest{number}(int n)", "{"]
    depth = rng.choice((1, 1, 1, 2, 2, 3))
    most = {1: 1500, 2: 60, 3: 14}[depth]
    names = "ijk"[:depth]
    turns = [rng.randrange(1, most) for _ in names]
    for level, (name, count) in enumerate(zip(names, turns, strict=True)):
        pad = "    " * (level + 1)
        # The bound is known to the compiler, or comes from outside, or cannot be reckoned ahead.
        bound = rng.choice(
            (str(count), f"n % 2 ? {count} : {count}", f"{count} + (int)(total & 0)")
        )
        if rng.random() < 0.15:
            lines.append(f"{pad}for (int {name} = {count}; {name}-- > 0;) {{")
        else:
            lines.append(f"{pad}for (int {name} = 0; {name} < ({bound}); {name}++) {{")
        if level < depth - 1 and rng.random() < 0.5:
            lines.append(f"{pad}    {_statement(rng, name, count)}")
    pad = "    " * (depth + 1)
    flat = names[-1]
    reach = turns[-1]
    if depth > 1 and rng.random() < 0.7:
        # A walk through rows: the index of the loop around times a row's length.
        flat = f"({names[-2]} * {turns[-1]} + {names[-1]})"
        reach = turns[-1] * turns[-2]
    for _ in range(rng.randrange(1, 4)):
        lines.append(f"{pad}{_statement(rng, flat if rng.random() < 0.7 else names[-1], reach)}")
    if rng.random() < 0.3:
        lines.append(f"{pad}{_exit(rng, flat)}")
    if rng.random() < 0.1:
        lines.append(f"{pad}touch({flat});")
    for level in reversed(range(depth)):
        pad = "    " * (level + 1)
        if level and rng.random() < 0.2:
            lines.append(f"{pad}    {_statement(rng, names[level - 1], turns[level - 1])}")
        lines.append(f"{pad}}}")
    lines += ["out:", f'    tell("nest {number}");', "}", ""]
    return lines


def _search(rng: random.Random, number: int) -> list[str]:
    """A walk whose end only the data tells: `while (*p++)`."""
    start = rng.randrange(ARRAY_BYTES // 2)
    kind = rng.choice(("uint8_t", "uint16_t", "int32_t"))
    step = rng.choice((1, 1, 2, 3))
    room = ARRAY_BYTES // BYTES[kind]
    start = rng.randrange(room // 2)
    last = room - 1 - (room - 1 - start) % step
    return [
        f"static void nest{number}(int n)",
        "{",
        f"    {kind} *p = m0.{kind}_ + {start};",
        f"    m0.{kind}_[{last}] = {rng.randrange(4)};",
        f"    for (; *p > {rng.randrange(4, 40)}u; p += {step}) {{",
        f"        {rng.choice(('total += *p;', '*p ^= 1;', 'odd[3] += 1;', 'total++;'))}",
        "    }",
        f"    total += (uint64_t)(p - m0.{kind}_) + n;",
        f'    tell("nest {number}");',
        "}",
        "",
    ]


def _short(rng: random.Random, number: int) -> list[str]:
    """A small loop in a function that is called often, with another start and length each time."""
    most = rng.choice((5, 12, 40))
    given, places = [], []
    for name in "pq":
        kind = rng.choice(TYPES)
        array, room = _array(rng, kind)
        step, offset = rng.choice((-2, -1, 0, 1, 1, 1, 2, 3)), rng.randrange(3)
        reach = abs(step) * (most - 1) + offset + 1
        first = reach - 1 - offset if step < 0 else 0
        unaligned = "_u" if "odd" in array else ""
        given.append((f"{kind}{unaligned} *{name}", f"{array} + {first}", room - reach + 1))
        places.append(f"{name}[{step} * (long)i + {offset}]")
    a, b = places
    body = rng.sample(
        (
            f"s = s * 31 + {a};",
            f"s += {a} * (uint64_t){b};",
            f"{b} = {a} + i;",
            f"{a} ^= (uint8_t)s;",
            f"if ({b} % 16 == 7) {{ break; }}",
            f"if ({a} % 16 == 9) {{ return s; }}",
        ),
        rng.randrange(1, 4),
    )
    count = rng.choice(("int", "long", "unsigned", "uint64_t", "uint8_t"))
    walk = rng.choice(("i = 0; i < n; i++", "i = 0; i < n; i++", "i = n; i-- > 0;"))
    starts = [f"i * {rng.randrange(1, 2000)} % {rooms}" for _, _, rooms in given]
    return [
        f"static __attribute__((noinline)) uint64_t s{number}({given[0][0]}, {given[1][0]}, int m)",
        "{",
        "    uint64_t s = m;",
        f"    {count} n = ({count})m;",
        f"    for ({count} {walk}) {{ {' '.join(body)} }}",
        "    return s;",
        "}",
        f"static void short{number}(void)",
        "{",
        "    for (int i = 0; i < 300; i++) {",
        f"        total = total * 5 + s{number}({given[0][1]} + {starts[0]},",
        f"            {given[1][1]} + {starts[1]}, i % {most + 1});",
        "    }",
        f'    tell("short {number}");',
        "}",
        "",
    ]


def program(seed: int, nests: int, shorts: int) -> str:
    """The text of one program."""
    rng = random.Random(seed)
    text = _HEAD.format(
        seed=seed, bytes=ARRAY_BYTES, pad0=rng.randrange(1, 200), pad1=rng.randrange(1, 200)
    )
    lines = ["typedef uint8_t uint8_t_u;"]
    lines += [f"typedef {one} __attribute__((aligned(1))) {one}_u;" for one in TYPES[1:]]
    for number in range(nests):
        lines += _search(rng, number) if rng.random() < 0.15 else _nest(rng, number)
    rng = random.Random(f"{seed} short")  # what seeds made before these were added stays as it is
    for number in range(shorts):
        lines += _short(rng, number)
    lines += [
        "int main(int argc, char **argv)",
        "{",
        f"    heap = malloc({ARRAY_BYTES} + 16);",
        "    pad0[0] = pad1[0] = 1;",
        f"    fill({seed}u);",
        *(f"    nest{number}(argc);" for number in range(nests)),
        *(f"    short{number}();" for number in range(shorts)),
        "    return (int)(total & 0) + pad0[0] - pad1[0];",
        "}",
    ]
    return text + "\n".join(lines) + "\n"
