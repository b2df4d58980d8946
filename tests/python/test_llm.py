# SPDX-License-Identifier: Apache-2.0
"""examples/llm: the C program against a second writing of it, and the scripts that make models."""

import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from llm_reference import Reference
from runs import invoke, run_json
from runs import own_cache as own_cache

from examples.llm import corpus, export, make, model, ngram, tokens, train, untrained
from nandwich import paths

assert paths.CHECKOUT is not None
_SOURCES = paths.CHECKOUT / "examples" / "llm"
_TEXT = (
    b"the page of a block is read; the block of the page is erased, \xc2\xb5s by \xc2\xb5s. " * 3
)
_VOCABULARY = tokens.learn([_TEXT], 280)
_DENSE = model.Shape(
    vocabulary=280, width=24, layers=2, heads=2, head=12, hidden=40, context=16, rows=0
)
_TABLE = model.Shape(
    vocabulary=280, width=24, layers=3, heads=2, head=8, hidden=40, context=16, rows=64
)


@pytest.fixture(scope="module", params=["llm", "tiled"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """llm.c or tiled.c, with a check of every sum that leaves its type."""
    path = tmp_path_factory.mktemp("llm") / str(request.param)
    command = ["clang-19", "-O1", "-g", "-fsanitize=undefined,address", "-fno-sanitize-recover"]
    source = _SOURCES / f"{request.param}.c"
    subprocess.run([*command, "-Wall", "-Wextra", "-Werror", "-o", path, source], check=True)
    return path


def _file(shape: model.Shape) -> bytes:
    return untrained.file(shape, _VOCABULARY)


def _run(program: Path, *arguments: str, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([program, *arguments], input=text, capture_output=True, check=False)


@pytest.mark.parametrize("shape", [_DENSE, _TABLE], ids=["dense", "table"])
@pytest.mark.parametrize("seed", [0, 7])
def test_same_tokens_as_the_reference(
    program: Path, tmp_path: Path, shape: model.Shape, seed: int
) -> None:
    """Goal: token by token the same text, also long after the context is full."""
    weights = tmp_path / "weights.bin"
    weights.write_bytes(_file(shape))
    result = _run(program, str(weights), "the page", "50", str(seed))
    assert result.returncode == 0, result.stderr
    prompt = tokens.encode(_VOCABULARY, b"the page")
    found = Reference(weights.read_bytes()).generate(prompt, 50, seed)
    assert len(set(found)) > 10
    assert result.stdout == b"the page" + tokens.decode(_VOCABULARY, found) + b"\n"


def test_small_seeds_draw_anew(program: Path, tmp_path: Path) -> None:
    """Goal: the first token, too, is by chance; small seeds once drew numbers near 0 at first."""
    weights = tmp_path / "weights.bin"
    weights.write_bytes(_file(_DENSE))
    texts = {_run(program, str(weights), "the", "1", str(seed)).stdout for seed in range(12)}
    assert len(texts) > 4


def test_same_tokens_in_virtual_memory(tmp_path: Path) -> None:
    """Goal: mapped weights and a cache in virtual memory give the text of a native run."""
    weights = tmp_path / "weights.bin"
    weights.write_bytes(_file(_TABLE))
    program = ["--", str(weights), "the page", "20", "1"]
    value = run_json(_SOURCES / "llm.c", "--ram", "16K", "--once", *program)
    assert value["identical"] is True
    assert value["vm"]["mapped"] > 0


@pytest.mark.parametrize("target", ["cortex-m3", "rv32"])
def test_same_tokens_on_boards(tmp_path: Path, target: str) -> None:
    """Goal: processors of 32 bits count as this host does; the weights lie on the part."""
    weights = tmp_path / "weights.bin"
    weights.write_bytes(_file(_TABLE))
    arguments = ["--target", target, "--ram", "16K", "--quiet"]
    result = invoke(_SOURCES / "llm.c", *arguments, "--", weights, "the page", "8", "4")
    assert result.exit_code == 0, result.output
    prompt = tokens.encode(_VOCABULARY, b"the page")
    found = Reference(weights.read_bytes()).generate(prompt, 8, 4)
    text = b"the page" + tokens.decode(_VOCABULARY, found) + b"\n"
    assert result.stdout_bytes == text


def test_score_is_what_the_reference_says(program: Path, tmp_path: Path) -> None:
    """Goal: the held-out figures are the integer program's own chances, nothing rounded away."""
    weights = tmp_path / "weights.bin"
    weights.write_bytes(_file(_TABLE))
    result = _run(program, str(weights), "--score", text=_TEXT)
    reference = Reference(weights.read_bytes())
    numbers = tokens.encode(_VOCABULARY, _TEXT)
    bits = 0.0
    for before, token in zip([0, *numbers], numbers, strict=False):
        logits = reference.forward(before)
        shares = np.maximum(reference.power(logits.max() - logits), 1)
        bits -= np.log2(shares[token] / shares.sum())
    said = result.stdout.split()
    assert [said[1], said[2], said[3]] == [
        b"bits",
        str(len(_TEXT.decode())).encode(),
        b"characters",
    ]
    assert int(said[0]) == pytest.approx(bits, abs=1.1)


def test_integers_are_near_floats() -> None:
    """Goal: scales and units of the exporter are right: logits in 2^-8 powers of two."""
    weights = untrained.weights(_TABLE)
    for name in _TABLE.matrices():
        weights[name] /= 3  # what would grow an error from layer to layer
    numbers = np.array(tokens.encode(_VOCABULARY, _TEXT)[:17])
    rows = model.table_rows(_TABLE, numbers)[:, None, :-1]
    for name in _TABLE.tables():  # to their levels: only the rest is to be judged
        levels = export.levels_of(weights[name])
        ends = (levels[1:] + levels[:-1]) / 2
        weights[name] = levels[np.searchsorted(ends, weights[name])].astype(np.float32)
    reach = export.ranges(_TABLE, weights, numbers[None], rows)
    reference = Reference(export.export(_TABLE, weights, _VOCABULARY, reach))
    nats = model.losses(_TABLE, weights, numbers[None], rows)[0][0]
    for token, wanted, expected in zip(numbers, numbers[1:], nats, strict=False):
        logits = reference.forward(int(token)) / 256
        bits = np.log2(np.exp2(logits - logits[wanted]).sum())
        assert bits == pytest.approx(expected / np.log(2), abs=0.15)


@pytest.mark.parametrize("rows", [0, 8], ids=["dense", "table"])
def test_gradients_are_those_of_differences(rows: int) -> None:
    """Goal: each hand-written gradient is what a small change of the weight does to the loss."""
    shape = model.Shape(
        vocabulary=11, width=6, layers=2, heads=2, head=4, hidden=10, context=7, rows=rows
    )
    random = np.random.default_rng(3)
    sizes = {**shape.matrices(), **shape.tables()}
    weights = {name: random.standard_normal(size) * 0.5 for name, size in sizes.items()}
    numbers = random.integers(0, 11, (3, 8))
    read = random.integers(0, 8, (2, 3, 7)) if rows else None
    _, found, tables = model.gradients(shape, weights, numbers, read)
    for name, own in tables.items():
        found[name] = np.zeros_like(weights[name])
        found[name][own.numbers] = own.gradient
    for name, values in weights.items():
        for place in random.integers(0, values.size, 12):
            at = np.unravel_index(place, values.shape)
            kept, step = values[at], 1e-6
            losses = []
            for value in (kept + step, kept - step):
                values[at] = value
                losses.append(model.losses(shape, weights, numbers, read)[0].mean())
            values[at] = kept
            slope = (losses[0] - losses[1]) / (2 * step)
            assert found[name][at] == pytest.approx(slope, abs=2e-6), (name, at)


def test_rows_of_the_text_are_those_of_the_program() -> None:
    """Goal: training reads the rows that the program will read."""
    numbers = np.random.default_rng(8).integers(0, 280, 40)
    rows = model.table_rows(_TABLE, numbers)
    reference = Reference(_file(_TABLE))
    for at, token in enumerate(numbers):
        reference.last = [int(token), *reference.last[:2]]
        assert [reference.row(layer) for layer in range(3)] == rows[:, at].tolist()
    assert len(np.unique(rows)) > 40


def test_training_learns_and_repeats() -> None:
    """Goal: the loss falls far below that of guessing, and the same seed gives the same weights."""
    text = np.array(tokens.encode(_VOCABULARY, _TEXT * 4))
    plan = train.Plan(_TABLE, steps=60, batch=4, rate=1e-2)
    weights, again = train.train(plan, text, "test"), train.train(plan, text, "test")
    assert all((weights[name] == again[name]).all() for name in weights)
    rows = model.table_rows(_TABLE, text)
    pieces, read = train.windows(np.array([3]), text, rows, 16)
    assert model.losses(_TABLE, weights, pieces, read)[0].mean() < 0.3 * np.log(280)


def test_tokens_round_trip() -> None:
    """Goal: every text comes back, and frequent words are one token."""
    texts = [_TEXT, bytes(range(256)), "größer als µs\n\n    x".encode(), b""]
    for text in texts:
        assert tokens.decode(_VOCABULARY, tokens.encode(_VOCABULARY, text)) == text
    assert len(tokens.encode(_VOCABULARY, _TEXT)) < len(_TEXT) / 2
    assert len(_VOCABULARY) == 280
    assert max(map(len, _VOCABULARY)) <= tokens.LONGEST_BYTES


def _with(at: int, value: int) -> Callable[[bytes], bytes]:
    """Puts `value` into the header, at byte `at`."""
    return lambda file: file[:at] + struct.pack("<i", value) + file[at + 4 :]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_with(4, 9), b"weights of version 9, this program reads version 1"),
        (_with(0, 7), b"not a file of weights"),
        (lambda file: file[:-512], b" by its header"),
        (_with(20, 15), b"ends too early"),
        (_with(20, 1), b"its sizes do not agree"),
        (_with(20, -1), b"beyond the limits at the top of llm.c"),
        (_with(12, 281), b"a token of 0 bytes"),
        (_with(6656, -1), b"a scale out of range"),
        (_with(6720, 99), b"a shift out of range"),
        (_with(512 + 16 * ord("x"), ord("y")), b"no token for a byte of the text"),
        (lambda file: file[:10], b"too short"),
        (lambda file: b"", b"empty"),
    ],
    ids=[
        *("version", "magic", "cut", "deep", "flat", "negative", "vocabulary"),
        *("scale", "shift", "letter", "short", "empty"),
    ],
)
def test_bad_files_are_refused(
    program: Path, tmp_path: Path, change: Callable[[bytes], bytes], said: bytes
) -> None:
    """Goal: one line says what is wrong with a file, and nothing of it is used."""
    weights = tmp_path / "weights.bin"
    weights.write_bytes(change(_file(_DENSE)))
    result = _run(program, str(weights), "x", "1", "1")
    assert result.returncode == 2
    assert said in result.stderr
    assert str(weights).encode() in result.stderr


def test_a_text_too_small_to_train_on_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Goal: a corpus of one's own is looked at before anything is trained."""
    for training, held_out in (([b"short"], [b"page"]), ([b"x" * 60_000], [])):
        texts = corpus.Corpus(training, held_out)
        monkeypatch.setattr(corpus, "load", lambda texts=texts: texts)
        with pytest.raises(SystemExit, match="gives too little: 50000 bytes"):
            make.main(["--files"])


@pytest.mark.parametrize("bad", [["x", "-1", "1"], ["x", "1", "one"], ["x"], ["x", "1", ""]])
def test_bad_arguments_are_refused(program: Path, bad: list[str]) -> None:
    """Goal: a number that is none is named."""
    result = _run(program, "weights.bin", *bad)
    assert result.returncode == 2
    assert b"not a number" in result.stderr or b"usage" in result.stderr


def test_shapes_are_as_promised() -> None:
    """Goal: dense has a million parameters, table a core of 150,000 and six millions of 4 bits."""
    assert train.PLANS["dense"].shape.parameters()[0] >= 1_000_000
    core, tables = train.PLANS["table"].shape.parameters()
    assert core >= 150_000
    assert tables >= 6_000_000
    assert core + tables // 2 < 4_000_000
    assert train.PLANS["core"].shape.parameters() == (core, 0)


def test_held_out_pages_are_not_trained_on() -> None:
    """Goal: no page of documentation is on both sides."""
    texts = corpus.load()
    assert texts.held_out
    assert not set(texts.held_out) & set(texts.training)


def test_counted_chances_sum_to_one() -> None:
    """Goal: the n-gram beside which we stand is a proper one."""
    counts = ngram.count([_TEXT], 4)
    for context in (b"", b"the", b"xyz", b"e b"):
        assert sum(ngram.probability(counts, context, byte) for byte in range(256)) == (
            pytest.approx(1)
        )


def test_commands_of_the_pages_go_on_behind_one_backslash() -> None:
    """Goal: a command of several lines works as typed."""
    assert paths.CHECKOUT is not None
    for page in (*paths.CHECKOUT.glob("*.md"), *(paths.CHECKOUT / "docs").rglob("*.md")):
        assert "\\\\\n" not in page.read_text(), page
