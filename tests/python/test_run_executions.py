# SPDX-License-Identifier: Apache-2.0
"""Goal: however often `nandwich run` runs a program, its files end as after one execution."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from runs import invoke, run_json, write_program
from runs import own_cache as own_cache

_TRACE = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct stat status;
    int trace = open(argv[1], O_WRONLY); /* a pipe keeps count: no files of a run stay */
    if (trace < 0 || write(trace, "x", 1) != 1) return 4;
    close(trace);
    if (argc > 2) {
        FILE *file = fopen(argv[2], "a");
        if (file == NULL || stat(argv[2], &status) != 0) return 5;
        fputs("more\n", file);
        fclose(file);
        printf("%o %ld\n", status.st_mode & 0777, (long)status.st_size);
        if (argc > 3) pause();
        unlink(argv[2]);
        if (mkdir(argv[2], 0700) != 0) return 6;
    }
    return 0;
}
"""


def _counter(folder: Path) -> tuple[Path, int]:
    """A pipe with a name, and the end that is read."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    return pipe, os.open(pipe, os.O_RDWR | os.O_NONBLOCK)


@pytest.mark.parametrize(
    ("options", "most"), [((), (7, 7)), (("--once",), (1, 1)), (("--no-native",), (0, 1))]
)
def test_executions_are_told(
    tmp_path: Path, options: tuple[str, ...], most: tuple[int, int]
) -> None:
    """Goal: a short program ran up to 14 times and nobody was told. The number is in the table and
    in JSON, told beforehand too, and --once means once. A busy machine runs it less often."""
    pipe, read = _counter(tmp_path)
    result = invoke(write_program(tmp_path, _TRACE), *options, "--", pipe)
    assert result.exit_code == 0, result.output
    ran = len(os.read(read, 100))
    told = re.search(r"(\d+) native, (\d+) in virtual memory", result.stdout)
    assert told is not None
    native, virtual = int(told[1]), int(told[2])
    assert native <= most[0]
    assert 1 <= virtual <= most[1]
    assert most[0] == 0 or native == virtual
    assert ran == native + virtual
    assert ("up to 7 times natively and 7 times" in result.stderr) is (options == ())
    value = run_json(write_program(tmp_path, _TRACE), "--once", "--", pipe)
    assert value["executions"] == {"native": 1, "virtual": 1}
    assert len(os.read(read, 100)) == 2
    os.close(read)


def test_every_execution_sees_the_files_as_they_were(tmp_path: Path) -> None:
    """Goal: a file removed by the program came back with the mode of a new file, and a folder it
    made stayed in the way of the next run."""
    pipe, read = _counter(tmp_path)
    file = tmp_path / "file"
    file.write_text("first\n")
    file.chmod(0o640)
    result = invoke("-q", write_program(tmp_path, _TRACE), "--", pipe, file)
    os.close(read)
    assert (result.exit_code, result.stdout) == (0, "640 6\n"), result.output
    assert file.is_dir()  # what one run leaves


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_stopped_cleans_up(tmp_path: Path, number: signal.Signals) -> None:
    """Goal: SIGTERM left the program running, its folder below the temporary one, and the user's
    file as the program had it. All is as before the command, and the status says which signal."""
    scratch, file = tmp_path / "tmp", tmp_path / "file"
    pipe, read = _counter(tmp_path)
    scratch.mkdir()
    file.write_text("first\n")
    file.chmod(0o600)
    command = [sys.executable, "-m", "nandwich", "run", str(write_program(tmp_path, _TRACE)), "--"]
    command += [str(pipe), str(file), "wait"]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while file.read_text() != "first\nmore\n" and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(number)
        process.communicate(timeout=30)
    os.close(read)
    assert process.returncode == 128 + number
    assert file.read_text() == "first\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(scratch.iterdir()) == []


def test_a_program_that_replaces_itself_is_reported(tmp_path: Path) -> None:
    """Goal: after exec() nobody could report any more, and the run ended without a table. What was
    counted until then is told; where exec fails the program goes on, and its end counts."""
    source = write_program(
        tmp_path,
        r"""
        #include <stdio.h>
        #include <unistd.h>
        static int numbers[3000];
        int main(int argc, char **argv)
        {
            for (int i = 0; i < 3000; i++) numbers[i] = i;
            printf("before %d\n", numbers[7]);
            fflush(stdout);
            execlp(argv[1], "echo", "replaced", (char *)NULL);
            for (int i = 0; i < 3000; i++) numbers[i]++;
            return numbers[0] + numbers[1] + numbers[2];
        }
        """,
    )
    result = invoke("--once", source, "--", "echo")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("before 7\nreplaced\n")
    counted = run_json("--once", source, "--", "echo")["vm"]["accesses"]
    failed = run_json("--once", source, "--", "no such program", code=1)
    assert failed["exit"]["virtual"]["status"] == 6
    assert failed["vm"]["accesses"] > counted >= 3000


_WHOLE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    return renameat2(AT_FDCWD, "one", AT_FDCWD, "two", RENAME_EXCHANGE) != 0 ||
           system("mv folder away && echo more >>grown && ln grown second") != 0;
}
"""


def test_files_end_as_after_one_execution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """renameat2 and what children of system() do was not seen: after an even number of executions
    the two files were where they began, the line was there fourteen times, the folder was lost."""
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two", "grown"):
        (tmp_path / name).write_text(f"{name}\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inside").write_text("inside\n")
    result = invoke("-q", write_program(tmp_path, _WHOLE))
    assert result.exit_code == 0, result.output
    assert (tmp_path / "one").read_text() == "two\n"
    assert (tmp_path / "grown").read_text() == "grown\nmore\n"
    assert (tmp_path / "second").samefile(tmp_path / "grown")
    assert (tmp_path / "away" / "inside").read_text() == "inside\n"
    assert not (tmp_path / "folder").exists()


_NO_SECCOMP = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    return argc > 1 ? execv(argv[1], argv + 1) : 1;
}
"""


@pytest.mark.parametrize("options", [(), ("--no-native",)])
def test_where_files_cannot_be_watched_nothing_runs_twice(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    """Goal: without seccomp (an old system, gVisor) no file can be put back, so the program runs
    once, and that is told: a line is appended once."""
    without = tmp_path / "without"
    (tmp_path / "without.c").write_text(_NO_SECCOMP)
    subprocess.run(["clang-19", tmp_path / "without.c", "-o", without], check=True)
    source = write_program(
        tmp_path, '#include <stdlib.h>\nint main(void) { return system("echo >>f"); }'
    )
    command = [str(without), sys.executable, "-m", "nandwich", "run", "--json", "-", *options]
    command.append(str(source))
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "does not let a program's file calls be watched (Function not imp" in done.stderr
    assert json.loads(done.stdout)["executions"] == {"native": 0, "virtual": 1}
    assert (tmp_path / "f").read_text() == "\n"


def test_a_run_lasts_until_its_last_process_ends(tmp_path: Path) -> None:
    """What a child still wrote after the program's end came into the next execution. And Ctrl-C,
    here to the command alone, ends children as well."""
    text = """
        #include <stdlib.h>
        #include <unistd.h>
        int main(int argc, char **argv)
        {
            if (argc > 1) return system("sleep 60 & echo >>late");
            return system("(sleep 0.3; echo >>late) &");
        }
    """
    source = write_program(tmp_path, text)
    command = [sys.executable, "-m", "nandwich", "run", "-q", "--once", str(source)]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert (tmp_path / "late").read_text() == "\n"
    with subprocess.Popen(
        [*command, "--", "x"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert "not what it started" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert (tmp_path / "late").read_text() == "\n"


@pytest.mark.parametrize("option", ["--record", "--image", "--json"])
def test_names_that_are_no_text(tmp_path: Path, option: str) -> None:
    """The configuration of a program took UTF-8 alone, so a record or an image of another name was
    an internal error; so was a message of the compiler about a file of such a name."""
    folder = tmp_path / os.fsdecode(b"f\xff")
    folder.mkdir()
    target = folder / os.fsdecode(b"\xfe.out")
    source = folder / "p.c"
    source.write_text("int main(void) { int unused; return 0; }\n")
    for _ in range(2):  # the image is read the second time
        command = [sys.executable, "-m", "nandwich", "run", "-q", "--once", "-Wall", str(source)]
        done = subprocess.run([*command, option, str(target)], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        assert b"internal" not in done.stderr
        assert target.stat().st_size > 0
    refused = subprocess.run(
        [*command, option, str(folder / "none" / "a\nb")], capture_output=True, check=False
    )
    assert refused.returncode == 2
    assert b"internal" not in refused.stderr


def test_random_calls_leave_what_one_execution_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: programs that make, change, move and remove files at random are identical natively and
    in virtual memory, and the folder holds after several executions what it holds after one."""
    source = Path(__file__).resolve().parents[1] / "guests" / "file_calls.c"
    plain = tmp_path / "plain-program"
    subprocess.run(["clang-19", "-w", source, "-o", plain], check=True)
    for seed in range(6):
        kinds = []
        for name in ("plain", "run"):
            work = tmp_path / f"{name}-{seed}"
            (work / "full" / "deep").mkdir(parents=True)
            for file in ("full/in", "one", "grown"):
                (work / file).write_text(f"{file}\n")
            (work / "two").hardlink_to(work / "one")
            monkeypatch.chdir(work)
            if name == "plain":
                subprocess.run([plain, str(seed), "60"], check=True, stdout=subprocess.DEVNULL)
            else:
                result = invoke("-q", "--cflags", "-w", source, "--", str(seed), "60")
                assert result.exit_code == 0, result.output
            listed = subprocess.run(
                "find . -printf '%p %y %m %n %l\\n' | sort; find . -type f | sort | xargs cksum",
                shell=True, capture_output=True, check=False,
            )  # fmt: skip
            kinds.append(listed.stdout)
        assert kinds[0] == kinds[1], seed
