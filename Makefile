# make demo    set up the core and run the shipped example; needs Python 3.11+ and make, no Java
# make test    set up everything and run all checks and tests
# make lint    ruff and mypy
# make bench   the benchmarks, one table each
# make fuzz    the property tests at length
# make pages   write docs/errors from the registry of diagnostic codes
# make picture make docs/picture.png anew, in Chromium
# make site    the documentation as a site, in site/
# make lock    recompile the locked requirements (needs uv)

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# Most modules are never imported: those that are, Python compiles when it meets them.
INSTALL := $(PIP) install --no-compile
PYTEST ?= $(BIN)/python -m pytest -q

# Where many processes run, modules that are compiled to bytecode once save a second in each.
unexport PYTHONDONTWRITEBYTECODE

# A few tests use a browser and a database, and are left out where there is none. A machine of its own (CI=true) gets
# these from Debian, where it can.
PACKAGES := chromium postgresql libpostgresql-jdbc-java
APT := timeout 300 apt-get -qq -o DPkg::Lock::Timeout=120 -o Acquire::http::Timeout=30

.PHONY: demo test kernels classes packages lint bench fuzz pages picture site lock clean

demo: $(VENV)/.core
	@$(BIN)/python examples/demo.py

test: $(VENV)/.core
	@$(MAKE) --no-print-directory -j4 kernels lint classes $(if $(filter true,$(CI)),packages)
	$(PYTEST) -n 4 --dist loadfile --no-loadscope-reorder -m "not slow" --durations=12

# Two processes compile what most tests need while the rest is installed and checked: those of the tests would each
# compile all of it.
kernels: kernels-events kernels-others

kernels-%: $(VENV)/.core
	@PYTHONPATH=tests/spark:tests/examples $(BIN)/python tests/kernels.py $*

classes: $(VENV)/.all
	@$(BIN)/python tests/java_archive.py > /dev/null

packages:
	@dpkg-query --show $(PACKAGES) > /dev/null 2>&1 || { $(APT) update && \
		DEBIAN_FRONTEND=noninteractive $(APT) install --yes --no-install-recommends $(PACKAGES); } > /dev/null 2>&1 || \
		echo "Without the Debian packages $(PACKAGES) the tests that need them are left out"

lint: $(VENV)/.all
	$(BIN)/ruff check src tests bench examples docs
	$(BIN)/mypy

bench: $(VENV)/.all
	@for file in $(filter-out bench/measuring.py,$(sort $(wildcard bench/*.py))); do echo "== $$file"; $(BIN)/python $$file || exit 1; done

fuzz: $(VENV)/.all
	$(BIN)/python -m thalweg.testing.stress
	THALWEG_HYPOTHESIS=fuzz $(PYTEST) tests/fuzz tests/columns tests/events tests/lars \
		tests/answers/test_answers_properties.py tests/spark/test_random_programs.py \
		tests/spark/test_random_atoms.py
	THALWEG_HYPOTHESIS=fuzz THALWEG_KILLS=25 $(PYTEST) tests/spark/test_spark_crashes.py
	$(PYTEST) tests/spark -m slow

pages: $(VENV)/.all
	@$(BIN)/python docs/error_pages.py

picture: $(VENV)/.all
	@$(BIN)/python docs/picture.py

site: $(VENV)/.all
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "The documentation: site/index.html (served, as with python -m http.server -d site, it can be searched)"

# ---------------------------------------------------------------- set-up, done once

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; name it with PYTHON=..."; exit 1; }
	@echo "Setting up $(VENV) with $(PYTHON)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.core: requirements/core.txt pyproject.toml | $(VENV)/.made
	@echo "Installing the core requirements"
	@$(INSTALL) --require-hashes -r requirements/core.txt
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.all: requirements/all.txt $(VENV)/.core
	@echo "Installing the requirements of tests and benchmarks"
	@$(INSTALL) --require-hashes -r requirements/all.txt
	@touch $@

LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-header --no-annotate --no-emit-index-url --no-emit-find-links

lock:
	$(LOCK) pyproject.toml requirements/build.in -o requirements/core.txt
	$(LOCK) pyproject.toml requirements/build.in --extra dev -c requirements/core.txt -o requirements/all.txt

clean:
	rm -rf build dist out .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
