# SPDX-License-Identifier: Apache-2.0
"""A mote that logs light, loses power, and goes on: docs/store-tutorial.md tells it step by step.

.venv/bin/python examples/sensor_log.py mote.nand
"""

import math
import sys
from collections.abc import Iterator

from nandwich import _native

DAY = 86_400
BATCH = 60  # readings of 2 bytes, one a second, made durable each minute


def light(second: int) -> int:
    """What the sensor says: a day from dark to bright and back."""
    return 500 + round(500 * math.sin(second * 2 * math.pi / DAY))


def readings(begin: int, end: int) -> bytes:
    return b"".join(light(second).to_bytes(2, "little") for second in range(begin, end))


def record(store: _native.Store, begin: int) -> Iterator[int]:
    """Logs from second `begin` on; tells each second up to which all is durable."""
    log = store.find("light")
    while begin < DAY:
        end = min(begin // BATCH * BATCH + BATCH, DAY)
        store.append(log, readings(begin, end))
        store.sync()
        yield end
        begin = end


def main(image: str) -> None:
    part = _native.Part.named("TC58DVG02A1FT00")
    chip = _native.Nand.open(part, blocks=64, options=["node_costs"])
    store = _native.Store(chip, checkpoints=1)
    store.format()
    store.create("light", "stream", unit_bytes=2)

    # Power fails inside one of the flash operations to come.
    chip.cut(after=500, phase="inside")
    durable = 0
    try:
        for second in record(store, 0):
            durable = second
    except _native.StoreError as error:
        print(f"second {durable}: {error.args[1]}")

    # Back again: RAM is gone, the chip is as the cut left it.
    chip.power_up()
    store = _native.Store(chip, checkpoints=1)
    store.mount()
    cursor = store.first(store.find("light"))
    found = b""
    while piece := store.next(cursor):
        found += piece
    second = len(found) // 2
    assert second >= durable, "something that was durable is lost"
    assert found == readings(0, second)
    print(f"durable before the cut: {durable} readings; found after it: {second}")

    for _ in record(store, second):
        pass
    store.checkpoint()
    chip.save(image)
    print(f"a day logged for {chip.energy_pj / 1e9:.1f} mJ")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: sensor_log.py IMAGE")
    main(sys.argv[1])
