# SPDX-License-Identifier: Apache-2.0
"""Goal: the table of promises and judges is whole and true: each public header stands in it, each
row names a judge, and each test and history that the page names is there."""

import re
from pathlib import Path

import pytest

from nandwich import paths

pytestmark = pytest.mark.quick

#: What the swarm, the explorer and the compilers judge by; a row names one of these or a test.
JUDGES = ("swarm", "explorer", "twin", "ASan", "fuzzer", "test_")


def page() -> str:
    assert paths.CHECKOUT is not None
    return (paths.CHECKOUT / "docs" / "reliability.md").read_text(encoding="utf-8")


def rows() -> list[list[str]]:
    """Promise, where, judge."""
    section = page().partition("## Promises and judges")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def programs() -> set[str]:
    """Test programs, the cases in those of C, and files of Python."""
    assert paths.CHECKOUT is not None
    unit = list((paths.CHECKOUT / "tests" / "unit").glob("test_*.c*"))
    python = (paths.CHECKOUT / "tests" / "python").glob("test_*.py")
    inside = "\n".join(path.read_text(encoding="utf-8") for path in unit)
    cases = set(re.findall(r"^static void (test_\w+)\(", inside, re.MULTILINE))
    return {path.stem for path in unit} | {path.name for path in python} | cases


def test_each_row_names_a_judge_that_is_there() -> None:
    table = rows()
    assert len(table) > 40
    for promise, where, judge in table:
        assert where, promise
        assert any(word in judge for word in JUDGES), promise


def test_each_test_that_is_named_is_there() -> None:
    there = programs()
    named = set(re.findall(r"\btest_[a-z0-9_*]+(?:\.py)?", page()))
    assert len(named) > 40
    for name in named:
        assert any(Path(test).match(name) or test == f"{name}.py" for test in there), name


def test_each_header_stands_in_the_table() -> None:
    assert paths.CHECKOUT is not None
    headers = {path.name for path in (paths.CHECKOUT / "core").glob("include/nandwich/*.h")}
    others = {path.name for path in paths.CHECKOUT.glob("*/include/*/*.h")}
    named = set(re.findall(r"\b[a-z0-9_*]+\.h\b", " ".join(where for _, where, _ in rows())))
    without = page().partition("promise nothing of their own:")[2].partition("\n\n")[0]
    named |= set(re.findall(r"\b[a-z0-9_]+\.h\b", without))
    for name in named:
        assert any(Path(header).match(name) for header in others), f"{name} is no header"
    for header in headers:
        exact = header in named or (header.startswith("ftl_") and "_check" not in header)
        assert exact, f"{header} stands in no row"
