# SPDX-License-Identifier: Apache-2.0
"""What `nandwich replay` and `nandwich trace` say to people."""

from collections.abc import Callable
from typing import Any

from nandwich import _native
from nandwich.quantities import format_energy, format_size, format_time

Row = tuple[str, object, str]


def headline(value: dict[str, Any]) -> str:
    """One line: what was played on what."""
    device, source = value["device"], value["source"]
    size = format_size(device["sectors"] * device["sector_bytes"])
    return (
        f"{source['name']} ({source['format']}, {source['requests']} requests) on {device['ftl']} "
        f"over {device['chip']}: {device['sectors']} sectors of {device['sector_bytes']} B ({size})"
    )


def _responses(result: dict[str, Any], arrivals: bool) -> list[Row]:
    rows: list[Row] = []
    meaning = "from arrival to completion" if arrivals else "back to back"
    for way, name in (("reads", "reads"), ("writes", "writes"), ("others", "trims and syncs")):
        times = result[way]
        if times["count"]:
            text = " / ".join(
                format_time(times[key]) for key in ("mean_ns", "p50_ns", "p99_ns", "max_ns")
            )
            rows.append((f"response, {name}", text, f"mean / 50 % / 99 % / worst, {meaning}"))
    return rows


def _empty(facts: dict[str, Any]) -> list[Row]:
    if not facts["empty_lines"]:
        return []
    return [("requests of no bytes", facts["empty_lines"], "left out")]


def _paging(paging: dict[str, Any] | None) -> list[Row]:
    if paging is None:
        return []
    memory = f"{paging['frames']} frames of {paging['frame_bytes']} B by {paging['policy']}"
    first = f"{paging['pages']} of them first touches; {paging['writebacks']} write-backs"
    return [("page faults", paging["faults"], f"{memory}: {first}")]


_TIER_SLOTS_MOST = 65534  # tier.h: 65,535 frames


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _end(result: dict[str, Any]) -> list[Row]:
    rows: list[Row] = []
    death = result["first_death"]
    if death is not None:
        written = death["sectors_written"]
        rows.append(("first block given up", f"request {death['request']}", f"{written} sectors"))
    if result["ended_text"]:
        where = f"request {result['requests'] - 1}, sector {result['ended_sector']}"
        rows.append(("ended", result["ended_text"], where))
    return rows


def _tier(tier: dict[str, Any]) -> list[Row]:
    reads, writes = tier["nvm_reads"], tier["nvm_writes"] + tier["flash_writes"]
    flash = tier["flash_writes"] + tier["moved"]
    ahead = f"{tier['moved_ahead']} in idle time, {tier['flash_writes']} never in the NVM"
    held = f"{tier['held']} of {tier['slots']} slots of {tier['nvm']} are held at the end"
    rows: list[Row] = [
        (f"written to flash ({tier['policy']})", _share(flash, writes), ahead),
        ("read from NVM", _share(reads, reads + tier["flash_reads"]), held),
    ]
    unused = tier["nvm_bytes"] - tier["nvm_bytes_used"]
    if tier["slots"] == _TIER_SLOTS_MOST and unused > 0:
        most = f"of {format_size(tier['nvm_bytes'])}: a tier has {_TIER_SLOTS_MOST} slots at most"
        rows.append(("NVM not used", format_size(unused), most))
    bound = tier["bound"]
    if bound is not None:
        least = bound["flash_writes_least"]
        text = f"and {_share(bound['nvm_reads_most'], reads + tier['flash_reads'])} read from NVM"
        times = f"; {tier['policy']} writes {flash / least:.2f} times that" if least else ""
        rows.append(("who knows the future", _share(least, writes), f"to flash, {text}{times}"))
    if tier["lifetime_years"] is not None:
        most = f"by the most written line, {tier['line_writes_max']} times"
        rows.append(("NVM's lifetime", f"{tier['lifetime_years']:.3g} years", most))
    return rows


def _below(value: dict[str, Any]) -> list[Row]:
    """What a part did whose pages and blocks are joined to those of the layer."""
    layer, end = value["result"]["layer"], value["samples"][-1] if value["samples"] else {}
    if not end or end["chip_programs"] == layer["programs"]:
        return []
    counts = f"{end['chip_programs']} / {end['chip_reads']} / {end['chip_erases']}"
    return [("of the part itself", counts, "programs / reads / erases: its pages are smaller")]


def _policy(policy: dict[str, int], name: str) -> list[Row]:
    moved = f"by {name}, with {policy['copies']} copies"
    table: list[Row] = [("blocks moved for wear", policy["moved"], moved)]
    if policy["heals"]:
        when = f"{policy['heals_idle']} in idle time, {policy['heals_forced']} forced"
        table.append(("healings", policy["heals"], when))
    return table


def _life(derived: dict[str, Any]) -> list[Row]:
    life = derived["life"]
    if life is None:
        return []
    span = f"{life['least_years']:.3g} to {life['most_years']:.3g}"
    asked = f"{life['writes_a_day']:.3g} writes a day, {life['programs_a_write']:.3g} programs each"
    table: list[Row] = [("lifetime at this rate", f"{life['years']:.3g} years", f"{span}; {asked}")]
    if not life["spread_known"]:
        mean = f"{derived['erases_mean']:.2g} erases a block do not tell its spread"
        table.append(("", "if wear is even", f"{mean}: --repeat goes on, --until-worn proves"))
    return table


def rows(value: dict[str, Any]) -> list[Row]:
    """The table of a replay."""
    result, derived, layer = value["result"], value["derived"], value["result"]["layer"]
    arrivals = value["options"]["arrivals"]
    tier = value["tier"]
    written, read = layer["host_writes"], layer["host_reads"]
    if tier is not None:
        written = tier["nvm_writes"] + tier["flash_writes"]
        read = tier["nvm_reads"] + tier["flash_reads"]
    table: list[Row] = [
        ("requests", result["done"], f"{result['passes']} passes over the source"),
        ("sectors written", written, format_size(result["bytes_written"]) + " asked"),
        ("sectors read", read, format_size(result["bytes_read"]) + " asked"),
    ]
    table += _empty(value["source"]) + _paging(value["source"].get("paging"))
    if result["partial_reads"]:
        text = "sectors written in part are read first; among sectors read"
        table.append(("partial sectors", result["partial_reads"], text))
    if result["wrapped"]:
        table.append(("moved to fit", result["wrapped"], "requests wrapped round or cut"))
    if tier is not None:
        table += _tier(tier)
    table += [
        ("chip programs", layer["programs"], f"{layer['copies']} of them copies"),
        ("chip reads", layer["reads"], ""),
        ("chip erases", layer["erases"], "blocks"),
    ]
    table += _below(value)
    if derived["write_amplification"] is not None:
        table.append(
            ("write amplification", f"{derived['write_amplification']:.3f}", "programs a write")
        )
    merges = [layer[f"merges_{kind}"] for kind in ("switch", "partial", "full")]
    if any(merges):
        table.append(("merges", " / ".join(map(str, merges)), "switch / partial / full"))
    elapsed = result["end_ns"]
    busy = f"busy {_share(result['busy_ns'], elapsed)}"
    ahead = f", working ahead {_share(result['ahead_ns'], elapsed)}" if result["ahead_ns"] else ""
    table.append(("emulated time", format_time(elapsed), busy + ahead))
    table += _responses(result, arrivals)
    worst = f"request {result['worst_request']}, waiting apart"
    table.append(("longest call", format_time(result["worst_call_ns"]), worst))
    if arrivals:
        mean = derived["queue_mean"]
        table.append(("queue", f"{mean or 0:.2f} / {result['queue_max']}", "mean / longest"))
    energy = format_energy(result["energy_pj"])
    standby = f"and {format_energy(result['standby_pj'])} in standby"
    table.append(("energy", energy, standby))
    if derived["energy_pj_per_host_byte"] is not None:
        text = format_energy(derived["energy_pj_per_host_byte"])
        table.append(("energy a host byte", text, "operations alone"))
    wear = f"{derived['erases_min']} / {derived['erases_mean']:.1f} / {derived['erases_max']}"
    table.append(("erases a block", wear, "least / mean / most"))
    if value["policy"] is not None:
        table += _policy(value["policy"], value["device"]["wear"])
    table += _life(derived)
    if value["options"]["verify"]:
        read_back = f"{result['read_back']} read back at the end"
        checked = f"of {result['tokens_checked']} sectors read and {read_back}"
        table.append(("wrong content", result["violations"], checked))
    held = sum(law["holds"] for law in value["laws"])
    table.append(("laws of the books", f"{held} of {len(value['laws'])}", "hold"))
    return table + _end(result)


_SHARE_COLUMNS = ("written", "in NVM", "read", "from NVM", "speed")
_MOST_SHARES = 12
_SHOWN_NAMES = 6
SEPARATORS = {";": "semicolons", ",": "commas", "\t": "tabs"}


def _share_cells(share: dict[str, Any]) -> tuple[object, ...]:
    speed = share["mb_per_s"]
    return (
        share["requests"],
        share["written"],
        _share(share["nvm_written"], share["written"]),
        share["read"],
        _share(share["nvm_read"], share["read"]),
        f"{speed:.2f} MB/s" if speed is not None else "-",
    )


def _whole(shares: list[dict[str, Any]], sector_bytes: int) -> dict[str, Any]:
    """Several as one."""
    keys = ("requests", "read", "written", "nvm_read", "nvm_written", "served_ns")
    whole: dict[str, Any] = {key: sum(share[key] for share in shares) for key in keys}
    moved = (whole["read"] + whole["written"]) * sector_bytes * 1000
    whole["mb_per_s"] = moved / whole["served_ns"] if whole["served_ns"] else None
    return whole


def share_tables(value: dict[str, Any]) -> list[tuple[tuple[str, ...], list[tuple[object, ...]]]]:
    """Heads and rows of what applications and classes of sectors asked for: of each that has any,
    the busiest first."""
    unit = value["device"]["sector_bytes"]
    tables: list[tuple[tuple[str, ...], list[tuple[object, ...]]]] = []
    for heads, key in (
        (("application", "requests"), "applications"),
        (("class of sectors", "parts"), "classes"),
    ):
        shares = sorted(value[key], key=lambda share: -share["served_ns"])
        if not shares:
            continue
        most = _MOST_SHARES + (len(shares) == _MOST_SHARES + 1)  # its own row, not "1 others"
        table: list[tuple[object, ...]] = [
            (_name(share), *_share_cells(share)) for share in shares[:most]
        ]
        rest = shares[most:]
        if rest:
            table.append((f"{len(rest)} others", *_share_cells(_whole(rest, unit))))
        tables.append(((*heads, *_SHARE_COLUMNS), table))
    return tables


def _name(share: dict[str, Any]) -> str:
    if share["name"] is None:
        return "nobody"
    return f"guest's {share['name']}" if share.get("guest") else str(share["name"])


def tell_skipped(name: str, source: _native.Source, talk: Callable[[str], None]) -> None:
    """Says how many bad lines of a trace were passed over in this pass, or what it lacks."""
    if isinstance(source, _native.Trace) and source.skipped:
        talk(f"{name}: {source.skipped} bad lines skipped")
    if isinstance(source, _native.PageTraffic) and source.cut:
        talk(f"{name}: {source.cut}")


def trace_rows(facts: dict[str, Any]) -> list[Row]:
    """The table of `nandwich trace info`."""
    requests = facts["requests"]
    found = f"format {facts['format']}, {facts['packing']}"
    if facts["separator"] is not None:
        found += f", fields apart by {SEPARATORS[facts['separator']]}"
    table: list[Row] = [("requests", requests, found)]
    if facts["skipped_lines"]:
        table.append(("bad lines", facts["skipped_lines"], "skipped"))
    table += _empty(facts)
    for kind in ("reads", "writes", "trims", "syncs"):
        one = facts[kind]
        if one["count"]:
            largest = f", largest {format_size(one['largest_bytes'])}" if one["bytes"] else ""
            text = f"{_share(one['count'], requests)}, {format_size(one['bytes'])}{largest}"
            table.append((kind, one["count"], text))
    extent = f"from byte {facts['lowest_byte']} to {facts['extent_bytes']}"
    table += [
        ("needs a device of", format_size(facts["extent_bytes"]), extent),
        ("alignment", format_size(facts["align_bytes"]), "of every offset and size"),
        ("in order", _share(facts["in_order"], requests), "go on where the last one ended"),
        ("lasts", format_time(facts["duration_ns"]), f"{facts['stepped_back']} steps back in time"),
        (
            "gap",
            " / ".join(format_time(facts[f"gap_{key}_ns"]) for key in ("mean", "p50", "max")),
            "mean / 50 % / longest",
        ),
        ("devices", len(facts["units"]), " ".join(map(str, facts["units"][:8]))),
    ]
    names = facts["applications"]
    if names:
        more = ", ..." if len(names) > _SHOWN_NAMES else ""
        table.append(("applications", len(names), ", ".join(names[:_SHOWN_NAMES]) + more))
    return table
