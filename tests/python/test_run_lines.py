# SPDX-License-Identifier: Apache-2.0
"""Where in its source an address of a program lies."""

import subprocess
from pathlib import Path

import pytest

from nandwich.run import lines


@pytest.mark.quick
def test_an_address_is_a_line_of_a_file(tmp_path: Path) -> None:
    """Goal: file and line, whatever the file is called; nothing where there is no line table."""
    source, program = tmp_path / "my program (2): v1.c", tmp_path / "program"
    source.write_text("int twice(int n);\n\nint twice(int n)\n{\n    return 2 * n;\n}\n")
    for flag, said in (("-gline-tables-only", f"{source.name}:4"), ("-g0", "")):
        command = ["clang-19", flag, "-shared", "-o", str(program), str(source)]
        subprocess.run(command, check=True)
        names = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
        pc = next(int(line.split()[0], 16) for line in names.splitlines() if "twice" in line)
        assert lines.at(program, pc) == said
    assert lines.told(program, 0, is_call=True) == ""
