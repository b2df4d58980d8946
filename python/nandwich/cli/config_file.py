# SPDX-License-Identifier: Apache-2.0
"""--config FILE.toml: options of a verb from the [base] of a file, such as tune's choice.

`nandwich run` takes choices of replay too: what they say of part, layer and memory are options of
run under the same or other names. The rest is of replay alone.
"""

from pathlib import Path
from typing import Any

import click

from nandwich import names
from nandwich.errors import InputError
from nandwich.replay import accesses, play
from nandwich.replay.options import Options
from nandwich.twin import tomlfile
from nandwich.twin.config import Device
from nandwich.twin.tomlfile import TomlFile

#: Policies of `nandwich vmtrace` that the VM has, by its names for them.
_POLICIES = {"vm": "clock", "lru": "lru"}
#: What `for_run` makes something of, by the names of replay.
_OF_RUN = frozenset({"source", "chip", "ftl", "ram", "blocks", "spare-blocks", "degree", "maps"})
_FRAME_MOST = 32768
_FOR_A_SLOT = 4  # frames: a slot pins one
_SLOTS_LEAST = 4  # or one: with two, heap sort has up to half more faults
_IGNORED = "nandwich.config_file.ignored"


def read(name: str) -> tuple[TomlFile, dict[str, Any]]:
    """The file, and what stands in its [base]; InputError, also for a sweep of many points."""
    file = tomlfile.read(Path(name))
    sweep = file.tree.get("sweep")
    more = [key for key in ("axes", "point") if key in file.tree]
    more += [
        f"sweep.{key}" for key in ("seeds", "sample") if isinstance(sweep, dict) and key in sweep
    ]
    if more:
        raise InputError(
            f"{file.where(more[0])}: --config takes one point; nandwich sweep plays {more[0]}"
        )
    given = file.tree.get("base", {})
    if not isinstance(given, dict):
        raise InputError(f"{file.where('base')}: base is a table: [base]")
    return file, given


def defaults(verb: click.Command, file: TomlFile, given: dict[str, Any]) -> dict[str, Any]:
    """What a file gives, by the names of parameters; a flag says its value. InputError."""
    keys = _keys(verb)
    found: dict[str, Any] = {}
    for key, value in given.items():
        if key not in keys:
            text = names.unknown("key", key, keys).message
            raise InputError(f"{file.where(f'base.{key}')}: {text}")
        one = keys[key]
        flag = one.flag_value if isinstance(one, click.Option) and one.is_flag else None
        if isinstance(flag, str):
            found |= {str(one.name): flag} if value else {}
        else:
            off = isinstance(value, bool) and f"--{key}" in one.secondary_opts
            # A number is read as on the command line: a fraction there is 1 for all of it.
            found[str(one.name)] = value != off if isinstance(value, bool) else str(value)
    return found


def _keys(verb: click.Command) -> dict[str, click.Parameter]:
    """Options by their names without dashes, and the source."""
    return {
        name.removeprefix("--"): one
        for one in verb.params
        if one.name not in ("json_target", "config")
        for name in (*one.opts, *one.secondary_opts)
    }


def for_replay(ctx: click.Context, _param: click.Parameter, name: str) -> str:
    """Callback of replay's --config: the file stands for what the line does not say."""
    if name:
        ctx.default_map = defaults(ctx.command, *read(name))
    return name


def for_run(ctx: click.Context, _param: click.Parameter, name: str) -> str:
    """The same of run, whose own options stand in a file with `verb = "run"`."""
    if not name:
        return name
    file, given = read(name)
    sweep = file.tree.get("sweep")
    if isinstance(sweep, dict) and sweep.get("verb") == "run":
        ctx.default_map = defaults(ctx.command, file, given)
        return name
    options = _replay(file, given)
    told, lost = memory_of(options.source)
    ctx.default_map = _device(options) | told
    rest = [key for key, value in given.items() if key not in _OF_RUN and value not in (0, "0")]
    if rest or lost:
        ctx.meta[_IGNORED] = f"{name}: of replay alone, and ignored: {', '.join([*rest, *lost])}"
    return name


def ignored(ctx: click.Context) -> str:
    """What of the file was not taken, in a line; "" for nothing."""
    return str(ctx.meta.get(_IGNORED, ""))


def _replay(file: TomlFile, given: dict[str, Any]) -> Options:
    """What a choice asks of replay; InputError with the file."""
    from nandwich.cli import points, verb_replay

    defaults(verb_replay.command, file, given)  # tells an unknown key by its line
    known = {key: value for key, value in given.items() if key in _OF_RUN and key != "source"}
    line = [word for key, value in known.items() for word in (f"--{key}", str(value))]
    try:
        return points.parsed([str(given.get("source", "gen:uniform")), *line])
    except click.UsageError as error:
        raise InputError(f"{file.where('base')}: {error.format_message()}") from error


def _device(options: Options) -> dict[str, Any]:
    """Part and layer as options of run: the figures with which the layer takes that RAM, and as
    much virtual memory as goes on it."""
    tried, device = play.opened(options)
    found: dict[str, Any] = {"chip": options.chip, "ftl": options.ftl, "blocks": options.blocks}
    cached = Device.maps if options.ftl == "lavish" else 0  # what the layers have unasked
    found |= {"spare_blocks": tried.layer.get("spare_blocks", 0)}
    found |= {"maps": tried.layer.get("maps", cached)}
    if "degree" in tried.layer:
        found["degree"] = tried.layer["degree"]
    capacity = device.sectors * device.sector_bytes
    return found | {"vm": min(Device.vm, capacity - capacity % _FRAME_MOST)}


def memory_of(source: str) -> tuple[dict[str, Any], list[str]]:
    """Page frames as options of run, and the policy if the VM has no such one."""
    if not accesses.is_asked(source):
        return {}, []
    paging = accesses.parse(source)
    found: dict[str, Any] = {"frame": paging.frame, "ram": paging.ram_bytes}
    # Slots pin frames, and look-aside entries hide uses of a page from the policy.
    slots = min(Device.slots, paging.frames // _FOR_A_SLOT)
    found["slots"] = slots if slots >= _SLOTS_LEAST else 1
    found["lookaside"] = 0
    if paging.policy in _POLICIES:
        return found | {"policy": _POLICIES[paging.policy]}, []
    return found, [f"policy={paging.policy}"]
