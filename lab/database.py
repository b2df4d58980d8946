# SPDX-License-Identifier: Apache-2.0
"""SQLite over a mapped database: its shell as released, readings drawn from a seed, queries.

python -m lab.database FOLDER     puts sqlite3.c, shell.c, sqlite3.h and readings.db there
"""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from lab import ROOT, crates
from nandwich.errors import RunError

SOURCES = ("sqlite3.c", "shell.c", "sqlite3.h")
#: As its own page on compile-time options advises for a program with one thread.
FLAGS = ("-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION")
#: For a system it has no port to; all it needs of one is in examples/sqlite_map.c.
BOARD_FLAGS = (
    *FLAGS,
    "-DSQLITE_OS_OTHER=1",
    "-DSQLITE_MAX_MMAP_SIZE=0x7fff0000",
    "-DSQLITE_TEMP_STORE=3",
    "-DSQLITE_DEFAULT_MEMSTATUS=0",
    "-DSQLITE_OMIT_WAL",
    "-DSQLITE_OMIT_JSON",
    "-DSQLITE_OMIT_SHARED_CACHE",
    "-DSQLITE_OMIT_DEPRECATED",
    "-DSQLITE_OMIT_PROGRESS_CALLBACK",
)
BOARD_PROGRAM = ROOT / "examples" / "sqlite_map.c"
#: Of a database of 16 MB.
ROWS = 262_000
#: Answers differ with the rows, but none is empty from 20,000 on.
QUERIES = {
    "count": "SELECT count(*) FROM reading",
    "range by index": "SELECT count(*), round(avg(celsius), 3) FROM reading"
    " WHERE station = 77 AND minute BETWEEN 10000 AND 40000",
    "join of three rows": "SELECT s.name, r.celsius, r.note FROM reading r"
    " JOIN station s ON s.id = r.station WHERE r.id IN (5, 777, 12345) ORDER BY r.id",
    "join, group by": "SELECT s.region, count(*), round(avg(r.celsius), 3) FROM reading r"
    " JOIN station s ON s.id = r.station WHERE r.station < 25 GROUP BY s.region ORDER BY s.region",
    "LIKE over all rows": "SELECT count(*) FROM reading WHERE note LIKE '%snow frost%fog%'",
}
_STATIONS = 500
_REGIONS = ("north", "south", "east", "west", "coast", "hills")
_WORDS = (
    *("wind", "rain", "snow", "frost", "clear", "fog"),
    *("hail", "sun", "cloud", "storm", "dust", "calm"),
)
_TABLES = """
    PRAGMA page_size = 4096;
    CREATE TABLE station(id INTEGER PRIMARY KEY, name TEXT, region TEXT);
    CREATE TABLE reading(
        id INTEGER PRIMARY KEY, station INTEGER, minute INTEGER, celsius REAL, note TEXT
    );
"""


def sources() -> Path:
    """The folder of the released sources; UnreachableError without them and without a network."""
    return crates.fetch(crates.SQLITE_SHELL) / "source"


def make(path: Path, rows: int = ROWS) -> None:
    """A database of weather readings, the same for the same rows."""
    draw = random.Random(7)
    stations = [(i, f"station-{i:04}", draw.choice(_REGIONS)) for i in range(_STATIONS)]
    readings = (
        (
            *(i, draw.randrange(_STATIONS), 3 * i, round(draw.gauss(9, 8), 1)),
            " ".join(draw.choices(_WORDS, k=5)),
        )
        for i in range(rows)
    )
    database = sqlite3.connect(path)
    database.executescript(_TABLES)
    database.executemany("INSERT INTO station VALUES(?, ?, ?)", stations)
    database.executemany("INSERT INTO reading VALUES(?, ?, ?, ?, ?)", readings)
    database.execute("CREATE INDEX by_station ON reading(station, minute)")
    database.commit()
    database.close()


def answers(path: Path) -> str:
    """What Python's own SQLite says to the queries, as the shell prints it."""
    database = sqlite3.connect(path)
    rows = [row for query in QUERIES.values() for row in database.execute(query)]
    database.close()
    return "".join("|".join(map(str, row)) + "\n" for row in rows)


def run(*words: str | Path) -> tuple[dict[str, Any], str]:
    """What `nandwich run` tells as JSON, and what the program printed."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told.json"
        done = subprocess.run(
            [sys.executable, "-m", "nandwich", "run", "--quiet", "--json", told, *words],
            env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise RunError(f"nandwich run: {done.stderr.strip()}")
        return json.loads(told.read_text()), done.stdout


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in SOURCES:
        shutil.copy(sources() / name, folder)
    path = folder / "readings.db"
    path.unlink(missing_ok=True)
    make(path)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m lab.database FOLDER")
    main(Path(sys.argv[1]))
