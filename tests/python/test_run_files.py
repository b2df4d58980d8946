# SPDX-License-Identifier: Apache-2.0
"""Files a guest changes: recorded before the change, put back, compared."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from nandwich import paths
from nandwich.compiler import toolchain
from nandwich.run import changed_files, guest

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
_State = dict[bytes, tuple[object, ...]]


def _state(folder: Path) -> _State:
    """All there is to know of what lies in a folder: kinds, modes, content, links, times of files,
    and which names are one file."""
    found: _State = {}
    for base, folders, files in os.walk(os.fsencode(folder)):
        for name in (*folders, *files):
            path = os.path.join(base, name)  # noqa: PTH118 - names that are no text
            status = os.lstat(path)
            more: tuple[object, ...] = ()
            if stat.S_ISREG(status.st_mode):
                more = (Path(os.fsdecode(path)).read_bytes(), status.st_nlink)
            elif stat.S_ISLNK(status.st_mode):
                more = (os.readlink(path),)  # noqa: PTH115
            where = os.path.relpath(path, os.fsencode(folder))
            found[where] = (stat.filemode(status.st_mode), status.st_uid, *more)
    return found


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
    command += [*toolchain.wrap_flags(), "-Wl,--whole-archive", library, "-Wl,--no-whole-archive"]
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


def _outcome(
    program: Path, work: Path, log: Path, *arguments: str, watch: bool = True
) -> guest.Outcome:
    log.mkdir()
    environment = {"NANDWICH_NATIVE": str(log / "report.json")}
    words = (str(program), *arguments)
    before = Path.cwd()
    os.chdir(work)
    try:
        return guest.run(program, words, log, environment, watch=watch)
    finally:
        os.chdir(before)


def _run(program: Path, work: Path, log: Path, *arguments: str) -> changed_files.Changes:
    """One run whose files stay as it leaves them."""
    outcome = _outcome(program, work, log, *arguments)
    outcome.keep()
    return outcome.changes


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
    outcome = _outcome(program, work, tmp_path / "log")
    changes = outcome.changes
    assert {path.name for path in changes.before} == {
        "made", "grown", "patched", "moved", "there", "removed",
        "locked", "folder", "empty", "target", "turned",
    }  # fmt: skip
    assert _files(work)["patched"] == "abXdef"
    assert changes.after[work / "removed"] is None
    assert changes.after[work / "folder/inside"] is not None
    outcome.put_back()
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
    outcome = _outcome(program, work, tmp_path / "log1")
    first = outcome.changes
    outcome.put_back()
    second = _run(program, work, tmp_path / "log2")
    assert list(changed_files.differences(first, second)) == []

    (work / "grown").write_text("some\nmoRe\n")
    shutil.copyfile(work / "grown", second.after[work / "grown"] or "")
    second.after[work / "made"] = None
    assert list(changed_files.differences(first, second)) == [
        f"{work}/grown: differs at byte 7",
        f"{work}/made: left only by the native run",
    ]


def test_a_file_only_one_run_touched_is_compared_with_what_it_was(
    program: Path, tmp_path: Path
) -> None:
    """Goal: when only one run opens a file, the other is taken to have left it as it was."""
    work = _prepared(tmp_path / "work")
    changed = _run(program, work, tmp_path / "log")
    nothing = changed_files.Changes()
    found = list(changed_files.differences(nothing, changed))
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
    folders of mkdtemp. Later those that stayed were never put back, one for each run."""
    program = _built(tmp_path, _RANDOM)
    work = _prepared(tmp_path / "work")
    first = _outcome(program, work, tmp_path / "log1")
    first.put_back()
    assert sorted(_files(work)) == sorted([*_BEFORE, "link"])
    assert not _left(work, "folder*") + _left(work, "used*")
    second = _run(program, work, tmp_path / "log2")
    assert list(changed_files.differences(first.changes, second)) == []
    assert (work / "grown").read_text() == "safe\n"
    assert len(_left(work, "kept*")) == 1


def _left(work: Path, pattern: str) -> list[str]:
    return [path.name for path in work.glob(pattern)]


def test_first_difference_sees_length_and_chunks(tmp_path: Path) -> None:
    """Goal: offsets are right past the first chunk and when one file is a prefix of the other."""
    long = bytes(changed_files._CHUNK) + b"abc"
    for name, content in {"a": long, "b": long[:-1] + b"d", "c": long[:-2]}.items():
        (tmp_path / name).write_bytes(content)
    assert changed_files.first_difference(tmp_path / "a", tmp_path / "a") is None
    assert (
        changed_files.first_difference(tmp_path / "a", tmp_path / "b") == changed_files._CHUNK + 2
    )
    assert (
        changed_files.first_difference(tmp_path / "a", tmp_path / "c") == changed_files._CHUNK + 1
    )


_ENTRIES = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void change(const char *path)
{
    int file = open(path, O_WRONLY | O_TRUNC);
    if (file < 0 || write(file, "changed", 7) != 7 || close(file) != 0) exit(9);
}

/* By another name of an open file. */
static void again(int file, const char *format)
{
    char name[64];

    snprintf(name, sizeof name, format, file);
    change(name);
}

static int in_root(int folder, const char *path, unsigned long long flags)
{
    unsigned long long how[3] = {O_WRONLY | flags, flags == O_CREAT ? 0640 : 0, 16};
    int file = (int)syscall(SYS_openat2, folder, path, how, sizeof how);

    return file < 0 || write(file, "changed", 7) != 7;
}

int main(int argc, char **argv)
{
    struct timespec times[2] = {{5, 5}, {6, 6}};
    const char *how = argv[1];
    int low = open(".", O_RDONLY | O_DIRECTORY), file;

    switch (atoi(how)) {
    case 0: return renameat2(AT_FDCWD, "moved", AT_FDCWD, "grown", RENAME_EXCHANGE);
    case 1: return system("echo child >>grown; mv removed elsewhere; rm read; ln -s x made");
    case 2: return rename("full", "other") != 0 || mkdir("full", 0700) != 0;
    case 3: return linkat(low, "grown", low, "second", 0) != 0 || (change("second"), 0);
    case 4: return symlinkat("read", low, "made") != 0 || (change("made"), 0);
    case 5: return mknod("pipe", S_IFIFO | 0600, 0) != 0 || unlink("full/pipe") != 0;
    case 6: file = open("grown", O_RDONLY); return fchmod(file, 0) | fchown(file, 5, 6);
    case 7: return utimensat(low, "grown", times, 0) | utimensat(low, "link", times, 256);
    case 8: mkdir("kept", 0755); return chdir("kept") != 0 || mkstemp((char[]){"aXXXXXX"}) < 0;
    case 9: return unlink("link") != 0 || symlink("elsewhere", "link") != 0;
    case 10: return unlink("one") != 0 || (change("two"), 0);
    case 11: return rename("full/deep", "deep") | rename("full", "deep/full");
    case 12: change("nowhere"); /* there is none: open fails and the program ends with 9 */
    case 13: file = open("nowhere", O_WRONLY | O_CREAT, 0600); return file < 0;
    case 14: return truncate("grown", 1) | unlinkat(low, "empty", AT_REMOVEDIR);
    case 15: if (vfork() == 0) execlp("cp", "cp", "read", "grown", NULL);
             return wait(NULL) < 0 || access("grown", W_OK) != 0;
    case 16: file = open(".", O_TMPFILE | O_RDWR, 0600);
             return linkat(file, "", low, "full/new", AT_EMPTY_PATH) != 0 && errno != ENOENT;
    case 17: return mkdir("gone", 0700) | chdir("gone") | rmdir("../gone") |
             (open("made", O_CREAT | O_WRONLY, 0600) >= 0) | chmod("../grown", 0);
    case 18: return rename("full", "empty") != 0 || (change("empty/in"), 0);
    case 19: { struct sockaddr_un name = {AF_UNIX, "socket"};
             return bind(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&name, sizeof name); }
    case 20: file = open("locked", O_RDWR); fchmod(low, 0500);
             return unlink("full/\xff\xfe") != 0 || ftruncate(file, 2) != 0;
    case 21: return (int)syscall(SYS_openat2, low, "grown",
             (unsigned long long[3]){O_WRONLY | O_TRUNC, 0, 0}, 24) < 0;
    case 22: change("full/name"); if (mkfifo("one", 0600) == 0) return 1;
             change("two"); return 0;
    case 23: again(open("grown", O_RDONLY), "//proc/self/fd/%d"); return 0;
    case 24: again(open("grown", O_RDONLY), "/proc/./self/fd/%d");
             return symlink("/proc/self/cwd/full/in", "made") != 0 || (change("made"), 0);
    case 25: return in_root(low, "/grown", O_TRUNC) | in_root(low, "/../full/new", O_CREAT) |
             symlink("/full/in", "made") | in_root(low, "made", O_TRUNC);
    case 26: return mkdir("nowhere/", 0700) == 0 || errno != EEXIST;
    case 27: file = open("one", O_RDONLY); unlink("one"); again(file, "/proc/self/fd/%d"); return 0;
    }
    return 8;
}
"""


def _rich(folder: Path) -> Path:
    _prepared(folder)
    (folder / "full/deep").mkdir(parents=True)
    for name in ("full/in", "full/deep/more", os.fsdecode(b"full/\xff\xfe"), "one"):
        (folder / name).write_bytes(b"in " + os.fsencode(name))
    (folder / "two").hardlink_to(folder / "one")
    (folder / "full/name").hardlink_to(folder / "one")
    (folder / "nowhere").symlink_to("full/not there yet")
    os.mkfifo(folder / "full/pipe")
    for name in ("grown", "one"):
        os.utime(folder / name, ns=(10**18, 10**18 + 1))
    return folder


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _built(tmp_path_factory.mktemp("entries"), _ENTRIES)


def _times(work: Path) -> list[int]:
    names = ("grown", "one", "read", "link")
    return [(work / name).lstat().st_mtime_ns for name in names]


@pytest.mark.parametrize("how", [str(number) for number in range(28)])
def test_every_way_to_change_a_folder_is_undone(entries: Path, tmp_path: Path, how: str) -> None:
    """The run time listened to a list of libc calls, and no such list is whole. What renameat2 did,
    and the children of system() and fork(), was not put back, so the user's files were changed
    twice or lost. Nor were full folders that were renamed, folders with a mkstemp file in them,
    hard links, symbolic links, modes by fchmod, times. Way 22: of a file with three names, changed
    by the first, the second was kept without content, so the third was kept as it was by then.
    Ways 23 and 24: the kernel followed /proc/self for the watcher, not for the program. 25: what
    openat2 opens in a root of its own was looked for below "/". 26: a link to nothing was taken for
    an absent name, and removed. 27: the run was ended, as the open file had lost its name."""
    work = _rich(tmp_path / "work")
    before, times = _state(work), _times(work)
    outcome = _outcome(entries, work, tmp_path / "log1", how)
    assert outcome.status == (9 if how == "12" else 0)
    after = _state(work)
    outcome.put_back()
    assert _state(work) == before
    assert _times(work) == times
    assert (work / "one").samefile(work / "full/name")
    assert (work / "one").samefile(work / "two")
    again = _outcome(entries, work, tmp_path / "log2", how)
    again.keep()
    assert again.status == outcome.status
    if how != "8":  # a random name
        assert _state(work) == after
    assert list(changed_files.differences(outcome.changes, again.changes)) == []


_CALLS = Path(__file__).resolve().parents[1] / "guests" / "file_calls.c"


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _built(tmp_path_factory.mktemp("calls"), _CALLS.read_text())


def _random_calls(calls: Path, tmp_path: Path, seed: int, count: int) -> None:
    """One native execution, and what it leaves, against two that are watched."""
    arguments = (str(seed), str(count))
    work = tmp_path / "work"
    logs = [tmp_path / "plain", tmp_path / "back", tmp_path / "kept"]
    _outcome(calls, _rich(work), logs[0], *arguments, watch=False).keep()
    plain = _state(work)
    subprocess.run(["chmod", "-R", "u+rwx", work], check=False)
    shutil.rmtree(work)
    before = _state(_rich(work))
    outcome = _outcome(calls, work, logs[1], *arguments)
    outcome.put_back()
    assert _state(work) == before, seed
    again = _outcome(calls, work, logs[2], *arguments)
    again.keep()
    assert _state(work) == plain, seed
    assert list(changed_files.differences(outcome.changes, again.changes)) == []
    outputs = {(log / "stdout").read_bytes() for log in logs}
    assert len(outputs) == 1, seed
    for folder in (*logs, work):
        shutil.rmtree(folder)


def test_random_calls_are_as_without_the_watcher(calls: Path, tmp_path: Path) -> None:
    """Goal: whatever calls a program makes, it is answered as without the watcher, leaves the same
    files, and all of it is put back: content, modes, links, hard links."""
    for seed in range(60):
        _random_calls(calls, tmp_path, seed, 40)


@pytest.mark.soak
def test_random_calls_at_length(calls: Path, tmp_path: Path) -> None:
    """Goal: the same, 3,000 times."""
    for seed in range(1000, 4000):
        _random_calls(calls, tmp_path, seed, 20 + seed % 80)
