# SPDX-License-Identifier: Apache-2.0
"""mmap() and its family in virtual memory: what a program sees and leaves in files is what it would
natively, its errors end it as they would, and no more of a file is read than is touched."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from schemas import validate

from nandwich import paths

assert paths.CHECKOUT is not None
ROOT = paths.CHECKOUT
CALLS = ROOT / "tests" / "guests" / "map_calls.c"
_HEAD = """\
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
"""


def ran(folder: Path, source: Path, *options: str, arguments: tuple[str, ...] = ()) -> Any:
    """The result of `nandwich run` in a folder, and what it says."""
    line = [sys.executable, "-m", "nandwich", "run", str(source), "--once", "--quiet", *options]
    target = folder / "result.json"
    done = subprocess.run(
        [*line, "--json", str(target), "--", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
    )
    value = json.loads(target.read_text()) if target.exists() else {}
    return done, value


def program(folder: Path, body: str) -> Path:
    source = folder / "program.c"
    source.write_text(f"{_HEAD}int main(int count, char **words)\n{{\n{body}\n}}\n")
    return source


def test_a_copy_out_of_a_random_part_reads_its_bytes(tmp_path: Path) -> None:
    """Goal: pages come in before the advice, outside its part, and when it is taken back."""
    (tmp_path / "data").write_bytes(bytes(i * 7 & 255 for i in range(20_000)))
    source = program(
        tmp_path,
        """    int file = open("data", O_RDONLY);
    char *at = mmap(NULL, 20000, PROT_READ, MAP_PRIVATE, file, 0), row[40];
    size_t bytes = (size_t)count * 10;
    for (int round = 0; round < 3; round++) {
        if (round > 0) {
            madvise(at + 4096, 8192, round == 1 ? MADV_RANDOM : MADV_NORMAL);
            madvise(at, 20000, MADV_WILLNEED); /* takes nothing back */
        }
        for (size_t from = 1024; from < 16384; from += 2048) {
            memcpy(row, at + from + 512 * (size_t)round, bytes);
            printf("%d %d\\n", row[0], row[bytes - 1]);
        }
    }
    return 0;""",
    )
    done, value = ran(tmp_path, source)
    assert done.returncode == 0, done.stderr
    assert value["vm"]["mapped"] == 8 + 4 + 8
    assert value["mapped"]["bytes_read"] == (8 + 4 + 8) * 512 + 4 * 10


@pytest.mark.parametrize(
    ("frame", "ram", "seeds"), [("256", "16K", 8), ("2K", "96K", 4), ("4K", "128K", 4)]
)
def test_random_calls_are_as_natively(tmp_path: Path, frame: str, ram: str, seeds: int) -> None:
    """Goal: answers, contents and files are those of the native run, whatever is mapped how."""
    moved = 0
    for seed in range(seeds):
        done, value = ran(
            tmp_path, CALLS, "--frame", frame, "--ram", ram, arguments=(str(seed), "700")
        )
        assert done.returncode == 0, (seed, done.stderr)
        assert value["identical"]
        moved += value["mapped"]["writes"]
    assert moved > 20


@pytest.mark.parametrize(
    ("does", "signal", "said"),
    [
        ("((char *)at)[5] = 1;", "SIGSEGV", "store to memory that may only be read"),
        ("memset(at, 0, 10);", "SIGSEGV", "store to memory that may only be read"),
        ("for (int i = 0; i < 200; i++) at[i] = i;", "SIGSEGV", "may only be read"),
        ("for (int i = 0, *own = (int *)at; i < file * 9; i++) own[i] = i;", "SIGSEGV",
         "may only be read"),
        ("ftruncate(file, 0); return at[1];", "SIGBUS", "access behind the end of a mapped file"),
        ("munmap(at, 4096); return at[1];", "SIGSEGV", "access to memory that is not mapped"),
        ("at = mmap(NULL, 9, PROT_NONE, MAP_PRIVATE, file, 0); return at[1];", "SIGSEGV",
         "not mapped"),
    ],
)  # fmt: skip
def test_a_wrong_access_ends_it_as_natively(
    tmp_path: Path, does: str, signal: str, said: str
) -> None:
    source = program(
        tmp_path,
        f"""    int file = open("data", O_RDWR | O_CREAT, 0600);
    ftruncate(file, 8192);
    volatile int *at = mmap(NULL, 8192, PROT_READ, MAP_SHARED, file, 0);
    {does.replace("memset(at", "memset((void *)at").replace("munmap(at", "munmap((void *)at")}
    return 0;""",
    )
    done, value = ran(tmp_path, source, "--cflags", "-w")
    assert done.returncode == 1
    assert f"error: {signal}: " in done.stderr
    assert said in done.stderr
    line = source.read_text().partition("\n    return 0;")[0].count("\n") + 1
    assert f"in function main at program.c:{line} (the native run too)" in done.stderr
    validate("run-1", value)
    assert value["end"]["kind"] == "signal"


def test_a_line_that_the_optimiser_took_is_told(tmp_path: Path) -> None:
    """Goal: where two stores became one, which is of no line, it is said how to learn the line."""
    source = program(
        tmp_path,
        """    char *at = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (count > 1) {
        at[3] = 1;
    } else {
        at[5000] = 2;
    }
    return 0;""",
    )
    done, _ = ran(tmp_path, source)
    assert "in function main at program.c (of several lines: -O0 tells which)" in done.stderr
    done, _ = ran(tmp_path, source, "-O0")
    line = source.read_text().partition("at[5000]")[0].count("\n") + 1
    assert f"in function main at program.c:{line} (the native run too)" in done.stderr


def test_no_more_is_read_than_is_touched(tmp_path: Path) -> None:
    """Goal: a row of a table costs its frames over the bus, not the flash pages it lies on; what is
    only read is never written."""
    (tmp_path / "table").write_bytes(bytes(range(256)) * 8192)
    source = program(
        tmp_path,
        """    int file = open("table", O_RDONLY), sum = 0;
    const unsigned char *at = mmap(NULL, 2 << 20, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    for (int row = 0; row < 100; row++) {
        for (int i = 0; i < 450; i++) {
            sum += at[row * 20000 + i];
        }
    }
    printf("%d\\n", sum);
    return 0;""",
    )
    done, value = ran(tmp_path, source, "--frame", "256", "--ram", "16K")
    assert done.returncode == 0, done.stderr
    validate("run-1", value)
    rows = [range(row * 20000 // 256, (row * 20000 + 449) // 256 + 1) for row in range(100)]
    frames = sum(map(len, rows))
    assert value["mapped"] == {
        "reads": frames, "bytes_read": 256 * frames, "writes": 0, "bytes_written": 0,
        "peak_bytes": 2 << 20,
    }  # fmt: skip
    assert value["vm"]["mapped"] == frames
    assert value["vm"]["writebacks"] < 10  # of globals
    # A read of K9F1G08U0A takes 25 us, and 25 ns a byte.
    assert value["time_ns"]["storage"] >= frames * (25_000 + 256 * 25)


@pytest.mark.parametrize("frame", ["1K", "16K"])
def test_parts_are_unmapped(tmp_path: Path, frame: str) -> None:
    """Goal: holes are told to msync() and madvise(); a mapping ends with its last page, also where
    a frame is larger, and leaves nothing behind; a smaller one stays where it is."""
    source = program(
        tmp_path,
        """    int file = open("data", O_RDWR | O_CREAT, 0600), sum = 0;
    ftruncate(file, 60000);
    char *at = mmap(NULL, 16384, PROT_READ, MAP_PRIVATE, file, 0);
    munmap(at + 4096, 4096);
    printf("%d %d", msync(at, 16384, MS_SYNC), madvise(at, 16384, MADV_NORMAL));
    printf(" %d %d\\n", msync(at, 4096, MS_SYNC), msync(at + 8192, 8192, MS_SYNC));
    printf("%d\\n", mremap(at, 12288, 40000, MREMAP_MAYMOVE) == MAP_FAILED);
    for (int i = 0; i < 1000; i++) {
        at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
        sum += at[i];
        munmap(at, 4096);
    }
    at = mmap(NULL, 20000, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    at[16400] = at[5] = 7;
    printf("%d ", mremap(at, 20000, 6000, 0) == at);
    at = mremap(at, 8192, 30000, MREMAP_MAYMOVE);
    printf("%d %d\\n", at[5], at[16400]);
    return sum;""",
    )
    done, value = ran(
        tmp_path, source, "--frame", frame, "--ram", "512K", "--cflags", "-w -D_GNU_SOURCE"
    )
    assert done.returncode == 0, done.stderr
    assert value["identical"]
    assert value["mapped"]["peak_bytes"] < 100_000


def test_a_mapping_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    source = program(
        tmp_path,
        """    void *at = mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("%d\\n", at == MAP_FAILED);
    return 0;""",
    )
    done, _ = ran(tmp_path, source, "--vm", "512K", "--no-native")
    assert done.stdout == "1\n"


@pytest.mark.parametrize(
    "reads",
    [
        'execlp("head", "head", "-n", "1", "data", (char *)NULL); return 1;',
        'return system("head -n 1 data");',
        'FILE *other = popen("head -n 1 data", "r"); char line[9];'
        " fputs(fgets(line, 9, other), stdout); return pclose(other);",
    ],
)
def test_what_another_program_reads_is_there(tmp_path: Path, reads: str) -> None:
    """Goal: exec and children see what was stored in a shared mapping."""
    source = program(
        tmp_path,
        f"""    int file = open("data", O_RDWR | O_CREAT, 0600);
    ftruncate(file, 4096);
    char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    strcpy(at, "stored\\n");
    {reads}""",
    )
    done, value = ran(tmp_path, source)
    assert done.returncode == 0, done.stderr
    assert value["identical"]
    assert done.stdout == "stored\n"


def test_a_child_takes_nothing_back(tmp_path: Path) -> None:
    """Goal: what a child had stored before it came about is the file's already; its end writes no
    old bytes over what its parent stored since."""
    source = program(
        tmp_path,
        """    int file = open("data", O_RDWR | O_CREAT, 0600), pipes[2], status;
    char byte = 0;
    ftruncate(file, 4096);
    char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    at[0] = 'A';
    pipe(pipes);
    if (fork() == 0) {
        read(pipes[0], &byte, 1);
        exit(0);
    }
    at[0] = 'B';
    msync(at, 4096, MS_SYNC);
    write(pipes[1], &byte, 1);
    wait(&status);
    pread(file, &byte, 1, 0);
    printf("%c\\n", byte);
    return 0;""",
    )
    done, value = ran(tmp_path, source, "--cflags", "-w")
    assert done.returncode == 0, done.stderr
    assert value["identical"]
    assert done.stdout == "B\n"
