# SPDX-License-Identifier: Apache-2.0
"""The package as a wheel, in an environment that knows nothing of the checkout."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from nandwich import paths


@pytest.mark.soak
def test_wheel_works_away_from_the_checkout(tmp_path: Path) -> None:
    """Goal: headers, libraries, binding, command and what draws pages all travel in the wheel."""
    wheels = tmp_path / "wheels"
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "-w", str(wheels), str(paths.CHECKOUT)], check=True)
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / "bin" / "python"
    environment = {name: value for name, value in os.environ.items() if name != "NANDWICH_BUILD"}
    subprocess.run([python, "-m", "pip", "install", "-q", *wheels.iterdir()], check=True)
    script = (
        "from nandwich import paths, _native\n"
        "assert paths.CHECKOUT is None\n"
        "assert _native.build_type() == 'Release'\n"
        "assert (paths.include_dirs()[0] / 'nandwich' / 'chip.h').is_file()\n"
        "print(paths.static_library('nw_core'))\n"
    )
    done = subprocess.run(
        [python, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert Path(done.stdout.strip()).is_relative_to(tmp_path / "env")
    command = tmp_path / "env" / "bin" / "nandwich"
    help_text = subprocess.run([command, "--help"], capture_output=True, text=True, check=True)
    assert "doctor" in help_text.stdout
    result = str(tmp_path / "result.json")
    asked = ["replay", "gen:zipf,requests=99", "--blocks", "64", "--wrap", "--json", result]
    subprocess.run([command, *asked], cwd=tmp_path, check=True)
    shown = ["report", result, "-o", "page.html"]
    subprocess.run([command, *shown], cwd=tmp_path, env=environment, check=True)
    assert "Observable, Inc." in (tmp_path / "page.html").read_text()
    refused = subprocess.run([command, "bench"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "bench measures a checkout" in refused.stderr
    absent = subprocess.run([python, "-c", "import lab"], cwd=tmp_path, check=False)
    assert absent.returncode != 0
