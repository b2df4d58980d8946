# SPDX-License-Identifier: Apache-2.0
"""What `nandwich run` says: the JSON of docs/schemas/run-1.json, and the table for people."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nandwich.quantities import format_energy, format_size, format_time
from nandwich.run import lines, statics
from nandwich.run.guest import Outcome, how
from nandwich.run.measure import Result
from nandwich.twin.config import Device

Row = tuple[str, str, str]

#: A native run below this is mostly the kernel's page faults and the clock's steps.
_NOISE_NS = 5_000_000


@dataclass(frozen=True)
class Subject:
    """What was run."""

    sources: tuple[Path, ...]
    arguments: tuple[str, ...]
    device: Device


def payload(subject: Subject, result: Result, kept: dict[str, Any] | None = None) -> dict[str, Any]:
    """The result as JSON; `kept` tells of globals in RAM (statics.py)."""
    report = result.virtual.report
    setup_ns = report["host_ns"]["setup"]
    return {
        "identical": None if result.native is None else not result.differences,
        "differences": result.differences,
        "program": {
            "sources": [str(source) for source in subject.sources],
            "arguments": list(subject.arguments),
            "target": "host",
        },
        "device": report["device"],
        "exit": {
            "native": None if result.native is None else _exit(result.native),
            "virtual": _exit(result.virtual),
        },
        "executions": result.executions,
        "end": report["end"],
        "files": [str(path) for path in result.files],
        "vm": report["vm"],
        "heap": report["heap"],
        "ftl": report["ftl"],
        "chip": report["chip"],
        "mapped": report["mapped"],
        "time_ns": report["time_ns"],
        "energy_pj": report["energy_pj"],
        "host_ns": {
            "native": result.native_ns,
            "virtual": result.virtual_ns,
            "rounds": result.rounds,
            "setup": setup_ns,
            "emulation": result.emulation_ns,
        },
        "write_amplification": _amplification(report),
        "ram_bytes": report["ram_bytes"],
        "statics": kept,
        "life": _life(report["wear"]),
    }


def _exit(outcome: Outcome) -> dict[str, Any]:
    return {"status": outcome.status, "signal": outcome.signal}


def _amplification(report: dict[str, Any]) -> float | None:
    """Pages programmed for each sector the virtual memory wrote; None when it wrote none."""
    asked = report["ftl"]["host_writes"]
    return round(report["ftl"]["programs"] / asked, 6) if asked else None


def _life(wear: dict[str, Any]) -> dict[str, Any]:
    """How many such runs the chip stands: as worn by this one, and with wear spread evenly."""
    endurance = wear["endurance"]
    worst, total = wear["worst_erases"], wear["erases"]
    return {
        "endurance": endurance,
        "worst_erases": worst,
        "runs_as_worn": endurance // worst if endurance and worst else None,
        "runs_if_spread": endurance * wear["blocks"] // total if endurance and total else None,
    }


def headline(subject: Subject, value: dict[str, Any]) -> str:
    """What ran on what, in a line."""
    device = value["device"]
    layer = device["ftl"] + (f" (degree {device['degree']})" if device["ftl"] == "lavish" else "")
    sources = " ".join(str(source) for source in subject.sources)
    return (
        f"{sources} on {device['chip']}, {layer}, {format_size(device['vm_bytes'])} of virtual "
        f"memory in {device['frames']} frames of {device['frame_bytes']} B "
        f"({device['policy']}, {device['scheme']})"
    )


def rows(value: dict[str, Any]) -> Iterator[Row]:
    """The table: what, how much, what it means."""
    yield from _identity_rows(value)
    yield from _time_rows(value)
    yield from _memory_rows(value)
    yield from _flash_rows(value)
    yield from _life_rows(value)


def _identity_rows(value: dict[str, Any]) -> Iterator[Row]:
    identical = value["identical"]
    files = f"{len(value['files'])} file{'' if len(value['files']) == 1 else 's'}"
    if identical is None:
        yield "identical to native", "not compared", "--no-native"
    else:
        word = "yes" if identical else "no"
        yield "identical to native", word, f"exit status, stdout and {files}, byte for byte"
    ended = value["exit"]["virtual"]
    yield "exit", ended["signal"] or f"status {ended['status']}", ""
    often = value["executions"]
    yield "executions", str(sum(often.values())), _executions(often)


def _executions(often: dict[str, int]) -> str:
    told = f"{often['native']} native, {often['virtual']} in virtual memory"
    return told + ("; --once: 1 of each" if often["native"] > 1 else "")


def _time_rows(value: dict[str, Any]) -> Iterator[Row]:
    host = value["host_ns"]
    best = f"best of {host['rounds']}" if host["rounds"] > 1 else "one run"
    if host["native"] is not None and host["native"] < _NOISE_NS:
        best += "; too short for a ratio: docs/vm-what-it-costs.md counts instructions"
    if host["native"] is not None:
        yield "algorithm", format_time(host["native"]), f"native, on this host ({best})"
    if host["native"] is not None and host["virtual"] is not None:
        ratio = host["virtual"] / max(host["native"], 1)
        spent = max(host["virtual"] - host["native"] - host["emulation"], 0)
        yield "virtualisation", format_time(spent), "guards and page faults, on this host"
        yield "emulation", format_time(host["emulation"]), "of layers and chip, on this host"
        yield "virtual / native", f"{ratio:.2f}", f"wall clock, emulation included ({best})"
    yield "storage", format_time(value["time_ns"]["storage"]), "emulated time of the chip"


def _memory_rows(value: dict[str, Any]) -> Iterator[Row]:
    vm = value["vm"]
    rate = f"{_percent(vm['slot_hits'], vm['accesses'])} slot hits"
    yield "accesses", str(vm["accesses"]), rate
    yield (
        "faults",
        str(vm["faults"]),
        (
            f"{_percent(vm['faults'], vm['accesses'])} of accesses; {vm['zero_pages']} zero pages "
            "never read"
        ),
    )
    yield "write-backs", str(vm["writebacks"]), f"{vm['merges']} had to read their sector first"
    heap = value["heap"]
    told = "at most in use"
    if value["mapped"]["peak_bytes"]:
        told += f"; mappings took {format_size(value['mapped']['peak_bytes'])} of it"
    if heap["refused"]:
        told += f"; {heap['refused']} requests found no room"
    yield "heap", format_size(heap["peak_bytes"]), told


def _flash_rows(value: dict[str, Any]) -> Iterator[Row]:
    chip, ftl = value["chip"], value["ftl"]
    yield "reads", str(chip["reads"]), f"of pages; {ftl['host_reads']} sectors asked for"
    yield "programs", str(chip["programs"]), f"of pages; {ftl['host_writes']} sectors written"
    yield "erases", str(chip["erases"]), "of blocks"
    mapped = value["mapped"]
    if mapped["reads"] or mapped["writes"]:
        told = f"of mapped files, {format_size(mapped['bytes_read'])}"
        if mapped["writes"]:
            told += f"; {mapped['writes']} writes, {format_size(mapped['bytes_written'])}"
        yield "reads", str(mapped["reads"]), told
    yield "copies", str(ftl["copies"]), "of valid sectors, by the translation layer"
    amplification = value["write_amplification"]
    if amplification is not None:
        yield "write amplification", f"{amplification:.3f}", "programs a sector written"
    yield "energy", format_energy(value["energy_pj"]), "of the chip"
    ram = value["ram_bytes"]
    parts = ", ".join(
        f"{name.replace('_', ' ')} {format_size(count)}"
        for name, count in ram.items()
        if name != "total" and count
    )
    yield "RAM", format_size(ram["total"]), f"{parts} (with this host's pointers)"
    if value["statics"] is not None:
        yield from statics.rows(value["statics"])


def _life_rows(value: dict[str, Any]) -> Iterator[Row]:
    life = value["life"]
    if life["runs_as_worn"] is None:
        yield "chip life", "no wear", "nothing was erased, or the part has no practical limit"
        return
    meaning = (
        f"such runs until the most worn block reaches {life['endurance']} erases; "
        f"{life['runs_if_spread']} with wear spread evenly"
    )
    yield "chip life", f"{life['runs_as_worn']} runs", meaning
    yield "", _years(life["runs_as_worn"]), "at one run a minute"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.4g} %" if whole else "0 %"


def _years(runs: int) -> str:
    minutes_a_year = 365 * 24 * 60
    years = runs / minutes_a_year
    return f"{years:.1f} years" if years >= 1 else f"{runs / (24 * 60):.1f} days"


def failure(result: Result, program: Path) -> str:
    """Why the run of `program` counts as failed, in a line; empty when it does not."""
    if result.differences:
        hint = ""
        if result.virtual.report.get("heap", {}).get("refused"):
            hint = "; virtual memory was full and malloc or mmap said so: give more --vm"
        return "not identical to native: " + "; ".join(result.differences) + hint
    outcome = result.virtual
    if not outcome.report.get("saved", True):
        return "the recording or the chip was not saved, for the reason above"
    if outcome.signal or outcome.status != 0:
        end = outcome.report.get("end", {})
        where = f" in function {end['function']}" if end.get("function") else ""
        is_own = end.get("unguarded", False) or end.get("what") in ("SIGFPE", "SIGILL")
        where += lines.told(program, end.get("pc", 0), is_call=not is_own)
        too = " (the native run too)" if result.native is not None else ""
        return f"the program ended with {how(outcome)}{where}{too}"
    return ""
