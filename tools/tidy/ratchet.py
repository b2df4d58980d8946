# SPDX-License-Identifier: Apache-2.0
"""The ratchet: old breaches a file lists, each with its size. The list may only shrink.

A line of tools/tidy.ratchet is `RULE PATH[:SUBJECT] VALUE`; '#' starts a comment. A breach up to
VALUE is let pass; a larger one fails, and so does an entry larger than the breach it excuses.
"""

from pathlib import Path

from tidy.tree import Finding

FILE = "tools/tidy.ratchet"


def read(root: Path) -> dict[tuple[str, str], int]:
    """The entries by rule and place; ValueError names a line that is none."""
    allowed: dict[tuple[str, str], int] = {}
    path = root / FILE
    if not path.exists():
        return allowed
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if len(words) != 3 or not words[2].isdigit():
            raise ValueError(f"{FILE}:{number}: expected RULE PATH[:SUBJECT] VALUE")
        allowed[words[0], words[1]] = int(words[2])
    return allowed


def apply(findings: list[Finding], allowed: dict[tuple[str, str], int]) -> list[Finding]:
    """What is left of the findings, and a finding for each entry that is larger than it needs."""
    left = []
    worst = dict.fromkeys(allowed, 0)
    for finding in findings:
        place = f"{finding.path}:{finding.subject}" if finding.subject else finding.path
        key = finding.rule, place
        if key in allowed:
            worst[key] = max(worst[key], finding.value)
        if finding.value > allowed.get(key, 0):
            left.append(finding)
    for (rule, place), value in allowed.items():
        need = worst[rule, place]
        if need < value:
            action = f"lower it to {need}" if need else "remove it"
            text = f"entry '{rule} {place} {value}' allows more than there is: {action}"
            left.append(Finding(FILE, 1, "ratchet", text))
    return left
