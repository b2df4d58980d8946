# SPDX-License-Identifier: Apache-2.0
"""RAM of translation layers on a processor of 32 bits: layer_ram.c, built for the Cortex-M3 and run
by QEMU."""

import tempfile
from functools import cache
from pathlib import Path

from lab import ROOT, qemu
from nandwich.errors import RunError
from papers.fatvm import traffic

_LOOK = ("models/include", "core/ftl")
_SOURCES = ("core/base", "core/chip", "core/ftl", "models")


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
    if kind != "lavish":
        fields["kind"] = f"NW_MODEL_{kind.upper()}"
        config, function = "struct nw_model_config", "say_model"
        fields |= {"lists": fields.pop("maps")} if "maps" in fields else {}
    given = ", ".join(f".{name} = {value}" for name, value in fields.items())
    return f"{function}({blocks}U, ({config}){{{given}}});"


@cache
def of_layers(vm_bytes: int) -> dict[str, int]:
    """Bytes each layer of traffic.py takes for so much virtual memory, its own struct included."""
    sources = [one for name in _SOURCES for one in sorted((ROOT / name).glob("*.c"))]
    with tempfile.TemporaryDirectory() as name:
        header = Path(name) / "asked.h"
        calls = " ".join(_call(layer, vm_bytes) for layer in traffic.LAYERS)
        header.write_text(f"#define LAYERS {calls}\n")
        program = qemu.build(
            Path(name),
            (Path(__file__).with_name("layer_ram.c"), *sources),
            *("-w", "-include", str(header)),  # the models are not written for such a processor
            *(f"-I{ROOT / one}" for one in _LOOK),
        )
        said = qemu.run(program, "mps2-an385")
    found = [number for word, number in said if word in ("lavish", "model")]
    if len(found) != len(traffic.LAYERS) or 0 in found:
        raise RunError(f"layers on a Cortex-M3 told {said!r}")
    return dict(zip(traffic.LAYERS, found, strict=True))
