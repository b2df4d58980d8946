# SPDX-License-Identifier: Apache-2.0
"""`nandwich run --target` of programs that map files: what lies on the part is memory, read as it
is touched, and calls answer as natively."""

from pathlib import Path
from typing import Any

import pytest
from board_runs import EXAMPLES, invoke, needs_boards, run_json
from runs import own_cache as own_cache
from runs import write_program

pytestmark = needs_boards

_ROWS = """\
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(int count, char **words)
{
    struct stat state;
    int file = open(words[1], O_RDONLY);
    unsigned sum = 0;

    if (file < 0 || fstat(file, &state) != 0) {
        return 1;
    }
    unsigned char *at = mmap(NULL, (size_t)state.st_size, PROT_READ | (count > 2 ? PROT_WRITE : 0),
                             MAP_PRIVATE, file, 4096);
    if (at == MAP_FAILED) {
        return 2;
    }
    for (int row = 0; row < 50; row++) {
        for (int i = 0; i < 450; i++) {
            sum = sum * 31 + at[row * 5000 + i];
        }
        if (count > 2) {
            at[row * 5000] = 7;
        }
    }
    printf("%u %ld\\n", sum, (long)state.st_size);
    return munmap(at, (size_t)state.st_size) != 0;
}
"""


@pytest.mark.parametrize("target", ["cortex-m3", "rv32"])
def test_a_mapped_file_is_read_in_parts(target: str, tmp_path: Path) -> None:
    """Goal: rows of a table that lies on the part are what they are natively, and cost their frames
    over the bus; what is only read is never written."""
    table = tmp_path / "table"
    table.write_bytes(bytes(i * i >> 5 & 255 for i in range(300_000)))
    source = write_program(tmp_path, _ROWS)
    tight = ("--frame", "256", "--ram", "16K", "--vm", "1M")
    value = run_json(source, *tight, "--", table, target=target)
    assert value["identical"] is True
    rows = [range((row * 5000) // 256, (row * 5000 + 449) // 256 + 1) for row in range(50)]
    frames = sum(map(len, rows))
    assert value["vm"]["mapped"] == frames
    assert value["flash"]["reads"] - frames <= value["vm"]["sectors_read"] + 20
    # A read of a part of a page: 4 bytes of command, 3 a question of status, 4 and the data.
    assert value["flash"]["bus_bytes"] < frames * (256 + 40) + 20_000
    written = run_json(source, *tight, "--", table, "write", target=target)
    assert written["identical"] is True
    assert written["vm"]["writebacks"] >= 15  # the rest leaves no frame
    assert value["vm"]["writebacks"] < 10


@pytest.mark.parametrize(
    ("target", "chip"),
    [
        ("cortex-m3", "W25N01GV"),
        ("cortex-m3", "W25Q128JV"),
        ("cortex-m3", "K9F1G08U0A"),
        ("rv32", "W25N01GV"),
    ],
)
def test_rows_are_copied_without_their_pages(target: str, chip: str, tmp_path: Path) -> None:
    """Goal: of what is advised to be random a row goes over the bus, and no page comes in."""
    table = tmp_path / "table"
    table.write_bytes(bytes(i * i >> 5 & 255 for i in range(300_000)))
    value = run_json(
        EXAMPLES / "llm" / "rows.c",
        "--vm",
        "1M",
        "--chip",
        chip,
        "--",
        table,
        "33",
        "200",
        target=target,
    )
    assert value["identical"] is True
    over_ends = sum(
        i * 2654435761 % 2**32 % (300_000 // 33) * 33 % 512 > 512 - 33 for i in range(200)
    )
    assert 0 < value["vm"]["mapped"] <= 2 * over_ends
    if chip == "W25N01GV":  # 4 bytes of command, 3 a question of status, 4 and the data
        assert value["flash"]["bus_bytes"] < 200 * (33 + 20) + 2 * over_ends * (512 + 40) + 20_000


@pytest.mark.parametrize("guards", ["inline", "outline"])
def test_a_store_to_a_mapped_file_ends_it(tmp_path: Path, guards: str) -> None:
    """Goal: the line is that of the store, though lines before it are of the same block."""
    before = "int turned = (int)state.st_size ^ count;\n    turned += turned << 3;\n"
    text = _ROWS.replace("    for (int row", f"    {before}    at[3] = (unsigned char)turned;\n"
                         "    for (int row")  # fmt: skip
    (tmp_path / "table").write_bytes(bytes(300_000))
    result = invoke(
        write_program(tmp_path, text), "--frame", "256", "--ram", "16K", "--vm", "1M",
        "--no-native", "--guards", guards, "--", tmp_path / "table",
    )  # fmt: skip
    assert result.exit_code == 1
    line = text.partition("    at[3]")[0].count("\n") + 1
    assert "error: store to memory that may only be read at virtual address " in result.stderr
    assert f"in function main at program.c:{line}\n" in result.stderr


_BAD_ADVICE = r"""
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
int main(int count, char **words)
{
    int file = open(words[1], O_RDONLY), ro = PROT_READ, anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
    char *own = mmap(NULL, 9000, ro | PROT_WRITE, anonymous, -1, 0);
    char *data = mmap(NULL, 10000, ro, MAP_PRIVATE, file, 0);
    if (own[0] != 0 || own[8999] != 0)
        return 1;
    for (int i = 0; i < 9000; i++)
        own[i] = (char)i;
    if (munmap(data, 4096) == 0 || munmap(data + 4096, 4096) == 0 || munmap(data, 0) == 0)
        return 2;
    if (msync(data + 1, 9, MS_SYNC) == 0 || msync(data, 9, MS_SYNC | MS_ASYNC) == 0)
        return 3;
    if (madvise(own, 9000, MADV_DONTNEED) == 0 || posix_madvise(own, 9000, 99) != EINVAL ||
        posix_madvise(own, 9000, POSIX_MADV_DONTNEED) != 0 || own[7] != 7)
        return 4;
    printf("%d\n", data[9000]);
    if (msync(data, 9000, MS_SYNC) != 0 || munmap(own, 9000) != 0 || munmap(data, 10000) != 0 ||
        munmap(data, 10000) == 0)
        return 5;
    return 0;
}
"""


@pytest.mark.parametrize("target", ["cortex-m3", "rv32"])
def test_bad_calls_on_a_mapping_have_their_errors(target: str, tmp_path: Path) -> None:
    """Goal: POSIX's errno on a board, in virtual memory as natively; nothing of a mapping is lost
    by a call that is refused."""
    (tmp_path / "data").write_bytes(b"x" * 10_000)
    value = run_json(write_program(tmp_path, _BAD_ADVICE), "--", tmp_path / "data", target=target)
    assert value["identical"] is True
    assert value["end"]["kind"] == "exit"


@pytest.mark.parametrize("bytes_", [0, 8192])
def test_an_access_behind_a_mapped_file_ends_it(bytes_: int, tmp_path: Path) -> None:
    """Goal: where the host has SIGBUS, an empty file included, the run ends and tells the line."""
    text = _ROWS.replace("file, 4096)", "file, 0)").replace("(size_t)state.st_size, PROT",
                                                            "300000, PROT")  # fmt: skip
    (tmp_path / "table").write_bytes(bytes(bytes_))
    source = write_program(tmp_path, text)
    result = invoke(source, "--no-native", "-q", "-O0", "--", tmp_path / "table")
    assert result.exit_code == 1
    line = text.partition("sum * 31")[0].count("\n") + 1
    assert "error: access to memory that is not there, or behind the end of a mapped file" in (
        result.stderr
    )
    assert f"in function main at program.c:{line}\n" in result.stderr


_MAPPED = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
int main(int argc, char **argv)
{
    struct stat status;
    int file = open(argv[1], O_RDONLY);
    if (fstat(file, &status) != 0)
        return 1;
    size_t bytes = (size_t)status.st_size;
    const unsigned char *data = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED || madvise((void *)data, bytes, atoi(argv[2])) != 0)
        return 1;
    unsigned sum = argc;
    for (size_t i = 0; i < bytes; i++)
        sum = sum * 31 + data[i];
    printf("%u\n", sum);
    return 0;
}
"""


def _mapped(
    folder: Path, *options: str, advice: int = 0, kib: int = 80, target: str = "cortex-m3"
) -> dict[str, Any]:
    data = folder / "data"
    data.write_bytes(bytes(i * i % 251 for i in range(kib * 1024 + 17)))
    words = (*options, "--", str(data), str(advice))
    return run_json(write_program(folder, _MAPPED), *words, target=target)


def test_a_mapped_file_is_read_page_by_page_and_ahead(tmp_path: Path) -> None:
    """Goal: in order, the part reads each page of a file once, though a frame is a quarter of it,
    and does so while the processor works."""
    random, willneed = 1, 3
    value = _mapped(tmp_path, "--bus", "quad:104")
    without = _mapped(tmp_path, "--bus", "quad:104", "--no-prefetch")
    by_advice = _mapped(tmp_path, "--bus", "quad:104", advice=random)
    for one in (value, without, by_advice, _mapped(tmp_path, advice=willneed)):
        assert one["identical"] is True
        assert one["vm"]["mapped"] == 4 * 40 + 1
        # Each write-back comes between two frames of a page.
        assert one["flash"]["reads"] == 41 + one["flash"]["programs"]
    assert value["device"]["bus"] == "bus at 104 MHz, four lines, DMA"
    # Behind a page's last frame the processor works for some 50 us; the part takes 60.
    spared = without["time_ns"]["storage"] - value["time_ns"]["storage"]
    assert 0.5 * 40 * 60_000 < spared < 41 * 60_000
    assert abs(by_advice["time_ns"]["storage"] - without["time_ns"]["storage"]) < 100_000


def test_a_bus_is_single_or_quad(tmp_path: Path) -> None:
    """Goal: the same bytes over a faster bus take less time; other words are refused."""
    slow, fast = _mapped(tmp_path), _mapped(tmp_path, "--bus", "single:40")
    assert slow["flash"]["bus_bytes"] * 400 > 40 * 2048 * 400
    half = slow["time_ns"]["storage"] - fast["time_ns"]["storage"]
    assert abs(half - slow["flash"]["bus_bytes"] * 200) < 400_000
    for word in ("quad:0", "octal", "quad:fast", "single:1000"):
        result = invoke(write_program(tmp_path, _MAPPED), "--bus", word)
        assert result.exit_code == 2
        assert "single or quad, and a clock from 1 to 200 MHz, as quad:104" in result.stderr
    result = invoke(write_program(tmp_path, _MAPPED), "--bus", "quad", target="atmega128")
    assert "--bus quad does not go with atmega128: its bus has one line" in result.stderr


def _more(folder: Path, kib: int, *options: str, target: str) -> dict[str, int]:
    """What `kib` more of a mapped file take, where the program's own pages cost the same."""
    few, many = (_mapped(folder, *options, kib=180 + one, target=target) for one in (0, kib))
    assert few["identical"] is many["identical"] is True
    assert few["violations"] == many["violations"] == 0
    more = {name: many["flash"][name] - few["flash"][name] for name in few["flash"]}
    more["mapped"] = many["vm"]["mapped"] - few["vm"]["mapped"]
    more["storage"] = many["time_ns"]["storage"] - few["time_ns"]["storage"]
    return more | {"chip": many["time_ns"]["chip"] - few["time_ns"]["chip"]}


@pytest.mark.parametrize("target", ["cortex-m3", "rv32"])
def test_a_file_on_nor_is_read_a_frame_a_command(tmp_path: Path, target: str) -> None:
    """Goal: a frame of a file on NOR is one read of 5 bytes of command and 512 of data by one line,
    without a time of the part's own; a DMA spends no instructions on them."""
    for bus, byte_ps in (("single:20", 400_000), ("quad:104", 76_923)):
        more = _more(tmp_path, 100, "--chip", "W25Q128JV", "--bus", bus, target=target)
        assert more["mapped"] == more["reads"] == 200
        assert more["bus_bytes"] == 200 * (5 + 512)
        assert more["programs"] == more["erases"] == more["chip"] == 0
        assert abs(more["storage"] - 200 * (5 + 512) * byte_ps // 1000) <= 1


@pytest.mark.parametrize("target", ["cortex-m3", "rv32"])
def test_a_file_on_a_parallel_nand_is_repaired(tmp_path: Path, target: str) -> None:
    """Goal: a frame of a file on a parallel NAND is one read: 6 cycles of command and address, 2
    to status and back, 3 questions of it in 40 us, 4 to the spare bytes, and the data with their
    codes. A file that has lost bits is an error."""
    more = _more(tmp_path, 100, "--chip", "K9F1G08U0A", target=target)
    assert more["mapped"] == more["reads"] == 200
    assert more["bus_bytes"] == 200 * (6 + 2 + 3 + 4 + 512 + 15)
    assert more["programs"] == more["erases"] == 0
    assert more["chip"] == 200 * 25_000
    least = 200 * (40_000 + 542 * 30)
    assert least < more["storage"] < least + 200 * 1_500  # pauses behind latches
    words = ("--chip", "K9F1G08U0A", "--fault", "ecc", "--no-native", "-q")
    last = ("--", tmp_path / "data", "0")
    result = invoke(write_program(tmp_path, _MAPPED), *words, *last, target=target)
    assert "uncorrectable bit errors" in result.stderr


_CALLS = r"""
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void tell(const void *at)
{
    printf("%d ", at == MAP_FAILED ? errno : 0);
}

static unsigned sum_of(const unsigned char *at, int bytes)
{
    unsigned sum = 0;

    for (int i = 0; i < bytes; i++) {
        sum = sum * 31 + at[i];
    }
    return sum;
}

static void put(const char *name, int value, int bytes)
{
    FILE *file = fopen(name, "w");

    while (bytes-- > 0) {
        fputc(value, file);
    }
    fclose(file);
}

int main(void)
{
    int both = PROT_READ | PROT_WRITE, anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
    unsigned char *at = mmap(NULL, 20000, both, anonymous, -1, 0);
    unsigned sum = sum_of(at, 20000);

    for (int i = 0; i < 20000; i++) {
        at[i] = (unsigned char)(i * 7);
    }
    printf("%u %u %d\n", sum, sum_of(at, 20000), madvise(at, 20000, MADV_WILLNEED));
    printf("%d %d ", munmap(at, 4096), munmap(at, 1 << 20)); /* whole mappings alone */
    printf("%d\n", munmap(at, 20000));
    put("empty", 0, 0);
    put("data", 1, 20000);
    int file = open("data", O_RDONLY);
    tell(mmap(NULL, SIZE_MAX, both, anonymous, -1, 0));
    tell(mmap(NULL, SIZE_MAX - 4096, both, anonymous, -1, 0));
    tell(mmap(NULL, 0, PROT_READ, MAP_PRIVATE, file, 0));
    tell(mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, file, -4096));
    tell(mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, file, 100));
    tell(mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0));
    tell(mmap(NULL, 8192, both, MAP_SHARED, file, 0));
    tell(mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 99, 0));
    tell(mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, open("empty", O_RDONLY), 0));
    for (int value = 2; value < 4; value++) { /* what the file holds when it is mapped */
        at = mmap(NULL, 20000, PROT_READ, MAP_PRIVATE, file, 0);
        printf("%u ", sum_of(at, 20000));
        printf("%d\n", munmap(at, 20000));
        put("data", value, 20000);
    }
    return 0;
}
"""


@pytest.mark.parametrize("target", ["cortex-m3", "rv32"])
def test_mmap_answers_as_natively(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    """Goal: anonymous memory, what is refused and why, and a file that is written and mapped again
    are as without virtual memory."""
    monkeypatch.chdir(tmp_path)
    result = invoke(write_program(tmp_path, _CALLS), "--vm", "1M", "-q", target=target)
    assert result.exit_code == 0, result.output
    no_memory, invalid, too_far, not_there, no_access, no_file = 12, 22, 139, 134, 13, 9
    refused = (no_memory, no_memory, invalid, too_far, invalid, not_there, no_access, no_file, 0)
    assert " ".join(map(str, refused)) in result.stdout


def test_a_file_that_the_part_does_not_hold_is_told(tmp_path: Path) -> None:
    """Goal: a file that would reach into the blocks of virtual memory is not mapped, and nothing of
    it is put there."""
    text = """
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
static unsigned char bytes[100000];
int main(int count, char **words)
{
    size_t size = (16 << 20) - 16384;

    for (int i = 0; i < 100000; i++)
        bytes[i] = (unsigned char)(i * count);
    if (mmap(NULL, size, PROT_READ, MAP_PRIVATE, open(words[1], O_RDONLY), 0) != MAP_FAILED)
        return 6;
    for (int i = 0; i < 100000; i++)
        if (bytes[i] != (unsigned char)(i * count))
            return 5;
    return errno == ENOSPC ? 7 : 4;
}
"""
    large = tmp_path / "large"
    large.write_bytes(bytes([1, 2, 3, 4]) * (4 << 20))
    with large.open("r+b") as file:
        file.truncate((16 << 20) - 16384)
    words = ("--no-native", "-q", "--chip", "W25Q128JV", "--vm", "1M", "--", large)
    result = invoke(write_program(tmp_path, text), *words)
    assert "the program ended with status 7" in result.stderr


def test_a_mapped_file_lies_where_it_is_put(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Goal: files have the blocks that --mmap names, others none of these; what is no place is
    refused, and a place among those of virtual memory is as if there were no room."""
    data = tmp_path / "data"
    source = write_program(tmp_path, _MAPPED)
    value = _mapped(tmp_path, "--mmap", f"{data}=flash:120M")
    assert value["identical"] is True
    assert value["vm"]["mapped"] == 4 * 40 + 1
    for where, said in (
        ("120000", "a multiple of W25N01GV's blocks of 131072 B is needed"),
        ("128M", "and room for the file's 1 before the end at 1024"),
        ("here", "is no quantity of size"),
    ):
        result = invoke(source, "--mmap", f"{data}=flash:{where}", "--", data, "0")
        assert result.exit_code == 2
        assert said in result.stderr
    result = invoke(source, "--mmap", f"{tmp_path}/none=flash:1M", "--", data, "0")
    assert "shall lie, is needed, as weights.bin=flash:120M" in result.stderr
    inside = invoke(source, "--mmap", f"{data}=flash:0", "--no-native", "--", data, "0")
    assert inside.exit_code == 1
    assert "virtual memory has the part's first 896 blocks: give an offset from 112 MiB on" in (
        inside.stderr
    )
    both = ("--mmap", f"{data}=flash:120M", "--mmap", f"{source}=flash:120M")
    result = invoke(source, *both, "--", data, "0")
    assert result.exit_code != 0
    told = capfd.readouterr().err
    assert f"{source}: block 960 of the part is bad, or another file's" in told
