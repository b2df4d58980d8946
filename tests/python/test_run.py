# SPDX-License-Identifier: Apache-2.0
"""`nandwich run` from end to end: identical to native, honest counts, clear refusals."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from schemas import validate

from nandwich import paths
from nandwich.cli.main import main
from nandwich.errors import InputError
from nandwich.run import build

assert paths.CHECKOUT is not None
_EXAMPLES = paths.CHECKOUT / "examples"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Builds of one test session are shared by its tests, and kept away from the user's."""
    monkeypatch.setenv("NANDWICH_CACHE", str(tmp_path_factory.getbasetemp().parent / "nw-cache"))


def _invoke(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["run", *map(str, arguments)])


def _json(*arguments: str | Path, code: int = 0) -> dict[str, Any]:
    result = _invoke("--json", "-", *arguments)
    assert result.exit_code == code, result.output
    value: dict[str, Any] = json.loads(result.stdout)
    validate("run-1", value)
    return value


def _program(folder: Path, text: str) -> Path:
    source = folder / "program.c"
    source.write_text(text)
    return source


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["hello.c"], "hello from flash, time 1"),
        (["sort.c", "--ram", "16K", "--", "merge", "20000"], "20000 numbers sorted"),
        (["sort.c", "--ftl", "page", "--", "heap", "4000"], "4000 numbers sorted"),
        (["counters.c", "--ram", "16K", "--ftl", "page", "--", "3000"], "3000 counted"),
        (["counters.c", "--frame", "2048", "--ram", "64K", "--", "3000"], "3000 counted"),
        (["counters.c", "--policy", "lru", "--scheme", "sector-shrink", "--", "3000"], "3000 coun"),
        (["counters.c", "--ecc", "secded", "--chip", "W25N01GV", "--", "3000"], "3000 counted"),
    ],
)
def test_examples_run_as_natively(arguments: list[str], said: str) -> None:
    """Goal: every example prints what it prints natively, on several devices."""
    result = _invoke(_EXAMPLES / arguments[0], *arguments[1:])
    assert result.exit_code == 0, result.output
    assert said in result.stdout
    assert "identical to native" in result.stdout


def test_json_adds_up_and_repeats() -> None:
    """Goal: the numbers agree with one another, and a second run gives the same ones."""
    arguments = (_EXAMPLES / "sort.c", "--ram", "16K", "--", "merge", "20000")
    value, again = _json(*arguments), _json(*arguments)
    vm, chip, ftl = value["vm"], value["chip"], value["ftl"]
    assert value["identical"] is True
    assert vm["accesses"] == vm["slot_hits"] + vm["slot_misses"] > 20000
    assert 0 < vm["zero_pages"] < vm["faults"]
    assert vm["evictions"] > 0
    assert vm["writebacks"] > 0
    assert ftl["host_reads"] == vm["sectors_read"]
    assert ftl["host_writes"] == vm["sectors_written"]
    assert chip["programs"] >= ftl["host_writes"] > 0
    assert chip["misuses"] == 0
    assert value["time_ns"]["storage"] > 200_000 * chip["programs"]
    assert value["host_ns"]["native"] > 0
    assert value["host_ns"]["virtual"] > 0
    for key in ("vm", "ftl", "chip", "time_ns", "energy_pj", "heap", "life", "ram_bytes"):
        assert again[key] == value[key]


def test_stdin_and_files_are_the_same_for_both_runs(tmp_path: Path) -> None:
    """Goal: both runs read the whole of stdin, see the file as it was, and what stays is what one
    run leaves: a line is appended once, not twice."""
    source = _program(
        tmp_path,
        r"""
        #include <stdio.h>
        #include <stdlib.h>
        int main(int argc, char **argv)
        {
            char *line = malloc(100);
            FILE *log = fopen(argv[1], "a");
            if (line == NULL || log == NULL || fgets(line, 100, stdin) == NULL) return 1;
            fputs(line, log);
            fclose(log);
            printf("got %s", line);
            return 0;
        }
        """,
    )
    log = tmp_path / "log"
    log.write_text("before\n")
    result = CliRunner().invoke(main, ["run", str(source), "--", str(log)], input="a word\n")
    assert result.exit_code == 0, result.output
    assert log.read_text() == "before\na word\n"
    assert "exit status, stdout and 1 file" in result.stdout


_TRAITOR = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int low = (uintptr_t)malloc(1) < 0x50000000; /* where virtual memory lies, and no native heap */
    FILE *file = argv[1][0] == 'f' ? fopen(argv[2], "w") : stdout;
    fprintf(file, "same %s", argv[1][0] == 'e' || !low ? "words" : "worms");
    return argv[1][0] == 'e' && low ? 3 : 0;
}
"""


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("stdout", "stdout: differs at byte 8"),
        ("file", "{file}: differs at byte 8"),
        ("exit", "exit: native status 0, virtual status 3"),
    ],
)
def test_a_run_that_differs_is_told(tmp_path: Path, how: str, told: str) -> None:
    """Goal: a program that finds out where its heap lies, and acts upon it, is caught in whatever
    it does: exit 1, and where the difference is."""
    source, target = _program(tmp_path, _TRAITOR), tmp_path / "written"
    value = _json(source, "--", how, target, code=1)
    assert value["identical"] is False
    assert value["differences"] == [told.format(file=target)]
    result = _invoke(source, "--", how, target)
    assert result.exit_code == 1
    assert f"not identical to native: {value['differences'][0]}" in result.stderr


_WAITS = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile sig_atomic_t got;
static void note(int number) { (void)number; got++; }
static void wait_for(int want, int how)
{
    alarm(1);
    while (got < want) {
        switch (how) {
        case 0: pause(); break;
        case 1: sleep(5); break;
        case 2: usleep(5000); break;
        case 3: (void)wait(NULL); break;
        default: (void)waitpid(-1, NULL, WNOHANG);
        }
    }
}
int main(void)
{
    char *text = malloc(20000); /* in virtual memory */
    text[19999] = 'x';
    signal(SIGALRM, note);
    for (int how = 0; how < 5; how++) wait_for(how + 1, how);
    printf("%d %c\n", (int)got, text[19999]);
    return 0;
}
"""


def test_handlers_run_at_calls_that_wait(tmp_path: Path) -> None:
    """Goal: a program that waits for a signal goes on; pause, sleep and wait once never looked."""
    value = _json(_program(tmp_path, _WAITS), "--once")
    assert value["identical"] is True


def test_a_program_that_fails_is_exit_1_though_identical(tmp_path: Path) -> None:
    """Goal: the program's own failure shows in the exit code, with its status told."""
    source = _program(tmp_path, "int main(void) { return 7; }\n")
    value = _json(source, code=1)
    assert value["identical"] is True
    assert value["exit"]["virtual"] == {"status": 7, "signal": None}
    assert "status 7 (the native run too)" in _invoke(source).stderr


_CRASHES = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int numbers[5000];
__attribute__((noinline)) static void stumble(const char *how)
{
    switch (how[0]) {
    case 's': *(volatile int *)8 = 1; break;
    case 'a': abort();
    case 'f': numbers[2] = numbers[0] / numbers[1]; break;
    case '_': _exit(9);
    default: exit(11);
    }
}
int main(int argc, char **argv)
{
    for (int i = 0; i < 5000; i++) numbers[i] = 0;
    stumble(argv[1]);
    printf("%d\n", numbers[2]);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("how", "end", "exits"),
    [
        ("s", ("signal", "SIGSEGV", "stumble"), {"status": 139, "signal": "SIGSEGV"}),
        ("a", ("signal", "SIGABRT", "stumble"), {"status": 134, "signal": "SIGABRT"}),
        ("f", ("signal", "SIGFPE", "stumble"), {"status": 136, "signal": "SIGFPE"}),
        ("_", ("exit", None, None), {"status": 9, "signal": None}),
        ("x", ("exit", None, None), {"status": 11, "signal": None}),
    ],
)
def test_statistics_survive_every_end(
    tmp_path: Path, how: str, end: tuple[str, str | None, str | None], exits: dict[str, Any]
) -> None:
    """Goal: signals, abort, _exit and exit all leave the statistics so far; a crash names signal,
    address and function."""
    value = _json(_program(tmp_path, _CRASHES), "--", how, code=1)
    kind, what, function = end
    assert value["identical"] is True
    assert value["exit"]["virtual"] == exits
    assert value["end"]["kind"] == kind
    assert value["end"].get("what") == what
    assert value["end"].get("function") == function
    if how == "s":
        assert value["end"]["address"] == 8
        assert value["end"]["unguarded"] is False
    assert value["vm"]["bulk_bytes"] >= 20000


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--chip", "K9F1G08U0"], ["unknown chip 'K9F1G08U0'", "K9F1G08U0A"]),
        (["--ftl", "lavsh"], ["unknown translation layer 'lavsh'", "did you mean lavish?"]),
        (["--vm", "64M", "--degree", "64"], ["64", "degree", "1024"]),
        (["--ram", "8K", "--slots", "16"], ["16 frames", "16 slots"]),
        (["--ram", "1000"], ["not a multiple of"]),
        (["--frame", "500", "--ram", "32000"], ["powers of two"]),
        (["--scheme", "direct"], ["direct", "512 B", "2048 B"]),
        (["--scheme", "sector-shrink", "--frame", "128"], ["16 programs", "4 programs a page"]),
        (["--target", "pdp11"], ["host"]),
        (["--vm", "0"], ["nandwich: error: vm=0: allowed are 1 to"]),
        (["--chip", "AT45DB041B"], ["sectors of 264 B: virtual memory needs a power of two"]),
        (["--chip", "W25"], ["did you mean W25"]),
        (["--vm", "1G", "--ftl", "page"], ["choose a smaller size (vm)"]),
        (["--image", "no/such/chip.image"], ["there is no folder", "no/such"]),
        (["--json", "no/such/out.json"], ["there is no folder", "no/such"]),
        (["--vm", "8MB"], ["write M or MiB"]),
    ],
)
def test_bad_devices_are_refused_with_the_arithmetic(arguments: list[str], told: list[str]) -> None:
    """Goal: what cannot be is refused before anything is built: exit 2, one line that helps."""
    result = _invoke(_EXAMPLES / "hello.c", *arguments)
    assert result.exit_code == 2, result.output
    for text in told:
        assert text in result.stderr
    assert result.stdout == ""


def test_bad_sources_are_refused(tmp_path: Path) -> None:
    """Goal: a missing file, another kind of file and a compile error are bad input."""
    assert _invoke(tmp_path / "none.c").exit_code == 2
    assert "after `--`" in _invoke(_EXAMPLES / "hello.c", "picture.jpg").stderr
    broken = _invoke(_program(tmp_path, "int main(void) { return nothing; }\n"))
    assert broken.exit_code == 2
    assert "does not compile" in broken.stderr


def test_jpeg_of_the_demo(tmp_path: Path) -> None:
    """Goal: the main job. A real photograph, unmodified stb_image, 32 KB of frames: every byte as
    natively, and both pictures are bitmaps of the right size."""
    from matplotlib.cbook import get_sample_data

    photo = get_sample_data("grace_hopper.jpg", asfileobj=False)
    pictures = tmp_path / "photo.bmp", tmp_path / "gray.bmp"
    value = _json(
        _EXAMPLES / "jpeg2bmp.c",
        *("--chip", "K9F1G08U0A", "--ftl", "lavish", "--degree", "8"),
        *("--ram", "32K", "--frame", "512", "--vm", "8M", "--", photo, *pictures),
    )
    assert value["identical"] is True
    assert value["files"] == sorted(str(picture) for picture in pictures)
    assert pictures[0].stat().st_size == 54 + 3 * 512 * 600
    assert pictures[1].stat().st_size == 54 + 1024 + 512 * 600
    assert pictures[0].read_bytes()[:2] == b"BM"
    assert value["vm"]["faults"] > 1000
    assert value["heap"]["peak_bytes"] > 512 * 600 * 3


def _jpeg(path: Path, size: tuple[int, int], **options: Any) -> Path:
    """A picture with gradients, edges and noise, the same every time."""
    from PIL import Image

    width, height = size
    pixels = bytes(
        (x * 7 + y * 3 * (channel + 1) + ((x * y) >> 3) * (x % 5 == 0)) & 255
        for y in range(height)
        for x in range(width)
        for channel in range(3)
    )
    Image.frombytes("RGB", size, pixels).save(path, "JPEG", **options)
    return path


@pytest.mark.parametrize(
    ("size", "options"),
    [
        ((131, 77), {"quality": 90, "progressive": True}),
        ((64, 200), {"quality": 60, "subsampling": 0}),
        ((97, 33), {"quality": 30, "progressive": True, "subsampling": 2, "optimize": True}),
        ((1, 1), {"quality": 75}),
    ],
)
def test_other_jpegs(tmp_path: Path, size: tuple[int, int], options: dict[str, Any]) -> None:
    """Goal: progressive and baseline, any subsampling, odd sizes: decoded as natively, and near to
    what another decoder makes of it."""
    from PIL import Image, ImageChops

    photo, picture = _jpeg(tmp_path / "in.jpg", size, **options), tmp_path / "out.bmp"
    value = _json(_EXAMPLES / "jpeg2bmp.c", "--ram", "16K", "--", photo, picture)
    assert value["identical"] is True
    with Image.open(picture) as ours, Image.open(photo) as theirs:
        assert ours.size == size
        apart = ImageChops.difference(ours.convert("RGB"), theirs.convert("RGB"))
        mean = sum(apart.convert("L").tobytes()) / (size[0] * size[1])
    assert mean < 12  # decoders may filter chroma differently


@pytest.mark.parametrize(
    ("cut", "told"),
    [
        (lambda whole: b"", "byte 0: the picture ends too early"),
        (lambda whole: b"\xff\xd8 not a picture", "byte 3: expected marker"),
        (lambda whole: whole[:100], "byte 100: the picture ends too early"),
        (lambda whole: whole[: len(whole) // 2], "the picture ends too early"),
        (lambda whole: whole[:-2], "the picture ends too early"),
        (lambda whole: whole.replace(b"\xff\xc0\0", b"\xff\xc0\1"), "bad SOF len"),
        (lambda whole: b"GIF89a" + whole, "byte 2: unknown image type"),
    ],
)
def test_what_is_no_whole_jpeg_is_told_with_its_place(
    tmp_path: Path, cut: Callable[[bytes], bytes], told: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """Goal: a corrupt or truncated picture is an error with its offset, the same in virtual memory:
    exit 1, status 1, no bitmap."""
    from PIL import Image

    whole = tmp_path / "whole.jpg"
    Image.linear_gradient("L").resize((120, 90)).save(whole)
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(cut(whole.read_bytes()))
    value = _json(_EXAMPLES / "jpeg2bmp.c", "--", broken, tmp_path / "out.bmp", code=1)
    assert value["identical"] is True
    assert value["exit"]["virtual"]["status"] == 1
    said = capfd.readouterr().err
    assert "broken.jpg: byte " in said
    assert told in said
    assert not (tmp_path / "out.bmp").exists()


def _part(folder: Path, **fields: int) -> Path:
    """A user's chip: the default one with some figures changed."""
    path = folder / "mine.toml"
    lines = ['name = "MINE"', 'based_on = "K9F1G08U0A"']
    path.write_text("\n".join(lines + [f"{key} = {value}" for key, value in fields.items()]) + "\n")
    return path


def test_a_part_of_ones_own(tmp_path: Path) -> None:
    """Goal: --chip takes a TOML file; a wrong one is refused with file and line."""
    chip = _part(tmp_path, blocks=640)
    value = _json(_EXAMPLES / "counters.c", "--chip", chip, "--", "2000")
    assert value["device"]["chip"] == "MINE"
    assert value["device"]["blocks"] == 640
    wrong = _invoke(_EXAMPLES / "hello.c", "--chip", _part(tmp_path, blcks=640))
    assert wrong.exit_code == 2
    assert "mine.toml:3: error: blcks is no field of a part; did you mean blocks" in wrong.stderr


def test_a_worn_out_chip_ends_the_program_with_a_place(tmp_path: Path) -> None:
    """Goal: when the storage gives up, the program ends with what it said and where, never with
    wrong data; what was counted until then is reported."""
    chip = _part(tmp_path, blocks=24, endurance=3, factory_bad=0)
    device = ("--chip", chip, "--vm", "1M", "--degree", "1", "--ram", "16K")
    value = _json(_EXAMPLES / "sort.c", *device, "--", "heap", "100000", code=1)
    assert value["identical"] is False
    assert value["end"]["kind"] == "storage"
    assert value["end"]["what"] == "full"
    assert value["end"]["function"] in ("sift", "heap_sort", "main")
    assert value["vm"]["writebacks"] > 0


def test_wear_stays_in_an_image(tmp_path: Path) -> None:
    """Goal: a second run goes on where the first left the chip; its own wear is counted apart."""
    image = tmp_path / "chip.image"
    arguments = (_EXAMPLES / "sort.c", "--image", image, "--", "merge", "20000")
    first = _json(*arguments)
    size = image.stat().st_size
    second = _json(*arguments)
    assert second["chip"]["erases"] == first["chip"]["erases"]
    assert image.stat().st_size >= size
    other = _invoke("--chip", "W25N01GV", *arguments)
    assert other.exit_code == 2
    assert "holds a K9F1G08U0A, not a W25N01GV" in other.stderr
    content = image.read_bytes()
    image.write_bytes(content[:-100])
    cut = _invoke(*arguments)
    assert cut.exit_code == 2
    assert "chip.image: byte " in cut.stderr
    assert image.read_bytes() == content[:-100]


def test_a_recording_replays_to_the_same_counts(tmp_path: Path) -> None:
    """Goal: what --record writes makes the same layer do the very same work again."""
    log = tmp_path / "sort.log"
    run = _json(_EXAMPLES / "sort.c", "--record", log, "--", "merge", "20000")
    result = CliRunner().invoke(main, ["replay", str(log), "--ftl", "lavish", "--json", "-"])
    assert result.exit_code == 0, result.stderr
    again = json.loads(result.stdout)["result"]
    assert run["ftl"]["host_writes"] == again["sectors_written"] > 0
    assert run["time_ns"]["storage"] == again["busy_ns"]
    for count in ("reads", "programs", "erases"):
        assert run["chip"][count] == again["layer"][count]
    lost = _invoke(_EXAMPLES / "sort.c", "--record", tmp_path / "nowhere" / "log")
    assert lost.exit_code == 2
    assert "there is no folder" in lost.stderr


def test_access_past_the_guards_is_reported(tmp_path: Path) -> None:
    """Goal: code that reaches into virtual memory without a guard is caught, with address and
    function. An integer hides the address here; the compiler would refuse it otherwise."""
    source = _program(
        tmp_path,
        r"""
        #include <stdint.h>
        #include <stdio.h>
        static int hidden[100];
        __attribute__((noinline)) static int peek(uintptr_t at)
        {
            int value;
            __asm__ volatile("movl (%1), %0" : "=r"(value) : "r"(at));
            return value;
        }
        int main(void) { printf("%d\n", peek((uintptr_t)hidden)); return 0; }
        """,
    )
    value = _json(source, code=1)
    assert value["end"]["unguarded"] is True
    assert value["end"]["function"] == "peek"
    assert value["exit"]["virtual"]["signal"] == "SIGSEGV"


_MISUSE = r"""
#include <stdlib.h>
__attribute__((noinline)) static void let_go(char *volatile block) { free(block); block = 0; }
int main(int argc, char **argv)
{
    char *block = malloc(100);
    volatile char *far = block;
    switch (argv[1][0]) {
    case 'd': let_go(block); let_go(block); break;
    case 'i': let_go(block + 4); break;
    default: far[20 << 20] = 1;
    }
    return argc;
}
"""


@pytest.mark.parametrize(
    ("how", "kind", "what", "function"),
    [
        ("d", "misuse", "a heap block that is free already was freed or resized", "let_go"),
        ("i", "misuse", "what is no heap block was freed or resized", "let_go"),
        ("o", "signal", "SIGSEGV", "main"),
    ],
)
def test_misuse_of_memory_is_the_programs_fault(
    tmp_path: Path, how: str, kind: str, what: str, function: str
) -> None:
    """Goal: a block freed twice is not blamed on the storage, an address behind the virtual memory
    not on missing guards."""
    value = _json(_program(tmp_path, _MISUSE), "--no-native", "--", how, code=1)
    assert value["end"]["kind"] == kind
    assert value["end"]["what"] == what
    assert value["end"]["unguarded"] is False
    assert value["end"]["function"] == function


def test_a_virtual_memory_too_small_is_told(tmp_path: Path) -> None:
    """Goal: globals that do not fit are refused before the program starts; a heap that ran out is
    named as the reason of what differs."""
    text = "#include <stdlib.h>\nvolatile char large[100000];\n"
    text += "int main(void) { char *volatile p = malloc(20u << 20); return p == 0; }\n"
    source = _program(tmp_path, text)
    globals_alone = _invoke(source, "--vm", "64K")
    assert globals_alone.exit_code == 2
    assert "the program was not started" in globals_alone.stderr
    full = _invoke(source)
    assert full.exit_code == 1
    assert "virtual memory was full and malloc said so: give more --vm" in full.stderr
    assert "1 requests found no room" in full.stdout


def test_settings_of_standalone_programs_do_not_leak_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: NANDWICH in the user's environment is for programs run by themselves, not for this."""
    monkeypatch.setenv("NANDWICH", f"ram=64K stats={tmp_path / 'leaked'}")
    assert _json(_EXAMPLES / "hello.c")["device"]["frames"] == 64
    assert not (tmp_path / "leaked").exists()


def test_quiet_leaves_stdout_to_the_program(tmp_path: Path) -> None:
    """Goal: -q prints the program's output and nothing else."""
    result = _invoke("-q", "--no-native", _EXAMPLES / "hello.c")
    assert result.stdout == "hello from flash, time 1\n"


def test_a_second_run_compiles_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: builds are found again, until a header they read has changed."""
    monkeypatch.setenv("NANDWICH_CACHE", str(tmp_path / "cache"))
    header = tmp_path / "say.h"
    header.write_text('#define SAY "one"\n')
    source = _program(
        tmp_path, '#include <stdio.h>\n#include "say.h"\nint main(void) { puts(SAY); return 0; }\n'
    )

    def times() -> list[int]:
        built = tmp_path.glob("cache/run/*/inputs.json")
        return sorted(path.stat().st_mtime_ns for path in built)

    assert _invoke("-q", source).stdout == "one\n"
    before = times()
    assert _invoke("-q", source).stdout == "one\n"
    assert times() == before
    header.write_text('#define SAY "two"\n')
    assert _invoke("-q", source).stdout == "two\n"
    assert not set(times()) & set(before)


def test_flags_join_the_optimisation(tmp_path: Path) -> None:
    """Goal: any compiler flag used to take -O2 away in silence; it stays unless another level is
    asked for. --cflags brings what `run` would take for an option of its own."""
    source = _program(
        tmp_path,
        r"""
        #include <stdio.h>
        #ifdef __OPTIMIZE__
        #define LEVEL "optimised"
        #else
        #define LEVEL "not optimised"
        #endif
        #ifndef WORD
        #define WORD "plain"
        #endif
        int main(int argc, char **argv) { printf("%s %s %d\n", LEVEL, WORD, argc); return 0; }
        """,
    )
    said = {
        (): "optimised plain 1\n",
        ("-Wall", "-DX"): "optimised plain 1\n",
        ("-O0", "-g"): "not optimised plain 1\n",
        ("--cflags", "-D 'WORD=\"two words\"'", "--cflags=-pipe"): "optimised two words 1\n",
    }
    for flags, text in said.items():
        result = _invoke("--quiet", "--once", source, *flags)
        assert (result.exit_code, result.stdout) == (0, text), result.output


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["-fsanitize=address"], "-fsanitize=address does not work in virtual memory: it keeps a"),
        (["-fsanitize=undefined"], "add -fsanitize-trap=all"),
        (["--cflags", "-x c++"], "C++ is not supported"),
        (["--cflags", "-c"], "`nandwich run` makes a program of its own"),
        (["--cflags", "-o out"], "`nandwich run` makes a program of its own"),
        # `run.md` promised the reason, and these were told as options that do not exist.
        *((flag, "`nandwich run` makes a program of its own") for flag in (["-c"], ["-o", "out"])),
        # The compiler ended well without a program, and the cache of builds was blamed.
        *((["--cflags", flag], "something else than a program") for flag in ("--version", "-###")),
        (["--cflags", "-save-temps"], "builds two programs, whose temporary files would lie"),
        (["--cflags", "'open"], "--cflags: No closing quotation"),
        (["more.cpp"], "more.cpp: C++ is not supported"),
    ],
)
def test_flags_that_cannot_be_are_refused(flags: list[str], told: str) -> None:
    """Goal: C++, sanitizers and flags that leave no program each end in a sentence of their own."""
    refused = _invoke(_EXAMPLES / "hello.c", *flags)
    assert refused.exit_code == 2
    assert told in refused.stderr


def test_undefined_behaviour_traps(tmp_path: Path) -> None:
    """Goal: what the refusal of -fsanitize=undefined proposes works: the overflow traps."""
    text = "#include <limits.h>\nint large = INT_MAX;\nint main(void) { return large + 1 == 0; }\n"
    flags = ("-fsanitize=undefined", "-fsanitize-trap=all")
    value = _json(_program(tmp_path, text), *flags, code=1)
    assert value["identical"] is True
    assert value["exit"]["virtual"]["signal"] == "SIGILL"


def test_the_guests_own_header_is_found(tmp_path: Path) -> None:
    """Goal: <nandwich/guest.h> was found by the guarded build and not by the native one, so no
    program with NW_RAM could be run. Natively the words mean nothing."""
    source = _program(
        tmp_path,
        r"""
        #include <nandwich/guest.h>
        #include <stdint.h>
        NW_RAM static volatile int fast;
        static volatile int slow;
        NW_PLAIN int lies_apart(void) { return (intptr_t)&slow - (intptr_t)&fast > 1 << 24; }
        int main(void) { return lies_apart() ? 3 : 4; }
        """,
    )
    value = _json(source, code=1)
    assert value["exit"]["native"]["status"] == 4
    assert value["exit"]["virtual"]["status"] == 3


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
    result = _invoke(_program(tmp_path, _TRACE), *options, "--", pipe)
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
    value = _json(_program(tmp_path, _TRACE), "--once", "--", pipe)
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
    result = _invoke("-q", _program(tmp_path, _TRACE), "--", pipe, file)
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
    command = [sys.executable, "-m", "nandwich", "run", str(_program(tmp_path, _TRACE)), "--"]
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
    source = _program(
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
    result = _invoke("--once", source, "--", "echo")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("before 7\nreplaced\n")
    counted = _json("--once", source, "--", "echo")["vm"]["accesses"]
    failed = _json("--once", source, "--", "no such program", code=1)
    assert failed["exit"]["virtual"]["status"] == 6
    assert failed["vm"]["accesses"] > counted >= 3000


def _recipe(folder: Path, word: str) -> build.Recipe:
    source = folder / f"{word}.c"
    source.write_text(f'#include <stdio.h>\nint main(void) {{ puts("{word}"); return 0; }}\n')
    return build.Recipe(("clang-19",), ("clang-19",), (source,), (), ())


def test_a_build_in_use_is_not_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: another command that dropped old builds, or built the same program anew, took the
    program away from a run under way. Here the store keeps a single build."""
    monkeypatch.setenv("NANDWICH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(build, "_KEPT", 1)
    store = tmp_path / "cache" / "run"
    one = build.build(_recipe(tmp_path, "one")).program
    (store / "use-left").mkdir()  # by a command that was killed
    other = "import sys; from pathlib import Path; from nandwich.run import build as b\n"
    other += "b._KEPT = 1\n"
    other += "for s in sys.argv[1:]:\n"
    other += "    b.build(b.Recipe(('clang-19',), ('clang-19',), (Path(s),), (), ()))\n"
    _recipe(tmp_path, "two")
    changed = _recipe(tmp_path, "one").sources[0]
    changed.write_text("int main(void) { return 3; }\n")
    sources = [str(changed), str(tmp_path / "two.c")]
    subprocess.run([sys.executable, "-c", other, *sources], check=True)
    assert subprocess.run([one], capture_output=True, check=True).stdout == b"one\n"
    assert len(list(store.glob("*.lock"))) == 1
    assert len(list(store.glob("use-*"))) == 1  # ours
    assert not list(store.glob("new-*"))


def test_what_a_killed_build_left_goes_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It went when a later build had ended well: with a source that does not compile a folder more
    stayed with each killed command."""
    monkeypatch.setenv("NANDWICH_CACHE", str(tmp_path / "cache"))
    store = tmp_path / "cache" / "run"
    (store / "new-left").mkdir(parents=True)
    (store / "new-left" / "0.o").write_text("half an object")
    broken = _recipe(tmp_path, "broken")
    broken.sources[0].write_text("int main(void) { return\n")
    with pytest.raises(InputError):
        build.build(broken)
    assert not list(store.glob("new-*"))


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
    result = _invoke("-q", _program(tmp_path, _WHOLE))
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
    source = _program(
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
    source = _program(tmp_path, text)
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
                result = _invoke("-q", "--cflags", "-w", source, "--", str(seed), "60")
                assert result.exit_code == 0, result.output
            listed = subprocess.run(
                "find . -printf '%p %y %m %n %l\\n' | sort; find . -type f | sort | xargs cksum",
                shell=True, capture_output=True, check=False,
            )  # fmt: skip
            kinds.append(listed.stdout)
        assert kinds[0] == kinds[1], seed
