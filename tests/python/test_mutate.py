# SPDX-License-Identifier: Apache-2.0
"""Goal: what the tests notice is measured: mutants are drawn from all folders that keep data, each
differs from the source by one line, and of a seeded sample most are killed."""

import importlib.util
import re
import subprocess
import sys
from importlib.machinery import SourceFileLoader

import pytest

from nandwich import paths

#: Percent of a folder's mutants that have to be killed.
LEAST = {"core/ftl": 85, "core/store": 85, "core/vm/heap": 70, "core/sched": 70}


def test_mutants_are_lines_that_differ() -> None:
    assert paths.CHECKOUT is not None
    path = str(paths.CHECKOUT / "tools" / "mutate")
    loader = SourceFileLoader("mutate", path)
    spec = importlib.util.spec_from_loader("mutate", loader)
    assert spec is not None
    mutate = importlib.util.module_from_spec(spec)
    loader.exec_module(mutate)
    assert set(mutate.FOLDERS) == set(LEAST)
    for folder in LEAST:
        found = mutate.mutants(folder)
        assert len(found) > 200
        for mutant in found:
            lines = (paths.CHECKOUT / mutant.path).read_text(encoding="utf-8").splitlines()
            assert lines[mutant.number] != mutant.line


@pytest.mark.soak
def test_most_mutants_are_killed() -> None:
    assert paths.CHECKOUT is not None
    mutate = paths.CHECKOUT / "tools" / "mutate"
    done = subprocess.run(
        [sys.executable, mutate, "--count", "300"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    shares = dict(re.findall(r"^(core/\S+): (\d+) %", done.stdout, re.MULTILINE))
    assert {name: int(share) for name, share in shares.items()}.keys() == LEAST.keys()
    for name, share in shares.items():
        assert int(share) >= LEAST[name], done.stdout
