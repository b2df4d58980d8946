# SPDX-License-Identifier: Apache-2.0
"""`nandwich sweep --scheduler`: workers elsewhere give the bytes that this machine gives, and
nothing that is known is played again, whoever is killed."""

import contextlib
import csv
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from test_sweep import GRID, ROOT, kept, until, written

from nandwich.cli.main import main

#: Found by each Python as it starts: the processes that play write down what they do.
NOTES = """\
import os, signal, sys
if "cli.sweep.worker import serve" in " ".join(sys.orig_argv):
    from nandwich.cli.sweep import point
    play = point.run_point
    def noted(one, words=None):
        def note(what):
            with open(os.environ["NOTES"], "a") as stream:
                print(what, os.getppid(), one.command, sep="|", file=stream, flush=True)
        note("began")
        if os.environ.get("DEADLY", "no point") in one.command:
            os.kill(os.getpid(), signal.SIGKILL)
        said = play(one, words)
        note("ended")
        return said
    point.run_point = noted
"""


@dataclass
class Place:
    """A folder for a cluster, and the notes of its processes."""

    folder: Path

    def __post_init__(self) -> None:
        self.address = ""
        self.running: list[subprocess.Popen[bytes]] = []  # the scheduler, then the workers
        self._notes = self.folder / "notes"
        self._notes.touch()
        (self.folder / "sitecustomize.py").write_text(NOTES)
        self.environment = {
            **os.environ,
            "PYTHONPATH": f"{self.folder}:{ROOT}/python",
            "NANDWICH_CACHE": str(self.folder / "cache"),
            "NOTES": str(self._notes),
        }

    def start(self, *words: str, cache: str = "cache") -> None:
        environment = {**self.environment, "NANDWICH_CACHE": str(self.folder / cache)}
        with (self.folder / f"log-{len(self.running)}").open("wb") as log:
            line = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
            self.running.append(
                subprocess.Popen(line, stdout=log, stderr=log, env=environment, cwd=self.folder)
            )

    def start_cluster(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        self.address = f"tcp://127.0.0.1:{port}"
        self.start("scheduler", "--host", "127.0.0.1", "--port", port)
        for number in (1, 2):
            self.start("worker", self.address, "--nthreads", "1", "--no-nanny", cache=f"w{number}")

    def sweep(self, *words: str | Path, patch: str = "") -> "subprocess.Popen[str]":
        """The driver; `patch` is Python that it runs first."""
        code = f"{patch}\nfrom nandwich.cli.main import main\nmain()"
        return subprocess.Popen(
            [sys.executable, "-c", code, "sweep", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
            cwd=self.folder,
        )

    def notes(self, what: str) -> list[tuple[int, str]]:
        """Who began or ended which command, as it came."""
        rows = [line.split("|", 2) for line in self._notes.read_text().splitlines()]
        return [(int(who), line) for kind, who, line in rows if kind == what]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    found = Place(tmp_path)
    yield found
    for one in found.running:
        one.kill()
    for one in found.running:
        one.wait()


def trace(folder: Path) -> Path:
    file = folder / "trace.csv"
    file.write_text("".join(f"{at},w,{at % 97 * 2048},2048\n" for at in range(20_000)))
    return file


def locally(folder: Path, file: Path) -> bytes:
    """What the same spec exports when this machine plays it."""
    words = ["sweep", str(file), "--store", f"{folder}/own.sqlite", "--export", f"{folder}/own.csv"]
    with contextlib.chdir(folder):
        CliRunner().invoke(main, words)
    return (folder / "own.csv").read_bytes()


def test_a_worker_and_then_the_driver_are_killed(place: Place) -> None:
    """Goal: the point that the worker played is played once more, by the other; the driver that
    starts again plays nothing that is kept, and sends no input twice."""
    text = GRID.replace('source = "gen:zipf,requests=500"', 'columns = "time,op,offset,size"')
    text = text.replace("blocks = 64\n", "blocks = 64\nrepeat = 16\n")
    text = text.replace("[1, 2]", "[1, 2, 3, 4, 5, 6, 7]")
    file = written(place.folder, f'{text}source = ["{trace(place.folder)}"]\n')
    store = place.folder / "spec.sqlite"
    place.start_cluster()
    words = (file, "--scheduler", place.address, "--export", "far.csv")
    driver = place.sweep(*words)
    until(lambda: len(kept(store)) >= 3)
    victim = place.running[1]

    def given() -> int:
        return len([who for who, _ in place.notes("began") if who == victim.pid])

    many = given()
    while given() == many:
        time.sleep(0.005)
    time.sleep(0.05)  # what it played before reaches the driver
    victim.kill()
    ended = Counter(line for who, line in place.notes("ended") if who == victim.pid)
    began = Counter(line for who, line in place.notes("began") if who == victim.pid)
    lost = began - ended
    assert lost.total() == 1
    (line,) = lost
    until(lambda: line in [each for _, each in place.notes("ended")])
    more = len(kept(store)) + 2
    until(lambda: len(kept(store)) >= more)
    driver.kill()
    driver.communicate(timeout=60)
    before, seen = kept(store), len(place.notes("began"))
    sent = {one: one.stat().st_mtime_ns for one in place.folder.glob("w?/sweep/inputs/*")}
    assert len(sent) == 2
    assert more <= len(before) < 28
    first = Counter(line for _, line in place.notes("began"))
    driver = place.sweep(*words)
    _, stderr = driver.communicate(timeout=120)
    assert driver.returncode == 0, stderr
    assert f"{len(before)} points known already" in stderr
    after = kept(store)
    assert {key: after[key] for key in before} == before
    assert len(after) == 28
    # What was being played when the driver died is played again: it was not known.
    again = Counter(line for _, line in place.notes("began")[seen:])
    assert again.total() - (28 - len(before)) <= 2
    assert {each: times for each, times in first.items() if times > 1} == {line: 2}
    assert {one: one.stat().st_mtime_ns for one in place.folder.glob("w?/sweep/inputs/*")} == sent
    assert (place.folder / "far.csv").read_bytes() == locally(place.folder, file)


def test_a_scheduler_that_goes_away(place: Place) -> None:
    """Goal: one error and what is left to play, whatever dask would say; what had ended is kept,
    and the same line goes on elsewhere."""
    file = written(place.folder, GRID.replace("requests=500", "requests=200K"))
    store = place.folder / "spec.sqlite"
    place.start_cluster()
    driver = place.sweep(file, "--scheduler", place.address)
    until(lambda: len(kept(store)) >= 2)
    place.running[0].kill()
    _, stderr = driver.communicate(timeout=60)
    left = 8 - len(kept(store))
    assert driver.returncode == 1
    assert stderr.splitlines()[-2:] == [
        f"{left} points not played: the same line goes on",
        f"nandwich: error: the scheduler {place.address} went away",
    ]
    assert "Traceback" not in stderr
    assert "distributed" not in stderr


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ("import nandwich.cli.sweep.remote as one\none.code_version = lambda: 64 * 'f'", "ffff"),
        ("from distributed import versions\nversions._version_cached = lambda name: '1.0'", "1.0"),
    ],
)
def test_other_versions_are_refused(place: Place, patch: str, said: str) -> None:
    """Goal: both versions are told, and no point is played."""
    place.start_cluster()
    file = written(place.folder, GRID)
    driver = place.sweep(file, "--scheduler", place.address, patch=patch)
    _, stderr = driver.communicate(timeout=60)
    assert driver.returncode == 2, stderr
    faults = [line for line in stderr.splitlines() if f"here it is {said}" in line]
    assert faults, stderr
    assert all(line.startswith(f"nandwich: error: --scheduler {place.address}") for line in faults)
    assert place.notes("began") == []


def test_workers_here_give_the_same_bytes(place: Place) -> None:
    """Goal: whole paths and those from the current folder, what files name, and failures: all of
    it reads as if it were played here, and the worker reads nothing but what was sent."""
    folder = place.folder
    trace(folder)
    (folder / "down").mkdir()
    (folder / "bad.csv").write_text("0,w,0,2048\n1,w,oops,2048\n")
    sources = [f"{folder}/trace.csv", "trace.csv", "down/../trace.csv", f"{folder}/bad.csv"]
    file = written(
        folder,
        '[sweep]\nverb = "replay"\n[base]\nblocks = 64\ncolumns = "time,op,offset,size"\n'
        f"[axes]\nsource = {sources}\n".replace("'", '"'),
    )
    driver = place.sweep(
        "spec.toml", "--scheduler", "local:2", "--export", "far.csv", "--keep", "far"
    )
    _, stderr = driver.communicate(timeout=60)
    assert driver.returncode == 1, stderr
    assert f"{folder}/bad.csv" in stderr
    assert (folder / "far.csv").read_bytes() == locally(folder, file)
    assert len(list((folder / "far").iterdir())) == 3
    assert len(list((folder / "cache/sweep/inputs").iterdir())) == 2
    driver = place.sweep("spec.toml", "--store", "own.sqlite", "--keep", "own")
    driver.communicate(timeout=60)
    for one in (folder / "own").iterdir():
        assert (folder / "far" / one.name).read_bytes() == one.read_bytes()


def test_a_point_that_kills_its_process(place: Place) -> None:
    """Goal: it is played once more, has failed then, and takes no worker with it."""
    file = written(place.folder, GRID)
    place.environment["DEADLY"] = "--ftl fast --blocks 64 --spare-blocks 14 --seed 2"
    driver = place.sweep(file, "--scheduler", "local:1", "--export", "far.csv")
    _, stderr = driver.communicate(timeout=60)
    assert driver.returncode == 1, stderr
    assert "its process ended by signal 9, perhaps for want of memory; to repeat it:" in stderr
    rows = list(csv.DictReader((place.folder / "far.csv").read_text().splitlines()))
    assert Counter(row["state"] for row in rows) == {"done": 7, "failed": 1}
    began = place.notes("began")
    assert (len(began), len({who for who, _ in began})) == (9, 1)


@pytest.mark.parametrize("verb", ["sweep", "fleet"])
@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("local:0", "how many workers? Say local:4"),
        ("local:²", "how many workers? Say local:4"),
        ("local:many", "how many workers? Say local:4"),
        ("lab:8786", "wanted tcp://HOST:PORT, or local:4"),
    ],
)
def test_a_wrong_address_is_refused(tmp_path: Path, verb: str, address: str, said: str) -> None:
    file = written(tmp_path, GRID)
    done = CliRunner().invoke(main, [verb, str(file), "--scheduler", address])
    assert (done.exit_code, said in done.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == [file]


def test_a_plan_counts_the_workers_that_would_start_here(tmp_path: Path) -> None:
    """Goal: the time of --dry-run is that of these workers, whatever this machine has."""
    file = written(tmp_path, GRID)
    assert CliRunner().invoke(main, ["sweep", str(file)]).exit_code == 0
    file.write_text(GRID.replace("[1, 2]", "[1, 2, 3]"))
    line = ["sweep", str(file), "--dry-run", "--scheduler", "local:3"]
    assert CliRunner().invoke(main, line).stdout.endswith(", 3 at a time\n")


def test_nobody_answers(place: Place) -> None:
    """Goal: one sentence, exit code 1."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    patch = "import nandwich.cli.sweep.remote as one\none._CONNECT_S = 1"
    driver = place.sweep(written(place.folder, GRID), "--scheduler", address, patch=patch)
    _, stderr = driver.communicate(timeout=60)
    assert driver.returncode == 1
    said = f"nandwich: error: --scheduler {address}: no scheduler answers there"
    assert stderr.splitlines()[-1] == said


def test_ctrl_c_leaves_nobody(place: Place) -> None:
    """Goal: the workers that were started here end with the driver, without a word of theirs."""
    file = written(place.folder, GRID.replace("requests=500", "requests=200K"))
    driver = place.sweep(file, "--scheduler", "local:2")
    until(lambda: len(place.notes("ended")) >= 1)
    workers = {who for who, _ in place.notes("began")}
    driver.send_signal(signal.SIGINT)
    _, stderr = driver.communicate(timeout=60)
    assert driver.returncode == 130, stderr
    assert "not played: the same line goes on" in stderr
    assert "Traceback" not in stderr
    until(lambda: not any(Path(f"/proc/{who}").exists() for who in workers))
