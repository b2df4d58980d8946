# SPDX-License-Identifier: Apache-2.0
"""`nandwich run` from end to end: identical to native, honest counts, clear refusals."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from runs import invoke, run_json, write_program
from runs import own_cache as own_cache

from nandwich import paths
from nandwich.cli.main import main

assert paths.CHECKOUT is not None
_EXAMPLES = paths.CHECKOUT / "examples"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["hello.c"], "hello from flash, time 1"),
        (["sort.c", "--ram", "16K", "--", "merge", "20000"], "20000 numbers sorted"),
        (["sort.c", "--ftl", "page", "--", "heap", "4000"], "4000 numbers sorted"),
        (["counters.c", "--ram", "16K", "--ftl", "page", "--", "3000"], "3000 counted"),
        (["counters.c", "--frame", "2048", "--ram", "64K", "--", "3000"], "3000 counted"),
        (["counters.c", "--policy", "lru", "--scheme", "sector-shrink", "--", "3000"], "3000 coun"),
        (["counters.c", "--frame", "256", "--scheme", "sector-shrink", "--", "3000"], "3000 coun"),
        (["counters.c", "--ecc", "secded", "--chip", "W25N01GV", "--", "3000"], "3000 counted"),
    ],
)
def test_examples_run_as_natively(arguments: list[str], said: str) -> None:
    """Goal: every example prints what it prints natively, on several devices."""
    result = invoke(_EXAMPLES / arguments[0], *arguments[1:])
    assert result.exit_code == 0, result.output
    assert said in result.stdout
    assert "identical to native" in result.stdout


def test_json_adds_up_and_repeats() -> None:
    """Goal: the numbers agree with one another, and a second run gives the same ones."""
    arguments = (_EXAMPLES / "sort.c", "--ram", "16K", "--", "merge", "20000")
    value, again = run_json(*arguments), run_json(*arguments)
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
    source = write_program(
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
    source, target = write_program(tmp_path, _TRAITOR), tmp_path / "written"
    value = run_json(source, "--", how, target, code=1)
    assert value["identical"] is False
    assert value["differences"] == [told.format(file=target)]
    result = invoke(source, "--", how, target)
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
    value = run_json(write_program(tmp_path, _WAITS), "--once")
    assert value["identical"] is True


def test_a_program_that_fails_is_exit_1_though_identical(tmp_path: Path) -> None:
    """Goal: the program's own failure shows in the exit code, with its status told."""
    source = write_program(tmp_path, "int main(void) { return 7; }\n")
    value = run_json(source, code=1)
    assert value["identical"] is True
    assert value["exit"]["virtual"] == {"status": 7, "signal": None}
    assert "status 7 (the native run too)" in invoke(source).stderr


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
    value = run_json(write_program(tmp_path, _CRASHES), "--", how, code=1)
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
        (["--vm", "16M"], ["has 1024: choose degree=7, a smaller size"]),
        (["--statics", "100K"], ["--statics 102400 come out of --ram 32768"]),
        (["-mllvm", "-nw-foo=1"], ["-nw-foo=1: no option of the pass", "slots, statics"]),
        (["--ram", "8K", "--slots", "16"], ["16 frames", "16 slots"]),
        (["--ram", "1000"], ["not a multiple of"]),
        (["--lookaside", "3"], ["0 or a power of two up to 256"]),
        (["--frame", "500", "--ram", "32000"], ["powers of two"]),
        (["--scheme", "direct"], ["direct", "512 B", "2048 B"]),
        (["--scheme", "sector-shrink", "--chip", "MLC64G"], ["2 programs", "allows 1 programs"]),
        (["--target", "pdp11"], ["host"]),
        (["--vm", "0"], ["nandwich: error: vm=0: allowed are 1 to"]),
        (["--chip", "AT45DB041B"], ["sectors of 264 B: virtual memory needs a power of two"]),
        (["--chip", "W25"], ["did you mean W25"]),
        (["--vm", "1G", "--ftl", "tree"], ["choose a smaller size (vm)"]),
        (["--image", "no/such/chip.image"], ["there is no folder", "no/such"]),
        (["--json", "no/such/out.json"], ["there is no folder", "no/such"]),
        (["--vm", "8MB"], ["write M or MiB"]),
    ],
)
def test_bad_devices_are_refused_with_the_arithmetic(arguments: list[str], told: list[str]) -> None:
    """Goal: what cannot be is refused before anything is built: exit 2, one line that helps."""
    result = invoke(_EXAMPLES / "hello.c", *arguments)
    assert result.exit_code == 2, result.output
    for text in told:
        assert text in result.stderr
    assert result.stdout == ""


def test_bad_sources_are_refused(tmp_path: Path) -> None:
    """Goal: a missing file, another kind of file and a compile error are bad input."""
    assert invoke(tmp_path / "none.c").exit_code == 2
    assert "after `--`" in invoke(_EXAMPLES / "hello.c", "picture.jpg").stderr
    broken = invoke(write_program(tmp_path, "int main(void) { return nothing; }\n"))
    assert broken.exit_code == 2
    assert "does not compile" in broken.stderr


def test_jpeg_of_the_demo(tmp_path: Path) -> None:
    """Goal: the main job. A real photograph, unmodified stb_image, 32 KB of frames: every byte as
    natively, and both pictures are bitmaps of the right size."""
    from matplotlib.cbook import get_sample_data

    photo = get_sample_data("grace_hopper.jpg", asfileobj=False)
    pictures = tmp_path / "photo.bmp", tmp_path / "gray.bmp"
    value = run_json(
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
    value = run_json(_EXAMPLES / "jpeg2bmp.c", "--ram", "16K", "--", photo, picture)
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
    value = run_json(_EXAMPLES / "jpeg2bmp.c", "--", broken, tmp_path / "out.bmp", code=1)
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
    value = run_json(_EXAMPLES / "counters.c", "--chip", chip, "--", "2000")
    assert value["device"]["chip"] == "MINE"
    assert value["device"]["blocks"] == 640
    wrong = invoke(_EXAMPLES / "hello.c", "--chip", _part(tmp_path, blcks=640))
    assert wrong.exit_code == 2
    assert "mine.toml:3: error: blcks is no field of a part; did you mean blocks" in wrong.stderr


def test_a_worn_out_chip_ends_the_program_with_a_place(tmp_path: Path) -> None:
    """Goal: when the storage gives up, the program ends with what it said and where, never with
    wrong data; what was counted until then is reported."""
    chip = _part(tmp_path, blocks=24, endurance=3, factory_bad=0)
    device = ("--chip", chip, "--vm", "1M", "--degree", "1", "--ram", "16K")
    value = run_json(_EXAMPLES / "sort.c", *device, "--", "heap", "100000", code=1)
    assert value["identical"] is False
    assert value["end"]["kind"] == "storage"
    assert value["end"]["what"] == "full"
    assert value["end"]["function"] in ("sift", "heap_sort", "main")
    assert value["vm"]["writebacks"] > 0


def test_wear_stays_in_an_image(tmp_path: Path) -> None:
    """Goal: a second run goes on where the first left the chip; its own wear is counted apart."""
    image = tmp_path / "chip.image"
    arguments = (_EXAMPLES / "sort.c", "--image", image, "--", "merge", "20000")
    first = run_json(*arguments)
    size = image.stat().st_size
    second = run_json(*arguments)
    assert second["chip"]["erases"] == first["chip"]["erases"]
    assert image.stat().st_size >= size
    other = invoke("--chip", "W25N01GV", *arguments)
    assert other.exit_code == 2
    assert "holds a K9F1G08U0A, not a W25N01GV" in other.stderr
    content = image.read_bytes()
    image.write_bytes(content[:-100])
    cut = invoke(*arguments)
    assert cut.exit_code == 2
    assert "chip.image: byte " in cut.stderr
    assert image.read_bytes() == content[:-100]


def test_a_recording_replays_to_the_same_counts(tmp_path: Path) -> None:
    """Goal: what --record writes makes the same layer do the very same work again."""
    log = tmp_path / "sort.log"
    run = run_json(_EXAMPLES / "sort.c", "--record", log, "--", "merge", "20000")
    result = CliRunner().invoke(main, ["replay", str(log), "--ftl", "lavish", "--json", "-"])
    assert result.exit_code == 0, result.stderr
    again = json.loads(result.stdout)["result"]
    assert run["ftl"]["host_writes"] == again["sectors_written"] > 0
    assert run["time_ns"]["storage"] == again["busy_ns"]
    for count in ("reads", "programs", "erases"):
        assert run["chip"][count] == again["layer"][count]
    lost = invoke(_EXAMPLES / "sort.c", "--record", tmp_path / "nowhere" / "log")
    assert lost.exit_code == 2
    assert "there is no folder" in lost.stderr


def test_access_past_the_guards_is_reported(tmp_path: Path) -> None:
    """Goal: code that reaches into virtual memory without a guard is caught, with address and
    function. An integer hides the address here; the compiler would refuse it otherwise."""
    source = write_program(
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
    value = run_json(source, code=1)
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
    value = run_json(write_program(tmp_path, _MISUSE), "--no-native", "--", how, code=1)
    assert value["end"]["kind"] == kind
    assert value["end"]["what"] == what
    assert value["end"]["unguarded"] is False
    assert value["end"]["function"] == function


def test_a_virtual_memory_too_small_is_told(tmp_path: Path) -> None:
    """Goal: globals that do not fit are refused before the program starts; a heap that ran out is
    named as the reason of what differs."""
    text = "#include <stdlib.h>\nvolatile char large[100000];\n"
    text += "int main(void) { char *volatile p = malloc(20u << 20); return large[9] + (p == 0); }\n"
    source = write_program(tmp_path, text)
    globals_alone = invoke(source, "--vm", "64K")
    assert globals_alone.exit_code == 2
    assert "the program was not started" in globals_alone.stderr
    full = invoke(source)
    assert full.exit_code == 1
    assert "virtual memory was full and malloc or mmap said so: give more --vm" in full.stderr
    assert "1 requests found no room" in full.stdout


def test_settings_of_standalone_programs_do_not_leak_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goal: NANDWICH in the user's environment is for programs run by themselves, not for this."""
    monkeypatch.setenv("NANDWICH", f"ram=64K stats={tmp_path / 'leaked'}")
    assert run_json(_EXAMPLES / "hello.c")["device"]["frames"] == 64
    assert not (tmp_path / "leaked").exists()


def test_look_aside_entries_are_chosen_and_counted_as_ram() -> None:
    usual = run_json(_EXAMPLES / "hello.c")
    more = run_json(_EXAMPLES / "hello.c", "--lookaside", "256")
    assert (usual["device"]["lookaside"], more["device"]["lookaside"]) == (64, 256)
    words = 4 * 8  # of an entry, with the pointers of this host
    ram = more["ram_bytes"]["slots"] - usual["ram_bytes"]["slots"]
    assert ram == (256 - 64) * words


def test_quiet_leaves_stdout_to_the_program(tmp_path: Path) -> None:
    """Goal: -q prints the program's output and nothing else."""
    result = invoke("-q", "--no-native", _EXAMPLES / "hello.c")
    assert result.stdout == "hello from flash, time 1\n"
