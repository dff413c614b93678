# Both commands do all the set-up on a machine that has Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= reproduction

# Pinned versions, and nothing that is there already is fetched again.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt

# The tests start some hundred processes: what the first compiled, the others read.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: test fuzz agreement coverage reproduce results install tools lint package docs clean

# The loops that the tests run are compiled on one core while the code is read on the other.
test: tools
	@$(BIN)/python tests/compile_first.py & $(MAKE) --no-print-directory lint && wait $$!
	$(BIN)/python -m pytest -n 2 --dist worksteal

# Hostile inputs, other ones each time: make fuzz SECONDS=3600, or SEED=7 for the same ones again.
SECONDS ?= 600
fuzz: tools
	$(BIN)/python tests/fuzz/run.py --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

# Theory against new simulations: at most 25 minutes on two cores.
agreement: tools
	$(BIN)/python -m pytest -n 2 --dist worksteal -m agreement tests

# What no test runs, file by file, the least covered first; programs that tests start are seen too.
coverage: tools
	$(BIN)/coverage erase
	NUMBA_DISABLE_JIT=0 $(BIN)/coverage run -m pytest -n 2 --dist worksteal
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --sort=cover

lint: tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The package alone, and with what developers need. Each is one call of pip, which reads all of the constraints
# and builds the package anew; bytecode is left to the first import, of what is imported.
install: $(VENV)/.installed
tools: $(VENV)/.tools

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "sparselaw needs Python 3.11 or later: make PYTHON=python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e .
	touch $@

$(VENV)/.tools: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) -e '.[dev,dask,parquet,excel,h5ad,tensorboard,explore,jupyter]'
	touch $(VENV)/.installed $@

# The wheel and the source archive, installed alone in a clean environment where every command is tried.
package: tools
	$(BIN)/python tests/package/check_package.py

# The docs site, without the network once its packages are there; a warning ends it.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -W -q -b html docs site
	$(BIN)/python tests/site/check_site.py site

$(VENV)/.docs: $(VENV)/.installed
	$(PIP) -e '.[docs]'
	touch $@

reproduce: install
	$(BIN)/sparselaw reproduce --out $(OUT)

# The numbers that the pages quote, from a full reproduction.
results: reproduce
	$(BIN)/python docs/quote_results.py $(OUT)

clean:
	rm -rf $(VENV) $(OUT) dist site docs/examples
