# SPDX-License-Identifier: Apache-2.0
"""What the firmware examples take of a Cortex-M3."""

import tempfile
from pathlib import Path

from lab import ROOT, firmware
from lab.benches import Figure, bench, found_pages
from nandwich.errors import RunError

PAGE = ROOT / "docs" / "figures" / "firmware.md"


@bench("firmware", "flash, RAM and stack of examples/firmware on a Cortex-M3")
def examples() -> list[Figure]:
    """Each example, built by its Makefile and run; the table goes to docs/figures/firmware.md."""
    if lacking := firmware.missing():
        raise RunError(f"missing: {', '.join(lacking)}; `nandwich doctor` tells how to get them")
    figures, rows = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        runner = firmware.build_runner(folder)
        for example in firmware.EXAMPLES:
            row = _measure(example, folder, runner)
            rows.append(row)
            figures += [
                Figure(f"firmware.{example.name}.{what}", value, "B") for what, value in row.items()
            ]
    _write_page(rows)
    return figures


def _measure(example: firmware.Example, folder: Path, runner: Path) -> dict[str, int]:
    image = firmware.build(example, folder)
    text, data, bss = firmware.size(image)
    *cuts, last = example.work
    run = firmware.run(runner, image, example, last, cuts=cuts)
    asked = [int(line.split()[1]) for line in run.starts[-1] if line.startswith("ram ")]
    if run.violations or not asked:
        raise RunError(f"{example.name}: {run.violations or 'it never told its RAM'}")
    return {"text": text, "data": data, "bss": bss, "layer": asked[-1], "stack": run.stack}


def _write_page(rows: list[dict[str, int]]) -> None:
    lines = [
        "# What the firmware examples take",
        "",
        "Written by `nandwich bench firmware`. Cortex-M3, arm-none-eabi-gcc -Os, whole images with",
        "start-up, board and console. *Layer*: what it asked for when it ran, in bss.",
        "*Stack*: the deepest seen in a run on the emulated board. All in bytes. The camera's text",
        "holds its picture, a JPEG of 61,306 bytes.",
        "",
        "| example | text | data | bss | layer | stack | flash used | RAM used |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for example, row in zip(firmware.EXAMPLES, rows, strict=True):
        flash = row["text"] + row["data"]
        ram = row["data"] + row["bss"] + row["stack"]
        cells = [f"{value:,}" for value in (*row.values(), flash, ram)]
        lines.append(f"| {example.name} | " + " | ".join(cells) + " |")
    found_pages[PAGE] = "\n".join(lines) + "\n"
