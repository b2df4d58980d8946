# SPDX-License-Identifier: Apache-2.0
"""Random programs with tagged and plain variables: scalars, arrays, structs, pointers that walk, go
to functions and come back, block copies, structs by value. Types have one size on every target, and
no statement leaves the order of its effects open, so a number makes one output everywhere."""

import random
from dataclasses import dataclass

_SCALARS = ("uint8_t", "uint16_t", "uint32_t", "int32_t")

_HEAD = """#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "nandwich/guest.h"

struct pair { uint32_t key; uint16_t low, high; };
struct wide { uint32_t part[3]; uint16_t kind[2]; uint8_t mark[4]; };
static uint32_t state = SEED, sum;

static uint32_t rnd(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static void add(uint32_t value) { sum = sum * 31U + value; }

static uint32_t key_of(struct pair one) { return one.key ^ one.low ^ (uint32_t)one.high << 7; }

static struct wide wide_of(uint32_t seed)
{
    struct wide one;

    memset(&one, 0, sizeof one);
    one.part[seed % 3] = seed;
    one.kind[seed % 2] = (uint16_t)(seed >> 3);
    one.mark[seed % 4] = (uint8_t)(seed >> 5);
    return one;
}

static uint32_t mark_of(struct wide one, uint32_t at)
{
    return one.part[at % 3] + one.kind[at % 2] + one.mark[at % 4];
}
"""

_WALKERS = """
static void bump_%(name)s(%(type)s *at, uint32_t count, uint32_t by)
{
    for (; count > 0; count--) {
        *at = (%(type)s)((uint32_t)*at * 3U + by);
        at++;
    }
}

static uint32_t total_%(name)s(const %(type)s *from, const %(type)s *end)
{
    uint32_t all = 0;

    while (from < end) {
        all = all * 5U + (uint32_t)*from++;
    }
    return all;
}

static %(type)s *pick_%(name)s(%(type)s *a, %(type)s *b, uint32_t which)
{
    return which %% 3U == 0 ? a : b;
}
"""


@dataclass(frozen=True)
class _Variable:
    name: str
    type: str
    count: int
    rows: int  #: of an array of arrays; 0: a plain one
    tagged: bool

    @property
    def declaration(self) -> str:
        shape = f"[{self.rows}]" if self.rows else ""
        return f"{self.type} {self.name}{shape}[{self.count}]"

    @property
    def is_struct(self) -> bool:
        return self.type.startswith("struct")

    def at(self, index: str, row: str = "0") -> str:
        return f"{self.name}[{row}][{index}]" if self.rows else f"{self.name}[{index}]"

    def base(self) -> str:
        return f"{self.name}[0]" if self.rows else self.name


class _Writer:
    def __init__(self, seed: int, most_bytes: int) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.most_bytes = most_bytes
        self.variables = self._declare()

    def _declare(self) -> list[_Variable]:
        pick = self.random
        found = []
        left = self.most_bytes
        for number in range(pick.randint(4, 9)):
            kind = pick.choice((*_SCALARS, *_SCALARS, "struct pair", "struct wide"))
            count = pick.choice((1, 2, 3, 5, 9, 17, 40, 90, 200))
            rows = pick.choice((0, 0, 0, 3)) if count <= 40 and kind in _SCALARS else 0
            size = {"uint8_t": 1, "uint16_t": 2, "struct pair": 8, "struct wide": 20}.get(kind, 4)
            while count > 1 and count * max(rows, 1) * size > left:
                count //= 2
            left -= count * max(rows, 1) * size
            tagged = number == 0 or pick.random() < 0.75
            found.append(_Variable(f"v{number}", kind, count, rows, tagged))
        return found

    def _initial(self, one: _Variable) -> str:
        if self.random.random() < 0.5 or one.is_struct or one.rows:
            return ""
        some = self.random.randint(1, min(one.count, 6))
        return " = {" + ", ".join(str(self.random.randint(1, 120)) for _ in range(some)) + "}"

    def _of(self, kind: str) -> list[_Variable]:
        return [one for one in self.variables if one.type == kind]

    def _scalars(self) -> list[_Variable]:
        return [one for one in self.variables if not one.is_struct]

    def _row(self, one: _Variable) -> str:
        return f"k % {one.rows}U" if one.rows else "0"

    def _touch(self, one: _Variable) -> list[str]:
        at = one.at(f"i % {one.count}U", self._row(one))
        return self.random.choice(
            (
                [f"{at} = ({one.type})((uint32_t){at} + i);"],
                [f"{at} ^= ({one.type})(j >> 3);", f"add((uint32_t){at});"],
                [f"{at}++;"],
                [f"add((uint32_t){one.at('0')});"],
                [f"{one.at(str(one.count - 1))} = ({one.type})j;"],
            )
        )

    def _walk(self, one: _Variable) -> list[str]:
        name, low = one.type, f"i % {one.count}U"
        base, count = one.base(), one.count
        return self.random.choice(
            (
                [f"bump_{name}({base} + {low}, {count}U - {low}, j);"],
                [f"add(total_{name}({base}, {base} + {count}));"],
                [
                    f"for ({name} *p = {base} + {count}; p > {base};) {{",
                    "    p--;",
                    f"    *p = ({name})((uint32_t)*p ^ i);",
                    "}",
                ],
                [
                    f"{{ {name} *p = {base} + {low}, *q = {base} + j % {count}U;",
                    f"  {name} t = *p; *p = *q; *q = t; add((uint32_t)(p - q)); }}",
                ],
            )
        )

    def _two(self, one: _Variable) -> list[str]:
        other = self.random.choice(self._of(one.type))
        name = one.type
        count = min(one.count, other.count)
        a, b = one.base(), other.base()
        return self.random.choice(
            (
                [f"*pick_{name}(&{a}[i % {one.count}U], &{b}[j % {other.count}U], i)"
                 f" = ({name})j;"],
                [f"{{ {name} *p = j & 1U ? {a} + i % {one.count}U : {b} + i % {other.count}U;",
                 f"  *p = ({name})((uint32_t)*p + 9U); add((uint32_t)*p); }}"],
                [f"memmove({a} + i % {one.count}U, {a} + j % {one.count}U, sizeof {a}[0] *"
                 f" (k % ({one.count}U - (i % {one.count}U > j % {one.count}U ?"
                 f" i % {one.count}U : j % {one.count}U)) + 1U));"],
                [f"memcpy({a}, {b}, sizeof {a}[0] * (k % {count}U));"] if one != other else
                [f"memset({a}, (int)(j & 127U), sizeof {a}[0] * (k % {count}U));"],
            )
        )  # fmt: skip

    def _struct(self, one: _Variable) -> list[str]:
        at, to = one.at(f"i % {one.count}U"), one.at(f"j % {one.count}U")
        other = self.random.choice(self._of(one.type))
        far = other.at(f"j % {other.count}U")
        both = [
            [f"if (&{at} != &{to}) {{ {to} = {at}; }}"],
            [f"{{ {one.type} t = {at}; {far} = t; }}"],
        ]
        if one.type == "struct pair":
            both += [
                [f"{at}.key += j;", f"{at}.high = (uint16_t)({at}.low ^ i);"],
                [f"add(key_of({at}));"],
                [f"{{ struct pair *p = &{at}; p->low++; p->key ^= p->high; }}"],
                [f"{{ uint16_t *p = &{at}.low; *p = (uint16_t)(*p + j); }}"],
            ]
        else:
            both += [
                [f"{at} = wide_of(j);"],
                [f"add(mark_of({at}, j));"],
                [f"bump_uint32_t({at}.part, 3, j);"],
                [f"{at}.mark[j % 4U]++;", f"add({at}.kind[j & 1U]);"],
                [f"memset({at}.mark, (int)(i & 63U), 4);"],
            ]
        return self.random.choice(both)

    def _statement(self) -> list[str]:
        one = self.random.choice(self.variables)
        if one.is_struct:
            return self._struct(one)
        kind = self.random.random()
        return self._touch(one) if kind < 0.5 else self._walk(one) if kind < 0.8 else self._two(one)

    def _check(self, one: _Variable) -> list[str]:
        if one.type == "struct pair":
            body = f"add(key_of({one.at('n')}));"
        elif one.type == "struct wide":
            body = f"add(mark_of({one.at('n')}, n)); add({one.at('n')}.part[0]);"
        else:
            body = f"add((uint32_t){one.at('n', 'r')});"
        rows = max(one.rows, 1)
        return [
            f"for (uint32_t r = 0; r < {rows}U; r++)",
            f"    for (uint32_t n = 0; n < {one.count}U; n++) {{ {body} }}",
        ]

    def text(self, rounds: int) -> str:
        lines = [_HEAD.replace("SEED", f"{self.seed * 2 + 1}U")]
        for one in self.variables:
            mark = "NW_VM " if one.tagged else ""
            static = self.random.choice(("static ", ""))
            lines.append(f"{mark}{static}{one.declaration}{self._initial(one)};")
        lines += [_WALKERS % {"name": kind, "type": kind} for kind in _SCALARS]
        phases = range(self.random.randint(2, 4))
        for phase in phases:
            lines.append(f"static void phase{phase}(uint32_t i, uint32_t j, uint32_t k)\n{{")
            lines.append("    (void)i; (void)j; (void)k;")
            for _ in range(self.random.randint(3, 9)):
                lines += ["    " + line for line in self._statement()]
            lines.append("}")
        lines.append("int main(void)\n{")
        lines.append(f"    for (uint32_t n = 0; n < {rounds}U; n++) {{")
        lines.append("        uint32_t i = rnd() >> 7, j = rnd() >> 9, k = rnd() >> 11;")
        for phase in phases:
            lines.append(f"        if (n % {len(phases)}U != {phase}U || n % 5U == 0) "
                         f"phase{phase}(i, j, k);")  # fmt: skip
        lines.append("    }")
        for one in self.variables:
            lines += ["    " + line for line in self._check(one)]
        lines.append('    printf("%lu\\n", (unsigned long)sum);\n    return 0;\n}')
        return "\n".join(lines) + "\n"


def program(seed: int, *, rounds: int = 60, most_bytes: int = 4000) -> str:
    """The program of a number: tagged and plain data of `most_bytes` at most."""
    return _Writer(seed, most_bytes).text(rounds)
