# SPDX-License-Identifier: Apache-2.0
"""VF-10, VF-13 to VF-16, VF-gc: habits of applications and a little NVM, on a month by model.

Chen, PhD thesis, PolyU 2016, chapter 3; the model and what is ours in it: _phone.py. Time is that
in which a request has arrived and those before it are done; speed is sectors in that time, of each
application against the same on flash alone, and the mean over applications and users.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lab.experiments import NOT_JUDGED, OURS, Answer, Report, Value, experiment, near
from nandwich import plots
from papers.tiering import _phone
from papers.tiering._phone import APPS, FLASH, VFLASH, Model, Outcome, Seeds, Way

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PUBLISHED_SPEED = 2.86
PUBLISHED_BEST = 9.54  # of user 1
SOFTWARE_US = 50  # of a request on its way through a kernel of 2012
PUBLISHED_LRFU, PUBLISHED_INTRA = 3.92, 15.77
PUBLISHED_ENERGY, PUBLISHED_ENERGY_LRFU = 60.36, 51.98
PUBLISHED_IDEAL, PUBLISHED_DIRECT = 12.72, 39.33
PUBLISHED_ERASES = 30_250
#: Of whole months.
LRFU_GAIN = Seeds(19.1, 20.0, "points")
INTRA_GAIN = Seeds(-18.2, -8.4, "points")
ENERGY, ENERGY_LRFU = Seeds(4.9, 13.9, "points"), Seeds(-3.4, 7.8, "points")
UNDER, OVER = Seeds(11.1, 16.3, "points"), Seeds(190.5, 198.9, "points")
FEWER = Seeds(8_443, 11_329, "erases")
SETUP = (
    "published: Exynos4412, Android 4.2, 64 Gbit flash at 25 us a read, 500 us a program, 1.5 ms "
    "an erase, measured with its software; 16 MB of PCM at 50 ns a read and 150 ns a write, energy "
    "of 1.5, 17 and 10 J/GB, PCM 1 and 6 J/GB, modelled; 7 day tables of 24 hours; 11 "
    "applications of three persons, a month each, MB/s of each against stock; no trace, no weight "
    "of LRFU, no rule for a full NVM. Ours: device times alone at the same costs, a line of 64 B "
    f"of the PCM at its 50 and 150 ns; {_phone.BASE.blocks} blocks of 128 pages of 4 KB, mapped by "
    "page, 95 % written before; LRFU with lambda 0.001, which makes room when a write wants it; "
    "without room in vFlash a write goes to flash; speed is an application's pages over the time "
    "from arrival, or the end of the request before, to the end, its ratio to flash alone the mean "
    "of applications and users; direct: room is made before the next request, which waits; ideal: "
    "so too, but it takes no time; " + _phone.told(_phone.BASE)
)
#: Varied in a quick run; the whole list takes minutes.
QUICK_VARIED = ("hot", "updates", "seed")

WAYS = {
    "flash": FLASH,
    "lrfu on demand": _phone.LRFU,
    "lrfu in idle time": _phone.LRFU_IDLE,
    "vFlash, inter": _phone.INTER,
    "vFlash": VFLASH,
    "vFlash and class": _phone.JOINED,
    "vFlash and room": _phone.ROOM,
    "H-ARC": _phone.HARC,
    "ours": _phone.OURS,
}


def _base(quick: bool) -> tuple[Model, Sequence[int]]:
    return (_phone.quick(_phone.BASE), (1,)) if quick else (_phone.BASE, _phone.USERS)


def _ratios(user: int, model: Model, way: Way) -> list[float]:
    """Of each application against flash alone."""
    with_nvm, flash = _phone.run(user, model, way), _phone.run(user, model, FLASH)
    return [with_nvm.speed(app) / flash.speed(app) for app in range(len(APPS))]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _speed(users: Sequence[int], model: Model, way: Way) -> float:
    """Mean over applications and users."""
    flash = [_phone.run(user, model, FLASH) for user in users]
    runs = [_phone.run(user, model, way) for user in users]
    return _mean([run.mean_ratio(other) for run, other in zip(runs, flash, strict=True)])


def _total(user: int, model: Model, way: Way) -> float:
    """All requests together: who is taken for the writer does not matter."""
    flash = _phone.run(user, model, FLASH)
    return _phone.run(user, model, way).total_speed / flash.total_speed


def _varied(model: Model, quick: bool) -> list[Model]:
    names = QUICK_VARIED if quick else _phone.VARIED
    model = _phone.shorter(model)
    made = []
    for name in names:
        for value in _phone.VARIED[name]:
            scaled = value // 5 if quick and name == "requests_a_day" else value
            made.append(replace(model, **{name: scaled}))  # type: ignore[arg-type]
    return made


def _difference(model: Model, other: Model) -> str:
    """The number of the model that was varied."""
    return next(
        f"{name} {getattr(other, name)} instead of {getattr(model, name)}"
        for name in _phone.VARIED
        if getattr(other, name) != getattr(model, name)
    )


Rows = Sequence[Sequence[Value]]


def _by_app(rows: Rows, column: int) -> list[float]:
    """The mean of users, a value an application, and the mean of these."""
    values = [_mean([float(row[column]) for row in rows if row[1] == app.name]) for app in APPS]
    return [*values, _mean(values)]


def _draw_by_app(axes: "Axes", series: Mapping[str, Sequence[float | None]]) -> None:
    names = [app.name.replace(" ", "\n") for app in APPS]
    plots.grouped(axes, [*names, "mean"], series, log=True)
    axes.tick_params(axis="x", labelsize=6)


def _draw_speed(rows: Rows, axes: "Axes") -> None:
    """Figures 3.10 to 3.12; of theirs only the means are printed."""
    shown = {"lrfu on demand": 1 + PUBLISHED_LRFU / 100, "vFlash": PUBLISHED_SPEED, "ours": None}
    _draw_by_app(axes, {name: _by_app(rows, 2 + list(WAYS).index(name)) for name in shown})
    means = [mean for mean in shown.values() if mean is not None]
    places = [len(APPS) + plots.offset(number, len(shown)) for number in range(len(means))]
    plots.printed(axes, places, means, "printed")
    plots.plain_ticks(axes.yaxis, (1, 2, 5, 10, 20, 50))
    axes.set_ylabel("speed over flash alone, times")
    axes.legend(fontsize=7, loc="upper right", bbox_to_anchor=(0.9, 1))


def _against_others(users: Sequence[int], model: Model, vflash: float) -> list[Answer]:
    lrfu = _speed(users, model, _phone.LRFU)
    idle = _speed(users, model, _phone.LRFU_IDLE)
    inter = _speed(users, model, _phone.INTER)
    ours = _speed(users, model, _phone.OURS)
    intra = 100 * (vflash / inter - 1)
    return [
        Answer(
            f"{100 * (lrfu - 1):+.1f}",
            holds=near(100 * (lrfu - 1), PUBLISHED_LRFU, points=LRFU_GAIN.off),
            why="each write to a full NVM waits for another to leave, and those that find their "
            "page there do not; without software beside the device that shows more",
            part="lrfu",
            claim="I/O speed gained by the NVM under LRFU over stock, 3 users",
            published=f"+{PUBLISHED_LRFU}",
            unit="%",
            tolerance=LRFU_GAIN.told,
        ),
        Answer(
            round(idle, 2),
            verdict=NOT_JUDGED,
            why="the same LRFU, allowed to keep one slot in 16 free in idle time: what helps is "
            "that room is made ahead, more than who is predicted",
            part="lrfu-idle",
            claim="LRFU that makes room in idle time, over flash alone",
            where=OURS,
            unit="times",
        ),
        Answer(
            f"{intra:+.1f}",
            holds=near(intra, PUBLISHED_INTRA, points=INTRA_GAIN.off),
            why="served by number instead of by updates, applications with few updates get room "
            "too, and the mean over applications counts each alike",
            part="intra",
            claim="I/O speed gained by inter- and intra-application prediction over inter- alone",
            published=f"+{PUBLISHED_INTRA}",
            unit="%",
            tolerance=INTRA_GAIN.told,
        ),
        Answer(
            round(ours, 2),
            holds=ours >= vflash,
            why="metadata by class, the rest by what comes back (H-ARC), room made in idle time",
            part="ours",
            claim="ours over flash alone, at least as fast as vFlash",
            where=OURS,
            unit="times",
            must_hold=True,
        ),
    ]


def _with_tags(user: int, model: Model) -> list[Answer]:
    carried = _total(user, model, VFLASH)
    answers = []
    for tags in ("lost", "inferred"):
        other = _total(user, replace(model, tags=tags), VFLASH)
        answers.append(
            Answer(
                f"{100 * (other / carried - 1):+.1f}",
                verdict=NOT_JUDGED,
                why="speed of all requests together; tags of writes are the flusher's (lost), or "
                "those of the last reader of the same 4 MB (inferred). With one writer for all "
                "no room waits for applications that do not run",
                part=tags,
                claim=f"vFlash with tags {tags} against tags carried",
                where=OURS,
                unit="%",
            )
        )
    return answers


@experiment(
    "VF-10",
    claim="I/O speed with vFlash over stock, flash alone, mean of 11 applications and 3 users",
    published=PUBLISHED_SPEED,
    unit="times",
    where="figures 3.10 to 3.12, section 3.5.2",
    setup=SETUP,
)
def speed(quick: bool) -> Report:
    """Speed by application, against other policies, with tags lost, and with the model varied."""
    model, users = _base(quick)
    vflash = _speed(users, model, VFLASH)
    models = _varied(model, quick)
    pairs = [[_speed(users[:1], one, way) for way in (VFLASH, _phone.OURS)] for one in models]
    varied = [pair[0] for pair in pairs]
    worst = models[varied.index(min(varied))]
    gained = min(pair[1] / pair[0] for pair in pairs)
    with_nvm, flash = _phone.run(1, model, VFLASH), _phone.run(1, model, FLASH)
    alone = max(_ratios(1, model, VFLASH))
    best = max(
        with_nvm.speed_with_software(app, SOFTWARE_US) / flash.speed_with_software(app, SOFTWARE_US)
        for app in range(len(APPS))
    )
    answers = [
        Answer(
            round(vflash, 2),
            verdict=NOT_JUDGED,
            why=f"numbers of the model that the thesis does not give decide: {min(varied):.1f} to "
            f"{max(varied):.1f}. No software beside flash and NVM makes applications that only "
            "write small updates much faster than published",
        ),
        Answer(
            round(best, 2),
            verdict=NOT_JUDGED,
            why=f"the time of software is our guess; the device alone makes it {alone:.0f} times "
            "as fast: what the thesis measured has software in it",
            part="software",
            claim=f"the best application of user 1, with {SOFTWARE_US} us of software a request",
            published=PUBLISHED_BEST,
            unit="times",
        ),
        *_against_others(users, model, vflash),
        Answer(
            f"{min(varied):.2f} to {max(varied):.2f}",
            verdict=NOT_JUDGED,
            why=f"one number of the model at a time; least with {_difference(model, worst)}",
            part="varied",
            claim="vFlash over flash alone, whatever the model's numbers",
            where=OURS,
            unit="times",
        ),
        Answer(
            round(gained, 2),
            verdict=NOT_JUDGED,
            why="the least of the same variations",
            part="ours-varied",
            claim="ours is faster than vFlash whatever the model's numbers, at least so many times",
            where=OURS,
            unit="times",
        ),
        *_with_tags(users[0], model),
    ]
    rows: list[list[Value]] = []
    for user in users:
        ratios = {name: _ratios(user, model, way) for name, way in WAYS.items()}
        for at, app in enumerate(APPS):
            rows.append([user, app.name, *(round(ratios[name][at], 3) for name in WAYS)])
    columns = ["user", "application", *WAYS]
    return Report(answers, columns, rows, lambda axes: _draw_speed(rows, axes))


def _saved(user: int, model: Model, way: Way, other: Way) -> float:
    """Percent of energy."""
    mine, theirs = _phone.run(user, model, way), _phone.run(user, model, other)
    return 100 * (1 - mine.energy_pj / theirs.energy_pj)


def _spent(name: str, outcome: Outcome) -> str:
    parts = ", ".join(f"{part} {joules:.0f}" for part, joules in outcome.joules().items())
    return f"{name} spends {outcome.energy_pj / 1e12:.0f} J ({parts})"


def _where_energy_goes(flash: Outcome, vflash: Outcome) -> str:
    left = vflash.written_to_flash / flash.result["sectors_written"]
    return (
        f"{_spent('flash alone', flash)}, {_spent('vFlash', vflash)}: {100 * left:.0f} % of what "
        "is written reaches flash all the same, for it is new data, so writes cost nearly as much; "
        "what is saved is collection and erases"
    )


def _draw_energy(rows: Rows, axes: "Axes") -> None:
    """Figure 3.13, with what its two printed shares make of flash alone."""
    vflash = 100 - PUBLISHED_ENERGY
    told = {"vFlash": vflash, "lrfu on demand": vflash / (1 - PUBLISHED_ENERGY_LRFU / 100)}
    series: dict[str, list[float | None]] = {
        "measured": [100 * float(row[2]) for row in rows],
        "printed": [told.get(str(row[0])) for row in rows],
    }
    plots.grouped(axes, [str(row[0]).replace(" ", "\n") for row in rows], series)
    axes.tick_params(axis="x", labelsize=6)
    axes.set_ylim(0, 125)  # room for the legend
    axes.set_ylabel("energy of a month, % of flash alone")
    axes.legend(fontsize=7, ncols=2, loc="upper right")


@experiment(
    "VF-13",
    claim="I/O energy saved by vFlash against stock, flash alone, first user",
    published=PUBLISHED_ENERGY,
    unit="%",
    where="figure 3.13, section 3.5.2",
    setup=SETUP,
)
def energy(quick: bool) -> Report:
    """Energy, what it could be at best, and how far policies are from that."""
    model, _ = _base(quick)
    flash, vflash = _phone.run(1, model, FLASH), _phone.run(1, model, VFLASH)
    ours = _phone.run(1, model, _phone.OURS)
    against = {name: _saved(1, model, VFLASH, way) for name, way in
               (("flash", FLASH), ("lrfu", _phone.LRFU))}  # fmt: skip
    answers = [
        Answer(
            round(against["flash"], 2),
            holds=near(against["flash"], PUBLISHED_ENERGY, points=ENERGY.off),
            why=_where_energy_goes(flash, vflash),
            tolerance=ENERGY.told,
        ),
        Answer(
            round(against["lrfu"], 2),
            holds=near(against["lrfu"], PUBLISHED_ENERGY_LRFU, points=ENERGY_LRFU.off),
            why="what LRFU keeps in the NVM saves its energy too: "
            + _spent("LRFU", _phone.run(1, model, _phone.LRFU)),
            part="lrfu",
            claim="I/O energy saved by vFlash against the NVM under LRFU, first user",
            published=PUBLISHED_ENERGY_LRFU,
            tolerance=ENERGY_LRFU.told,
        ),
        Answer(
            round(_saved(1, model, _phone.OURS, FLASH), 2),
            verdict=NOT_JUDGED,
            why=_spent("ours", ours),
            part="ours",
            claim="energy saved by ours against flash alone, first user",
            where=OURS,
        ),
        *(
            Answer(
                round(100 * outcome.over_bound, 1),
                verdict=NOT_JUDGED,
                why="sectors written to flash, against who knows the future and never writes back "
                "early",
                part=part,
                claim=f"sectors that {name} writes to flash over the clairvoyant bound",
                where=OURS,
            )
            for part, name, outcome in (("bound", "ours", ours), ("vflash-bound", "vFlash", vflash))
        ),
    ]
    columns, rows = _energy_table(1, model, WAYS)
    return Report(answers, columns, rows, lambda axes: _draw_energy(rows, axes))


def _energy_table(user: int, model: Model, ways: Mapping[str, Way]) -> tuple[list[str], Rows]:
    flash = _phone.run(user, model, FLASH)
    rows: list[list[Value]] = []
    for name, way in ways.items():
        outcome = _phone.run(user, model, way)
        share = round(outcome.energy_pj / flash.energy_pj, 4)
        parts = [round(joules, 2) for joules in outcome.joules().values()]
        rows.append([name, outcome.energy_pj // 10**9, share, *parts])
    columns = ["way", "energy, mJ", "of flash alone"]
    return [*columns, *(f"{name}, J" for name in flash.joules())], rows


def _energy_of(user: int, quick: bool) -> Report:
    """Of a user of whom the thesis has no number."""
    model, _ = _base(quick)
    rivals = {"flash alone": FLASH, "the NVM under LRFU": _phone.LRFU}
    saved = {name: _saved(user, model, VFLASH, way) for name, way in rivals.items()}
    spent = _spent("vFlash", _phone.run(user, model, VFLASH))
    answers = [
        Answer(
            round(saved[name], 2),
            verdict=NOT_JUDGED,
            why=f"a bar without a number; {spent}",
            part=part,
            claim=f"I/O energy saved by vFlash against {name}, user {user}",
        )
        for part, name in (("", "flash alone"), ("lrfu", "the NVM under LRFU"))
    ]
    ways = {name: WAYS[name] for name in ("flash", "lrfu on demand", "vFlash", "ours")}
    columns, rows = _energy_table(user, model, ways)
    return Report(answers, columns, rows)


@experiment(
    "VF-14",
    claim="I/O energy saved by vFlash, second user",
    published="drawn only",
    unit="%",
    where="figure 3.14",
    setup=SETUP,
)
def energy_of_second(quick: bool) -> Report:
    """As VF-13."""
    return _energy_of(2, quick)


@experiment(
    "VF-15",
    claim="I/O energy saved by vFlash, third user",
    published="drawn only",
    unit="%",
    where="figure 3.15",
    setup=SETUP,
)
def energy_of_third(quick: bool) -> Report:
    """As VF-13."""
    return _energy_of(3, quick)


def _draw_preparation(rows: Rows, axes: "Axes") -> None:
    """Figure 3.16; of theirs only the means are printed."""
    idle, at_once, ideal = (_by_app(rows, column) for column in (2, 3, 4))
    found = {
        "at once": [one / other for one, other in zip(at_once, idle, strict=True)],
        "ideal": [one / other for one, other in zip(ideal, idle, strict=True)],
    }
    _draw_by_app(axes, found)
    means = [1 / (1 + PUBLISHED_DIRECT / 100), 1 / (1 - PUBLISHED_IDEAL / 100)]
    places = [len(APPS) + plots.offset(number, len(found)) for number in range(len(found))]
    plots.printed(axes, places, means, "printed")
    plots.plain_ticks(axes.yaxis, (0.1, 0.2, 0.5, 1, 2))
    axes.set_ylim(top=4)  # room for the legend
    axes.set_ylabel("speed, in idle time = 1")
    axes.legend(fontsize=7, ncols=3, loc="upper left")


@experiment(
    "VF-16",
    claim="adaptive space preparation: I/O speed below the ideal, where no request waits for "
    "migration, mean of applications",
    published=PUBLISHED_IDEAL,
    unit="%",
    where="figure 3.16, section 3.5.2",
    setup=SETUP,
)
def preparation(quick: bool) -> Report:
    """Room made in idle time, at once, and by magic."""
    model, users = _base(quick)
    adaptive = _speed(users, model, VFLASH)
    ideal = _speed(users, model, _phone.IDEAL)
    direct = _speed(users, model, _phone.DIRECT)
    under = 100 * (1 - adaptive / ideal)
    over = 100 * (adaptive / direct - 1)
    answers = [
        Answer(
            round(under, 2),
            holds=near(under, PUBLISHED_IDEAL, points=UNDER.off),
            why="ideal: room is made at once and takes no time",
            tolerance=UNDER.told,
        ),
        Answer(
            round(over, 2),
            holds=near(over, PUBLISHED_DIRECT, points=OVER.off),
            why="a request that waits for room to be made waits for all that is predicted, up to "
            "16 MB, and there is no software beside the device that would make both alike",
            tolerance=OVER.told,
            part="direct",
            claim="adaptive space preparation: I/O speed above direct, which does not wait for "
            "idle time, mean of applications",
            published=PUBLISHED_DIRECT,
            unit="%",
        ),
    ]
    rows: list[list[Value]] = []
    for user in users:
        ratios = [_ratios(user, model, way) for way in (VFLASH, _phone.DIRECT, _phone.IDEAL)]
        for at, app in enumerate(APPS):
            rows.append([user, app.name, *(round(ratio[at], 3) for ratio in ratios)])
    columns = ["user", "application", "in idle time", "at once", "ideal"]
    return Report(answers, columns, rows, lambda axes: _draw_preparation(rows, axes))


def _draw_erases(rows: Rows, axes: "Axes") -> None:
    """Erases that each way spares, the users together."""
    erases = {name: sum(int(row[2]) for row in rows if row[1] == name) for name in WAYS}
    spared = {name: erases["flash"] - count for name, count in erases.items() if name != "flash"}
    names = [name.replace(" ", "\n") for name in spared]
    plots.grouped(axes, names, {"measured": list(spared.values())})
    plots.printed(axes, [list(spared).index("vFlash")], [PUBLISHED_ERASES], "printed")
    axes.tick_params(axis="x", labelsize=6)
    axes.set_ylabel(f"erases less than flash alone, of {erases['flash']:,}")
    axes.legend(fontsize=7)


@experiment(
    "VF-gc",
    claim="block erasures fewer with vFlash than with stock, flash alone",
    published=PUBLISHED_ERASES,
    unit="erases",
    where="section 3.5.2",
    setup=SETUP,
)
def erases(quick: bool) -> Report:
    """Erasures of a month."""
    model, users = _base(quick)

    def saved(way: Way) -> int:
        pairs = [(_phone.run(user, model, FLASH), _phone.run(user, model, way)) for user in users]
        return sum(flash.erases - outcome.erases for flash, outcome in pairs)

    alone = sum(_phone.run(user, model, FLASH).erases for user in users)
    answers = [
        Answer(
            saved(VFLASH),
            holds=near(saved(VFLASH), PUBLISHED_ERASES, points=FEWER.off),
            why="how many hangs on how much is written and how full the flash is, which the thesis "
            f"does not say, nor of how many users: here of {len(users)}, where flash alone erases "
            f"{alone} blocks",
            tolerance=FEWER.told,
        ),
        Answer(
            saved(_phone.OURS),
            verdict=NOT_JUDGED,
            why="fewer pages are written to flash",
            part="ours",
            claim="and with ours",
            where=OURS,
            unit="erases",
        ),
    ]
    rows: list[list[Value]] = [
        [user, name, _phone.run(user, model, way).erases]
        for user in users
        for name, way in WAYS.items()
    ]
    return Report(answers, ["user", "way", "erases"], rows, lambda axes: _draw_erases(rows, axes))
