# SPDX-License-Identifier: Apache-2.0
"""Files a guest changes: recorded before the change, put back, compared."""

import shutil
import subprocess
from pathlib import Path

import pytest

from nandwich import paths, run_files

_PROGRAM = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    FILE *file = fopen("made", "w");
    fprintf(file, "new %d\n", argc);
    fclose(file);
    file = fopen("grown", "a");
    fputs("more\n", file);
    fclose(file);
    int low = open("patched", O_RDWR);
    if (pwrite(low, "X", 1, 2) != 1) return 1;
    close(low);
    fclose(fopen("read", "r"));
    rename("moved", "there");
    unlink("removed");
    chmod("locked", 0400);
    mkdir("folder", 0700);
    fclose(fopen("folder/inside", "w"));
    rmdir("empty");
    file = fopen("link", "w"); /* what the link leads to is cut */
    fclose(file);
    unlink("turned");
    symlink("read", "turned");
    if (argc > 1) _exit(atoi(argv[1]));
    return 0;
}
"""
_BEFORE = {
    "grown": "some\n",
    "patched": "abcdef",
    "read": "only read",
    "moved": "moving",
    "removed": "going",
    "locked": "as it was",
    "target": "of a link",
    "turned": "into a link",
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program above, linked as the native side of `nandwich run` is."""
    return _built(tmp_path_factory.mktemp("tracked"), _PROGRAM)


def _built(folder: Path, source: str) -> Path:
    (folder / "program.c").write_text(source)
    library = str(paths.static_library("nw_native"))
    command = ["clang-19", str(folder / "program.c"), "-o", str(folder / "program")]
    command += [*run_files.wrap_flags(), "-Wl,--whole-archive", library, "-Wl,--no-whole-archive"]
    subprocess.run(command, check=True)
    return folder / "program"


def _files(folder: Path) -> dict[str, str]:
    """Content of the files, and the target of the link."""
    found = {}
    for path in folder.iterdir():
        if path.is_symlink():
            found[path.name] = str(path.readlink())
        elif path.is_file():
            found[path.name] = path.read_text()
    return found


def _run(program: Path, work: Path, log: Path, *arguments: str) -> run_files.Changes:
    log.mkdir()
    environment = {"NANDWICH_NATIVE": str(log / "report.json"), "NANDWICH_TRACK": str(log)}
    subprocess.run([program, *arguments], cwd=work, env=environment, check=False)
    return run_files.collect(log)


def _prepared(folder: Path) -> Path:
    folder.mkdir()
    for name, text in _BEFORE.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o640)
    (folder / "link").symlink_to("target")
    (folder / "empty").mkdir(mode=0o750)
    return folder


def test_every_kind_of_change_is_recorded_and_undone(program: Path, tmp_path: Path) -> None:
    """Goal: opening, appending, patching, renaming, removing, another mode, folders and links are
    all seen before they happen, reading is not, and putting back restores exactly what was there:
    a mode was that of a new file once, and what a link led to was lost to the link's place."""
    work = _prepared(tmp_path / "work")
    changes = _run(program, work, tmp_path / "log")
    assert {path.name for path in changes.before} == {
        "made", "grown", "patched", "moved", "there", "removed",
        "locked", "folder", "inside", "empty", "target", "turned",
    }  # fmt: skip
    assert _files(work)["patched"] == "abXdef"
    assert changes.after[work / "removed"] is None
    run_files.put_back(changes)
    assert _files(work) == {**_BEFORE, "link": "target"}
    assert {(work / name).stat().st_mode & 0o777 for name in _BEFORE} == {0o640}
    assert (work / "empty").stat().st_mode & 0o777 == 0o750
    assert not (work / "folder").exists()


@pytest.mark.parametrize("status", ["0", "3"])
def test_report_is_written_even_by_underscore_exit(
    program: Path, tmp_path: Path, status: str
) -> None:
    """Goal: _exit() skips atexit(), yet the wall time is reported."""
    _run(program, _prepared(tmp_path / "work"), tmp_path / "log", status)
    assert "host_ns" in (tmp_path / "log" / "report.json").read_text()


def test_same_changes_agree_and_others_are_named(program: Path, tmp_path: Path) -> None:
    """Goal: two runs from the same state agree; a file that differs is named with its first byte,
    a file only one of them left is named too."""
    work = _prepared(tmp_path / "work")
    first = _run(program, work, tmp_path / "log1")
    run_files.put_back(first)
    second = _run(program, work, tmp_path / "log2")
    assert list(run_files.differences(first, second)) == []

    (work / "grown").write_text("some\nmoRe\n")
    shutil.copyfile(work / "grown", second.after[work / "grown"] or "")
    second.after[work / "made"] = None
    assert list(run_files.differences(first, second)) == [
        f"{work}/grown: differs at byte 7",
        f"{work}/made: left only by the native run",
    ]


def test_a_file_only_one_run_touched_is_compared_with_what_it_was(
    program: Path, tmp_path: Path
) -> None:
    """Goal: when only one run opens a file, the other is taken to have left it as it was."""
    work = _prepared(tmp_path / "work")
    changed = _run(program, work, tmp_path / "log")
    nothing = run_files.Changes()
    found = list(run_files.differences(nothing, changed))
    assert f"{work}/patched: differs at byte 2" in found
    assert f"{work}/made: left only by the virtual run" in found
    assert f"{work}/removed: left only by the native run" in found


_RANDOM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    char gone[] = "goneXXXXXX", kept[] = "keptXXXXXX.txt", safe[] = "safeXXXXXX";
    char folder[] = "folderXXXXXX", used[] = "usedXXXXXX", name[64];
    char *other = mmap(NULL, 64, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int file = mkstemp(gone);
    if (write(file, "x", 1) != 1 || close(file) != 0) return 1;
    fclose(fopen(gone, "a"));
    truncate(gone, 0);
    chmod(gone, 0600);
    unlink(gone);
    strcpy(other, "goneXXXXXX");
    if (fork() == 0) _exit(close(mkstemp(other)));
    wait(NULL);
    unlink(other); /* by another process than the one that made it */
    close(mkostemps(kept, 4, O_APPEND));
    file = mkstemp(safe);
    if (write(file, "safe\n", 5) != 5 || close(file) != 0) return 2;
    rename(safe, "grown");
    mkdtemp(folder);
    rmdir(folder);
    mkdtemp(used);
    snprintf(name, sizeof name, "%s/inside", used);
    fclose(fopen(name, "w"));
    return 0;
}
"""


def test_random_names_are_no_difference(tmp_path: Path) -> None:
    """A file made by mkstemp and then renamed or removed was taken for one that was there before:
    it was put back, which left it in the user's folder, and the runs differed. The same befell
    folders of mkdtemp."""
    program = _built(tmp_path, _RANDOM)
    work = _prepared(tmp_path / "work")
    changes = [_run(program, work, tmp_path / "log1")]
    run_files.put_back(changes[0])
    assert sorted(_files(work)) == sorted([*_BEFORE, "link", *_left(work, "kept*")])
    assert not list(work.glob("gone*")) + list(work.glob("safe*")) + list(work.glob("folder*"))
    changes.append(_run(program, work, tmp_path / "log2"))
    assert list(run_files.differences(*changes)) == []
    assert (work / "grown").read_text() == "safe\n"
    assert len(_left(work, "kept*")) == 2


def _left(work: Path, pattern: str) -> list[str]:
    return [path.name for path in work.glob(pattern)]


def test_first_difference_sees_length_and_chunks(tmp_path: Path) -> None:
    """Goal: offsets are right past the first chunk and when one file is a prefix of the other."""
    long = bytes(run_files._CHUNK) + b"abc"
    for name, content in {"a": long, "b": long[:-1] + b"d", "c": long[:-2]}.items():
        (tmp_path / name).write_bytes(content)
    assert run_files.first_difference(tmp_path / "a", tmp_path / "a") is None
    assert run_files.first_difference(tmp_path / "a", tmp_path / "b") == run_files._CHUNK + 2
    assert run_files.first_difference(tmp_path / "a", tmp_path / "c") == run_files._CHUNK + 1
