# SPDX-License-Identifier: Apache-2.0
"""What a replay that ended answers, as docs/schemas/replay-1.json has it, and whether it failed."""

from fractions import Fraction
from typing import Any

from nandwich import _native
from nandwich.replay import accesses, classes, life, room, traffic
from nandwich.replay.options import TIER_NEEDS
from nandwich.replay.play import Play
from nandwich.twin import parts


def broken_laws(play: Play) -> list[str]:
    """The laws of the books that do not hold, with their two sides."""
    return [
        f"{name}: {left} against {right}"
        for name, left, right, slack in play.replay.laws()
        if not left <= right <= left + slack
    ]


def faults(result: dict[str, Any], broken: list[str], *, until_worn: bool) -> list[str]:
    """Why a replay that ended counts as failed, a sentence each; `broken` are laws."""
    found = [f"the books do not balance: {law}" for law in broken]
    if result["violations"]:
        request = result["violation_request"]
        when = "when read back" if request == result["requests"] else f"at request {request}"
        found.append(
            f"{result['violations']} sectors read wrong, the first is sector "
            f"{result['violation_sector']} {when}"
        )
    if result["ended"] < 0 and not until_worn:
        found.append(
            f"the device refused request {result['requests'] - 1} at sector "
            f"{result['ended_sector']}: {result['ended_text']}"
        )
    return found


def derived(play: Play, result: dict[str, Any]) -> dict[str, Any]:
    """Figures that follow from counts: amplification, energy a byte, wear, lifetime."""
    layer = result["layer"]
    wear = play.replay.wear()
    host_bytes = result["bytes_read"] + result["bytes_written"]
    elapsed = result["end_ns"]
    most, total = max(wear), sum(wear)
    # A rating says nothing about blocks that are healed.
    rated = 0 if play.options.wear_figures.get("heal") else play.device.endurance

    def years(erases: Fraction) -> float | None:
        if not rated or not erases or not elapsed:
            return None
        return float(f"{float(elapsed * rated / erases / life.YEAR_NS):.4g}")

    writes = result["sectors_written"] if play.options.nvm else layer["host_writes"]
    kinds = [result[way] for way in ("reads", "writes", "others")]
    responses = sum(kind["mean_ns"] * kind["count"] for kind in kinds)
    return {
        "write_amplification": round(layer["programs"] / writes, 4) if writes else None,
        "erases_per_1000_writes": round(1000 * layer["erases"] / writes, 4) if writes else None,
        "energy_pj_per_host_byte": result["energy_pj"] // host_bytes if host_bytes else None,
        "queue_mean": round(responses / elapsed, 4) if elapsed else None,
        "erases_max": most,
        "erases_mean": round(total / len(wear), 4),
        "erases_min": min(wear),
        "lifetime_years": years(Fraction(most)),
        "lifetime_years_if_even": years(Fraction(total, len(wear))),
        "life": life.extrapolated(
            life.Worn(rated, play.device.block_pages, wear, layer["programs"], int(writes), elapsed)
        ),
    }


def _tier(play: Play) -> dict[str, Any] | None:
    """What the NVM before the layer did, and how long it lives at this rate."""
    options = play.options
    if not options.nvm:
        return None
    work = play.device.tier()
    elapsed = play.replay.result()["end_ns"]
    most = work["line_writes_max"]
    years = None
    if most and work["endurance"] and elapsed:
        years = float(f"{elapsed * work['endurance'] / most / life.YEAR_NS:.4g}")
    return {
        "nvm": parts.resolve(options.nvm_part).name,
        "policy": options.tier,
        "half_life": options.half_life if "lambda" in TIER_NEEDS[options.tier] else None,
        "reads": options.nvm_reads,
        **work,
        "lifetime_years": years,
        "bound": play.replay.bound(),
    }


def _shares(play: Play, by: str) -> list[dict[str, Any]]:
    """The books by application, class or hour of the day, with MB/s and mean slots held."""
    unit = play.device.sector_bytes
    shares: list[dict[str, Any]] = []
    for share in play.replay.shares(by):
        requests, served = share["requests"], share["served_ns"]
        sectors = share["read"] + share["written"]
        held = share.pop("held")
        shares.append(
            {
                **share,
                "mb_per_s": round(sectors * unit * 1000 / served, 3) if served else None,
                "held_mean": round(held / requests, 1) if requests and play.options.nvm else None,
            }
        )
    return shares


def _applications(play: Play) -> list[dict[str, Any]]:
    """Of each application that asked for something; empty when the source names none."""
    if not play.apps:
        return []
    names = [None, *play.apps]
    shares = zip(names, _shares(play, "app"), strict=True)
    return [{"name": name, **share} for name, share in shares if share["requests"]]


def _classes(play: Play) -> list[dict[str, Any]]:
    """Of each class of sectors that something was asked of; empty when nobody tells classes."""
    if not play.options.classes:
        return []
    return [
        {"name": classes.NAMES[i % classes.GUEST], "guest": i >= classes.GUEST, **share}
        for i, share in enumerate(_shares(play, "content"))
        if share["requests"]
    ]


def _read(name: str, source: _native.Source) -> dict[str, Any]:
    """What a source is, and how well it could be read."""
    trace = source if isinstance(source, _native.Trace) else None
    paged = accesses.as_json(name, source) if isinstance(source, _native.PageTraffic) else None
    made = "accesses" if paged is not None else "generated"
    return {
        "format": made if trace is None else trace.format,
        "skipped_lines": 0 if trace is None else trace.skipped,
        "empty_lines": 0 if trace is None else trace.empty,
        "paging": paged,
    }


def as_json(play: Play) -> dict[str, Any]:
    """All of a replay that ended, as docs/schemas/replay-1.json has it."""
    options = play.options
    result = dict(play.replay.result())
    layer = result.pop("layer")
    result["layer"] = layer
    recorded = not traffic.is_generated(options.source)
    return {
        "device": {
            "chip": play.chip,
            "ftl": options.ftl,
            "layer": dict(options.layer),
            "wear": options.wear,
            "wear_figures": dict(options.wear_figures),
            "blocks": play.device.blocks,
            "block_pages": play.device.block_pages,
            "sectors": play.device.sectors,
            "sector_bytes": play.device.sector_bytes,
            "ram_bytes": room.ram_bytes(play.device),
            "endurance": play.device.endurance,
        },
        "tier": _tier(play),
        "applications": _applications(play),
        "classes": _classes(play),
        "class_notes": play.class_notes,
        "hours": _shares(play, "hour") if play.apps or play.options.nvm else [],
        "source": {
            "name": options.source,
            **_read(options.source, play.source),
            **play.facts,
        },
        "options": {
            "arrivals": play.arrivals,
            "idle": options.idle,
            "repeat": options.repeat,
            "limit": options.limit,
            "precondition_permille": options.precondition,
            "fit": options.fit if recorded else "refuse",
            "verify": options.verify,
            "classes": options.classes or None,
            "ram_bytes": options.ram or None,
        },
        "result": result,
        "derived": derived(play, result),
        "laws": [
            {"name": name, "left": left, "right": right, "holds": left <= right <= left + slack}
            for name, left, right, slack in play.replay.laws()
        ],
        "samples": play.replay.samples(),
        "wear": play.replay.wear(),
        "policy": play.replay.wear_stats() or None,
    }
