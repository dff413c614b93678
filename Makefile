# Both commands do all the set-up on a machine that has Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= reproduction

.PHONY: test reproduce install lint clean

test: install lint
	$(BIN)/python -m pytest -n 2

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "sparselaw needs Python 3.11 or later: make PYTHON=python3.11 ..."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,dask,parquet,excel,tensorboard]'
	touch $@

reproduce: install
	$(BIN)/sparselaw reproduce --out $(OUT)

clean:
	rm -rf $(VENV) $(OUT)
