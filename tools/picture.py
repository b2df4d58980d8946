# SPDX-License-Identifier: Apache-2.0
"""Draws docs/figures/report.png again: a page of `nandwich report`, of results made anew.

    .venv/bin/python tools/picture.py [FILE.png]

Needs what the tests need (tools/setup test).
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "python"))

from browser import Browser  # noqa: E402 - where the tests have it

_NANDWICH = str(ROOT / ".venv" / "bin" / "nandwich")
_LAYERS = "page,tree,fast"
_WIDE, _HIGH = 1100, 1500
_LEFT_OUT = ("section:has(#figures)", "#picture-work", "#picture-time", "#picture-energy")


def _results(folder: Path) -> Path:
    """A page of three layers on one workload."""
    asked = ["gen:zipf,requests=40K", "--ftl", _LAYERS, "--blocks", "256", "--wrap"]
    compare = [_NANDWICH, "compare", *asked, "--keep", "results", "--json", "layers.json"]
    subprocess.run(compare, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    kept = sorted(str(path) for path in (folder / "results").iterdir())
    title = ["--title", "Three layers on one workload"]
    report = [_NANDWICH, "report", "layers.json", *kept, "-o", "layers.html", *title]
    subprocess.run(report, cwd=folder, check=True)
    return folder / "layers.html"


def main() -> None:
    target = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs/figures/report.png")
    with tempfile.TemporaryDirectory() as name:
        page = _results(Path(name))
        with Browser(Path(name) / "profile") as browser:
            browser.open(page, width=_WIDE, height=_HIGH)
            # The pictures that tell most, in one view.
            for one in _LEFT_OUT:
                browser.run(f"document.querySelector('{one}').hidden = true")
            target.write_bytes(browser.picture())
    print(f"{target}: {target.stat().st_size} bytes")


main()
