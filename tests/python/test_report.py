# SPDX-License-Identifier: Apache-2.0
"""`nandwich report`: the page is whole, follows what is chosen, asks for nothing, and can be used
by who does not see it. Driven in headless Chromium."""

import hashlib
import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fleets
import pytest
from browser import Browser
from click.testing import CliRunner, Result
from schemas import validate
from transcripts import follow

from nandwich import paths
from nandwich.cli.main import main
from nandwich.errors import InputError
from nandwich.report import page
from nandwich.results import figures, read

assert paths.CHECKOUT is not None
ROOT = paths.CHECKOUT
MOST_BYTES, MOST_S = 2_000_000, 2.0
FIGURES = "[...document.querySelectorAll('figure')]"
AXE = ROOT / "build" / "assets" / "test" / "axe.js"
TRACE = """process,device,rw,sector,size,timestamp
logger,0,W,0,8,0.000
logger,0,W,8,8,3700.020
viewer,0,R,0,8,3700.035
viewer,0,W,64,8,3701.000
"""


def ran(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments])


def made(*arguments: str | Path) -> Result:
    done = ran(*arguments)
    assert done.exit_code == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small result of each kind that has pictures."""
    folder = tmp_path_factory.mktemp("results")
    small = "gen:zipf,requests=4K"
    for name, options in (
        ("tree", ("--ftl", "tree", "--ram", "8K", "--blocks", "64")),
        ("page", ("--ftl", "page", "--blocks", "64")),
    ):
        made("replay", small, *options, "--json", folder / f"{name}.json")
    (folder / "mine.csv").write_text(TRACE)
    made("replay", folder / "mine.csv", "--arrivals", "--nvm", "1M", "--json", folder / "tier.json")
    made("compare", small, "--ftl", "page,tree,fast", "--blocks", "64", "--wrap", "--ram", "300K",
         "--keep", folder / "kept", "--json", folder / "compare.json")  # fmt: skip
    made("sched", "--runs", "1", "--json", folder / "sched.json")
    made("run", ROOT / "examples" / "sort.c", "--once", "--no-native", "--record-accesses",
         folder / "sort.acc", "--json", folder / "run.json", "--", "2000")  # fmt: skip
    made("vmtrace", folder / "sort.acc", "--policy", "lru,clock,belady", "--json",
         folder / "vmtrace.json")  # fmt: skip
    camera = ROOT / "examples" / "nodes" / "camera.toml"
    made("energy", camera, "--json", folder / "energy.json")
    made("torture", "tree", "--seeds", "2", "--json", folder / "torture.json")
    (folder / "fit.json").write_text(json.dumps(FIT))
    (folder / "papers.json").write_text(json.dumps(PAPERS))
    (folder / "bench.json").write_text(json.dumps(BENCH))
    return folder


def _layer(name: str, fits: bool, ram: int, programs: float | None) -> dict[str, Any]:
    measured = {"programs_a_write": programs, "time_ns_a_write": 1000, "energy_pj_a_write": 900}
    measured |= {"reads_a_read": 1.5, "longest_call_ns": 2000, "mount_ns": 3_000_000}
    return {"layer": name, "fits": fits, "ram_bytes": ram, "life_bytes": 10**12, "code_bytes": 9000,
            "config": {}, **measured}  # fmt: skip


FIT = {
    "schema": "nandwich.fit/1",
    "provenance": {"command": "nandwich fit --ram 64K", "seed": 1},
    "question": {"chip": "K9F1G08U0A"},
    "layers": [_layer("tree", True, 4000, 1.8), _layer("page", False, 260_000, None)],
}
PAPERS = [
    {"schema": "nandwich.papers/3", "id": f"T{i}/x", "claim": "is <b>less</b>", "published": 2,
     "measured": measured, "unit": "s", "verdict": verdict, "why": "so"}
    for i, (measured, verdict) in enumerate([(1.9, "holds"), (3, "differs"), (None, "error")])
]  # fmt: skip
BENCH = [
    {"schema": "nandwich.bench/1", "name": name, "value": 2, "unit": "ms a write", "target": 1,
     "better": "lower", "ok": False}
    for name in ("dial.ms a write, 4 KB", "dial.ms a write, 16 KB", "other")
]  # fmt: skip
KINDS = ("tree", "page", "tier", "compare", "sched", "run", "vmtrace", "energy", "torture", "fit",
         "papers", "bench")  # fmt: skip


@pytest.fixture(scope="module")
def whole(results: Path) -> Path:
    target = results / "whole.html"
    files = [results / f"{name}.json" for name in KINDS]
    made("report", *files, *sorted((results / "kept").iterdir()), "-o", target)
    return target


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def rows(browser: Browser) -> dict[str, int]:
    """How many rows each picture shows."""
    found = browser.run(
        f"Object.fromEntries({FIGURES}"
        ".map(one => [one.id.replace('picture-', ''), Number(one.dataset.rows)]))"
    )
    return dict(found)


def choose(browser: Browser, selector: str, value: str) -> None:
    browser.run(
        f"(() => {{ const list = document.querySelector('{selector}'); list.value = '{value}';"
        "list.dispatchEvent(new Event('change')); })()"
    )


def test_a_page_is_small_and_opens_at_once_without_asking_for_anything(
    whole: Path, browser: Browser
) -> None:
    assert whole.stat().st_size <= MOST_BYTES
    took = min(browser.open(whole) for _ in range(3))
    assert took <= MOST_S
    assert browser.requests == []
    assert browser.problems == []
    drawn = rows(browser)
    wanted = {
        "sides-0", "latency", "work", "time", "energy", "wear", "erases", "pace", "worst",
        "applications", "served", "hours", "fates", "response", "spent", "split", "memory",
        "faults", "paid", "misses", "dial", "refused", "turned", "cycles", "lives", "sending",
        "targets", "claims", "verdicts", "against-0",
    }  # fmt: skip
    assert wanted - drawn.keys() == set()
    assert [name for name, count in drawn.items() if count == 0] == []
    browser.run("dispatchEvent(new Event('beforeprint'))")  # which draws what is far below too
    assert browser.problems == []
    assert browser.run(f"{FIGURES}.filter(one => !one.querySelector('.panels svg')).length") == 0


def test_a_page_says_of_which_chip_it_is(results: Path, whole: Path) -> None:
    """Goal: part, blocks, spare room, endurance and precondition stand below the figures."""
    (compared,) = re.findall(r'<p class="same">(all with: chip [^<]+)</p>', whole.read_text())[:1]
    for told in ("chip K9F1G08U0A", "blocks 64", "endurance 100000", "precondition_permille 0"):
        assert told in compared
    alone = made("report", results / "page.json", "-o", "-").stdout
    assert re.search(r">with: chip K9F1G08U0A, blocks 64, .*spare room [\d.]+ %, ", alone)


def test_even_wear_has_one_meaning(results: Path) -> None:
    """Goal: `life if even` of a page is the one that `nandwich replay` tells."""
    document = read.read(str(results / "page.json"))
    ((one,), _) = figures.results(document, "page")
    life = document.content["derived"]["life"]
    sector = document.content["device"]["sector_bytes"]
    wanted = life["most_years"] * 365 * life["writes_a_day"] * sector
    assert one.values["life_bytes_if_even"] == round(wanted)


def test_every_picture_follows_a_choice(whole: Path, browser: Browser) -> None:
    """Goal: a layer, a configuration or an application chosen once holds everywhere."""
    browser.open(whole)
    before = rows(browser)
    choose(browser, "#layer", "tree")
    tree = rows(browser)
    for picture in ("latency", "wear", "erases", "time", "sides-0", "dial", "refused"):
        assert 0 < tree[picture] < before[picture] or picture == "dial", picture
    assert tree["fates"] == tree["faults"] == 0  # they know policies, of which none is chosen
    heads = browser.run(
        "[...document.querySelectorAll('thead [data-choice]')].filter(one => !one.hidden)"
        ".map(one => one.textContent)"
    )
    assert "tree" in heads
    assert "page" not in heads
    choose(browser, "#layer", "")
    assert rows(browser) == before
    choose(browser, "#application", "viewer")
    viewer = rows(browser)
    assert 0 < viewer["applications"] < before["applications"]
    assert viewer["latency"] == before["latency"]
    choose(browser, "#application", "flow1")
    assert 0 < rows(browser)["fates"] < before["fates"]
    choose(browser, "#application", "")
    choose(browser, "#against-0-x", "2")
    browser.run("document.querySelector('#none').click()")
    assert rows(browser)["latency"] == 0
    browser.run("document.querySelector('#all').click()")
    assert rows(browser) == before
    assert browser.problems == []


def test_figures_side_by_side_are_over_the_first_that_is_shown(
    whole: Path, browser: Browser
) -> None:
    """Goal: no figure is told over that of a configuration which the page hides."""
    browser.open(whole)
    says = "document.querySelector('#picture-sides-0 p').textContent"
    assert "over that of page" in browser.run(says)
    choose(browser, "#layer", "tree")
    assert "over that of tree" in browser.run(says)
    text = browser.run(
        "(async () => { const more = document.querySelector('#picture-sides-0 details');"
        "more.open = true; await new Promise(done => setTimeout(done, 50));"
        "return more.querySelector('tbody').innerText; })()"
    )
    assert [line.split("\t")[2] for line in text.splitlines()] == ["1"] * len(text.splitlines())


@pytest.mark.parametrize("width", [420, 1400])
def test_figures_side_by_side_say_how_far_and_what_is_better(
    whole: Path, browser: Browser, width: int
) -> None:
    """Goal: both ends of the axis have a label, and each figure an arrow to the better side."""
    browser.open(whole, width=width)
    browser.run("paintAll()")
    texts = browser.run(
        "[...document.querySelectorAll('#picture-sides-0 .panels text')]"
        ".map(one => one.textContent)"
    )
    ticks = [float(one) for one in texts if re.fullmatch(r"[\d.]+", one)]
    ratios = browser.run(
        "(() => { const one = data.pictures.find(one => one.key === 'sides-0');"
        "return ofFirst(one, one.rows).map(row => row[2]); })()"
    )
    assert min(ticks) <= min(ratios)
    assert max(ticks) >= max(ratios)
    assert "programs a write \u2190" in texts
    assert "life if even \u2192" in texts


def test_a_wide_table_keeps_its_first_column_and_says_that_it_scrolls(
    whole: Path, browser: Browser
) -> None:
    hint = "document.querySelector('.sheets .hint').checkVisibility()"
    browser.open(whole, width=1400)
    assert browser.run(hint) is False
    browser.open(whole, width=300)
    assert browser.run(hint) is True
    left, moved = browser.run(
        "(() => { const box = document.querySelector('.sheets .scroll');"
        "const at = () => box.querySelector('tbody th').getBoundingClientRect().left;"
        "const before = at(); box.scrollLeft = 60; return [before, at()]; })()"
    )
    assert left == moved
    assert re.search(r'ram 300K|data-choice="\d+">300K<', whole.read_text())


def test_a_box_is_reached_and_changed_by_keys(whole: Path, browser: Browser) -> None:
    browser.open(whole)
    before = rows(browser)
    for _ in range(60):
        browser.press("Tab", 9)
        if browser.run("document.activeElement.id").startswith("choice-"):
            break
    browser.press(" ", 32, " ")
    assert browser.run("document.activeElement.checked") is False
    assert rows(browser)["latency"] < before["latency"]


def test_a_table_beside_a_picture_has_its_values(whole: Path, browser: Browser) -> None:
    browser.open(whole)
    table = browser.run(
        "(async () => { const more = document.querySelector('#picture-fates details');"
        "more.open = true; await new Promise(done => setTimeout(done, 50));"
        "return more.querySelector('table').innerText; })()"
    )
    assert table.startswith("policy\tflow\tfate\tshare\trequests")
    assert re.search(r"^fifo\t\tmet\t[\d.]+ %\t\d+$", table, re.MULTILINE)
    assert browser.run(f"{FIGURES}.every(one => one.querySelector('details summary'))")


def violations(browser: Browser, options: str) -> list[str]:
    """What axe-core finds that is serious. It looks at each mark of a picture for a long time,
    although a picture is one thing by its role, and at each row of a table."""
    browser.run(
        "document.querySelectorAll('svg[role=img]').forEach(one => one.replaceChildren());"
        "document.querySelectorAll('tbody tr:nth-child(n+6)').forEach(one => one.remove());"
    )
    browser.run(AXE.read_text() + "; 0")
    found = browser.run(
        f"axe.run(document, {options}).then(done => done.violations"
        ".filter(one => ['serious', 'critical'].includes(one.impact))"
        ".map(one => `${one.id}: ${one.nodes[0].html}`))"
    )
    return list(found)


def test_axe_finds_nothing_serious(whole: Path, browser: Browser) -> None:
    """Goal: names, roles, order and contrast hold, with every part open."""
    browser.open(whole)
    browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert violations(browser, "{resultTypes: ['violations']}") == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (400, "light"), (400, "dark")])
def test_contrast_holds_in_both_schemes(
    whole: Path, browser: Browser, width: int, scheme: str
) -> None:
    browser.open(whole, width=width, scheme=scheme)
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert violations(browser, "{runOnly: ['color-contrast'], resultTypes: ['violations']}") == []


def test_marks_are_told_from_what_is_below_them(whole: Path, browser: Browser) -> None:
    """Goal: colours of lines, bars and marks have a contrast of 3 on a card, in both schemes."""
    for scheme in ("light", "dark"):
        browser.open(whole, scheme=scheme)
        below, *marks = browser.run(
            "(() => { const node = document.body.appendChild(document.createElement('i'));"
            "return ['card', ...d3.range(8).flatMap(i => [`c${i}`, `p${i}`])].map(name => {"
            "node.style.color = `var(--${name})`;"
            "return getComputedStyle(node).color; }); })()"
        )
        assert [one for one in marks if contrast(one, below) < 3] == []
        assert len(set(marks)) == 16  # a part has the colour of no configuration


def contrast(one: str, other: str) -> float:
    """Of two colours like rgb(1, 2, 3), as WCAG counts."""

    def light(colour: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        red, green, blue = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)


def test_a_fit_of_a_single_layer_has_figures_and_room_around_its_mark(
    results: Path, browser: Browser
) -> None:
    target = results / "fit.html"
    made("report", results / "fit.json", "-o", target)
    for told in ("energy a write", "longest call", "mount", "life, bytes written", "with: chip"):
        assert told in target.read_text()
    browser.open(target, width=420)
    labels = browser.run(
        "[...document.querySelectorAll('#picture-dial svg g[aria-hidden] text, "
        "#picture-dial svg text')].map(one => one.getBoundingClientRect())"
        ".map(one => [one.left, one.top, one.right, one.bottom])"
    )
    over = [
        (one, other)
        for i, one in enumerate(labels)
        for other in labels[:i]
        if one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
    ]
    assert len(labels) > 5
    assert over == []


def test_few_erases_are_told_apart(whole: Path, browser: Browser) -> None:
    """Goal: cells of 0, 1 and 2 erases differ as far as the palette goes, and every step of the
    palette is seen beside its neighbour."""
    for scheme in ("light", "dark"):
        browser.open(whole, scheme=scheme)
        seen = browser.run(
            "(() => { const node = document.body.appendChild(document.createElement('i'));"
            "return steps([0, 1, 2]).map((_, i, all) => heat(i, all.length)).concat(HEAT)"
            ".map(name => { node.style.color = name; return getComputedStyle(node).color; }); })()"
        )
        few, palette = seen[:3], seen[3:]
        assert few == [palette[0], palette[3], palette[6]]
        assert min(map(contrast, palette, palette[1:])) >= 1.2


def test_the_switch_wins_over_the_system(whole: Path, browser: Browser) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    browser.open(whole, scheme="dark")
    dark = browser.run(paper)
    choose(browser, "#scheme", "light")
    light = browser.run(paper)
    assert light == "rgb(255, 255, 255)" != dark


def test_latency_begins_at_the_first_time_above_0(results: Path) -> None:
    """Goal: requests that took no time are told beside the picture, and stretch it not."""
    value = json.loads((results / "tree.json").read_text())
    writes = value["result"]["writes"]
    some = writes["histogram"][0][1]
    writes["histogram"][0][0] = 0
    data = json.dumps(value).encode()
    document = read.parse("x.json", data, read.SHOWN)
    text = page.make([page.Source(document, "")]).decode()
    shown = json.loads(re.findall(r'<script type="application/json" id="data">(.*?)<', text)[0])
    (latency,) = [one for one in shown["pictures"] if one["key"] == "latency"]
    assert min(row[2] for row in latency["rows"]) == writes["histogram"][1][0]
    assert latency["table"]["rows"][0][-1] == round(100 * some / writes["count"], 4)


def test_fleets_are_judged_by_their_intervals(tmp_path: Path) -> None:
    """Goal: a page of two fleets, and one of their comparison, show and mark as `nandwich compare`
    does: intervals, lives beyond the horizon, no mark where intervals overlap."""
    for name, last in (("one", 4000), ("two", 4080), ("much", 6000)):
        lives = [last * (1 + i) / 200 for i in range(200)]
        fleets.written(tmp_path / f"{name}.json", lives)
    three = [tmp_path / f"{name}.json" for name in ("one", "two", "much")]
    made("compare", *three, "--json", tmp_path / "compare.json")
    for files in (three, [tmp_path / "compare.json"]):
        made("report", *files, "-o", tmp_path / "page.html")
        text = (tmp_path / "page.html").read_text()
        (row,) = re.findall(r"<tr><th[^>]*>50 % have ended.*?</tr>", text)
        cells = row.split("<td")[1:]
        assert all("±" in one for one in cells)
        assert [">best<" in one for one in cells] == [False, False, True]
        assert ">worst<" not in row
        (row,) = re.findall(r"<tr><th[^>]*>99 % have ended.*?</tr>", text)
        assert row.count("over 10 years") == 3
    other = fleets.written(tmp_path / "other.json", [2000.0] * 200, 1000)
    made("report", *three, other, "-o", tmp_path / "page.html")
    assert "not judged, because the horizon differs" in (tmp_path / "page.html").read_text()


def test_a_fleet_that_one_cause_ended_tells_it(browser: Browser, tmp_path: Path) -> None:
    """Goal: the colours of its pictures have a legend, with one cause alone."""
    result = fleets.written(tmp_path / "worn.json", [1000.0, 2000.0, 3000.0])
    made("report", result, "-o", tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    for title in ("What has ended nodes", "Ends, by workload"):
        script = f"""(async () => {{
            const heads = [...document.querySelectorAll("h3")];
            const node = heads.find(one => one.textContent === "{title}").parentElement;
            node.scrollIntoView();
            for (let i = 0; i < 200 && !node.querySelector("svg"); i++)
                await new Promise(done => setTimeout(done, 10));
            return [...node.querySelectorAll(".legend li")].map(one => one.textContent.trim());
        }})()"""
        assert browser.run(script)[:3] == ["battery", "wear", "space"]


def test_it_prints_on_a4(whole: Path, browser: Browser) -> None:
    browser.open(whole, scheme="dark")
    printed = browser.printed()
    sizes = {
        tuple(map(float, box.split())) for box in re.findall(rb"/MediaBox \[([\d. ]+)\]", printed)
    }
    assert all(abs(w - 595) < 1 and abs(h - 842) < 1 for _, _, w, h in sizes)
    assert sizes
    # Letters are of one size: what is drawn is as wide as its place on A4.
    browser.run("dispatchEvent(new Event('beforeprint'))")
    browser.ask("Emulation.setEmulatedMedia", media="print")
    browser.ask("Emulation.setDeviceMetricsOverride", width=688, height=1017, deviceScaleFactor=1,
                mobile=False)  # fmt: skip
    scales = browser.run(
        "[...document.querySelectorAll('.panels svg')].filter(one => one.clientWidth)"
        ".map(one => one.clientWidth / Number(one.getAttribute('width')))"
    )
    assert len(scales) > 20
    assert min(scales) >= 0.8


def test_a_wide_table_is_whole_on_paper(tmp_path: Path, browser: Browser) -> None:
    """Columns of a comparison of eleven were cut at the edge of an A4 page."""
    spare = ",".join(str(30 + 10 * i) for i in range(11))
    made("compare", "gen:zipf,requests=500", "--spare", spare, "--seeds", "2",
         "--json", tmp_path / "wide.json")  # fmt: skip
    made("report", tmp_path / "wide.json", "-o", tmp_path / "wide.html")
    browser.open(tmp_path / "wide.html")
    browser.ask("Emulation.setEmulatedMedia", media="print")
    browser.ask("Emulation.setDeviceMetricsOverride", width=688, height=1017, deviceScaleFactor=1,
                mobile=False)  # fmt: skip
    ends = browser.run(
        "[...document.querySelectorAll('.sheets table')]"
        ".map(one => one.getBoundingClientRect().right)"
    )
    browser.ask("Emulation.setEmulatedMedia", media="")
    assert len(ends) > 0
    assert max(ends) <= 688


def test_a_replay_tells_its_latency_histogram(results: Path) -> None:
    """Goal: what the picture of latency is drawn from has every request once."""
    value = json.loads((results / "tree.json").read_text())
    validate("replay-1", value)
    writes = value["result"]["writes"]
    times = [time for time, _ in writes["histogram"]]
    assert times == sorted(set(times))
    assert times[-1] == writes["max_ns"]
    assert sum(count for _, count in writes["histogram"]) == writes["count"]
    assert value["result"]["reads"]["histogram"] == []


@pytest.mark.quick
def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    source = tmp_path / "sched.json"
    made("sched", "--runs", "1", "--json", source)
    made("report", source, "-o", tmp_path / "a.html")
    done = made("report", source, "-o", "-")
    assert (tmp_path / "a.html").read_bytes() == done.stdout_bytes
    text = done.stdout
    assert hashlib.sha256(source.read_bytes()).hexdigest() in text
    assert f"nandwich sched --runs 1 --json {source}" not in text  # the tests run the verb inside


@pytest.mark.quick
def test_what_a_result_says_is_no_html(tmp_path: Path) -> None:
    """Goal: a name in a result cannot run a script or break the page."""
    bad = "</script><img src=x onerror=alert(1)>"
    claims = [one | {"claim": bad, "id": bad} for one in PAPERS]
    (tmp_path / f"{bad.replace('/', '')}.json").write_text(json.dumps(claims))
    (source,) = tmp_path.iterdir()
    text = made("report", source, "-o", "-", "--title", bad).stdout
    assert bad not in text
    assert "<img" not in text
    assert html.escape(bad) in text


REFUSED = (
    ('{"schema": "nandwich.fit/1", "layers": []}', "would be empty"),
    ('{"schema": "nandwich.vmtrace/1", "frames": []}', "would be empty"),
    ('{"schema": "nandwich.vmtrace/1"}', "'frames' is missing"),
    ('{"schema": "nandwich.sched/1", "device": "x", "provenance": {}}', "missing"),
    ('{"schema": "nandwich.replay/1"}', "is missing"),
    ('{"schema": "nandwich.fit/1", "layers": 7}', "no nandwich.fit/1 as it is written"),
    ('{"schema": "nandwich.chips/1"}', "is not shown; results of these verbs are"),
    ('{"schema": "nandwich.fit/9"}', "knows nandwich.fit/1"),
    ("{}", "JSON without `schema`"),
    ("{", "the file ends in the middle"),
    ("", "the file is empty"),
    ("[]", "an empty list"),
)


@pytest.mark.quick
@pytest.mark.parametrize(("text", "told"), REFUSED)
def test_what_cannot_be_shown_is_refused(tmp_path: Path, text: str, told: str) -> None:
    source, target = tmp_path / "x.json", tmp_path / "x.html"
    source.write_text(text)
    done = ran("report", source, "-o", target)
    assert done.exit_code == 2, done.output
    assert told in done.stderr
    assert str(source) in done.stderr
    assert not target.exists()


def test_the_page_of_the_docs_can_be_followed(tmp_path: Path) -> None:
    """Goal: docs/show.md leads from a csv of one's own to a page in three commands."""
    text = (ROOT / "docs" / "show.md").read_text(encoding="utf-8")
    (trace,) = re.findall(r"^```csv\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    (tmp_path / "log.csv").write_text(trace)
    assert follow("show.md", tmp_path) == 3
    assert "<title>A layer for the logger</title>" in (tmp_path / "layers.html").read_text()


def _places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Ways to the parts of a document, of long lists only to the first ones."""
    if way:
        yield way
    inner = value.items() if isinstance(value, dict) else enumerate(value[:2])
    for key, part in inner if isinstance(value, dict | list) else ():
        if isinstance(part, dict | list):
            yield from _places(part, (*way, key))
        else:
            yield (*way, key)


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_result_is_shown_or_refused_in_a_sentence(results: Path, kind: str) -> None:
    """Goal: whatever one part of a result becomes, there is a page or one clear error."""
    text = (results / f"{kind}.json").read_text()
    told = []
    ways = [way for way in _places(json.loads(text)) if way not in (("schema",), ("provenance",))]
    for number, way in enumerate(ways[:: -(-len(ways) // 60)]):
        changed = json.loads(text)
        *outer, last = way
        part = changed
        for key in outer:
            part = part[key]
        part[last] = [None, "word", -1, [], {}, [None], {"a": [1]}, 1e300, True][number % 9]
        data = json.dumps(changed).encode()
        try:
            document = read.parse("x.json", data, read.SHOWN)
            page.make([page.Source(document, "")])
        except InputError as error:
            told.append(error.message)
    assert [text for text in told if "x.json" not in text] == []


@pytest.mark.quick
def test_only_a_page_is_replaced(tmp_path: Path) -> None:
    source, target = tmp_path / "fit.json", tmp_path / "notes.html"
    source.write_text(json.dumps(FIT))
    target.write_text("<html>my notes</html>")
    done = ran("report", source, "-o", target)
    assert done.exit_code == 2
    assert "no page of nandwich report" in done.stderr
    assert target.read_text() == "<html>my notes</html>"
    made("report", source, "-o", target, "--force")
    assert page.MARK in target.read_text()
    made("report", source, "-o", target)  # which is one by now
    done = ran("report", source, "-o", source)
    assert "would overwrite" in done.stderr
