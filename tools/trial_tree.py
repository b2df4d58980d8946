# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree in which tools/strength and tools/mutate build what they broke on purpose."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TREE = (
    "cmake",
    "core",
    "models",
    "ports",
    "replay",
    "tests",
    "twin",
    "vmtrace",
    "CMakeLists.txt",
    "python/nandwich",
)


def run(command: list[str], folder: Path) -> str:
    """Runs a command that must go well; its output."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout


def copy(to: Path) -> None:
    """The tree without what is built, configured for one program."""
    for name in TREE:
        source = ROOT / name
        target = to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)
    options = ["-DNW_TESTS=ON", "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-O2"]
    run(["cmake", "-S", ".", "-B", "build", "-G", "Ninja", *options], to)
