# SPDX-License-Identifier: Apache-2.0
"""V-T2 and V-RAM: what tagged variables cost on an ATmega128 with a DataFlash (Lachenmann et al.,
EuroSys 2007, tables 2 and 4), in exact cycles on the emulated board. Its bus moves a byte in
0.4 us, that of the paper's node in about 14 us: transfers cost ours less."""

from lab.device import tagged_cost
from lab.device.boards import ATMEGA128
from lab.experiments import Answer, Report, experiment
from nandwich.errors import RunError
from papers.vimem import _programs

#: Row of table 2, what it is, microseconds.
_ACCESSES = (
    ("known", "tagged, resident, place known at compile time", 14.65),
    ("table", "tagged, resident, through the table", 18.72),
)
#: The same in milliseconds.
_FAULTS = (
    ("buffer", "fault from a buffer of the chip", 3.66),
    ("flash", "fault from flash", 3.72),
    ("to_buffer", "fault from flash, a page to a buffer first", 7.58),
    ("flush", "fault from flash, a buffer to flash first", 19.83),
)


def _check_board() -> None:
    missing = ATMEGA128.missing()
    if missing:
        raise RunError(f"the emulated board needs {', '.join(missing)}")


@experiment(
    "V-T2", claim="a variable in RAM, an access", published=1.09, unit="us", judges_quick=True
)
def latencies(_quick: bool) -> Report:
    """One access each; differences of two runs of a loop."""
    _check_board()
    access, fault = tagged_cost.accesses_us(), tagged_cost.faults_ms()
    answers = [Answer(access["ram"], holds=access["ram"] <= 1.09, part="ram")]
    for name, what, published in _ACCESSES:
        answers.append(
            Answer(
                access[name],
                holds=access[name] <= published,
                part=name,
                claim=what,
                published=published,
                unit="us",
            )
        )
    for name, what, published in _FAULTS:
        answers.append(
            Answer(
                fault[name],
                holds=fault[name] <= published,
                part=name,
                claim=what,
                published=published,
                unit="ms",
            )
        )
    rows = [(answer.part, answer.measured) for answer in answers]
    return Report(answers=answers, columns=("access", "measured"), rows=rows)


@experiment(
    "V-RAM",
    claim="TinyDB-like, a page in RAM: RAM saved",
    published=255,
    unit="B",
    judges_quick=True,
)
def memory(_quick: bool) -> Report:
    """Bytes of data less what frames, tables and run time take."""
    _check_board()
    answers, rows = [], []
    for name, program, published in (
        ("TinyDB", _programs.TINYDB, 255),
        ("Mate", _programs.MATE, 469),
    ):
        taken = tagged_cost.memory(program.table, 1)
        saved = program.bytes - taken.ram
        rows.append((name, program.bytes, taken.ram, saved))
        answers.append(
            Answer(
                saved,
                holds=saved >= published,
                part=name,
                published=published,
                unit="B",
                claim=f"{name}-like, a page in RAM: RAM saved",
                why="16 B of ours count faults and transfers" if saved < published else "",
            )
        )
    return Report(answers=answers, columns=("program", "data", "run time", "saved"), rows=rows)
