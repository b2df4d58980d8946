# SPDX-License-Identifier: Apache-2.0
"""The device core compiles without a warning for every processor it promises."""

from pathlib import Path

import pytest

from lab import cross, layers
from nandwich import paths
from nandwich.errors import RunError

assert paths.CHECKOUT is not None
CORE = paths.CHECKOUT / "core"
SOURCES = sorted(CORE.glob("*/*.c"))
SOURCES_8051 = layers.sources_for_8051(paths.CHECKOUT)


@pytest.mark.parametrize("target", cross.WHOLE_CORE, ids=lambda target: target.name)
def test_core_compiles_without_a_warning(target: cross.Target, tmp_path: Path) -> None:
    """Goal: all of core/ builds with warnings as errors, for 16-bit int as for 64-bit pointers."""
    assert SOURCES
    for source in SOURCES:
        cross.compile_object(target, source, tmp_path, CORE / "include")


def test_small_layers_compile_for_the_8051(tmp_path: Path) -> None:
    """Goal: layers marked on_8051 keep to the subset of C that sdcc takes; chip is one."""
    assert any(source.parent.name == "chip" for source in SOURCES_8051)
    for source in SOURCES_8051:
        cross.compile_object(cross.I8051, source, tmp_path, CORE / "include")


@pytest.mark.parametrize("target", [*cross.WHOLE_CORE, cross.I8051], ids=lambda target: target.name)
def test_a_warning_is_refused(target: cross.Target, tmp_path: Path) -> None:
    """Goal: the two tests above can fail: a compile that warns is an error that names the place."""
    source = tmp_path / "warns.c"
    source.write_text("int nw_warns(void);\nint nw_warns(void) { int unused; return 1; }\n")
    with pytest.raises(RunError, match=r"warns\.c:2"):
        cross.compile_object(target, source, tmp_path, CORE / "include")


def test_sizes_tell_code_from_ram(tmp_path: Path) -> None:
    """Goal: constants count as code; variables, zeroed or not, as static RAM."""
    source = tmp_path / "parts.c"
    source.write_text(
        "extern const int nw_table[10];\nconst int nw_table[10] = {1};\n"
        "extern int nw_zero[5];\nint nw_zero[5];\nextern int nw_set[3];\nint nw_set[3] = {1};\n"
    )
    output = cross.compile_object(cross.CORTEX_M3, source, tmp_path, CORE / "include")
    assert cross.object_size(cross.CORTEX_M3, output) == cross.Size(code=40, static_ram=32)
