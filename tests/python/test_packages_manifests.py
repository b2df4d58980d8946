# SPDX-License-Identifier: Apache-2.0
"""Packages for Zephyr, ESP-IDF, PlatformIO and Arduino, by the published rules of each.

The tools themselves (west, idf.py) cannot run here. What can be had as packages of PyPI, the
manifest readers of ESP-IDF and PlatformIO and a Kconfig reader, runs in a soak test.
"""

import json
import re
import subprocess
import tarfile
import venv
import zipfile
from pathlib import Path

import pack
import pytest

from lab import cross
from nandwich import __version__, paths

assert paths.CHECKOUT is not None
ROOT = paths.CHECKOUT
PACKAGES = ROOT / "packages"
STUBS = ROOT / "tests" / "packages"
Tree = dict[str, "str | list[str] | Tree"]

#: A serial NAND at command level.
MODELS = ("bus.c", "bus_expect.c", "spi_nand_model.c", "onfi_page.c")


def run(*command: str | Path, folder: Path | None = None) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def yaml(path: Path) -> Tree:
    """The little of YAML that our files use: maps by two spaces, lists of words, plain text."""
    root: Tree = {}
    maps: list[tuple[int, Tree]] = [(-1, root)]
    last: tuple[Tree, str] = (root, "")
    for line in path.read_text().splitlines():
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        if not text or text.startswith("#"):
            continue
        if text.startswith("- "):
            parent, key = last
            items = parent[key] if isinstance(parent[key], list) else []
            assert isinstance(items, list)
            parent[key] = [*items, text.removeprefix("- ")]
            continue
        while maps[-1][0] >= indent:
            maps.pop()
        key, colon, value = text.partition(":")
        assert colon, line
        assert " #" not in value
        value = value.strip().strip('"')
        inner: Tree = {}
        maps[-1][1][key] = value or inner
        last = (maps[-1][1], key)
        if not value:
            maps.append((indent, inner))
    return root


@pytest.mark.quick
def test_zephyr_module_file() -> None:
    """Goal: module.yml has keys of its schema only (scripts/zephyr_module.py of Zephyr), and what
    it names is there."""
    module = yaml(PACKAGES / "zephyr/zephyr/module.yml")
    assert set(module) <= {"name", "build", "tests", "samples", "boards", "blobs"}
    build = module["build"]
    assert isinstance(build, dict)
    assert set(build) == {"cmake", "kconfig"}
    assert (PACKAGES / "zephyr" / str(build["cmake"]) / "CMakeLists.txt").is_file()
    assert (PACKAGES / "zephyr" / str(build["kconfig"])).is_file()


@pytest.mark.quick
def test_zephyr_options_are_used() -> None:
    """Goal: each option of Kconfig is used by the build file, which uses no other."""
    kconfig = (PACKAGES / "zephyr/Kconfig").read_text()
    build = (PACKAGES / "zephyr/CMakeLists.txt").read_text()
    assert set(re.findall(r"^config (\w+)$", kconfig, re.MULTILINE)) == set(
        re.findall(r"CONFIG_(\w+)", build)
    )
    for source in re.findall(r"src/\w+\.c", build):
        assert (PACKAGES / "zephyr" / source).is_file()


def test_zephyr_shims(tmp_path: Path) -> None:
    """Goal: disk and partition behave as Zephyr's interfaces ask, on stand-ins of these; what they
    need of the core is in the packed module."""
    with tarfile.open(pack.pack("zephyr", tmp_path)) as archive:
        archive.extractall(tmp_path, filter="data")
    module = tmp_path / f"nandwich-zephyr-{__version__}"
    takes = {take.name: take.files for take in pack.takes()}
    files = {file for name in ("store", "block", "spi-nand") for file in takes[name]}
    core = [module / "core" / file for file in sorted(files)]
    own = sorted((module / "src").glob("*.c"))
    bus = ROOT / "tests" / "bus"
    includes = [f"-I{STUBS / 'zephyr'}", f"-I{module / 'include'}", f"-I{module / 'core/include'}"]
    includes += [f"-I{bus}", f"-I{ROOT / 'twin' / 'include'}"]
    models = [bus / name for name in MODELS]
    archives = [paths.static_library(name) for name in ("nw_twin", "nw_core")]
    warnings = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    user = STUBS / "zephyr_user.c"
    program = tmp_path / "user"
    sources = [*own, *core, user, *models]
    run(
        "gcc",
        *warnings,
        *sanitizers,
        *includes,
        *sources,
        *archives,
        "-lcmocka",
        "-lm",
        "-o",
        program,
    )
    assert run(program) == ""


@pytest.mark.quick
def test_esp_idf_component() -> None:
    """Goal: the manifest has fields of its reference only (docs.espressif.com, manifest file), of
    their form, and the version of all."""
    manifest = yaml(PACKAGES / "esp-idf/idf_component.yml")
    known = {"version", "description", "license", "tags", "dependencies", "url", "targets"}
    assert set(manifest) <= known
    assert manifest["version"] == __version__
    assert manifest["license"] == "Apache-2.0"
    tags = manifest["tags"]
    assert isinstance(tags, list)
    assert all(re.fullmatch(r"[a-z0-9-]{3,32}", tag) for tag in tags)
    assert manifest["dependencies"] == {"idf": ">=5.0"}


def test_esp_idf_sources(tmp_path: Path) -> None:
    """Goal: the component's build file registers every source and the headers, packed or not."""
    with tarfile.open(pack.pack("esp-idf", tmp_path)) as archive:
        archive.extractall(tmp_path, filter="data")
    script = tmp_path / "check.cmake"
    script.write_text(
        "function(idf_component_register)\n"
        '    cmake_parse_arguments(arg "" "" "SRCS;INCLUDE_DIRS" ${ARGN})\n'
        "    foreach(name ${arg_SRCS})\n        message(NOTICE ${name})\n    endforeach()\n"
        "    if(NOT EXISTS ${arg_INCLUDE_DIRS}/nandwich/chip.h OR arg_UNPARSED_ARGUMENTS)\n"
        "        message(FATAL_ERROR ${ARGN})\n    endif()\nendfunction()\n"
        "include(${COMPONENT}/CMakeLists.txt)\n"
    )
    sources = {path.name for path in (ROOT / "core").glob("*/*.c")}
    for component in (PACKAGES / "esp-idf", tmp_path / f"nandwich-esp-idf-{__version__}"):
        done = subprocess.run(
            ["cmake", f"-DCOMPONENT={component}", "-P", script], capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        assert {line.rsplit("/", 1)[-1] for line in done.stderr.splitlines()} == sources


@pytest.mark.quick
def test_platformio_library() -> None:
    """Goal: library.json keeps the limits of its published schema, and what it names is packed."""
    library = json.loads((PACKAGES / "platformio/library.json").read_text())
    known = {"$schema", "name", "version", "description", "keywords", "license", "frameworks"}
    assert set(library) <= known | {"platforms", "headers", "build"}
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", library["name"])
    assert len(library["name"]) <= 50
    assert library["version"] == __version__
    assert len(library["description"]) <= 255
    files = pack.contents("platformio")
    assert "core/include/" + library["headers"] in files
    assert set(library["build"]) <= {"srcDir", "includeDir", "flags", "srcFilter"}
    assert any(name.startswith(library["build"]["srcDir"] + "/base/") for name in files)
    assert library["build"]["includeDir"] + "/nandwich/chip.h" in files


@pytest.mark.quick
def test_arduino_properties() -> None:
    """Goal: library.properties keeps the library specification, revision 2.2."""
    lines = (PACKAGES / "arduino/library.properties").read_text().splitlines()
    fields = dict(line.split("=", 1) for line in lines)
    assert len(fields) == len(lines)
    needed = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category"}
    needed |= {"url", "architectures"}
    assert needed <= set(fields) <= needed | {"includes", "dot_a_linkage", "depends"}
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,62}", fields["name"])
    assert "arduino" not in fields["name"].lower()
    assert fields["version"] == __version__
    assert fields["category"] in {
        "Display", "Communication", "Signal Input/Output", "Sensors", "Device Control", "Timing",
        "Data Storage", "Data Processing", "Other",
    }  # fmt: skip
    assert not fields["paragraph"].startswith(fields["sentence"])
    files = pack.contents("arduino")
    for header in fields["includes"].split(","):
        assert f"src/{header}" in files
    assert {name.split("/")[0] for name in files} == {
        "LICENSE", "examples", "library.properties", "src",
    }  # fmt: skip
    sketches = [name.split("/") for name in files if name.endswith(".ino")]
    assert sketches
    assert all(sketch[-2] + ".ino" == sketch[-1] for sketch in sketches)


@pytest.mark.parametrize("compiler", ["g++", "avr-g++"])
def test_arduino_example(compiler: str, tmp_path: Path) -> None:
    """Goal: the sketch compiles as C++ against the packed library and Arduino's interfaces."""
    if compiler == "avr-g++" and not cross.ATMEGA128.present:
        pytest.skip("needs gcc-avr")
    with zipfile.ZipFile(pack.pack("arduino", tmp_path)) as archive:
        archive.extractall(tmp_path)
    library = tmp_path / f"Nandwich-{__version__}"
    for sketch in library.glob("examples/*/*.ino"):
        options = ["-mmcu=atmega2560"] if compiler == "avr-g++" else []
        options += ["-std=gnu++11", "-Wall", "-Wextra", "-Werror", "-fno-exceptions", "-x", "c++"]
        includes = [f"-I{STUBS / 'arduino'}", f"-I{library / 'src'}", "-include", "Arduino.h"]
        run(compiler, *options, *includes, "-c", sketch, "-o", tmp_path / "sketch.o")


@pytest.mark.skipif(not cross.ATMEGA128.present, reason="needs gcc-avr")
def test_arduino_example_says_what_it_needs(tmp_path: Path) -> None:
    """The sketch compiled for an Uno, whose 2,048 bytes of RAM its store alone takes, and with the
    library it overflows the flash: it is refused there, and linked whole it fits a Mega 2560."""
    with zipfile.ZipFile(pack.pack("arduino", tmp_path)) as archive:
        archive.extractall(tmp_path)
    library = tmp_path / f"Nandwich-{__version__}"
    sketch = library / "examples/Logger/Logger.ino"
    sections = ["-Os", "-ffunction-sections", "-fdata-sections", f"-I{library / 'src'}"]
    sketches = [*sections, "-std=gnu++11", "-fno-exceptions", "-x", "c++", "-include", "Arduino.h"]
    sketches.append(f"-I{STUBS / 'arduino'}")
    uno = subprocess.run(
        ["avr-g++", "-mmcu=atmega328p", *sketches, "-fsyntax-only", sketch],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "it fits a Mega 2560, not an Uno" in uno.stderr
    mega = ["-mmcu=atmega2560"]
    sources = [
        path
        for folder in ("base", "chip", "drivers", "identify", "small", "store", "wear")
        for path in (library / "src" / folder).glob("*.c")
    ]
    main = tmp_path / "main.cpp"
    main.write_text(ARDUINO_MAIN)
    objects = []
    for number, source in enumerate((sketch, main, *sources)):
        objects.append(tmp_path / f"{number}.o")
        plain = source.suffix == ".c"
        compiler = ["avr-gcc", *mega, "-std=gnu11", *sections]
        if not plain:
            compiler = ["avr-g++", *mega, *sketches]
        run(*compiler, "-c", source, "-o", objects[-1])
    run("avr-gcc", *mega, "-Os", "-Wl,--gc-sections", *objects, "-o", tmp_path / "logger.elf")
    sizes = subprocess.run(
        ["avr-size", tmp_path / "logger.elf"], capture_output=True, text=True, check=True
    )
    text, data, bss = map(int, sizes.stdout.splitlines()[1].split()[:3])
    assert text + data < 60 << 10
    assert data + bss < 4096


ARDUINO_MAIN = """
#include <SPI.h>
void pinMode(int, int) {}
void digitalWrite(int, int) {}
int analogRead(int) { return 0; }
void delay(unsigned long) {}
void delayMicroseconds(unsigned) {}
void SerialPort::begin(unsigned long) {}
void SerialPort::print(const char *) {}
void SerialPort::println(const char *) {}
SerialPort Serial;
SPISettings::SPISettings(uint32_t, uint8_t, uint8_t) {}
void SpiPort::begin() {}
void SpiPort::beginTransaction(SPISettings) {}
void SpiPort::endTransaction() {}
uint8_t SpiPort::transfer(uint8_t byte) { return byte; }
SpiPort SPI;
int main() { setup(); for (;;) loop(); }
"""


PLATFORMIO = """
import sys
from platformio.package.manifest.parser import ManifestParserFactory
from platformio.package.manifest.schema import ManifestSchema
# The list of licences is fetched from the network otherwise.
licences = {"licenses": [{"licenseId": "Apache-2.0"}]}
ManifestSchema.load_spdx_licenses = staticmethod(lambda: licences)
ManifestSchema().load_manifest(ManifestParserFactory.new_from_file(sys.argv[1]).as_dict())
"""
KCONFIG = """
import sys
import kconfiglib
read = kconfiglib.Kconfig(sys.argv[1])
assert read.warnings == [], read.warnings
read.syms["NANDWICH"].set_value(2)
assert read.syms["NANDWICH_DISK"].str_value == "y"
assert read.syms["NANDWICH_FLASH_AREA"].str_value == "y"
assert read.syms["NANDWICH_SPI"].str_value == "y"
"""


@pytest.mark.soak
def test_readers_of_the_real_tools(tmp_path: Path) -> None:
    """Goal: what ESP-IDF's and PlatformIO's own programs think of the manifests, and a reader of
    Kconfig of that file. Each in an environment of its own, from PyPI."""
    programs = {}
    for name in ("platformio", "idf-component-manager", "kconfiglib"):
        venv.create(tmp_path / name, with_pip=True)
        programs[name] = tmp_path / name / "bin"
        run(programs[name] / "python", "-m", "pip", "install", "-q", name)
    reader = programs["platformio"] / "python"
    for manifest in ("platformio/library.json", "arduino/library.properties"):
        run(reader, "-c", PLATFORMIO, PACKAGES / manifest)
    component = tmp_path / "component"
    with tarfile.open(pack.pack("esp-idf", tmp_path)) as archive:
        archive.extractall(component, filter="data")
    (folder,) = component.iterdir()
    run(programs["idf-component-manager"] / "compote", "manifest", "lint", folder=folder)
    words = ("DISK_ACCESS", "FLASH_MAP", "FLASH_PAGE_LAYOUT", "SPI")
    lines = [f'config {word}\n\tbool "{word}"\n\tdefault y\n' for word in words]
    (tmp_path / "Kconfig").write_text("".join(lines) + f'source "{PACKAGES}/zephyr/Kconfig"\n')
    run(programs["kconfiglib"] / "python", "-c", KCONFIG, tmp_path / "Kconfig")
