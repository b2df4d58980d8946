# SPDX-License-Identifier: Apache-2.0
"""Just enough C and C++ to find functions: comments and literals blanked out, braces matched."""

import re
from dataclasses import dataclass

_TOKENS = re.compile(
    r"//[^\n]*"
    r"|/\*.*?\*/"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])*'",
    re.DOTALL,
)
_NOT_FUNCTIONS = frozenset({"if", "for", "while", "switch", "catch", "return", "sizeof"})
# The head of a function ends in ')' and what C++ may put between it and the body.
_HEAD = re.compile(
    r"([A-Za-z_~][\w:~]*)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
    r"\s*(?:const|noexcept|override|final|\s|->\s*[\w:<>&*\s]+|:\s*[^;{}]*)*$"
)


@dataclass(frozen=True)
class Function:
    """A function with a body: its name and the lines from its head to its closing brace."""

    name: str
    first: int
    last: int

    @property
    def length(self) -> int:
        return self.last - self.first + 1


def blanked(text: str) -> str:
    """The text with comments and string contents turned into spaces; lines stay where they are."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match.group(0))

    return _TOKENS.sub(blank, text)


def functions(text: str) -> list[Function]:
    """Every function defined in the text, at any depth of namespace and class."""
    code = re.sub(
        r"^[ \t]*#(?:\\\n|[^\n])*",
        lambda m: "\n" * m.group(0).count("\n"),
        blanked(text),
        flags=re.MULTILINE,
    )
    found: list[Function] = []
    inside = 0  # depth of braces within the function being read; 0: not in one
    name, first, head_start = "", 0, 0
    for match in re.finditer(r"[{};]", code):
        brace, at = match.group(0), match.start()
        if inside:
            inside += {"{": 1, "}": -1}.get(brace, 0)
            if not inside:
                found.append(Function(name, first, code.count("\n", 0, at) + 1))
                head_start = at + 1
            continue
        if brace == "{":
            head = _HEAD.search(code[head_start:at])
            if head and head.group(1) not in _NOT_FUNCTIONS:
                name, inside = head.group(1), 1
                lead = code[head_start:at]
                skipped = len(lead) - len(lead.lstrip())
                first = code.count("\n", 0, head_start + skipped) + 1
        head_start = at + 1
    return found
