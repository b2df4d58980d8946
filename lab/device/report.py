# SPDX-License-Identifier: Apache-2.0
"""What `nandwich run --target` says: the JSON of docs/schemas/run-target-1.json, and the table."""

from collections.abc import Iterator
from typing import Any

from lab.device import build, play
from lab.device.boards import Range
from lab.device.play import Result
from nandwich.quantities import format_size, format_time
from nandwich.run import lines, statics
from nandwich.run.guest import how

Row = tuple[str, str, str]

#: Owners of code in the order of the table: name in the report, in the JSON, and what it is.
_OWNERS = (
    ("vm", "run_time", "virtual memory, heap, slow sides of guards"),
    ("layer", "layer", "translation layer, chip filters, checksums"),
    ("driver", "driver", "the part's driver and the loop that moves its bytes"),
    ("wrapper", "wrappers", "of the C library over virtual memory, malloc included"),
    ("library", "library", "C library and compiler's helpers"),
    ("board", "board", "start-up, calls of the host"),
)


def payload(result: Result) -> dict[str, Any]:
    """The result as JSON. What a run that broke off could not tell is null, and so is what would be
    told of the whole program."""
    wanted, report = result.wanted, result.report
    return {
        "identical": None if result.native is None else not result.differences,
        "differences": result.differences,
        "program": {
            "sources": [str(source) for source in wanted.sources],
            "arguments": list(wanted.arguments),
        },
        "target": {
            "name": wanted.board.name,
            "model": wanted.board.model,
            "mhz": wanted.board.mhz,
            "code_bytes": wanted.board.code.bytes,
            "ram_bytes": wanted.board.ram.bytes,
        },
        "device": {
            "chip": wanted.part.name,
            "bus": wanted.bus.told,
            "prefetch": wanted.prefetch,
            "ftl": result.layer,
            "policy": wanted.policy,
            "vm_start": wanted.vm_start,
            "vm_bytes": wanted.vm,
            "frame_bytes": wanted.frame,
            "frames": result.image.layout.frames_bytes // wanted.frame,
            "slots": wanted.slots,
            "guards": wanted.guards,
            "blocks": report["told"]["blocks"] * wanted.part.kind.join,
            "seed": wanted.seed,
            "fault": wanted.fault or None,
        },
        "exit": {
            "native": None if result.native is None else result.native.status,
            "virtual": result.virtual.status,
        },
        "end": _end(result),
        "instructions": _instructions(result),
        "cycles": _cycles(result),
        "time_ns": {
            "processor_least": _processor_ns(result, "least"),
            "processor_most": _processor_ns(result, "most"),
            "storage": report["run_flash"]["storage_ns"],
            "chip": report["run_flash"]["chip_ns"],
        },
        "flash": _flash(report["run_flash"]),
        "setup": {
            "instructions": sum(spent(report, "setup").values()),
            "storage_ns": report["setup_flash"]["storage_ns"],
            **_flash(report["setup_flash"]),
        },
        "vm": {name: report["told"].get(name) for name in _VM},
        "heap": {
            "peak_bytes": report["told"].get("peak"),
            "refused": report["told"].get("failures"),
        },
        "bytes": _bytes(result),
        "statics": result.image.statics,
        "violations": report["violations"],
        "files": sorted(
            str(path) for path, copy in result.virtual.changes.after.items() if copy is not None
        ),
    }


_VM = (
    "accesses",
    "slot_misses",
    "faults",
    "zero_pages",
    "mapped",
    "evictions",
    "writebacks",
    "sectors_read",
    "sectors_written",
)


def _end(result: Result) -> dict[str, Any]:
    report = result.report
    end: dict[str, Any] = {"kind": report["end"]}
    if report["end"] == "panic":
        end["what"] = play.error_text(report["detail"][0])
        end["address"] = report["detail"][1]
    elif report["end"] in ("fault", "stack"):
        end["address"] = report["address"]
    if report["end"] != "exit" and report["pc"]:
        end["pc"] = report["pc"]
        end["function"] = build.function_at(result.image.path, report["pc"])
        end["line"] = lines.at(result.image.path, report["pc"])
    if report["end"] == "stack":
        end["stack_bytes"] = report["detail"][1]
    return end


def _instructions(result: Result) -> dict[str, Any]:
    """They add up: total = program + guards + all others. A run that broke off is no part of the
    native one that can be named, so its program's own code and its guards are not told apart."""
    run = spent(result.report, "run")
    whole = result.native is not None and result.report["end"] == "exit"
    native = spent(result.native.report, "run") if result.native is not None and whole else None
    program = run["program"] if native is None else native["program"]
    return {
        "total": sum(run.values()),
        "program": program,
        "guards": None if native is None else run["program"] - program,
        **{key: run[name] for name, key, _ in _OWNERS},
        "native_total": None if native is None else sum(native.values()),
    }


#: What the emulator tells of each owner, in its order.
_SPENT = ("instructions", "least", "most")


def spent(report: dict[str, Any], phase: str, what: str = "instructions") -> dict[str, int]:
    """Instructions, or the ends of the band of cycles, of each owner in `setup` or `run`."""
    return {name: counts[_SPENT.index(what)] for name, counts in report[phase].items()}


def _cycles(result: Result) -> dict[str, int] | None:
    """Of all owners; None: the processor's are not known."""
    least, most = (sum(spent(result.report, "run", end).values()) for end in ("least", "most"))
    return {"least": least, "most": most} if most else None


def _processor_ns(result: Result, end: str) -> int | None:
    """By the band; where there is none, an instruction a clock at least."""
    cycles = _cycles(result)
    if cycles is None and end == "most":
        return None
    instructions = sum(spent(result.report, "run").values())
    return round((instructions if cycles is None else cycles[end]) * 1000 / result.wanted.board.mhz)


def _flash(flash: dict[str, int]) -> dict[str, int]:
    return {name: flash[name] for name in ("reads", "programs", "erases", "bus_bytes")}


def _bytes(result: Result) -> dict[str, Any]:
    sizes, told = result.image.sizes, result.report["told"]
    layout = result.image.layout
    frames = layout.frames_bytes
    tables = told.get("ram_vm", frames) - frames
    layer = told.get("ram_layer", 0)
    stack = sizes.text["driver"] + sizes.text["layer"] + sizes.text["vm"]
    return {
        "text": {
            "total": sum(sizes.text.values()),
            "program": sizes.text["program"],
            **{key: sizes.text[name] for name, key, _ in _OWNERS},
            "whole_stack": stack,
        },
        "data": sizes.data,
        "bss": sizes.bss,
        "code_flash": sizes.code,
        "stack_peak": result.report["stack"] if result.report["end"] == "exit" else None,
        "stack": layout.stack_bytes,
        "frames": frames,
        "vm_tables": tables,
        "layer": layer,
        "ram": layout.stack_bytes + sizes.static_ram + frames + tables + layer,
    }


def headline(value: dict[str, Any]) -> str:
    """What ran on what, in a line."""
    device, target = value["device"], value["target"]
    return (
        f"{' '.join(value['program']['sources'])} on {target['name']} ({target['model']}, "
        f"emulated), {device['chip']}, {device['ftl']}, {format_size(device['vm_bytes'])} of "
        f"virtual memory in {device['frames']} frames of {device['frame_bytes']} B "
        f"({device['policy']})"
    )


def rows(value: dict[str, Any]) -> Iterator[Row]:
    """The table: what, how much, what it means."""
    files = f"{len(value['files'])} file{'' if len(value['files']) == 1 else 's'}"
    if value["identical"] is None:
        yield "identical to native", "not compared", ""
    else:
        word = "yes" if value["identical"] else "no"
        meaning = f"exit status, stdout and {files}; natively on the same processor"
        yield "identical to native", word, meaning
    yield "exit", f"status {value['exit']['virtual']}", ""
    yield from _instruction_rows(value)
    yield from _time_rows(value)
    yield from _byte_rows(value)


def _instruction_rows(value: dict[str, Any]) -> Iterator[Row]:
    counts = value["instructions"]
    native = counts["native_total"]
    share = "" if native is None else f"{counts['total'] / max(native, 1):.2f} x native's {native}"
    yield "instructions", str(counts["total"]), share
    guards = counts["guards"]
    what = "with its guards: not compared" if guards is None else "as natively"
    yield "  program", str(counts["program"]), what
    if guards is not None:
        yield "  guards", str(guards), "what its own code takes more"
    for _, key, meaning in _OWNERS:
        yield f"  {key.replace('_', ' ')}", str(counts[key]), meaning


def _time_rows(value: dict[str, Any]) -> Iterator[Row]:
    time, flash, setup = value["time_ns"], value["flash"], value["setup"]
    mhz = value["target"]["mhz"]
    if time["processor_most"] is None:
        what = f"an instruction a clock of {mhz} MHz"
        yield "processor, at least", format_time(time["processor_least"]), what
    elif time["processor_most"] == time["processor_least"]:
        what = f"{value['cycles']['least']} cycles at {mhz} MHz, exact"
        yield "processor", format_time(time["processor_least"]), what
    else:
        least, most = format_time(time["processor_least"]), format_time(time["processor_most"])
        what = f"{mhz} MHz, by the processor's table, memory without wait states"
        yield "processor", f"{least} to {most}", what
    yield (
        "storage",
        format_time(time["storage"]),
        f"{value['device']['bus']}, and waits for the chip",
    )
    yield (
        "  chip",
        format_time(time["chip"]),
        f"{flash['reads']} reads, {flash['programs']} programs, {flash['erases']} erases",
    )
    yield (
        "before main",
        f"{setup['instructions']}",
        f"instructions, and {format_time(setup['storage_ns'])} of storage: start-up, format",
    )
    vm = value["vm"]
    if vm["faults"] is None:
        yield "faults", "not known", "the run broke off"
        return
    mapped = f"; {vm['mapped']} from mapped files" if vm["mapped"] else ""
    yield "faults", str(vm["faults"]), f"{vm['zero_pages']} zero pages never read{mapped}"
    yield "write-backs", str(vm["writebacks"]), f"{vm['sectors_written']} sectors written"
    if value["heap"]["refused"]:
        yield "heap", str(value["heap"]["refused"]), "requests found no room"


def _byte_rows(value: dict[str, Any]) -> Iterator[Row]:
    size, target, told = value["bytes"], value["target"], value["statics"]
    text = size["text"]
    kept = "" if told is None else f" (statics {told['bytes']} of both)"
    yield (
        "code flash",
        f"{size['code_flash']} B",
        f"of {target['code_bytes']}; program {text['program']}, library {text['library']}",
    )
    yield (
        "  whole stack",
        f"{text['whole_stack']} B",
        f"driver {text['driver']}, layer {text['layer']}, run time {text['run_time']}",
    )
    yield (
        "RAM",
        f"{size['ram']} B",
        f"of {target['ram_bytes']}; data {size['data']}, bss {size['bss']}{kept}, frames "
        f"{size['frames']}, tables {size['vm_tables']}, layer {size['layer']}",
    )
    peak = "not known" if size["stack_peak"] is None else f"{size['stack_peak']} B"
    yield "  stack", peak, f"at most in use, of {size['stack']}"
    if told is not None:
        yield from statics.rows(told)


#: The program's fault, not the storage's, by the number of the error.
_OWN_FAULTS = {
    -3: "access to memory that is not there, or behind the end of a mapped file",
    -29: "store to memory that may only be read",
}


def failure(result: Result, value: dict[str, Any]) -> str:
    """Why the run counts as failed, in a line; empty when it does not."""
    if value["violations"]:
        return f"the driver broke the part's rules: {result.report['violation']}"
    end = value["end"]
    where = f" in function {end['function']}" if end.get("function") else ""
    where += f" at {end['line']}" if end.get("line") else ""
    if end["kind"] == "panic":
        at = end["address"] - result.wanted.vm_start
        place = (
            f"at virtual address {end['address']:#010x} (byte {at} of {result.wanted.vm}){where}"
        )
        if own := _OWN_FAULTS.get(play.signed(result.report["detail"][0])):
            return f"{own} {place}"
        return f"storage failed {place}: {end['what']}"
    if end["kind"] == "stack":
        return (
            f"the stack is too small{where}: {end['stack_bytes']} B were needed by then, of "
            f"{result.wanted.stack}; give more --stack"
        )
    if end["kind"] == "fault":
        vm = Range(result.wanted.vm_start, result.wanted.vm)
        unguarded = vm.start <= end["address"] < vm.end
        what = "an access past the guards" if unguarded else "an access to nothing"
        return f"{what} at {end['address']:#010x}{where}"
    if result.differences:
        hint = ""
        if value["heap"]["refused"]:
            hint = "; virtual memory was full and malloc or mmap said so: give more --vm"
        return "not identical to native: " + "; ".join(result.differences) + hint
    if result.virtual.status != 0:
        too = " (the native run too)" if result.native is not None else ""
        return f"the program ended with {how(result.virtual)}{too}"
    return ""
