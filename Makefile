# SPDX-License-Identifier: Apache-2.0
# The front for people; each target is a line or two over cmake, pytest or the nandwich command.
.DEFAULT_GOAL := help
.NOTPARALLEL:
BIN := .venv/bin

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## install what is missing, then build the command (.venv/bin/nandwich)
	@tools/setup
	@tools/build release

.PHONY: build
build: ## build the command again after a change (quick when nothing changed)
	@tools/build release

.PHONY: demo
demo: ## a photograph decoded in 32 KB of RAM (PHOTO=any.jpg)
	@tools/setup
	@tools/build release
	@tools/demo

.PHONY: llm
llm: ## two language models trained (5 to 15 minutes, once), and a text of each in 64 KB of RAM
	@tools/setup
	@tools/build release
	$(BIN)/python -m examples.llm.make

.PHONY: test
test: ## every test: C (plain and sanitized), Python, style
	@tools/setup test
	@tools/build release
	@tools/build dev
	@tools/build asan
	ctest --preset dev -LE soak -j 2
	ctest --preset asan -LE soak -j 2
	PYTHONPATH=tools $(BIN)/python -m tidy
	tools/lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -m "not soak" -n 2
	tools/pytest-asan -m "asan and not soak" -n 2

.PHONY: soak
soak: ## the long campaigns (hours)
	@tools/setup test
	@tools/build release
	@tools/build dev
	@tools/build asan
	tools/lint deep
	ctest --preset asan -L soak -j 2 --no-tests=ignore
	ctest --preset dev -L fuzz -j 2
	$(BIN)/pytest -m soak -n 2
	tools/pytest-asan -m "asan and soak" -n 2 || [ $$? -eq 5 ] # 5: none there

.PHONY: bench
bench: ## measure this build against its promises
	@tools/setup test
	@tools/build release
	$(BIN)/nandwich bench

.PHONY: papers
papers: ## run the published experiments again (docs/figures/papers.md; plots in build/papers)
	@tools/setup
	@tools/build release
	$(BIN)/nandwich papers --page docs/figures/papers.md

.PHONY: figures
figures: ## measure again what the docs show (docs/figures/bench.md)
	@tools/setup test
	@tools/build release
	$(BIN)/nandwich bench --page docs/figures/bench.md

.PHONY: tidy
tidy: ## the house rules over the sources
	PYTHONPATH=tools $(BIN)/python -m tidy

.PHONY: quick
quick: ## the checks of every landing, under a minute
	@tools/quick

.PHONY: lock
lock: ## pin the Python dependencies of pyproject.toml again (requirements.lock)
	$(BIN)/uv pip compile -q pyproject.toml --extra plot --extra scale --extra test --extra dev \
	    --universal --generate-hashes --python-version 3.11 --custom-compile-command "make lock" \
	    -o requirements.lock
	@tools/setup

.PHONY: clean
clean: ## remove every build product (keeps .venv)
	rm -rf build python/nandwich/_native.pyi lab/_native.pyi
