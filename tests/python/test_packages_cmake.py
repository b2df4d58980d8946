# SPDX-License-Identifier: Apache-2.0
"""The core in other people's builds by CMake: add_subdirectory, find_package, another processor."""

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from lab import cross
from nandwich import __version__, paths
from nandwich.compiler import toolchain

assert paths.CHECKOUT is not None
ROOT = paths.CHECKOUT
USER = ROOT / "tests" / "packages" / "user.c"
SAID = f"{__version__}: done, hello, flash\n"


def run(*command: str | Path, expected: int = 0) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout + done.stderr


def project(folder: Path, lines: str) -> Path:
    """A user's project: user.c, and a build file in C alone."""
    folder.mkdir()
    shutil.copy(USER, folder / "user.c")
    (folder / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.20)\nproject(user LANGUAGES C)\n{lines}"
    )
    return folder


def configure(source: Path, *options: str, expected: int = 0) -> str:
    build = source / "build"
    return run("cmake", "-G", "Ninja", "-S", source, "-B", build, *options, expected=expected)


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of core/ and nothing else of the tree."""
    folder = tmp_path_factory.mktemp("core")
    return Path(shutil.copytree(ROOT / "core", folder / "core"))


def test_version_is_one(core: Path) -> None:
    """Goal: version.h says what the Python package says."""
    lines = (core / "include/nandwich/version.h").read_text().splitlines()
    numbers = [line.split()[2] for line in lines if line.startswith("#define NW_VERSION_")]
    assert ".".join(numbers) == __version__


def test_subdirectory_then_package(core: Path, tmp_path: Path) -> None:
    """Goal: a project takes the core as a folder; another one takes it as it was installed."""
    first = project(
        tmp_path / "first",
        f"add_subdirectory({core} nandwich)\nadd_executable(user user.c)\n"
        "target_compile_options(user PRIVATE -Wall -Wextra -Wpedantic -Werror)\n"
        "target_link_libraries(user PRIVATE nandwich::core)\n",
    )
    configure(first)
    run("cmake", "--build", first / "build")
    assert run(first / "build" / "user") == SAID
    run("cmake", "--install", first / "build", "--prefix", tmp_path / "installed")
    major, minor, _ = __version__.split(".")
    second = project(
        tmp_path / "second",
        f"find_package(nandwich {major}.{minor} REQUIRED COMPONENTS core)\n"
        "add_executable(user user.c)\ntarget_link_libraries(user PRIVATE nandwich::core)\n",
    )
    prefix = f"-DCMAKE_PREFIX_PATH={tmp_path / 'installed'}"
    configure(second, prefix)
    run("cmake", "--build", second / "build")
    assert run(second / "build" / "user") == SAID
    third = project(tmp_path / "third", "find_package(nandwich REQUIRED COMPONENTS virtualize)\n")
    said = configure(third, prefix, expected=1)
    assert "nandwich was installed without its component virtualize" in said
    older = project(tmp_path / "older", f"find_package(nandwich {int(major) + 1}.0 REQUIRED)\n")
    said = configure(older, prefix, expected=1)
    assert "compatible with requested version" in " ".join(said.split())


@pytest.mark.skipif(not cross.CORTEX_M3.present, reason="needs arm-none-eabi-gcc")
def test_core_alone_for_another_processor(core: Path, tmp_path: Path) -> None:
    """Goal: the core builds by a tool chain file, without static RAM; no host takes it for its."""
    build = tmp_path / "m3"
    chain = ("--toolchain", "cmake/cortex-m3.cmake")
    run("cmake", "-G", "Ninja", "-DCMAKE_C_FLAGS_RELEASE=-O0", "-S", core, "-B", build, *chain)
    run("cmake", "--build", build)
    total = run("arm-none-eabi-size", "-t", build / "lib" / "libnw_core.a").splitlines()[-1].split()
    assert int(total[0]) > 50_000
    assert (total[1], total[2]) == ("0", "0")
    run("cmake", "--install", build, "--prefix", tmp_path / "installed")
    host = project(tmp_path / "host", "find_package(nandwich REQUIRED)\n")
    said = configure(host, f"-DCMAKE_PREFIX_PATH={tmp_path / 'installed'}", expected=1)
    assert "(32bit)" in said


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This build, installed with the compiler pass."""
    prefix = tmp_path_factory.mktemp("installed")
    run("cmake", "--install", paths.build_dir(), "--prefix", prefix)
    return prefix


PROGRAM = """
#include <stdio.h>
static int numbers[100000];
int main(void)
{
    long sum = 0;
    for (int i = 0; i < 100000; i++) { numbers[i] = i; }
    for (int i = 0; i < 100000; i++) { sum += numbers[i]; }
    printf("%ld\\n", sum);
    return 0;
}
"""
VIRTUAL = """find_package(nandwich REQUIRED COMPONENTS virtualize)
add_executable(sum sum.c)
nandwich_virtualize(sum FRAME 1024 SLOTS 8 DEVICE ram=16384 chip=K9F1G08U0A)
add_executable(plain sum.c)
"""


def virtual_project(folder: Path, installed: Path, lines: str, compiler: str) -> tuple[str, int]:
    source = project(folder, lines)
    (source / "sum.c").write_text(PROGRAM)
    options = (f"-DCMAKE_PREFIX_PATH={installed}", f"-DCMAKE_C_COMPILER={compiler}")
    command = ("cmake", "-G", "Ninja", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options)
    done = subprocess.run(
        [*command, "-S", source, "-B", source / "build"], capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip
    return done.stderr, done.returncode


def test_virtualize(installed: Path, tmp_path: Path) -> None:
    """Goal: a target of a user's project runs in virtual memory and prints what it always did;
    it is compiled as `nandwich cc --separate` compiles."""
    source = tmp_path / "virtual"
    said, status = virtual_project(source, installed, VIRTUAL, toolchain.CLANG)
    assert status == 0, said
    run("cmake", "--build", source / "build")
    assert run(source / "build" / "sum") == run(source / "build" / "plain") == "4999950000\n"
    orders = (source / "build" / "build.ninja").read_text()
    for archive in toolchain.libraries():
        assert archive.name in orders
    symbols = run("nm", source / "build" / "sum")
    assert "nw_host_defaults" in symbols
    database = json.loads((source / "build" / "compile_commands.json").read_text())
    (command,) = [
        shlex.split(entry["command"]) for entry in database if "sum.dir/sum.c" in entry["command"]
    ]
    guest = toolchain.Guest(frame_bytes=1024, slots=8, whole=False)
    plugin = str(installed / "lib" / "nandwich" / "nandwich-pass.so")
    for flag in toolchain.compile_flags(guest):
        if not flag.startswith("-I"):
            assert flag.replace(str(paths.compiler_plugin()), plugin) in command
    ours = [word for word in command if word.startswith(("-f", "-nw", "-g"))]
    assert len(ours) == len(
        [word for word in toolchain.compile_flags(guest) if word.startswith(("-f", "-nw", "-g"))]
    )


@pytest.mark.parametrize(
    ("lines", "compiler", "expected"),
    [
        (VIRTUAL, "gcc", "the C compiler is /"),
        (VIRTUAL.replace("SLOTS 8", "GUARDS foo"), toolchain.CLANG, "GUARDS foo: inline, outline"),
        (VIRTUAL.replace("SLOTS 8", "SLOTS 65"), toolchain.CLANG, "SLOTS 65: 1 to 64"),
        (VIRTUAL.replace("1024", "1000"), toolchain.CLANG, "FRAME 1000: a power of two from 16"),
        (VIRTUAL.replace("FRAME", "FRAMES"), toolchain.CLANG, "what is FRAMES"),
        (VIRTUAL.replace("sum.c)\nnand", "sum.c x.cpp)\nnand"), toolchain.CLANG, "x.cpp: C++"),
    ],
)
def test_virtualize_refuses(
    installed: Path, tmp_path: Path, lines: str, compiler: str, expected: str
) -> None:
    """Goal: what cannot work is said while configuring, in a sentence."""
    said, status = virtual_project(tmp_path / "virtual", installed, lines, compiler)
    assert status == 1
    assert expected in " ".join(said.split())


def test_whole_tree_as_a_subdirectory(tmp_path: Path) -> None:
    """Goal: a project that takes the whole tree has nandwich_virtualize too, and needs no sodium;
    what does need it says so."""
    lines = f"set(NW_COMPILER ON)\nadd_subdirectory({ROOT} nandwich)\n{VIRTUAL}"
    lines = lines.replace("find_package(nandwich REQUIRED COMPONENTS virtualize)\n", "")
    source = project(tmp_path / "user", lines)
    (source / "sum.c").write_text(PROGRAM)
    options = (f"-DCMAKE_C_COMPILER={toolchain.CLANG}", "-DLLVM_DIR=/usr/lib/llvm-19/cmake")
    said = configure(source, *options, "-DSODIUM_LIBRARY=")
    assert "no libsodium" in said
    orders = run("ninja", "-C", source / "build", "-t", "inputs", "sum")
    assert "nandwich-pass.so" in orders
    assert "libnw_host.a" in orders
    said = configure(source, *options, "-DSODIUM_LIBRARY=", "-DNW_TESTS=ON", expected=1)
    assert "install libsodium-dev" in said
