# SPDX-License-Identifier: Apache-2.0
"""The NVM before flash: what it gains by habit, how fast tier and recogniser are, how right."""

import tempfile
from pathlib import Path

from lab._native import time_content
from lab.benches import Figure, bench
from lab.ext4_disks import IMAGES, METADATA, PRESENT, Hosted, Judged, answer, show
from nandwich import _native
from nandwich.errors import RunError
from papers.tiering import _phone

REQUESTS = 1_000_000
ROUNDS = 4
SHORT, LONG = 4096, 65536  # bytes of a request


@bench("tier", "the NVM before flash: habits, requests a second, the recogniser")
def tier() -> list[Figure]:
    """Ten days of the month by model (papers VF-10 has all of it); the recogniser on a guest's ext4
    in qcow2 in a host's ext4."""
    return [*_habits(), _requests(), *_content()]


def _habits() -> list[Figure]:
    model = _phone.shorter(_phone.BASE)
    outcomes = {
        name: _phone.run(1, model, way)
        for name, way in {
            "flash": _phone.FLASH,
            "lrfu": _phone.LRFU,
            "vflash": _phone.VFLASH,
            "ideal": _phone.IDEAL,
            "ours": _phone.OURS,
        }.items()
    }
    flash = outcomes["flash"]
    speed = {name: outcome.mean_ratio(flash) for name, outcome in outcomes.items()}
    energy = 1 - outcomes["vflash"].energy_pj / flash.energy_pj
    ours = outcomes["ours"]
    behind = (speed["lrfu"] - 1) / (speed["vflash"] - 1)
    under = 1 - speed["vflash"] / speed["ideal"]
    saved = 1 - ours.energy_pj / flash.energy_pj
    return [
        Figure("tier.vflash.speed", round(speed["vflash"], 3), "times", 2.8, better="higher"),
        Figure("tier.vflash.energy-saved", round(energy, 4), "", 0.6, better="higher"),
        Figure("tier.lrfu.gain-of-vflash", round(behind, 4), "", 0.25),
        Figure("tier.vflash.under-ideal", round(under, 4), "", 0.13),
        Figure("tier.ours.speed", round(speed["ours"], 3), "times", 2.8, better="higher"),
        Figure("tier.ours.energy-saved", round(saved, 4), "", 0.6, better="higher"),
        Figure("tier.ours.over-bound", round(ours.over_bound, 4), "", 0.1),
    ]


def _requests() -> Figure:
    """Nine in ten of 4 KiB to a hundredth of 512 MiB, 70 % writes; best of three."""
    rates = []
    for _ in range(3):
        part = _native.Part.named("K9LBG08U0M")
        device = _native.ReplayDevice(part, "tree", blocks=1024, factory_bad=False)
        device.put_tier(_native.Part.named("PCM-16M"), "lrfu", lambda_=66)
        changes = {
            "requests": REQUESTS,
            "footprint": device.sectors * device.sector_bytes,
            "size": device.sector_bytes,
            "align": device.sector_bytes,
            "writes": 700,
            "hot_share": 900,
            "hot_space": 10,
        }
        player = _native.Replay(device, _native.Workload("hotcold", changes, 1))
        while player.run(REQUESTS):
            pass
        rates.append(REQUESTS / player.seconds)
    return Figure("tier.requests", round(max(rates)), "request/s", 2e6, better="higher")


def _content() -> list[Figure]:
    if not (PRESENT and IMAGES):
        raise RunError("e2fsprogs or qemu-img is missing; `nandwich doctor` tells how to get it")
    with tempfile.TemporaryDirectory() as folder:
        hosted = Hosted(Path(folder), ["-b", "4096"], ["-b", "4096"], "65536")
        content = _native.Content(
            hosted.disk.stat().st_size, groups=512, images=2, clusters=32768, l1=2048
        )
        show(content, hosted.disk)
        hosted.open_image(content)
        answer(content, hosted.disk)
        missed, false, metadata, others = judge(content, hosted)
        figures = [
            Figure("tier.content.missed", round(missed / metadata, 5), "", 0.005),
            Figure("tier.content.false", round(false / others, 5), "", 0.005),
        ]
        for bytes_each in (SHORT, LONG):
            requests, seconds, ram = time_content(str(hosted.disk), bytes_each, ROUNDS)
            took_us = round(1e6 * seconds / requests, 3)
            figures.append(Figure(f"tier.content.{bytes_each}", took_us, "us/request", 2))
        figures.append(Figure("tier.content.ram", ram, "B"))
    return figures


def judge(content: _native.Content, hosted: Hosted) -> tuple[int, int, int, int]:
    """Blocks of metadata missed, others taken for metadata; and how many of each there are."""
    judged, within = Judged(hosted.disk), Judged(hosted.guest)
    told = {block * judged.block: name for block, name in judged.classes.items()}
    guests = {
        place: within.classes.get(at // within.block, "data")
        for at, place in hosted.places(judged).items()
    }
    missed = false = metadata = 0
    places = sorted({*range(0, judged.count * judged.block, judged.block), *guests})
    for at in places:
        right = (guests.get(at) or told.get(at, "data")) in METADATA
        found, _, _ = content.classify(at)
        metadata += right
        missed += right and found not in METADATA
        # An image's tables are metadata of its own kind: neither missed nor false.
        false += not right and found in METADATA
    return missed, false, metadata, len(places) - metadata
