# SPDX-License-Identifier: Apache-2.0
"""IC-T5, IC-E4: energy and time saved by metadata in an NVM, from the published numbers alone.

Chen, "Hardware/Software Codesign for Performance and Lifetime Enhancement in NAND-Flash-based
Embedded Storage Systems", PhD thesis, PolyU 2016, chapter 4, tables 4.3 and 4.5, one machine. The
thesis multiplies requests by their mean length, as if those to the NVM were as long as the others,
and by 4 for a reason it does not give (it falls out of every share). The energy of flash alone has
up to 260 mJ more than that, in steps of 10 mJ: what for is not said either. So this checks the
thesis and says nothing of us: nothing here is judged. Of the 33 cells of tables 4.3 and 4.5 it
holds the 11 of one machine; of the 22 of two and three machines only the means are on file.
"""

from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING

from lab.experiments import NOT_JUDGED, OURS, Answer, Report, Value, experiment, near
from nandwich import _native, plots
from nandwich.replay import classes
from papers.tiering import _guest, _phone

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: J a GB.
FLASH_READ, FLASH_WRITE = 1.5, 17
NVM_READ, NVM_WRITE = 1, 6
UNEXPLAINED = 4
KB_A_GB = 1024 * 1024
MORE_MJ = range(0, 261, 10)
#: Half of the last digit that is printed.
ROUNDING = 0.05
PUBLISHED_MEAN = 44.99
CHECK = "a check of the thesis, not of us: "
#: A page of 4 KB, us: flash, and 64 lines of the NVM at 50 ns and at 1 us.
FLASH_READ_US, FLASH_WRITE_US = 25, 500
NVM_READ_US, NVM_WRITE_US = 3.2, 64
#: Of the chip, and pages of metadata in the example: they all fit the NVM.
BLOCKS, PLACES = 600, 2_000


@dataclass(frozen=True)
class Cell:
    """A row of table 4.3: requests, those of them to the NVM, their mean length, and of table 4.5
    the share of energy saved."""

    name: str
    reads: int
    writes: int
    nvm_reads: int
    nvm_writes: int
    mean_kb: float
    saved: float

    def _mj(self, joules_a_gb: float) -> float:
        return 1000 * UNEXPLAINED * self.mean_kb / KB_A_GB * joules_a_gb

    @property
    def flash_mj(self) -> float:
        """All of it on flash."""
        return self._mj(self.reads * FLASH_READ + self.writes * FLASH_WRITE)

    @property
    def tier_mj(self) -> float:
        """With the NVM."""
        flash = (self.reads - self.nvm_reads) * FLASH_READ
        flash += (self.writes - self.nvm_writes) * FLASH_WRITE
        return self._mj(flash + self.nvm_reads * NVM_READ + self.nvm_writes * NVM_WRITE)

    def share(self, more_mj: int = 0) -> float:
        """Percent saved when flash alone takes so much more."""
        return 100 * (1 - self.tier_mj / (self.flash_mj + more_mj))

    @property
    def more_mj(self) -> int:
        """The step that comes nearest to what is published."""
        return min(MORE_MJ, key=lambda more: abs(self.share(more) - self.saved))


CELLS = (
    Cell("Google Earth", 33272, 122301, 26625, 97842, 4.91, 51.3),
    Cell("Browser", 140423, 13652, 98301, 9562, 21.53, 34.9),
    Cell("WeChat", 1123, 124215, 995, 113722, 4.23, 59.4),
    Cell("YouTube", 2787, 3100, 2240, 2040, 8.35, 41.4),
    Cell("Facebook", 38831, 41242, 31074, 32919, 6.85, 49.8),
    Cell("Gmail", 1652, 55110, 1132, 41408, 4.26, 48.6),
    Cell("Gallery", 32210, 878, 25568, 745, 89.65, 33.2),
    Cell("Download", 7318, 7344, 5790, 5995, 232.94, 50.7),
    Cell("Install", 9725, 24622, 7291, 16475, 145.95, 42.7),
    Cell("Media Player", 15260, 5024, 12221, 4023, 12.55, 46.8),
    Cell("Angry Birds", 7791, 522, 6241, 390, 58.32, 36.0),
)


def speed_gain(cell: Cell, *, writes: bool) -> float:
    """Percent of speed that follows from a cell's counts and the stated times alone."""
    if writes:
        share, quotient = cell.nvm_writes / cell.writes, NVM_WRITE_US / FLASH_WRITE_US
    else:
        share, quotient = cell.nvm_reads / cell.reads, NVM_READ_US / FLASH_READ_US
    return 100 * (1 / (1 - share + share * quotient) - 1)


def _draw(axes: "Axes") -> None:
    names = [cell.name for cell in CELLS]
    series = {
        "published": [cell.saved for cell in CELLS],
        "from the counts": [cell.share() for cell in CELLS],
    }
    plots.grouped(axes, names, series)
    axes.set_ylabel("energy saved (%)")
    axes.tick_params(axis="x", labelrotation=45)
    axes.legend()


@experiment(
    "IC-T5",
    claim="guests' metadata in the NVM: energy saved, one machine, mean of 11 applications",
    published=PUBLISHED_MEAN,
    unit="%",
    judges_quick=True,
    where="tables 4.3 and 4.5",
    setup="published: 1.5 J/GB a read and 17 a write of flash, 1 and 6 of the NVM, times 4 for no "
    "reason given, on counts and mean lengths of table 4.3; flash alone takes 0 to 260 mJ more, in "
    "steps of 10 that are not explained. Ours: the same arithmetic without the steps, a GB of 2^20 "
    "KB, for the 11 of 33 cells that are of one machine; of two and three only the means of table "
    "4.5 are on file (46.0 and 46.2 %), see IC-13/energy-2 and -3",
)
def saved_energy(_quick: bool) -> Report:
    """The published shares from the published counts; nothing of this is measured."""
    plain = [cell.share() for cell in CELLS]
    met = sum(abs(cell.share(cell.more_mj) - cell.saved) < ROUNDING for cell in CELLS)
    apart = max(abs(share - cell.saved) for share, cell in zip(plain, CELLS, strict=True))
    reads = mean(cell.nvm_reads / cell.reads for cell in CELLS)
    writes = mean(cell.nvm_writes / cell.writes for cell in CELLS)
    answers = [
        Answer(
            round(mean(plain), 2),
            verdict=NOT_JUDGED,
            why=CHECK
            + "by its formula without the steps; requests to the NVM count as long as all "
            "others, those of metadata are shorter, so a measured run saves less",
        ),
        Answer(
            met,
            verdict=NOT_JUDGED,
            why=CHECK
            + "each with the step of 0 to 260 mJ more on flash that comes nearest, so fitted; in "
            "the cells of a few J that is so much that it proves little, the plain formula below "
            "proves more; the 22 of two and three machines are not computed",
            part="cells",
            claim="cells of table 4.5 that follow from table 4.3, of one machine's 11; 33 in all",
            unit="cells",
            where=OURS,
        ),
        Answer(
            round(apart, 2),
            verdict=NOT_JUDGED,
            why=CHECK + "the 10 mJ steps are worth that much at most",
            part="plain",
            claim="largest difference without the steps that nobody explains",
            unit="points",
            where=OURS,
        ),
        Answer(
            f"{100 * reads:.0f} and {100 * writes:.0f}",
            verdict=NOT_JUDGED,
            why=CHECK
            + "counted in requests; by size metadata is 0.42 % of what is written, which is "
            "another measure",
            part="share",
            claim="requests served by the NVM: of reads and of writes, mean of 11",
            published="78 and 77",
            unit="%",
        ),
    ]
    rows: list[list[Value]] = [
        [
            cell.name,
            round(cell.tier_mj),
            round(cell.flash_mj),
            cell.more_mj,
            round(cell.share(), 2),
            round(cell.share(cell.more_mj), 2),
            cell.saved,
        ]
        for cell in CELLS
    ]
    columns = ["application", "with NVM, mJ", "flash alone, mJ", "more, mJ", "saved, %",
               "saved with more, %", "published, %"]  # fmt: skip
    return Report(answers, columns, rows, _draw)


#: Of the examples of section 4.5: pages of metadata that are read and as many written, collections
#: less, and pages with data in a block of 64 that is collected.
PAGES, COLLECTIONS, VALID = 50_000, 800, 63
ERASE_US = 1500
PUBLISHED_PAGES_MS, PUBLISHED_COLLECTIONS_MS = 22_890, 27_660
#: Lines of 64 B that our tier writes beside the page: its entry, and one it replaces.
MOST_LINES, LINE_US = 2, 1


def pages_saved_ms() -> float:
    """By the costs alone."""
    read, write = FLASH_READ_US - NVM_READ_US, FLASH_WRITE_US - NVM_WRITE_US
    return PAGES * (read + write) / 1000


def collections_saved_ms(valid: int) -> float:
    """Collections with so many pages to copy."""
    return COLLECTIONS * (ERASE_US + valid * (FLASH_READ_US + FLASH_WRITE_US)) / 1000


def _pages_measured_ms(part: _native.Part) -> float:
    """The same requests on the device, without its NVM and with it: each page is written, then
    read; none is written twice in a row, so that nothing is gathered."""
    inodes = classes.NAMES.index("inodes")
    recording = _guest.Recording(PAGES)
    for kind in (_guest.WRITE, _guest.READ):
        recording.requests += [
            _guest.Request(0, block % PLACES, 1, inodes, kind) for block in range(PAGES)
        ]
    flash, tier = (_guest.replay(recording, part, name, used=False) for name in ("", "class"))
    return (sum(flash.served_ns) - sum(tier.served_ns)) / 1e6


@experiment(
    "IC-E4",
    claim="time saved by 50,000 pages of metadata read and as many written in the NVM",
    published=PUBLISHED_PAGES_MS,
    unit="ms",
    judges_quick=True,
    where="section 4.5, equations 4.1 to 4.4",
    setup="published: a page of 4 KB takes 25 us to read and 500 to program, an erase 1.5 ms, a "
    "line of 64 B of PCM 50 ns and 1 us; 50,000 reads and 50,000 writes of a page. Ours: the same "
    f"costs on the emulated chip, {BLOCKS} blocks of 128 pages of 4 KB, mapped by page, empty; "
    f"{PLACES} pages of metadata in turn, written and then read, with 16 MB of PCM and without",
)
def examples(_quick: bool) -> Report:
    """The example of the pages by the device; that of collections by its arithmetic."""
    saved = _pages_measured_ms(_phone.part(_phone.Model(blocks=BLOCKS)))
    off = PAGES * MOST_LINES * LINE_US / 1000
    least, most = collections_saved_ms(0), collections_saved_ms(VALID)
    answers = [
        Answer(
            round(saved),
            holds=near(saved, PUBLISHED_PAGES_MS, points=off),
            verdict=NOT_JUDGED,
            why=f"true by construction: the thesis's costs, which are ours, give "
            f"{pages_saved_ms():,.0f} ms alone; beside it our tier writes an entry for each page, "
            f"{MOST_LINES} lines of the PCM at most, {off:.0f} ms",
        ),
        Answer(
            round(most),
            verdict=NOT_JUDGED,
            why=CHECK + f"800 erases alone are {least:,.0f} ms, with {VALID} pages to copy each "
            f"{most:,.0f}; how many collections the NVM saves hangs on the traffic, IC-13",
            part="collections",
            claim="time saved by 800 collections less, at most",
            published=PUBLISHED_COLLECTIONS_MS,
        ),
    ]
    rows: list[list[Value]] = [
        ["pages, by the costs", round(pages_saved_ms())],
        ["pages, on the device", round(saved)],
        ["collections, nothing to copy", round(least)],
        [f"collections, {VALID} pages to copy", round(most)],
    ]
    return Report(answers, ["example", "saved, ms"], rows)
