# SPDX-License-Identifier: Apache-2.0
"""The firmware examples on an emulated STM32F103: they keep what they acknowledged."""

import dataclasses
import itertools
import random
import re
import struct
import subprocess
from pathlib import Path

import pytest
import third_party

from lab import firmware
from lab.photo import photo
from nandwich import paths

pytestmark = pytest.mark.skipif(
    bool(firmware.missing()), reason=f"needs {', '.join(firmware.missing())} (tools/setup test)"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Objects that all examples share."""
    return tmp_path_factory.mktemp("firmware")


@pytest.fixture(scope="module")
def runner(folder: Path) -> Path:
    return firmware.build_runner(folder)


def last_number(lines: tuple[str, ...], word: str) -> int | None:
    """The number behind a word the last time it was said in a whole line."""
    found = [int(line.split()[1]) for line in lines if re.fullmatch(rf"{word} -?\d+", line)]
    return found[-1] if found else None


def check_promises(run: firmware.Run) -> int:
    """What a start acknowledged the next one finds; answers the last that was acknowledged.

    A line that power cut short may lack digits, so the last line of a start does not count.
    """
    assert not run.violations
    kept = 0
    for number, lines in enumerate(run.starts):
        assert "reset" not in lines, lines
        assert len([line for line in lines if line.startswith("found")]) <= 1
        found = last_number(lines[:-1], "found")
        if found is not None:
            assert found >= kept, f"start {number} lost what was kept"
            kept = found
        kept = max(kept, last_number(lines[:-1], "kept") or 0)
    return kept


def some_cuts(first: int, most: int, count: int) -> list[int]:
    """One behind the format, others from the first instruction to some seconds of work."""
    dice = random.Random(1)
    return [first, *(dice.randrange(1, most) for _ in range(count))]


def test_logger_keeps_what_it_acknowledged(folder: Path, runner: Path) -> None:
    """Goal: power cut at any instruction takes no record that the logger said it kept, and all
    records are there once, in order, with the sensor's value of their moment."""
    image = firmware.build(firmware.LOGGER, folder)
    cuts = some_cuts(30_000_000, 2_400_000, 40)
    run = firmware.run(runner, image, firmware.LOGGER, 20_000_000, last=".d", cuts=cuts)
    check_promises(run)
    assert len(run.starts) == 41 + 1
    found = last_number(run.starts[-1], "found")
    assert found is not None
    assert found > 320
    shown = [line.split() for line in run.starts[-1] if line.startswith("record ")]
    # One or two more were written between the start and the command.
    assert [int(words[1]) for words in shown] == list(range(len(shown)))
    assert found <= len(shown) <= found + 3
    for _, _, moment, value in shown:  # a tick may come between the two
        assert int(value) in [(int(moment) + late) * 37 % 4096 for late in (0, 1)]


def test_logger_wants_a_format_of_its_own(folder: Path, runner: Path) -> None:
    """Goal: a format of a log cut in its midst is told, not hidden; nothing formats without being
    asked. (A format of a new part that is cut leaves it new, which a mount takes a minute and a
    half to find out.)"""
    image = firmware.build(firmware.LOGGER, folder)
    twice = dataclasses.replace(firmware.LOGGER, first="f,f")
    run = firmware.run(runner, image, twice, 1_000_000, cuts=[26_000_000, 16_000_000])
    assert "found 0" in run.starts[0]
    told = [line for line in run.starts[2] if line.startswith("no log here")]
    assert told
    assert not any(line.startswith("found") for start in run.starts[1:] for line in start)


RECORD = struct.Struct("<HHHHII24H")


def records(image: bytes) -> list[tuple[int, ...]]:
    """Log, flow, number, time and first value of each record of the newest log, as they lie."""
    log = int.from_bytes(image[2:4], "little")
    found = []
    for sector in range(512, len(image), 512):
        for at in range(sector, sector + 512 - RECORD.size + 1, RECORD.size):
            magic, _, number, *rest = RECORD.unpack_from(image, at)
            if magic == 0x4C44 and number == log:
                found.append(tuple(rest[:4]))
    return found


def test_deadlines_are_met_and_kept(folder: Path, runner: Path, tmp_path: Path) -> None:
    """Goal: over a card that takes 60 ms now and then every record meets its deadline; what was
    written is found after any power cut, and no start writes over another's sectors."""
    image = firmware.build(firmware.DEADLINES, folder)
    card = tmp_path / "card"
    cuts = some_cuts(2_000_000, 1_500_000, 30)
    run = firmware.run(runner, image, firmware.DEADLINES, 6_000_000, cuts=cuts, card_image=card)
    kept = check_promises(run)
    lines = [line.split() for line in run.starts[-1]]
    for flow in ("vibration", "state"):
        met, *lost = [list(map(int, words[1:6])) for words in lines if words[0] == flow][-1]
        assert met > 0
        assert lost == [0, 0, 0, 0]  # late, dropped, failed, full
    content = card.read_bytes()
    sectors = [content[at : at + 2] == b"DL" for at in range(512, kept * 512, 512)]
    assert all(sectors)
    assert len(sectors) > 100
    # Each start counts from 0: a flow's numbers go on by one or begin anew.
    for wanted in (0, 1):
        numbers = [number for which, number, *_ in records(content) if which == wanted]
        steps = itertools.pairwise(numbers)
        assert all(later in (before + 1, 0) for before, later in steps)
    # The sensor's value is that of the tick the record says.
    assert all(value == ms * 37 % 4096 for _, _, ms, value in records(content))


def test_files_keep_what_was_synced(folder: Path, runner: Path) -> None:
    """Goal: littlefs on the tree layer keeps each line that was synced, and its starts."""
    third_party.fetch(third_party.LITTLEFS)
    image = firmware.build(firmware.BLOCKDEV, folder)
    cuts = some_cuts(24_000_000, 9_000_000, 12)
    run = firmware.run(runner, image, firmware.BLOCKDEV, 10_000_000, last=".d", cuts=cuts)
    check_promises(run)
    counted = [last_number(lines[:-1], "starts") for lines in run.starts]
    told = [number for number in counted if number is not None]
    # A start may be cut behind the count and before it is told, but none is counted twice.
    assert told == sorted(set(told))
    assert told[-1] <= len(run.starts)
    found = last_number(run.starts[-1], "found")
    assert found is not None
    shown = [line.split() for line in run.starts[-1] if re.fullmatch(r"\d{9} \d{5}", line)]
    assert [int(words[0]) for words in shown] == list(range(len(shown)))
    assert found <= len(shown) <= found + 2
    assert found > 20


def test_watchdog_ends_a_node_that_keeps_nothing(folder: Path, runner: Path) -> None:
    """Goal: the emulated watchdog bites, so that the other tests show the examples feed it: the
    logger's image with its feeding taken out begins anew after two seconds."""
    image = firmware.build(firmware.LOGGER, folder)
    content = image.read_bytes()
    fed = struct.pack("<H", 0xF64A) + struct.pack("<H", 0x22AA)  # movw r2, #0xAAAA
    assert content.count(fed) == 1
    hungry = folder / "hungry.elf"
    hungry.write_bytes(content.replace(fed, struct.pack("<HH", 0xF64A, 0x22AB)))
    run = firmware.run(runner, hungry, firmware.LOGGER, 3_000_000, cuts=[26_000_000])
    assert "reset" in run.starts[0] + run.starts[1]


def test_camera_decodes_as_the_host_does(folder: Path, runner: Path) -> None:
    """Goal: a JPEG of 512 x 600, decoded in 32 KB of frames on a processor with 64 KB of RAM, is
    equal to the host's, also by a start that finds what a cut left on the part."""
    image = firmware.build(firmware.CAMERA, folder)
    run = firmware.run(runner, image, firmware.CAMERA, 250_000_000, cuts=[60_000_000])
    assert not run.violations
    (shown,) = [line for line in run.starts[1] if line.startswith("picture ")]
    faults = last_number(run.starts[1], "faults")
    assert faults is not None
    assert faults > 1000
    assert shown == f"picture {host_picture(folder)}"


def test_camera_says_that_it_wants_a_picture() -> None:
    """The assembler told of a file that .incbin did not find."""
    command = ["make", "-s", "-C", str(firmware.FOLDER), "camera"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no picture.jpg: make camera PICTURE=some.jpg" in done.stderr
    assert done.stderr.count("\n") == 1


def test_blockdev_says_that_it_wants_littlefs() -> None:
    """No rule to make target build/littlefs/lfs.o, it said."""
    command = ["make", "-s", "-C", str(firmware.FOLDER), "blockdev"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "make blockdev LITTLEFS=folder of littlefs" in done.stderr
    assert done.stderr.count("\n") == 1


HOST = """
#include <stdio.h>
#include "camera.h"
static uint8_t jpeg[1 << 20];
int main(int argc, char **argv)
{
    struct picture p;
    uint32_t bytes = (uint32_t)fread(jpeg, 1, sizeof jpeg, fopen(argv[argc - 1], "rb"));
    int result = camera_decode(jpeg, bytes, &p);
    printf("%u %u %u %u %u", p.width, p.height, p.sum >> 16, p.sum & 0xFFFF, p.gray);
    return result != 0;
}
"""


def host_picture(folder: Path) -> str:
    """What the camera says of its picture, by the same decoder on the host."""
    source, program = folder / "host.c", folder / "host"
    source.write_text(HOST)
    decoder = str(firmware.FOLDER / "camera_decode.c")
    command = ["cc", "-w", f"-I{firmware.FOLDER}", str(source), decoder, "-lm", "-o", str(program)]
    subprocess.run(command, check=True)
    done = subprocess.run([program, photo()], capture_output=True, text=True, check=True)
    return done.stdout


INTERRUPTED = """
.syntax unified
.cpu cortex-m3
.thumb
.word 0x20001000, reset + 1
.fill 13, 4, 0
.word tick + 1
.thumb_func
reset:
    ldr r0, =0xE000E010     @ the timer: a tick each millisecond
    movs r1, #7
    str r1, [r0]
    ldr r0, =0xDEAD0000     @ where nothing is
    movs r3, #0
    b again
tick:
    ldr r0, =0x20000100
    ldr r1, [r0]
    adds r1, #1
    str r1, [r0]
    bx lr
.ltorg
.org 0xFFA
again:
    cmp r1, r0              @ not equal
    itttt eq
    addeq r3, #1            @ the last one of the page: the emulator's block ends here
    addeq r3, #1
    addeq r3, #1
    addeq r3, #1
    cmp r3, #0
    beq again
    ldr r0, =0xE000ED0C
    ldr r1, =0x05FA0004
    str r1, [r0]            @ reset: what must not run has run
    b again
"""


def test_an_interrupt_in_an_it_block(folder: Path, runner: Path) -> None:
    """The emulated board began the handler with the IT state of what it had interrupted: up to
    three instructions of the handler were passed over, and the camera's picture ended in an invalid
    write after 187 million instructions. Here a loop is nearly all IT block."""
    source, image = folder / "interrupted.S", folder / "interrupted.elf"
    source.write_text(INTERRUPTED)
    command = ["arm-none-eabi-gcc", "-nostdlib", "-Wl,-Ttext=0x08000000", "-Wl,-e,reset"]
    subprocess.run([*command, str(source), "-o", str(image)], check=True)
    run = firmware.run(runner, image, firmware.LOGGER, 5_000_000)
    assert run.starts == ((),)
    assert run.instructions >= 5_000_000


LOGGER_SIZES = ("flash_bytes=0x10000", "ram_bytes=0x5000", "stack_bytes=0x800")
DEEP = """
#include "board.h"
uint8_t precious[64] = {7};
static int down(int n)
{
    volatile int keep[8] = {n};
    return down(n + 1) + keep[0];
}
int main(void)
{
    board_open();
    board_say(precious[0] == 7 && precious[63] == 0 ? "begin\\n" : "variables changed\\n");
    if (board_heard_first('d')) down(0);
    for (;;) board_sleep();
}
"""


def test_a_stack_that_is_too_deep_is_told(folder: Path, runner: Path) -> None:
    """The stack lay behind the variables and grew into them in silence. It lies before them now:
    one that is too deep leaves RAM, which is a fault, and the console tells it."""
    source, image = folder / "deep.c", folder / "deep.elf"
    source.write_text(DEEP)
    board = firmware.FOLDER / "board"
    flags = "-Os -mcpu=cortex-m3 -mthumb -ffunction-sections -nostartfiles -w -Wl,--gc-sections"
    sizes = [f"-Wl,--defsym={one}" for one in LOGGER_SIZES]
    command = ["arm-none-eabi-gcc", *flags.split(), "--specs=nosys.specs", f"-I{board}", *sizes]
    command += [f"-I{paths.include_dirs()[0]}", f"-T{board / 'stm32f103.ld'}", str(source)]
    subprocess.run(
        [*command, str(board / "board.c"), str(board / "start.c"), "-o", str(image)], check=True
    )
    deep = dataclasses.replace(firmware.LOGGER, first="d")
    run = firmware.run(runner, image, deep, 9_000_000, cuts=[4_500_000])
    assert run.starts[0][:3] == ("begin", "stack_bytes are too few", "reset")
    assert run.starts[1][0] == "begin"
