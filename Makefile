# The targets are what people and CI run. Each one creates the environment it needs.
VENV := .venv
PYTHON ?= $(firstword $(foreach name,python3.12 python3.13 python3.11 python3,\
	$(shell $(name) -c 'import sys; sys.version_info >= (3, 11) and print("$(name)")' 2>/dev/null)))
BIN := $(VENV)/bin
.DEFAULT_GOAL := help

.PHONY: help demo compare label test minimum lint format docs fuzz bench clean

help:  ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

$(VENV)/installed-base: pyproject.toml
	@test -n "$(PYTHON)" || { echo "refpair needs Python 3.11 or newer: make PYTHON=/path/to/python $(MAKECMDGOALS)"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[label,plot]'
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed-base
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(VENV)/installed-base  ## pictures of digits: a model and a random forest, made for two costs
	$(BIN)/refpair demo

compare: $(VENV)/installed-base  ## eight algorithms on the same pictures: a report in two minutes
	$(BIN)/refpair compare --data digits --splits 3

label: $(VENV)/installed-base  ## a page to label pictures of digits, the most informative first
	$(BIN)/refpair label digits

test: $(VENV)/installed-dev  ## all tests
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal

# Python 3.11 is the oldest that is declared; the commands, every estimator and their files.
MINIMUM := .venv-minimum
$(MINIMUM)/installed: pyproject.toml .ci/minimum.py
	@test -x $(MINIMUM)/bin/python || $(firstword $(shell command -v python3.11) $(PYTHON)) -m venv $(MINIMUM)
	$(MINIMUM)/bin/python .ci/minimum.py label parquet test > $(MINIMUM)/requirements.txt
	$(MINIMUM)/bin/python -m pip install --quiet --disable-pip-version-check -r $(MINIMUM)/requirements.txt
	$(MINIMUM)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

minimum: $(MINIMUM)/installed  ## tests of commands, estimators and files on the oldest versions declared
	$(MINIMUM)/bin/python -m pytest --numprocesses 2 --dist worksteal -W default $(MINIMUM_TESTS)

MINIMUM_TESTS := tests/cli/test_app.py tests/cli/test_fit.py tests/cli/test_predict.py \
	tests/classifiers/test_common.py tests/persistence/test_every_estimator.py tests/persistence/test_round_trip.py

lint: $(VENV)/installed-dev  ## style, types, imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/installed-dev  ## rewrite the files in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/installed-dev  ## the pages of the documentation, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

fuzz: $(VENV)/installed-dev  ## 100,000 hostile inputs for each reader of files and for costs: half an hour
	$(BIN)/python -m fuzz

bench: $(VENV)/installed-dev  ## ratios against peers; see benchmarks/README.md
	$(BIN)/python -m benchmarks

clean:  ## remove the environment and all caches
	rm -rf $(VENV) $(MINIMUM) dist site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
