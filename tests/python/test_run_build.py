# SPDX-License-Identifier: Apache-2.0
"""Goal: `nandwich run` builds once, with the flags it is given, beside other commands."""

import subprocess
import sys
from pathlib import Path

import pytest
from runs import invoke, run_json, write_program
from runs import own_cache as own_cache

from nandwich import paths
from nandwich.errors import InputError, RunError
from nandwich.run import build

assert paths.CHECKOUT is not None
_EXAMPLES = paths.CHECKOUT / "examples"


def test_a_second_run_compiles_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: builds are found again, until a header they read has changed."""
    monkeypatch.setenv("NANDWICH_CACHE", str(tmp_path / "cache"))
    header = tmp_path / "say.h"
    header.write_text('#define SAY "one"\n')
    source = write_program(
        tmp_path, '#include <stdio.h>\n#include "say.h"\nint main(void) { puts(SAY); return 0; }\n'
    )

    def times() -> list[int]:
        built = tmp_path.glob("cache/run/*/inputs.json")
        return sorted(path.stat().st_mtime_ns for path in built)

    assert invoke("-q", source).stdout == "one\n"
    before = times()
    assert invoke("-q", source).stdout == "one\n"
    assert times() == before
    header.write_text('#define SAY "two"\n')
    assert invoke("-q", source).stdout == "two\n"
    assert not set(times()) & set(before)


def test_flags_join_the_optimisation(tmp_path: Path) -> None:
    """Goal: any compiler flag used to take -O2 away in silence; it stays unless another level is
    asked for. --cflags brings what `run` would take for an option of its own."""
    source = write_program(
        tmp_path,
        r"""
        #include <stdio.h>
        #ifdef __OPTIMIZE__
        #define LEVEL "optimised"
        #else
        #define LEVEL "not optimised"
        #endif
        #ifndef WORD
        #define WORD "plain"
        #endif
        int main(int argc, char **argv) { printf("%s %s %d\n", LEVEL, WORD, argc); return 0; }
        """,
    )
    said = {
        (): "optimised plain 1\n",
        ("-Wall", "-DX"): "optimised plain 1\n",
        ("-O0", "-g"): "not optimised plain 1\n",
        ("--cflags", "-D 'WORD=\"two words\"'", "--cflags=-pipe"): "optimised two words 1\n",
    }
    for flags, text in said.items():
        result = invoke("--quiet", "--once", source, *flags)
        assert (result.exit_code, result.stdout) == (0, text), result.output


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["-fsanitize=address"], "-fsanitize=address does not work in virtual memory: it keeps a"),
        (["-fsanitize=undefined"], "add -fsanitize-trap=all"),
        (["--cflags", "-x c++"], "C++ is not supported"),
        (["--cflags", "-c"], "`nandwich run` makes a program of its own"),
        (["--cflags", "-o out"], "`nandwich run` makes a program of its own"),
        # `run.md` promised the reason, and these were told as options that do not exist.
        *((flag, "`nandwich run` makes a program of its own") for flag in (["-c"], ["-o", "out"])),
        # The compiler ended well without a program, and the cache of builds was blamed.
        *((["--cflags", flag], "something else than a program") for flag in ("--version", "-###")),
        (["--cflags", "-save-temps"], "builds two programs, whose temporary files would lie"),
        (["--cflags", "'open"], "--cflags: No closing quotation"),
        (["more.cpp"], "more.cpp: C++ is not supported"),
    ],
)
def test_flags_that_cannot_be_are_refused(flags: list[str], told: str) -> None:
    """Goal: C++, sanitizers and flags that leave no program each end in a sentence of their own."""
    refused = invoke(_EXAMPLES / "hello.c", *flags)
    assert refused.exit_code == 2
    assert told in refused.stderr


def test_undefined_behaviour_traps(tmp_path: Path) -> None:
    """Goal: what the refusal of -fsanitize=undefined proposes works: the overflow traps."""
    text = "#include <limits.h>\nint large = INT_MAX;\nint main(void) { return large + 1 == 0; }\n"
    flags = ("-fsanitize=undefined", "-fsanitize-trap=all")
    value = run_json(write_program(tmp_path, text), *flags, code=1)
    assert value["identical"] is True
    assert value["exit"]["virtual"]["signal"] == "SIGILL"


def test_the_guests_own_header_is_found(tmp_path: Path) -> None:
    """Goal: <nandwich/guest.h> was found by the guarded build and not by the native one, so no
    program with NW_RAM could be run. Natively the words mean nothing."""
    source = write_program(
        tmp_path,
        r"""
        #include <nandwich/guest.h>
        #include <stdint.h>
        NW_RAM static volatile int fast;
        static volatile int slow;
        NW_PLAIN int lies_apart(void) { return (intptr_t)&slow - (intptr_t)&fast > 1 << 24; }
        int main(void) { return lies_apart() ? 3 : 4; }
        """,
    )
    value = run_json(source, code=1)
    assert value["exit"]["native"]["status"] == 4
    assert value["exit"]["virtual"]["status"] == 3


def _recipe(folder: Path, word: str) -> build.Recipe:
    source = folder / f"{word}.c"
    source.write_text(f'#include <stdio.h>\nint main(void) {{ puts("{word}"); return 0; }}\n')
    return build.Recipe(("clang-19",), ("clang-19",), (source,), (), ())


def test_a_build_in_use_is_not_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: another command that dropped old builds, or built the same program anew, took the
    program away from a run under way. Here the store keeps a single build."""
    monkeypatch.setenv("NANDWICH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(build, "_KEPT", 1)
    store = tmp_path / "cache" / "run"
    one = build.build(_recipe(tmp_path, "one")).program
    (store / "use-left").mkdir()  # by a command that was killed
    other = "import sys; from pathlib import Path; from nandwich.run import build as b\n"
    other += "b._KEPT = 1\n"
    other += "for s in sys.argv[1:]:\n"
    other += "    b.build(b.Recipe(('clang-19',), ('clang-19',), (Path(s),), (), ()))\n"
    _recipe(tmp_path, "two")
    changed = _recipe(tmp_path, "one").sources[0]
    changed.write_text("int main(void) { return 3; }\n")
    sources = [str(changed), str(tmp_path / "two.c")]
    subprocess.run([sys.executable, "-c", other, *sources], check=True)
    assert subprocess.run([one], capture_output=True, check=True).stdout == b"one\n"
    assert len(list(store.glob("*.lock"))) == 1
    assert len(list(store.glob("use-*"))) == 1  # ours
    assert not list(store.glob("new-*"))


def test_what_a_killed_build_left_goes_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It went when a later build had ended well: with a source that does not compile a folder more
    stayed with each killed command."""
    monkeypatch.setenv("NANDWICH_CACHE", str(tmp_path / "cache"))
    store = tmp_path / "cache" / "run"
    (store / "new-left").mkdir(parents=True)
    (store / "new-left" / "0.o").write_text("half an object")
    broken = _recipe(tmp_path, "broken")
    broken.sources[0].write_text("int main(void) { return\n")
    with pytest.raises(InputError):
        build.build(broken)
    assert not list(store.glob("new-*"))


def test_no_room_to_keep_a_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With NANDWICH_CACHE on a full disk people saw LLVM's dump of its stack, then that their
    program does not compile, and the exit code of a wrong request."""
    monkeypatch.setenv("NANDWICH_CACHE", str(tmp_path / "cache"))
    source = write_program(tmp_path, "int main(void) { return 0; }\n")
    compiler = tmp_path / "compiler"
    compiler.write_text(
        "#!/bin/sh\n"
        'echo "fatal error: error in backend: IO failure on output stream: $SAYS" >&2\n'
        "echo 'PLEASE submit a bug report' >&2\n"
        "exit 70\n"
    )
    compiler.chmod(0o755)
    recipe = build.Recipe((str(compiler),), (str(compiler),), (source,), (), ())
    monkeypatch.setenv("SAYS", "No space left on device")
    with pytest.raises(RunError, match="cannot keep builds there: No space left on device; set NA"):
        build.build(recipe)
    monkeypatch.setenv("SAYS", "a defect of its own")
    with pytest.raises(InputError, match="does not compile"):
        build.build(recipe)
