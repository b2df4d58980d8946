# SPDX-License-Identifier: Apache-2.0
"""Makes both models if they are not there yet, says what they are worth, and lets them write.

    python -m examples.llm.make             both shapes, their held-out bits, a text of each,
                                            and what a token takes on an emulated board
    python -m examples.llm.make --page      also the table shape without its tables; what all
                                            are worth goes to docs/figures/llm.md
    python -m examples.llm.make --files     only the files of weights; prints where they are

Weights are kept in ~/.cache/nandwich/llm (or as NANDWICH_CACHE says), in a folder named by a hash
of these scripts and the corpus. Results go to stdout, progress to stderr.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from examples.llm import corpus, ngram, train
from nandwich import paths

HERE = Path(__file__).resolve().parent
SCRIPTS = ("corpus.py", "export.py", "model.py", "tokens.py", "train.py")
"""What the weights depend on, beside the corpus."""
PROMPT = "A block is erased"
TOKENS = 60
SEED = 1
TEXT_LEAST = 50_000
"""Bytes to train on: fewer have no 2,048 tokens."""
PAGE = corpus.ROOT / "docs" / "figures" / "llm.md"
INTRODUCTION = """# What the two models are worth

Written by `python -m examples.llm.make --page`. Bits for each of the {:,} characters of the
documentation that was held out, whole pages, by the integer program; each page begins without
context. *core* is the table shape trained as long without its tables. An n-gram of order 4 chooses
a byte by the three before it, one of order 5 by the four before it; both are smoothed by Witten and
Bell's rule over the text that the models learnt.

"""


def folder(texts: corpus.Corpus) -> Path:
    """Where the weights of these scripts and this corpus are kept."""
    digest = hashlib.sha256(texts.digest().encode())
    for name in SCRIPTS:
        digest.update((HERE / name).read_bytes())
    return paths.cache_dir() / "llm" / digest.hexdigest()[:16]


def make_weights(shapes: list[str], texts: corpus.Corpus) -> dict[str, Path]:
    """The file of each shape; what is missing is trained, a process with one BLAS thread each."""
    where = folder(texts)
    where.mkdir(parents=True, exist_ok=True)
    files = {shape: where / f"{shape}.bin" for shape in shapes}
    missing = [shape for shape, path in files.items() if not path.exists()]
    if missing:
        print(f"llm: trains {' and '.join(missing)}, once; kept in {where}", file=sys.stderr)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    running = {
        shape: subprocess.Popen(
            [sys.executable, "-m", "examples.llm.train", shape, str(files[shape])],
            cwd=corpus.ROOT,
            env=environment,
        )
        for shape in missing
    }
    try:
        failed = [shape for shape, process in running.items() if process.wait() != 0]
    finally:
        for process in running.values():
            process.kill()
    if failed:
        sys.exit(f"llm: training of {' and '.join(failed)} failed")
    return files


def build() -> Path:
    """The program for this machine."""
    program = corpus.ROOT / "build" / "llm" / "llm"
    program.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["clang-19", "-O2", "-o", program, HERE / "llm.c"], check=True)
    return program


def bits_per_character(program: Path, weights: Path, texts: list[bytes]) -> float:
    """Mean bits for each character of `texts`, by the integer program itself."""
    bits = characters = 0
    for text in texts:
        said = subprocess.run(
            [program, weights, "--score"], input=text, stdout=subprocess.PIPE, check=True
        ).stdout.split()
        bits, characters = bits + int(said[0]), characters + int(said[2])
    return bits / characters


def worth(program: Path, files: dict[str, Path], texts: corpus.Corpus) -> list[str]:
    """The lines of a table: what each shape holds and costs, with n-grams beside it."""
    lines = [
        "| model | in matrices | in tables | file | held-out bits a character |",
        "|---|--:|--:|--:|--:|",
    ]
    for shape, path in files.items():
        core, tables = train.PLANS[shape].shape.parameters()
        bits = bits_per_character(program, path, texts.held_out)
        size = path.stat().st_size
        lines.append(f"| {shape} | {core:,} | {tables:,} | {size:,} B | {bits:.3f} |")
    for order in (4, 5):
        bits = ngram.bits_per_character(texts.training, texts.held_out, order)
        lines.append(f"| n-gram of order {order} | | | | {bits:.3f} |")
    return lines


def write(program: Path, shape: str, weights: Path) -> None:
    """A text of one model, natively and in virtual memory; `nandwich run` compares them."""
    arguments = [str(weights), PROMPT, str(TOKENS), str(SEED)]
    print(f"\n{shape}, natively:\n", flush=True)
    subprocess.run([program, *arguments], check=True)
    print(f"\n{shape}, in 64 KB of page frames:\n", flush=True)
    command = [sys.executable, "-m", "nandwich", "run", str(HERE / "llm.c"), "--ram", "64K"]
    subprocess.run([*command, "--once", "--", *arguments], check=True)


def show_boards(files: dict[str, Path]) -> None:
    """What a token takes on an emulated Cortex-M3; docs/figures/llm-boards.md has more rows."""
    from bench import llm  # which reads the constants above
    from lab.device.boards import CORTEX_M3

    if missing := CORTEX_M3.missing():
        print(f"\nthe emulated board needs {', '.join(missing)}: tools/setup test")
        return
    print("\non an emulated Cortex-M3 (a minute or two):\n", flush=True)
    found = llm.tokens([*llm.without_flash(CORTEX_M3), llm.best(CORTEX_M3)], files)
    print("\n".join(llm.table(found, CORTEX_M3)))
    print("\ntokens/s: if each instruction takes its most cycles, and its least; the rest is told")
    print("in docs/figures/llm-boards.md, which is of other weights. The weights of these texts:")
    print("\n".join(map(str, files.values())))


def main(options: list[str]) -> None:
    """Everything, in the order of the module's description."""
    if len(options) > 1 or set(options) - {"--page", "--files"}:
        sys.exit("usage: make [--page | --files]")
    texts = corpus.load()
    if not texts.held_out or sum(map(len, texts.training)) < TEXT_LEAST:
        sys.exit(f"llm: corpus.load() gives too little: {TEXT_LEAST} bytes, and a page held out")
    shapes = ["dense", "table"]
    if "--page" in options:
        shapes.append("core")
    files = make_weights(shapes, texts)
    if "--files" in options:
        for path in files.values():
            print(path)
        return
    program = build()
    lines = worth(program, files, texts)
    print("\n".join(lines), flush=True)
    if "--page" in options:
        held_out = sum(len(text.decode()) for text in texts.held_out)
        PAGE.write_text(INTRODUCTION.format(held_out) + "\n".join(lines) + "\n")
    for shape in ("dense", "table"):
        write(program, shape, files[shape])
    show_boards({shape: files[shape] for shape in ("dense", "table")})


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except subprocess.CalledProcessError as error:
        sys.exit(f"llm: stops: `{' '.join(map(str, error.cmd))}` ended with {error.returncode}")
