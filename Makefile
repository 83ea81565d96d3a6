# Two commands set everything up and use it: `make run` and `make test`. Only Python 3.11+, make and PyPI are needed.
PYTHON ?= python3
VENV := .venv
SAM := .venv-sam
BIN := $(VENV)/bin
LEADS ?= events/leads-1000.csv
RUN ?=

.PHONY: run test browser story simulate worlds mutants check audit bench bench-console openapi fuzz load build requirements lock setup help

help:  ## Say what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

run: setup  ## Run the sample campaign in the sandbox; files in out/ (LEADS=file RUN="more options")
	$(BIN)/paceline run $(LEADS) --out out $(RUN)

test: setup  ## All tests, in under 5 minutes on two cores
	$(BIN)/python -m pytest -n 2 --dist worksteal -q

browser:  ## Install what browser tests need: Chromium by apt-get, axe-core by npm
	tests/browser/install.sh

story: setup  ## The story's whole night of 22,178 records; a test runs a tenth of it (minutes)
	$(BIN)/python -m pytest -q -m whole

simulate: setup  ## Kill a campaign of 50 leads at every call in turn, some 1,850 runs; a test runs a sample (minutes)
	$(BIN)/paceline simulate --kill-everywhere --leads 50

worlds: setup  ## A hundred and fifty random worlds in a storm; a test runs six of them (a minute or two)
	$(BIN)/paceline simulate --seeds 1..150

mutants: setup  ## Break the product on purpose, one rule at a time: do random worlds notice? (minutes)
	$(BIN)/paceline simulate --mutants

check: setup  ## Format, lint, types, template
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/cfn-lint template.yaml
	$(BIN)/paceline check
	$(BIN)/bandit --quiet --configfile pyproject.toml --recursive functions sandbox console docs deploy

audit: setup  ## Known vulnerabilities of the pinned dependencies; asks PyPI's advisory service
	$(BIN)/pip-audit --strict --require-hashes --disable-pip --requirement requirements.lock

bench: setup  ## The engine's and a campaign's figures (bench/README.md); about 3 minutes
	$(BIN)/python bench/engine.py

bench-console: setup  ## The web console's pages beside a campaign of 25,000 leads; needs make browser; about 5 minutes
	$(BIN)/python bench/console.py

fuzz: setup  ## Requests nobody thought of, against the served API; about 5 minutes
	$(BIN)/python bench/api_fuzz.py

load: setup  ## A thousand campaigns, ten thousand calls, slow clients, twenty tabs on the served API; about 15 minutes
	$(BIN)/python bench/load.py

openapi: setup  ## Write docs/openapi.json from the API's code
	$(BIN)/python docs/write_openapi.py

build: setup $(SAM)/ready  ## An artifact for each function in .aws-sam/build, ready for `sam deploy`, and checked
	SAM_CLI_TELEMETRY=0 $(SAM)/bin/sam build
	$(BIN)/python -m deploy.check

$(SAM)/ready: requirements-sam.lock
	$(PYTHON) -m venv --clear $(SAM)
	$(SAM)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements-sam.lock
	touch $@

requirements: setup  ## Write functions/requirements.txt from requirements.lock
	$(BIN)/python -m deploy.requirements

setup: $(VENV)/ready  ## Make the virtual environment from the lock file

$(VENV)/ready: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Paceline needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

COMPILE = $(BIN)/python -m piptools compile --quiet --strip-extras --generate-hashes --allow-unsafe --no-emit-index-url \
	--no-emit-find-links --no-emit-trusted-host

lock:  ## Write requirements.lock anew from pyproject.toml, and SAM's from requirements-sam.in
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-tools
	$(COMPILE) --extra sandbox --extra dev --output-file requirements.lock pyproject.toml
	$(COMPILE) --output-file requirements-sam.lock requirements-sam.in
