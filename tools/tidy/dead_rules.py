# SPDX-License-Identifier: Apache-2.0
"""Dead files: a source in no target, a header nobody includes, a page linked from nowhere."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from tidy.layer_rules import includes
from tidy.tree import Finding, Source

_LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)|(?:src|href)=\"([^\"#]+)\"")
#: Python files found by their name alone.
_DISCOVERED = ("verb_", "test_", "conftest", "__init__", "__main__")
_DISCOVERED_FOLDERS = ("papers/", "bench/")
#: Pages a visitor finds without a link.
_ENTRY_PAGES = frozenset({"README.md"})


def _compiled(root: Path) -> tuple[set[str], float]:
    """Sources some preset compiles, and since when all presets built here know of every file.

    From the compilation databases under build/; a file younger than the oldest build is not judged.
    """
    found = set()
    known_until = 0.0
    for stamp in sorted(root.glob("build/*/.built")):
        built = stamp.stat().st_mtime
        known_until = min(known_until or built, built)
        database = stamp.with_name("compile_commands.json").read_text(encoding="utf-8")
        for entry in json.loads(database):
            path = Path(entry["file"])
            if path.is_relative_to(root):
                found.add(path.relative_to(root).as_posix())
    return found, known_until


def dead_sources(sources: list[Source], root: Path) -> Iterator[Finding]:
    """A C or C++ file must be compiled, included or named by another file; a module imported."""
    imported = _imported(sources)
    compiled, known_until = _compiled(root)
    included = {
        PurePosixPath(name).name
        for source in sources
        if source.is_c_like
        for _, name in includes(source)
    }
    for source in sources:
        if source.is_c_like:
            used = source.path in compiled or source.name in included
            used = used or (root / source.path).stat().st_mtime > known_until
            if not used and not _named(source.name, source, sources):
                kind = "header included by nobody" if ".h" in source.name else "in no target"
                yield Finding(source.path, 1, "dead-file", kind)
        elif source.is_python and not _is_discovered(source):
            parts = source.path.removesuffix(".py").split("/")
            names = {".".join(parts[start:]) for start in range(len(parts))}
            if not names & imported and not _named(source.name, source, sources):
                yield Finding(source.path, 1, "dead-file", "module imported by nobody")


def _imported(sources: list[Source]) -> set[str]:
    """Dotted names of everything some Python file imports."""
    found: set[str] = set()
    for source in sources:
        if not source.is_python:
            continue
        try:
            nodes = list(ast.walk(ast.parse(source.text)))
        except SyntaxError:
            continue  # told by the rule on lengths
        for node in nodes:
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module)
                found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def _is_discovered(source: Source) -> bool:
    return source.name.startswith(_DISCOVERED) or source.path.startswith(_DISCOVERED_FOLDERS)


def _named(word: str, own: Source, sources: list[Source]) -> bool:
    pattern = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
    return any(pattern.search(other.text) for other in sources if other is not own)


def pages(sources: list[Source], root: Path) -> Iterator[Finding]:
    """Every page is reached from README.md by links, and every link to a file finds one."""
    docs = {source.path: source for source in sources if source.is_doc}
    links: dict[str, set[str]] = {}
    for source in docs.values():
        for number, line in enumerate(source.lines, 1):
            for match in _LINK.finditer(line):
                target = match.group(1) or match.group(2)
                if re.match(r"[a-z]+:", target):
                    continue
                path = (root / source.path).parent.joinpath(target).resolve()
                if not path.exists():
                    yield Finding(source.path, number, "dead-link", f"no file at {target}")
                elif path.is_relative_to(root):
                    links.setdefault(source.path, set()).add(path.relative_to(root).as_posix())
    reached: set[str] = set()
    pending = [path for path in docs if path in _ENTRY_PAGES]
    while pending:
        page = pending.pop()
        if page not in reached:
            reached.add(page)
            pending += [path for path in links.get(page, ()) if path in docs]
    for lonely in sorted(set(docs) - reached):
        yield Finding(lonely, 1, "dead-file", "page not reached by links from README.md")
    pictures = {s.path for s in sources if s.path.endswith(".svg")}
    pointed = {target for page in reached for target in links.get(page, ())}
    for unseen in sorted(pictures - pointed):
        yield Finding(unseen, 1, "dead-file", "picture shown on no page")
