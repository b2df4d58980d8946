# SPDX-License-Identifier: Apache-2.0
"""`nandwich run --target`: programs as firmware on emulated boards, identical to native, counted to
the instruction, with one clear sentence for what cannot be."""

import contextlib
import re
from pathlib import Path

import pytest
from board_runs import EXAMPLES, invoke, needs_boards, run_json
from click.testing import CliRunner
from runs import own_cache as own_cache
from runs import write_program
from time_limit import time_limit

from lab import processors
from lab.device import avr, boards, parts
from nandwich import paths
from nandwich.cli.main import main

_TIGHT = ("--ram", "16K", "--vm", "1M")
_OWNERS = ("program", "guards", "run_time", "layer", "driver", "wrappers", "library", "board")

pytestmark = needs_boards


@pytest.mark.parametrize("target", boards.BOARDS)
def test_sort_adds_up_and_repeats(target: str) -> None:
    """Goal: twice as many numbers as frames hold, sorted over flash as natively; every instruction
    has one owner, and a second run takes exactly as many."""
    small = target == "atmega128"  # whose long formats draw warnings, and whose frames take 1 KB
    options = ("-w", "--", "merge", "300") if small else (*_TIGHT, "--", "merge", "5000")
    arguments = (EXAMPLES / "sort.c", *options)
    value, again = run_json(*arguments, target=target), run_json(*arguments, target=target)
    counts, size, flash = value["instructions"], value["bytes"], value["flash"]
    assert value["identical"] is True
    assert counts["total"] == sum(counts[name] for name in _OWNERS)
    assert all(counts[name] > 0 for name in _OWNERS)
    assert counts["native_total"] < counts["total"]
    assert value["vm"]["faults"] > value["vm"]["zero_pages"] > 0
    assert flash["programs"] >= value["vm"]["sectors_written"] > 0
    assert flash["reads"] >= value["vm"]["sectors_read"] > 0
    # Each read takes 60 us, each program 250 us, each erase 2 ms; a byte 400 ns.
    chip = 60 * flash["reads"] + 250 * flash["programs"] + 2000 * flash["erases"]
    assert value["time_ns"]["chip"] == 1000 * chip
    # Asking for the status goes on while the chip works, as other work of the processor does: a
    # slow one comes to ask when the chip is ready.
    bus = 400 * flash["bus_bytes"]
    assert bus + (0 if small else 500 * chip) < value["time_ns"]["storage"] < bus + 1500 * chip
    assert 200 < size["stack_peak"] < size["stack"]
    # 24 KB were asked of Cortex-M3.
    limit = {"cortex-m3": 24, "rv32": 25, "atmega128": 48}[target]
    assert size["text"]["whole_stack"] <= limit << 10
    assert size["ram"] < value["target"]["ram_bytes"]
    assert value["violations"] == 0
    assert {**again, "provenance": 0} == {**value, "provenance": 0}


@pytest.mark.parametrize("target", boards.BOARDS)
def test_the_table_of_hello(target: str) -> None:
    result = invoke(EXAMPLES / "hello.c", target=target)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("hello from flash, time 1\n")
    assert "identical to native" in result.stdout
    assert "whole stack" in result.stdout


def test_a_picture_is_as_on_the_host(tmp_path: Path) -> None:
    """Goal: unmodified stb_image in 32 KB of frames on the board makes the bitmap that the host
    makes, read from a file and written to one."""
    from PIL import Image

    pixels = bytes((x * y + 40 * channel) & 255 for y in range(48) for x in range(64)
                   for channel in range(3))  # fmt: skip
    Image.frombytes("RGB", (64, 48), pixels).save(tmp_path / "in.jpg", "JPEG", quality=90)
    here, there = tmp_path / "here.bmp", tmp_path / "there.bmp"
    source = EXAMPLES / "jpeg2bmp.c"
    value = run_json(source, "--", tmp_path / "in.jpg", there)
    assert value["identical"] is True
    assert value["files"] == [str(there)]
    host = ["run", str(source), "--once", "-q", "--", str(tmp_path / "in.jpg"), str(here)]
    assert CliRunner().invoke(main, host).exit_code == 0
    assert there.read_bytes() == here.read_bytes()


def test_instructions_are_exact(tmp_path: Path) -> None:
    """Goal: 500 more rounds of a loop of known length are so many instructions more, those of an IT
    block whose condition fails included (unicorn's own hook of instructions passes these over)."""
    source = write_program(
        tmp_path,
        r"""
        #include <stdlib.h>
        int main(int argc, char **argv)
        {
            unsigned rounds = strtoul(argv[1], NULL, 10), sum = 0;
            (void)argc;
            __asm__ volatile("1: cmp %0, #0\n itt eq\n addeq %1, #1\n addeq %1, #2\n"
                             "subs %0, #1\n bne 1b\n" : "+l"(rounds), "+l"(sum) : : "cc");
            return (int)sum;
        }
        """,
    )
    few, many = (run_json(source, "--no-native", "--", rounds) for rounds in ("1200", "1700"))
    assert few["identical"] is None
    assert few["instructions"]["guards"] is None
    assert many["instructions"]["program"] - few["instructions"]["program"] == 500 * 6
    # An IT may cost nothing; a taken branch costs 2 to 4.
    more = {end: many["cycles"][end] - few["cycles"][end] for end in ("least", "most")}
    assert more == {"least": 500 * 6, "most": 500 * 9}
    assert many["instructions"]["total"] == sum(many["instructions"][name] or 0 for name in _OWNERS)


def test_files_stdin_and_status(tmp_path: Path) -> None:
    """Goal: both runs read the whole of stdin and the file as it was; what stays is what one run
    leaves; the program's exit status is told."""
    source = write_program(
        tmp_path,
        r"""
        #include <stdio.h>
        #include <stdlib.h>
        int main(int argc, char **argv)
        {
            char *line = malloc(100);
            FILE *log = fopen(argv[1], "a");
            (void)argc;
            if (line == NULL || log == NULL || fgets(line, 100, stdin) == NULL) return 1;
            fputs(line, log);
            fclose(log);
            remove(argv[2]);
            return fopen(argv[2], "r") == NULL ? 7 : 8;
        }
        """,
    )
    log, old = tmp_path / "log", tmp_path / "old"
    log.write_text("before\n")
    old.write_text("x")
    words = ["run", str(source), "--target", "cortex-m3", "-q", "--", str(log), str(old)]
    result = CliRunner().invoke(main, words, input="a line\n")
    assert result.exit_code == 1
    assert "status 7 (the native run too)" in result.stderr
    assert log.read_text() == "before\na line\n"
    assert not old.exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--ftl", "page"], "--ftl page does not go with --target cortex-m3: its firmware has lav"),
        (["--chip", "MT29F2G08ABAEA"], "--target: its boards carry W25N01GV, GD5F1GQ4UExxG,"),
        (["--chip", "mine.toml"], "--chip mine.toml does not go with --target: its boards carry"),
        (["--chip", "W25Q128JV", "--ftl", "lavish"], "W25Q128JV: its firmware has tree"),
        (["--chip", "W25Q128JV", "--fault", "ecc"], "cannot tell: it has id and stuck"),
        (["--chip", "K9F1G08U0A", "--bus", "quad"], "it has a parallel bus of 30 ns a byte, DMA"),
        (["--chip", "W25Q128JV", "--vm", "12M"], "W25Q128JV under the tree layer, which has 4096"),
        (["--chip", "GD5F1GQ4"], "unknown part of --target 'GD5F1GQ4'; did you mean GD5F1GQ4UEx"),
        # It was taken, and nothing recorded.
        (["--record-accesses", "x.acc"], "--record-accesses does not go with --target: it is of"),
        (["--image", "x.nand"], "--image does not go with --target: it is not kept"),
        (["--profile", "x.counts", "--separate"], "--profile: leave --separate out"),
        (["--statics", "4K", "--separate"], "statics: a budget is the whole program's, and a file"),
        (["--statics", "32K"], "--statics 32768 come out of --ram 32768, and frames need some"),
        (["--vm-base", "0x1F900000"], "collides with the RAM of cortex-m3 at 0x20000000 to"),
        (["--vm-base", "0x1F900000"], "to 0x20017fff, by 98304 B: give another --vm-base or less"),
        (["--vm-base", "0x2000"], "code flash as it is seen from address 0 of cortex-m3 at 0x000"),
        (["--vm-base", "0x1f800000"], "of cortex-m3 at 0x1fffe000 to 0x1fffffff, by 8192 B"),
        (["--vm-base", "0x23ff0000"], "collides with the bits of RAM as words of cortex-m3"),
        (["--vm-base", "0xdff00000"], "processor's own registers of cortex-m3 at 0xe0000000"),
        (["--vm-base", "0x07f00000"], "collides with the code flash of cortex-m3 at 0x08000000"),
        (["--vm-base", "0x3fff0000"], "collides with the registers of cortex-m3 at 0x40000000"),
        (["--vm-base", "0xffff0000"], "end at 0x100000000, and the last page of 512 B"),
        (["--vm-base", "0x60000100"], "must be multiples of --frame 512"),
        (["--ram", "8K"], "= 16 frames: a whole number from 18 (16 slots + 2)"),
        (["--ram", "100K"], "B of RAM (stack 8192 + variables"),
        (["--ram", "77K"], "under the tree layer: it needs"),
        (["--vm", "200M"], "blocks of W25N01GV under the tree layer, which has 1024"),
        (["--stack", "100"], "--stack 100: a multiple of 16 from 1024"),
        (["--vm", "256M", "--chip", "mx35lf2ge4ab"], "blocks of MX35LF2GE4AB under the tree layer"),
        (["--vm", "202K", "--chip", "MT29F4G01ABAFD"], "--vm of a page of MT29F4G01ABAFD (4096 B)"),
    ],
)
def test_what_cannot_be_is_told(arguments: list[str], said: str) -> None:
    result = invoke(EXAMPLES / "hello.c", "--no-native", *arguments)
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--vm", "54K"], "and the last page of 128 B stays empty"),
        (["--guards", "inline"], "--guards inline does not go with atmega128: guards are calls"),
        (["--ram", "2K"], "under the lavish layer: it needs 10"),
        (["--profile", "x"], "--profile does not go with --target atmega128: its memory has no"),
        (["--chip", "W25Q128JV"], "does not go with --target atmega128: it carries W25N01GV, GD5"),
        (["--chip", "K9F1G08U0A"], "does not go with --target atmega128: it carries W25N01GV, G"),
        (
            ["--ftl", "nftl"],
            "--ftl nftl does not go with --target atmega128: its firmware has lavish",
        ),
    ],
)
def test_what_cannot_be_on_a_mote(arguments: list[str], said: str) -> None:
    result = invoke(EXAMPLES / "hello.c", "--no-native", *arguments, target="atmega128")
    assert result.exit_code == 2, result.output
    assert said in result.stderr


@pytest.mark.parametrize(
    ("target", "chip"),
    [
        ("cortex-m3", "GD5F1GQ4UExxG"),
        ("rv32", "GD5F1GQ4UExxG"),
        ("atmega128", "W25N01GV"),
        ("rv32", "W25Q128JV"),
        ("cortex-m3", "K9F1G08U0A"),
    ],
)
@pytest.mark.parametrize("fault", ["id", "stuck"])
def test_what_a_part_can_do_is_told(target: str, chip: str, fault: str) -> None:
    """Goal: another id is told with the one expected, a line that stays busy with how long the
    driver waited; each in one sentence on each processor, and nothing has run."""
    part = parts.PARTS[chip]
    words = ("--no-native", "--chip", part.name, "--fault", fault)
    result = invoke(EXAMPLES / "hello.c", *words, target=target)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    third = part.spaced_id[-2:]
    limit = r"3\.\d+ s" if part.kind is parts.SPI_NOR else r"2\d\.\d+ ms"
    said = {
        "id": rf"it answers id a1 e4 {third}, where {part.name} answers {part.spaced_id}: "
        f"{part.kind.unknown}",
        "stuck": rf"stays busy beyond its limit \({limit} waited for it to be ready, before",
    }
    assert re.search(f"the driver cannot use the part: .*{said[fault]}", result.stderr)


@pytest.mark.parametrize("name", parts.PARTS)
def test_each_part_runs_on_a_board(name: str) -> None:
    """Goal: a part of two planes, one with a code over data and spare, one with pages of 4 KiB that
    is in no table of the driver, a NOR, and a parallel NAND that repairs no bits hold a program's
    memory, each at its own times."""
    part = parts.PARTS[name]
    value = run_json(EXAMPLES / "sort.c", *_TIGHT, "--chip", name.lower(), "--", "merge", "3000")
    flash = value["flash"]
    assert value["identical"] is True
    assert value["violations"] == 0
    assert value["device"]["chip"] == name
    assert flash["reads"] > 0 < flash["programs"]
    chip = part.read_us * flash["reads"] + part.program_us * flash["programs"]
    assert value["time_ns"]["chip"] == 1000 * (chip + part.erase_us * flash["erases"])
    assert value["device"]["blocks"] < 512 * 1024 // part.page_bytes


@pytest.mark.parametrize("chip", ["MT29F4G01ABAFD", "W25Q128JV", "K9F1G08U0A"])
def test_another_processor_has_other_parts(chip: str) -> None:
    arguments = (*_TIGHT, "--chip", chip, "--", "merge", "3000")
    value = run_json(EXAMPLES / "sort.c", *arguments, target="rv32")
    assert value["identical"] is True
    assert value["violations"] == 0
    assert value["flash"]["reads"] > 0


def test_options_of_a_target_need_one() -> None:
    words = ["run", str(EXAMPLES / "hello.c"), "--stack", "4K"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert "--stack belongs to --target" in result.stderr


def test_nothing_that_is_read_is_written_over(tmp_path: Path) -> None:
    """Goal: --json on a header of the program, or on a file that the program writes, is refused."""
    header, log = tmp_path / "own.h", tmp_path / "log"
    header.write_text("#define WORD 7\n")
    (tmp_path / "sub").mkdir()
    text = """
        #include <stdio.h>
        #include "own.h"
        int main(int argc, char **argv)
        {
            (void)argc;
            fputs("x", fopen(argv[1], "w"));
            return 0;
        }
        """
    source = write_program(tmp_path, text)
    over = invoke(source, "--json", header, "--", log)
    assert over.exit_code == 2
    assert "which the compiler reads" in over.stderr
    assert header.read_text() == "#define WORD 7\n"
    over = invoke(source, "--json", log, "--", tmp_path / "sub/../log")
    assert over.exit_code == 2
    assert "which the program itself changes" in over.stderr
    assert not log.exists()


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_name: str) -> None:
        return None

    monkeypatch.setattr("lab.device.boards.shutil.which", nothing)
    for target, package in (("cortex-m3", "gcc-arm-none-eabi"), ("atmega128", "gcc-avr")):
        result = invoke(EXAMPLES / "hello.c", target=target)
        assert result.exit_code == 2
        assert f"--target {target} needs {package}" in result.stderr


def test_an_installed_package_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "CHECKOUT", None)
    result = invoke(EXAMPLES / "hello.c")
    assert result.exit_code == 2
    assert "--target cortex-m3 builds firmware from the sources of a checkout" in result.stderr


def test_too_much_code_is_told(tmp_path: Path) -> None:
    source = write_program(
        tmp_path,
        "const char big[1200000] = {1};\n"
        "int main(int argc, char **argv) { (void)argv; return big[argc * 1000]; }\n",
    )
    result = invoke(source, "--no-native")
    assert result.exit_code == 2
    assert "B of code flash" in result.stderr
    assert "the STM32F103xG has 1048576 B" in result.stderr


def test_another_layer_where_blocks_are_short() -> None:
    """Goal: nobody chose a layer: lavish where the part has its blocks, else tree; each runs by
    choice, too. The tree takes what RAM there is as a cache, up to its whole map."""
    arguments = (EXAMPLES / "hello.c", "--no-native")
    found = [run_json(*arguments, "--vm", vm) for vm in ("8M", "64M")]
    assert [value["device"]["ftl"] for value in found] == ["lavish", "tree"]
    value = run_json(EXAMPLES / "sort.c", *_TIGHT, "--ftl", "tree", "--", "merge", "3000")
    assert value["identical"] is True
    assert value["device"]["ftl"] == "tree"
    assert value["violations"] == 0
    tight = run_json(*arguments, "--ftl", "tree", "--vm", "8M", "--ram", "64K")["bytes"]["layer"]
    assert tight < 8 << 10 < run_json(*arguments, "--ftl", "tree", "--vm", "8M")["bytes"]["layer"]
    told = invoke(*arguments, "--vm", "64M", "--ftl", "lavish")
    assert told.exit_code == 2
    assert "under the lavish layer, which has 1024" in told.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--fault", "ecc"], "storage failed at virtual address 0x600"),
        (["--fault", "ecc"], " of 1048576) in function main at sort.c:"),
        (["--fault", "ecc", "--chip", "K9F1G08U0A"], ": uncorrectable bit errors"),
        (["--stack", "1K"], "the stack is too small in function "),
    ],
)
def test_what_breaks_off_is_told(options: list[str], said: str) -> None:
    words = ("--no-native", "-q", "--ram", "16K", "--vm", "1M", *options, "--", "merge", "5000")
    result = invoke(EXAMPLES / "sort.c", *words)
    assert result.exit_code == 1
    assert said in result.stderr


def test_an_access_to_nothing_is_told(tmp_path: Path) -> None:
    source = write_program(tmp_path, "int main(void) { return *(volatile int *)0x10000000; }\n")
    result = invoke(source, "--no-native", "-q")
    assert result.exit_code == 1
    assert "an access to nothing at 0x10000000 in function " in result.stderr


def test_a_command_to_a_busy_part_fails_the_run(tmp_path: Path) -> None:
    """Goal: a driver that does not wait is found although all data are right: here the program
    itself reaches for the part while it resets."""
    source = write_program(
        tmp_path,
        """
        static void command(unsigned code)
        {
            volatile unsigned *board = (volatile unsigned *)0x40000000;
            board[8] = 1;
            board[9] = code;
            board[8] = 0;
        }
        int main(void)
        {
            command(0xFF);
            command(0x9F);
            return 0;
        }
        """,
    )
    value = run_json(source, "--no-native", code=1)
    assert value["violations"] == 1
    result = invoke(source, "--no-native", "-q")
    assert "the driver broke the part's rules: a command to a busy part (0x9f)" in result.stderr


@pytest.mark.skipif(bool(processors.missing()), reason=f"not installed: {processors.missing()}")
def test_an_access_on_the_mote(tmp_path: Path) -> None:
    """Goal: a guard that is a call reaches a resident page in 12 us at 7.3728 MHz where its slot
    holds it, the same every round (a run that varies raises). A miss costs no more than it did."""
    costs = avr.accesses(tmp_path)
    assert avr.us(costs["slot.load"]) <= 12
    assert costs["slot.load"] < costs["aside.load"] < 120
    assert max(costs["miss.load"], costs["miss.store"]) <= 640


def test_a_run_that_broke_off_says_no_more_than_it_knows() -> None:
    """The report of a run whose storage failed told 0 faults, 0 sectors and -160141 instructions of
    guards: what the firmware had not told stood there as a number, and the native run was whole."""
    words = ("--ram", "16K", "--vm", "1M", "--fault", "ecc", "--", "merge", "5000")
    value = run_json(EXAMPLES / "sort.c", *words, code=1)
    assert value["end"]["kind"] == "panic"
    assert set(value["vm"].values()) == {None}
    assert set(value["heap"].values()) == {None}
    assert value["bytes"]["stack_peak"] is None
    assert value["instructions"]["guards"] is None
    assert value["instructions"]["native_total"] is None
    counts = value["instructions"]
    assert counts["total"] == sum(counts[name] or 0 for name in _OWNERS)
    table = invoke(EXAMPLES / "sort.c", *words)
    assert re.search(r"faults +not known", table.stdout)


@pytest.mark.parametrize("target", boards.BOARDS)
def test_a_large_frame_is_a_stack_that_is_too_small(tmp_path: Path, target: str) -> None:
    """One frame of 20,000 bytes reached beyond the stack's own size below it, where only the
    stack's own size was taken for an overflow: it was told as an access to nothing. The stack
    pointer of an ATmega128 wrapped, and nothing was told at all."""
    size = 2000 if target == "atmega128" else 20000
    source = write_program(
        tmp_path,
        f"""
        int main(int argc, char **argv)
        {{
            volatile char b[{size}];
            for (int i = 0; i < {size}; i++) b[i] = (char)argc;
            return b[argc] + b[{size} - 1] == 2;
        }}
        """,
    )
    value = run_json(source, "--no-native", target=target, code=1)
    assert value["end"]["kind"] == "stack"
    assert size < value["end"]["stack_bytes"] < size + 200
    result = invoke(source, "--no-native", "-q", target=target)
    used = value["end"]["stack_bytes"]
    have = 1024 if target == "atmega128" else 8192
    assert "the stack is too small in function main at program.c:" in result.stderr
    assert f": {used} B were needed by then, of {have};" in result.stderr


@pytest.mark.parametrize(
    ("target", "size", "have"), [("cortex-m3", 20_000_000, 8 << 20), ("rv32", 20_000_000, 8 << 20),
                                 ("atmega128", 60_000, 52 << 10)]
)  # fmt: skip
def test_too_many_globals_are_told(tmp_path: Path, target: str, size: int, have: int) -> None:
    """Goal: one sentence with the sum, not the linker's talk of a region that overflowed."""
    source = write_program(
        tmp_path,
        f"unsigned char big[{size}];\nint main(int argc, char **argv) {{ (void)argv; "
        "big[argc] = 1; return big[argc * 1000]; }\n",
    )
    result = invoke(source, "--no-native", target=target)
    assert result.exit_code == 2
    told = f"on {target}: its globals take {size + 17} B of virtual memory, which has {have} B"
    assert told in result.stderr
    assert result.stderr.count("\n") == 1


def _running_with(argument: str) -> list[str]:
    """Command lines of all processes that were given it."""
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            words = line.read_bytes().decode(errors="replace").split("\0")
            found += [" ".join(words)] if argument in words else []
    return found


@pytest.mark.parametrize("target", [name for name in boards.BOARDS if name != "atmega128"])
def test_a_program_that_never_ends_is_stopped(tmp_path: Path, target: str) -> None:
    """It hung pytest for good. The limit of the tests ends it, its emulator too, and the file that
    it wrote is put back (on the ATmega128 there are none)."""
    text = r"""
        #include <stdio.h>
        int main(int argc, char **argv)
        {
            volatile int on = argc > 2;
            fclose(fopen(argv[1], "w"));
            while (on) {
            }
            return 0;
        }
        """
    source, written = write_program(tmp_path, text), tmp_path / "written"
    options = ("--no-native", "--", written)
    assert invoke(source, *options, target=target).exit_code == 0
    assert written.read_text() == ""
    written.write_text("kept")
    with pytest.raises(pytest.fail.Exception, match="not at its end"), time_limit(5):
        invoke(source, *options, "on", target=target)
    assert written.read_text() == "kept"
    assert _running_with(str(written)) == []
