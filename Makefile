# Everything a person or CI does here. Each target first makes sure of .venv (.ci/venv: once, then a no-op).
# Say which Python with `make PYTHON=/path/to/python`; pass options on with `make demo ARGS="--out results"`.

BIN := .venv/bin
ARGS ?=
export PYTHON

.PHONY: help env demo test slow explore lint notebooks docs bench kernels dist clean distclean

help:            ## this list
	@grep -hE '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 12

env:             ## create .venv and install, if needed
	@bash .ci/venv

demo: env        ## derive, predict, simulate, compare: figures and report.md in a new folder
	$(BIN)/ptft demo $(ARGS)

test: env        ## the unit tests, on every core (a few minutes); ARGS=-n0 for one
	$(BIN)/python -m pytest -m "not slow" -n auto --maxprocesses 8 --dist loadfile $(ARGS)

slow: env        ## the tests that take minutes each
	$(BIN)/python -m pytest -m slow $(ARGS)

explore: env     ## property tests with many new random examples
	HYPOTHESIS_PROFILE=explore $(BIN)/python -m pytest tests/properties --timeout=0 $(ARGS)

lint: env        ## ruff, with the rules in pyproject.toml
	$(BIN)/ruff check .

notebooks: env   ## execute every notebook; a failing cell or a dead kernel fails
	$(BIN)/python .ci/notebooks.py $(ARGS)

docs: env        ## the documentation site in build/site; ARGS=--no-notebooks executes none
	$(BIN)/python docs/sphinx/build.py $(ARGS)

bench: env       ## the benchmarks that take minutes (longer ones: benchmarks/nonlinear.py, diagonal_grid.py)
	@set -e; for name in kernels replica sweep diagonal ruler; do \
	    echo "== benchmarks/$$name.py"; $(BIN)/python benchmarks/$$name.py; done

kernels: env     ## regenerate numerics/kernels from the derivations
	$(BIN)/python -m numerics.codegen --write

dist: env        ## source archive and wheel, in dist/
	$(BIN)/python .ci/dist.py

clean:           ## caches and build outputs (not .venv, not your results)
	rm -rf build dist .pytest_cache .ruff_cache .hypothesis notebooks/*.ipynb
	find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean ## also .venv
	rm -rf .venv *.egg-info
