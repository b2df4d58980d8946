# SPDX-License-Identifier: Apache-2.0
"""Goal: what the page on deadlines shows can be copied: its firmware compiles and runs, its
scenario is one."""

import re
import subprocess
from pathlib import Path

from lab import cross
from nandwich import paths
from nandwich.sched import play as sched
from nandwich.sched import scenario as sched_scenario

assert paths.CHECKOUT is not None
PAGE = (paths.CHECKOUT / "docs" / "sched.md").read_text()

#: A card that takes 13 ms a write, some 100, and a timer: what the firmware of the page runs on.
BOARD = """
#include <stdio.h>
#include <string.h>
#include "nandwich/sched.h"

int recorder_start(struct nw_block *card);
void sample_interrupt(void);
void recorder_poll(void);
extern volatile uint32_t now_ms;
static unsigned writes;

static int card_write(struct nw_block_req *req)
{
    (void)req;
    writes++;
    now_ms += writes % 256 == 1 ? 100 : 13; /* the first write opens a unit */
    return NW_OK;
}

static const struct nw_block_ops ops = {.write = card_write};

int main(void)
{
    struct nw_block card = {.ops = &ops, .sectors = 1000, .sector_bytes = 512};
    uint32_t next = 0;

    if (recorder_start(&card) != NW_OK) {
        return 1;
    }
    while (now_ms < 10000) {
        while (next <= now_ms) {
            sample_interrupt();
            next += 5;
        }
        recorder_poll();
        now_ms++;
    }
    printf("%u\\n", writes);
    return 0;
}
"""


def _block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(found)


def test_firmware_compiles_for_small_processors(tmp_path: Path) -> None:
    source = tmp_path / "firmware.c"
    # The page leaves prototypes to the firmware's own header.
    prototypes = "struct nw_block;\nint recorder_start(struct nw_block *card);\n"
    prototypes += "void sample_interrupt(void);\nvoid recorder_poll(void);\n"
    prototypes += "#include <stdint.h>\nextern volatile uint32_t now_ms;\n"
    source.write_text(prototypes + _block("c"))
    assert len([line for line in _block("c").splitlines() if line.strip()]) < 40
    assert paths.CHECKOUT is not None
    for target in (cross.HOST_GCC, cross.CORTEX_M3, cross.ATMEGA128):
        if target.present:
            cross.compile_object(target, source, tmp_path, paths.CHECKOUT / "core" / "include")


def test_firmware_runs(tmp_path: Path) -> None:
    assert paths.CHECKOUT is not None
    (tmp_path / "firmware.c").write_text(_block("c"))
    (tmp_path / "board.c").write_text(BOARD)
    core = paths.CHECKOUT / "core"
    sources = [*sorted((core / "sched").glob("*.c")), core / "base" / "block.c"]
    files = [str(tmp_path / "firmware.c"), str(tmp_path / "board.c"), *map(str, sources)]
    program = tmp_path / "board"
    subprocess.run(
        ["cc", "-std=c11", f"-I{core / 'include'}", *files, "-o", str(program)], check=True
    )
    done = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    # 2000 records; two or three come during each write and share the next one.
    assert 600 < int(done.stdout) < 1000


def test_scenario_of_the_page_is_one(tmp_path: Path) -> None:
    path = tmp_path / "page.toml"
    path.write_text(_block("toml"))
    scenario = sched_scenario.read_scenario(path)
    outcome = sched.run(scenario, "slack")
    assert [flow.name for flow in scenario.flows] == ["temperature", "lookup"]
    assert outcome.share > 80
