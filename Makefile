# Everything one does with Resprout. Start with `make help`.
#
# Tools (CMake, Ninja, Open MPI, linters) come from PyPI, pinned, into .venv; all that is built goes
# to build/. Nothing is installed outside of this folder.
PYTHON ?= python3
BUILD  := build/release
BIN    := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# What Python has compiled is kept, whatever the user's shell says: each job of a test starts a launcher.
export PYTHONPYCACHEPREFIX := $(CURDIR)/build/pycache
unexport PYTHONDONTWRITEBYTECODE
# MPI programs are run oversubscribed and, in containers, as root.
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1

.DEFAULT_GOAL := help
.PHONY: help demo docs check test lint format bench soak sanitize wheel build clean mpis

help: ## this list
	@echo "Resprout keeps MPI programs running when processes die."
	@echo
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18
	@echo
	@echo "After 'make build', $(BIN)/resprout is the command; try '$(BIN)/resprout --help'."

demo: $(BUILD)/build.ninja ## run 8 MPI processes, kill 2 of them, see the right answer and the report
	@echo "Building what the demo needs ..."
	@$(BIN)/ninja -C $(BUILD) --quiet resprout_demo
	@DESTDIR= $(BIN)/cmake --install $(BUILD) --component demo --prefix python >/dev/null
	@PYTHONPATH=$(CURDIR)/python $(BIN)/python -m resprout demo

mpis: build .venv/mpis.stamp ## what programs of MPICH and Intel MPI need: libresprout_mpich.so, libresprout_mpi_abi.so
	@$(BIN)/cmake --preset release --log-level=WARNING >/dev/null
	@$(BIN)/ninja -C $(BUILD) --quiet resprout_mpich resprout_mpi_abi
	@DESTDIR= $(BIN)/cmake --install $(BUILD) --component python --prefix python >/dev/null

docs: .venv/docs.stamp ## the site of the docs, in build/site; open build/site/index.html
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --clean

check: build .venv/dev.stamp ## before a commit: lint of what changed, unit tests, some kills (under 4 minutes)
	@$(BIN)/python tests/check.py

test: build .venv/dev.stamp mpis ## lint, then every test (under 30 minutes on 2 cores)
	@$(BIN)/python tests/run_all.py

lint: .venv/dev.stamp ## format, clang-tidy, ruff, mypy, spelling
	@$(BIN)/python tests/lint.py

format: .venv/dev.stamp ## rewrite all sources in the house's format
	@$(BIN)/python tests/lint.py --fix

bench: build .venv/dev.stamp ## measure against the same MPI without Resprout, JSON=FILE
	@$(BIN)/python bench/run.py $(if $(JSON),--json $(JSON))

soak: build .venv/dev.stamp ## random faults in the simulator, in jobs and among members, then fuzzing, MINUTES=10
	@$(BIN)/python tests/soak_all.py --minutes $(or $(MINUTES),10)

sanitize: build .venv/dev.stamp ## unit tests of what runs in every process, with sanitizers
	@$(BIN)/python tests/soak_all.py sanitized

wheel: .venv/dev.stamp mpis ## the wheel for pip, of what is built, and the sdist, in dist/
	@$(BIN)/ninja -C $(BUILD) --quiet resprout_package
	@DESTDIR= $(BIN)/cmake --install $(BUILD) --component python --prefix python >/dev/null
	@$(BIN)/python packaging/wheel.py --prebuilt python/resprout

build: .venv/package.stamp $(BUILD)/build.ninja ## build everything; a second time, only what changed
	@$(BIN)/ninja -C $(BUILD) --quiet
	@DESTDIR= $(BIN)/cmake --install $(BUILD) --component python --prefix python >/dev/null

clean: ## remove all that was built; .venv stays
	rm -rf build dist python/resprout/*.so python/resprout/resprout_start python/resprout/include \
	  python/resprout/demo_programs

# --- what the targets above stand on --------------------------------------------------------------
$(BUILD)/build.ninja: CMakePresets.json .venv/demo.stamp
	@$(BIN)/cmake --preset release --log-level=WARNING >/dev/null
	@touch $@

.venv/demo.stamp: requirements-demo.txt
	@echo "Fetching the tools into .venv ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "Resprout needs Python 3.10 or newer, $(PYTHON) is older; set PYTHON=python3.x" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "$(PYTHON) has no venv module; install it (Debian: python3-venv)" >&2; exit 1; }
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --no-compile --requirement requirements-demo.txt
	@touch $@

.venv/tools.stamp: requirements.txt .venv/demo.stamp
	@echo "Fetching what simulations and pictures need into .venv ..."
	@$(BIN)/pip install --quiet --requirement requirements.txt
	@touch $@

.venv/docs.stamp: requirements-docs.txt .venv/demo.stamp
	@echo "Fetching what builds the docs into .venv ..."
	@$(BIN)/pip install --quiet --no-compile --requirement requirements-docs.txt
	@touch $@

.venv/dev.stamp: requirements-dev.txt .venv/tools.stamp .venv/docs.stamp
	@echo "Fetching test tools and linters into .venv ..."
	@$(BIN)/pip install --quiet --requirement requirements-dev.txt
	@touch $@

.venv/mpis.stamp: requirements-mpich.txt .venv/demo.stamp
	@echo "Fetching MPICH and Intel MPI, on which tests run, into .venv/mpis ..."
	@for mpi in mpich impi-rt; do \
	  $(PYTHON) -m venv .venv/mpis/$$mpi && \
	  grep -E "^($$mpi|mpi4py)==" requirements-mpich.txt > .venv/mpis/$$mpi.txt && \
	  .venv/mpis/$$mpi/bin/pip install --quiet --requirement .venv/mpis/$$mpi.txt || exit 1; done
	@touch $@

.venv/package.stamp: pyproject.toml .venv/tools.stamp
	@$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@
