# SPDX-License-Identifier: Apache-2.0
"""VF-eq, VF-ram: what vFlash spares and takes by the thesis's equations, and by our run.

Chen, PhD thesis, PolyU 2016, section 3.4. A page that is read or written in the NVM spares the time
of flash less that of the NVM; collection takes a read and a program for each valid page, and an
erase. What is written back from the NVM to flash does not occur there; here it is counted beside.
"""

from lab.experiments import NOT_JUDGED, OURS, Answer, Report, Value, experiment, near
from nandwich import _native
from papers.tiering import _phone
from papers.tiering._phone import FLASH, VFLASH, Model, Outcome
from papers.tiering.habits import PUBLISHED_ERASES, SETUP

PUBLISHED_ERASES_MS = 45_375
PUBLISHED_TABLES_KB, PUBLISHED_MAP_KB = 131.25, 32
#: A page of 4 KB: on flash, and 64 lines of the NVM at 50 and at 150 ns.
READ_US, PROGRAM_US, ERASE_US = 25.0, 500.0, 1500.0
NVM_READ_US, NVM_PROGRAM_US = 3.2, 9.6
#: Of what the equations leave to each page: the bus, entries of the map, what is never written.
TOLERANCE = 5.0
APPS = 100


def spared_s(flash: Outcome, vflash: Outcome) -> dict[str, float]:
    """By the equations, and by what is written back."""
    copies = flash.layer["copies"] - vflash.layer["copies"]
    erases = flash.erases - vflash.erases
    spared_us = {
        "reads": (READ_US - NVM_READ_US) * vflash.tier["nvm_reads"],
        "writes": (PROGRAM_US - NVM_PROGRAM_US) * vflash.tier["nvm_writes"],
        "copies": (READ_US + PROGRAM_US) * copies,
        "erases": ERASE_US * erases,
        "written back": -(NVM_READ_US + PROGRAM_US) * vflash.tier["moved"],
    }
    return {name: micros / 1e6 for name, micros in spared_us.items()}


def device_s(outcome: Outcome) -> float:
    """All that the device works: for requests and in idle time."""
    return (outcome.result["busy_ns"] + outcome.result["ahead_ns"]) / 1e9


def _spared_erases(quick: bool) -> Answer:
    users = (1,) if quick else _phone.USERS
    model = _model(quick)
    fewer = sum(
        _phone.run(user, model, FLASH).erases - _phone.run(user, model, VFLASH).erases
        for user in users
    )
    spared_ms = fewer * ERASE_US / 1000
    return Answer(
        round(spared_ms),
        verdict=NOT_JUDGED,
        why=f"a product: {fewer:,} erases less, where the thesis has {PUBLISHED_ERASES:,}; how "
        "many hangs on how much is written and how full the flash is (VF-gc)",
    )


def _model(quick: bool) -> Model:
    return _phone.quick(_phone.BASE) if quick else _phone.BASE


@experiment(
    "VF-eq",
    claim="time spared by the erases that vFlash spares, at 1.5 ms each",
    published=PUBLISHED_ERASES_MS,
    unit="ms",
    where="equations 3.3 to 3.6, section 3.5.2",
    setup=SETUP + ". Equations: first user; a page of flash takes 25 us to read, 500 to program, "
    "of the NVM 3.2 and 9.6",
)
def equations(quick: bool) -> Report:
    """Erases of all users; the equations on the first user's counts."""
    flash, vflash = (_phone.run(1, _model(quick), way) for way in (FLASH, VFLASH))
    parts = spared_s(flash, vflash)
    device = device_s(flash) - device_s(vflash)
    whole = sum(parts.values())
    told = whole - parts["written back"]
    answers = [
        _spared_erases(quick),
        Answer(
            round(told / device, 2),
            holds=near(told, device, percent=TOLERANCE),
            why=f"they leave out what is written back: {-parts['written back']:.0f} s",
            part="device",
            claim="time spared by the equations over the time that the device works less",
            published=1,
            unit="times",
            where=OURS,
            tolerance=f"{TOLERANCE:g} %, to either side: the bus and the map's entries, which the "
            "equations do not have",
        ),
        Answer(
            round(whole / device, 2),
            holds=near(whole, device, percent=TOLERANCE),
            why="a part of the time has no term",
            part="written-back",
            claim="the same with what is written back from the NVM",
            published=1,
            unit="times",
            where=OURS,
            tolerance=f"{TOLERANCE:g} %, as above",
            must_hold=True,
        ),
    ]
    rows: list[list[Value]] = [[name, round(seconds, 2)] for name, seconds in parts.items()]
    return Report(answers, ["spared by", "s"], [*rows, ["the device", round(device, 2)]])


def _ram(policy: str, apps: int) -> int:
    """Bytes of tier and policy with 16 MB of NVM in pages of 4 KB."""
    device = _native.ReplayDevice(_phone.part(_phone.BASE), "page")
    nvm = _native.Part.named("PCM-16M")
    device.put_tier(nvm, policy, bytes=_phone.NVM_BYTES, apps=apps)
    return device.tier()["ram_bytes"]


def tables_kb(apps: int) -> float:
    """What so many applications take, whatever the NVM's size."""
    each = (_ram("habit", APPS) - _ram("habit", 1)) / (APPS - 1)
    return apps * each / 1024


@experiment(
    "VF-ram",
    claim="RAM for what is known of 100 applications, 24 periods a day, 7 days",
    published=PUBLISHED_TABLES_KB,
    unit="KB",
    judges_quick=True,
    where="section 3.4",
    setup="published: 8 bytes an application, period and day, 8 bytes a page of 4 KB in 16 MB of "
    "NVM. Ours: what the policy takes with each application more, and what the tier takes without "
    "a policy",
)
def ram(_quick: bool) -> Report:
    """Counted, not run."""
    tables, tier = tables_kb(APPS), _ram("none", 1) / 1024
    tolerance = "1 %, to either side: both are counts, of all but a few bytes"
    answers = [
        Answer(
            round(tables, 2),
            holds=near(tables, PUBLISHED_TABLES_KB, percent=1),
            why="counts of two bytes, to 65,535, instead of four; with them what is predicted of "
            "each application and its two lists",
            tolerance=tolerance,
        ),
        Answer(
            round(tier, 2),
            holds=near(tier, PUBLISHED_MAP_KB, percent=1),
            why="9 bytes a page instead of 8, a hash of 2 bytes for each of 4,096 and a page of 4 "
            "KB; the map itself lies in the NVM",
            part="map",
            claim="RAM for the map of the pages in 16 MB of NVM",
            published=PUBLISHED_MAP_KB,
            tolerance=tolerance,
        ),
    ]
    rows: list[list[Value]] = [["tables", round(tables, 2)], ["map", round(tier, 2)]]
    return Report(answers, ["what", "KB"], rows)
