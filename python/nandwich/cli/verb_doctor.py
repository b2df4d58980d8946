# SPDX-License-Identifier: Apache-2.0
"""`nandwich doctor`: which outside tools are present, what each is for, how to get the others."""

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import click

from nandwich import paths
from nandwich.cli import output
from nandwich.cli.command import Command
from nandwich.cli.options import json_option


@dataclass(frozen=True)
class Tool:
    """One outside tool: how to see that it is there, and what for."""

    name: str
    purpose: str
    package: str
    needed: bool = False
    version_arguments: tuple[str, ...] = ("--version",)


#: Checked in this order; `needed` tools are those without which the command cannot do its main job.
TOOLS = (
    Tool("clang-19", "compiles programs for virtual memory", "clang-19", needed=True),
    Tool("ld.lld-19", "links them", "lld-19", needed=True),
    Tool("llvm-profdata-19", "profiles of nandwich run --profile", "llvm-19"),
    Tool("cmake", "builds Nandwich itself", "cmake", needed=True),
    Tool("ninja", "builds Nandwich itself", "ninja-build", needed=True),
    Tool("git", "names the commit in every result", "git"),
    Tool("FileCheck-19", "compiler tests", "llvm-19-tools"),
    Tool("clang-tidy-19", "static analysis", "clang-tidy-19"),
    Tool("csmith", "random programs for the compiler tests", "csmith"),
    Tool("valgrind", "exact instruction counts", "valgrind"),
    Tool("arm-none-eabi-gcc", "Cortex-M3 code size and port", "gcc-arm-none-eabi"),
    Tool("avr-gcc", "ATmega128 code size and port", "gcc-avr avr-libc"),
    Tool("riscv64-unknown-elf-gcc", "RV32 port", "gcc-riscv64-unknown-elf"),
    Tool("sdcc", "8051 port", "sdcc"),
    Tool("qemu-system-arm", "drivers on models of parts", "qemu-system-arm"),
    Tool("curl", "what draws pages, fetched at set-up", "curl"),
    Tool("chromium", "tests of those pages", "chromium"),
    Tool("cargo", "the Rust crate; other stores to compare with", "rustup"),
    Tool("fusermount3", "nandwich store IMAGE mount", "fuse3"),
)


def _version(tool: Tool) -> str | None:
    """The version the tool reports; None when it is not there, '?' when it does not say."""
    path = shutil.which(tool.name)
    if path is None:
        return None
    try:
        # In a folder of its own: csmith leaves a file behind where it runs.
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [path, *tool.version_arguments],
                capture_output=True,
                text=True,
                check=False,
                timeout=20,
                cwd=folder,
            )
    except (OSError, subprocess.TimeoutExpired):
        return "?"
    match = re.search(r"\d+\.\d+(?:\.\d+)*", done.stdout + done.stderr)
    return match.group(0) if match else "?"


def _parts() -> list[tuple[str, Path]]:
    build = paths.build_dir()
    return [
        ("core library", build / "lib" / "libnw_core.a"),
        ("twin library", build / "lib" / "libnw_twin.a"),
        ("compiler plugin", build / "lib" / "nandwich-pass.so"),
    ]


@click.command(cls=Command)
@json_option
def command(json_target: str | None) -> None:
    """Show which outside tools are present, what each is for and how to get the others.

    \b
    Examples:
      nandwich doctor
      nandwich doctor --json - | jq '.tools[] | select(.version == null)'

    Exits with 1 when a tool that building or `nandwich run` needs is missing.
    """
    found = [(tool, _version(tool)) for tool in TOOLS]
    parts = [(name, path, path.exists()) for name, path in _parts()]
    if json_target is not None:
        payload = {
            "tools": [
                {
                    "name": tool.name,
                    "version": version,
                    "purpose": tool.purpose,
                    "package": tool.package,
                    "needed": tool.needed,
                }
                for tool, version in found
            ],
            "build": [
                {"name": name, "path": str(path), "present": present}
                for name, path, present in parts
            ],
        }
        output.write_json(json_target, output.document("doctor", 1, payload))
    if json_target != "-":
        rows = [
            (tool.name, version or "missing", tool.purpose, "" if version else tool.package)
            for tool, version in found
        ]
        output.print_table(("tool", "version", "for", "get it: apt-get install"), rows)
        click.echo()
        rows_built = [
            (name, "built" if present else "not built: make build", str(path))
            for name, path, present in parts
        ]
        output.print_table(("ours", "state", "where"), rows_built)
    if any(tool.needed and version is None for tool, version in found):
        raise SystemExit(1)
