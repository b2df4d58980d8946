# SPDX-License-Identifier: Apache-2.0
"""RAM of translation layers on a processor of 32 bits: layer_ram.c, built for the Cortex-M3 and run
by QEMU."""

import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from lab import ROOT, cross
from nandwich.errors import RunError
from papers.fatvm import traffic

_FIRMWARE = ROOT / "tests/targets/cortexm3"
_LOOK = ("core/include", "models/include", "core/ftl", "tests/targets/cortexm3")
_SOURCES = ("core/base", "core/chip", "core/wear", "core/ftl", "models")
_EMULATOR = "qemu-system-arm"


def missing() -> list[str]:
    """Programs that are not here."""
    return [name for name in (cross.CORTEX_M3.compiler, _EMULATOR) if shutil.which(name) is None]


def _call(layer: str, vm_bytes: int) -> str:
    """The C that tells of one layer what it is in the table of traffic.py."""
    kind, figures, _ = traffic.LAYERS[layer]
    blocks = traffic.blocks(layer, vm_bytes)
    fields: dict[str, int | str] = dict(figures)
    if kind == "lavish":
        fields["sectors"] = vm_bytes // traffic.PAGE_BYTES
    else:
        fields["spare_blocks"] = blocks - vm_bytes // traffic.BLOCK_BYTES
    config = f"struct nw_ftl_{kind}_config"
    function = f"say_{kind}"
    if kind not in ("lavish", "page"):
        fields["kind"] = f"NW_MODEL_{kind.upper()}"
        config, function = "struct nw_model_config", "say_model"
        fields |= {"lists": fields.pop("maps")} if "maps" in fields else {}
    given = ", ".join(f".{name} = {value}" for name, value in fields.items())
    return f"{function}({blocks}U, ({config}){{{given}}});"


def _say(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise RunError(f"{command[0]}: {(done.stderr or done.stdout).strip()}")
    return done.stdout + done.stderr  # semihosting writes to stderr


@cache
def of_layers(vm_bytes: int) -> dict[str, int]:
    """Bytes each layer of traffic.py takes for so much virtual memory, its own struct included."""
    options = [one for one in cross.CORTEX_M3.options if one not in ("-Wpedantic", "-Werror")]
    sources = [one for name in _SOURCES for one in sorted((ROOT / name).glob("*.c"))]
    with tempfile.TemporaryDirectory() as name:
        header, program = Path(name) / "asked.h", Path(name) / "layer_ram.elf"
        calls = " ".join(_call(layer, vm_bytes) for layer in traffic.LAYERS)
        header.write_text(f"#define LAYERS {calls}\n")
        command = [cross.CORTEX_M3.compiler, *options, "-w", "-include", str(header)]
        command += [f"-I{ROOT / one}" for one in _LOOK]
        command += ["-nostartfiles", "--specs=nosys.specs", f"-T{_FIRMWARE / 'firmware.ld'}"]
        command += ["-Wl,--gc-sections,--defsym=ram_start=0x20000000,--defsym=ram_bytes=0x200000"]
        own = (_FIRMWARE / "firmware.c", Path(__file__).with_name("layer_ram.c"))
        _say([*command, *map(str, (*own, *sources)), "-o", str(program)])
        board = [_EMULATOR, "-nographic", "-monitor", "none", "-serial", "none", "-M"]
        board += ["mps2-an385", "-semihosting-config", "enable=on,target=native", "-kernel"]
        told = _say([*board, str(program)])
    found = [int(number) for number in re.findall(r"^(?:lavish|page|model) (\d+)$", told, re.M)]
    if len(found) != len(traffic.LAYERS) or 0 in found:
        raise RunError(f"layers on a Cortex-M3 told {told!r}")
    return dict(zip(traffic.LAYERS, found, strict=True))
