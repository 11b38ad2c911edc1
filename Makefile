# The targets are what people and CI run. Each one creates the environment it needs.
VENV := .venv
PYTHON ?= $(firstword $(foreach name,python3.12 python3.13 python3.11 python3,\
	$(shell $(name) -c 'import sys; sys.version_info >= (3, 11) and print("$(name)")' 2>/dev/null)))
BIN := $(VENV)/bin
.DEFAULT_GOAL := help

.PHONY: help demo compare label test test-fast coverage minimum lint format hooks docs wheel fuzz bench bench-report clean

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

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

test-fast: $(VENV)/installed-dev  ## the first case of each test that is not slow, for less than a minute
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --seconds 0.3 --durations 5 --durations-min 3 tests

coverage: $(VENV)/installed-dev  ## all tests, and which lines of Python they run; kernels are not counted
	$(BIN)/python -m pytest --numprocesses 2 --dist worksteal --cov --cov-report term:skip-covered

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

hooks: $(VENV)/installed-dev  ## lint before each commit and types before each push
	$(BIN)/pre-commit install --hook-type pre-commit --hook-type pre-push

docs: $(VENV)/installed-dev  ## the pages of the documentation, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

wheel: $(VENV)/installed-dev  ## the wheel and the source distribution in dist/, tried out elsewhere
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/python .ci/try_wheel.py dist

fuzz: $(VENV)/installed-dev  ## 100,000 hostile inputs for each reader of files and for costs: half an hour
	$(BIN)/python -m fuzz

bench: $(VENV)/installed-dev  ## speed against scikit-learn, measured and stored: ten minutes; see benchmarks/README.md
	$(BIN)/python -m benchmarks

bench-report: $(VENV)/installed-dev  ## all published tables anew from the stored results, in less than a minute
	$(BIN)/python -m benchmarks.report

clean:  ## remove the environment and all caches
	rm -rf $(VENV) $(MINIMUM) dist site .coverage .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
