# SPDX-License-Identifier: Apache-2.0
"""The files that a compiler command line names to be written, and why none may be one it reads."""

import os
from collections.abc import Iterable, Iterator, Sequence

from nandwich.errors import InputError

#: Options whose value, joined or the next word, is a file that is written.
_DRIVER = ("-o", "-MF", "-MJ", "-serialize-diagnostics", "--serialize-diagnostics")
_DRIVER_JOINED = ("-o", "-MF", "-MJ", "--output=", "-ftime-trace=")
#: The same of the linker, the preprocessor and clang's inner command.
_INNER = frozenset(
    ("-o", "-Map", "--Map", "--output", "--dependency-file", "-dependency-file", "-MD", "-MMD")
)
_INNER_JOINED = ("-Map=", "--Map=", "--output=", "--dependency-file=", "--time-trace-file=")
#: What -save-temps leaves of each source, beside its object.
_TEMPORARIES = ("i", "bc", "s", "o")


def refuse_over(inputs: Iterable[str], flags: Sequence[str]) -> None:
    """InputError for an option that would write over one of the `inputs`."""
    read = [name for name in inputs if name != "-"]
    for option, target in _written(flags):
        for name in read:
            if _same(target, name):
                raise InputError(f"{option}: would write over the input {name}")
    if any(flag.startswith(("-save-temps", "--save-temps")) for flag in flags):
        _refuse_temporaries(read)


def _refuse_temporaries(read: Sequence[str]) -> None:
    for source in read:
        stem = os.path.splitext(os.path.basename(source))[0]  # noqa: PTH119, PTH122 - as typed
        for name in read:
            for folder in ("", os.path.dirname(source)):  # noqa: PTH120 - the same
                if name != source and any(
                    _same(os.path.join(folder, f"{stem}.{end}"), name)  # noqa: PTH118
                    for end in _TEMPORARIES
                ):
                    raise InputError(f"-save-temps: of {source} would write over the input {name}")


def _written(flags: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each option as it was written, and the file it names."""
    inner: list[tuple[str, str]] = []  # the option, and one word of it
    for flag, value in zip(flags, [*flags[1:], ""], strict=True):
        if flag in _DRIVER:
            yield f"{flag} {value}", value
        elif flag.startswith(("-Wl,", "-Wp,")):
            inner += [(flag, word) for word in flag.split(",")[1:]]
        elif flag in ("-Xlinker", "-Xclang", "-Xpreprocessor"):
            inner.append((f"{flag} {value}", value))
        else:
            yield from _joined(flag, flag, _DRIVER_JOINED)
    for (option, word), (last, value) in zip(inner, [*inner[1:], ("", "")], strict=False):
        if word in _INNER:
            yield option if last == option else f"{option} {last}", value
        else:
            yield from _joined(option, word, _INNER_JOINED)


def _joined(option: str, word: str, starts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for start in starts:
        if word.startswith(start) and word != start:
            yield option, word.removeprefix(start)
            return


def _same(a: str, b: str) -> bool:
    try:
        return os.path.samefile(a, b)  # noqa: PTH121 - an empty name is no folder here
    except OSError:
        return False
