# Two commands: `make run` serves memoranda with its console, `make test` proves it.
# Both bring their own environment in .venv from the pinned files; nothing else on the machine changes.

PYTHON ?= python3
VENV   := .venv
BENCH  := .venv-bench
RUN    := $(VENV)/.run-ready
TEST   := $(VENV)/.test-ready
BENCHED := $(BENCH)/.bench-ready
RELEASE := .venv-release
RELEASED := $(RELEASE)/.release-ready
WHEEL  := .venv-wheel
FRAMEWORKS := .venv-frameworks
FRAMED := $(FRAMEWORKS)/.frameworks-ready
PIP_INSTALL = -m pip --disable-pip-version-check --python
PIP_FLAGS   = install --quiet --root-user-action=ignore
# Where `make run` listens. DEMO=1 tells an empty database the demo story, DEMO=0 does not; else it asks.
ADDRESS ?= 127.0.0.1
PORT    ?= 8300
# The suite in four processes, for tests wait more than they work. A file of tests stays together, and files are
# handed out in the order of tests/conftest.py, which lets those begin that take long.
WORKERS = --numprocesses 4 --dist loadfile --no-loadscope-reorder
# Tests start hundreds of processes: none compiles everything anew.
unexport PYTHONDONTWRITEBYTECODE
COMPILE = uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
          --no-emit-index-url --no-emit-find-links --no-header
# Pages whose commands are typed and whose output is written by a program.
FOLLOWED = $(shell grep --files-with-matches ' title="' docs/*.md)
ALL_EXTRAS = agents,embeddings,langgraph,mcp,meaning,meaning-ko,models,plans,postgres,server,sign,testkit
# What `make setup` brings: everything a user may try without asking for more.
EXTRAS  = $(foreach extra,mcp meaning models plans postgres server sign,--extra $(extra))
INSTALL_CHROMIUM = { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
          apt-get install -y -qq --no-install-recommends chromium fonts-noto-core fonts-noto-cjk >/dev/null; }

.PHONY: help setup run test check bench adversity fuzz schemathesis mcp-conformance frameworks browser rules \
        names pythons lock clean tamper docs readme clone wheel sbom containers

help:
	@echo "make run      set up and serve ./memoranda.db with the web console (DEMO=1 PORT=8300)"
	@echo "make test     set up and pass the whole suite, on dict, SQLite and PostgreSQL"
	@echo "make check    lint, types, layers"
	@echo "make browser  the console in a real browser, which is installed where that is possible"
	@echo "make tamper   tamper with databases 10,000 times: both verifiers must name it"
	@echo "make bench    measure against raw apsw and LangGraph's stores, as ratios"
	@echo "make schemathesis  many requests for every operation of a server, on both databases"
	@echo "make fuzz     hand odd values to every verb: only our errors, nothing half written"
	@echo "make adversity  kill, cut off, fail, fill up and cancel: what is lost is counted"
	@echo "make mcp-conformance  run the published conformance package of MCP (Node, a network)"
	@echo "make frameworks  the examples of CrewAI and LlamaIndex, in an environment of their own (1.1 GB)"
	@echo "make setup    only make the environment: .venv, with the command memoranda in it"
	@echo "make pythons  the suite on every supported Python that is at hand"
	@echo "make rules    write docs/rules.md and the proofs anew from a full run of the suite"
	@echo "make names    write docs/names.md, python.md, http.md and errors.md anew, and OpenAPI's examples"
	@echo "make readme   write the figures of the READMEs anew, and what followed pages print"
	@echo "make docs     the documents as a site, in build/docs"
	@echo "make clone    README, tutorial and demo from a fresh clone, and how long each takes"
	@echo "make wheel    build the wheel, and pass the suite on what is installed from it"
	@echo "make sbom     a bill of materials of what is installed, in build/sbom.json"
	@echo "make containers  check Dockerfile and compose.yaml"
	@echo "make lock     compile the pinned requirement files anew (needs uv)"

# A virtual environment without its own pip (Debian's python3 can't make one with it):
# the system's pip installs into it, checking every hash.
define environment
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "memoranda needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $@"; exit 1; }
	@test -x $(1)/bin/python || $(PYTHON) -m venv --without-pip $(1)
	@echo "setting up $(1) from $(2) ..."
	@$(PYTHON) $(PIP_INSTALL) $(1)/bin/python $(PIP_FLAGS) --require-hashes -r $(2)
	@$(PYTHON) $(PIP_INSTALL) $(1)/bin/python $(PIP_FLAGS) --no-deps --no-build-isolation --editable .
	@touch $(3)
endef

$(RUN): requirements/run.txt pyproject.toml
	$(call environment,$(VENV),requirements/run.txt,$(RUN))

$(TEST): requirements/test.txt requirements/run.txt pyproject.toml
	$(call environment,$(VENV),requirements/test.txt,$(RUN))
	@touch $(TEST)

$(BENCHED): requirements/bench.txt pyproject.toml
	$(call environment,$(BENCH),requirements/bench.txt,$(BENCHED))

$(RELEASED): requirements/release.txt pyproject.toml
	$(call environment,$(RELEASE),requirements/release.txt,$(RELEASED))

$(FRAMED): requirements/frameworks.txt pyproject.toml
	$(call environment,$(FRAMEWORKS),requirements/frameworks.txt,$(FRAMED))

setup: $(RUN)

run: $(RUN)
	@$(VENV)/bin/python -m memoranda start --database memoranda.db --host $(ADDRESS) --port $(PORT) \
	  $(if $(DEMO),$(if $(filter 0,$(DEMO)),--no-demo,--demo))

test: $(TEST)
	@$(VENV)/bin/python -m pytest $(WORKERS)

check: $(TEST)
	@$(VENV)/bin/ruff check
	@$(VENV)/bin/ruff format --check
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports

bench: $(BENCHED) $(TEST)
	@$(BENCH)/bin/python -m bench
	@$(BENCH)/bin/python -m bench.filters
	@$(VENV)/bin/python -m bench.adapters
	@$(BENCH)/bin/python -m bench.handles
	@$(BENCH)/bin/python -m bench.ledger
	@$(BENCH)/bin/python -m bench.worlds
	@$(BENCH)/bin/python -m bench.items
	@$(BENCH)/bin/python -m bench.search
	@$(BENCH)/bin/python -m bench.recall
	@$(BENCH)/bin/python -m bench.soak --seconds 60 --recallers 16
	@$(BENCH)/bin/python -m bench.plans
	@$(BENCH)/bin/python -m bench.scopes
	@$(VENV)/bin/python -m bench.mcp
	@$(VENV)/bin/python -m bench.doors
	@$(VENV)/bin/python -m bench.console

# 10,000 tamperings and 1,000 clean runs, with the counts of each class; the suite has a short form.
tamper: $(TEST)
	@$(VENV)/bin/python -m tests.campaigns.tampering --runs 10000 --clean 1000 --seed 7

adversity: $(TEST)
	@$(VENV)/bin/python -m tests.campaigns.adversity
	@MEMORANDA_KILLS=40 $(VENV)/bin/python -m pytest tests/journeys/maintain/test_kills.py

fuzz: $(TEST)
	@MEMORANDA_FUZZ=long $(VENV)/bin/python -m pytest tests/app/test_only_our_errors.py tests/app/long_fuzz.py tests/journeys/turn/test_fault_campaign.py

# The console in Debian's chromium, which is installed where root and apt can; its screenshots go to docs/.
browser: $(TEST)
	@command -v chromium >/dev/null || $(INSTALL_CHROMIUM) || echo "chromium is not here, and apt can't bring it"
	@MEMORANDA_BROWSER=long $(VENV)/bin/python -m pytest -rs tests/surfaces/console

mcp-conformance: $(TEST)
	@$(VENV)/bin/python -m tests.campaigns.mcp_conformance

# CrewAI and LlamaIndex ask for older releases than ours: the suite skips their examples without this.
frameworks: $(FRAMED) $(TEST)
	@$(VENV)/bin/python -m pytest tests/project/examples/test_frameworks.py

# Many examples of every operation, on both databases; the suite has a few.
schemathesis: $(TEST)
	@MEMORANDA_SCHEMATHESIS=100 $(VENV)/bin/python -m pytest tests/surfaces/http/test_schemathesis.py

rules: $(TEST)
	@$(VENV)/bin/python -m pytest $(WORKERS) --write-rules

names: $(TEST)
	@$(VENV)/bin/python -m tests.project.docs.names
	@$(VENV)/bin/python -m tests.project.docs.signatures
	@$(VENV)/bin/python -m tests.project.docs.operations
	@$(VENV)/bin/python -m tests.project.docs.errors
	@$(VENV)/bin/python -m tests.surfaces.http.answering

# What the READMEs say in numbers, from bench/results, the proofs and docs/adversity.md.
readme: $(TEST)
	@$(VENV)/bin/python -m tests.project.docs.figures
	@$(VENV)/bin/python -m tests.project.docs.walking $(FOLLOWED)

docs: $(RELEASED)
	@$(RELEASE)/bin/sphinx-build --quiet --fail-on-warning --keep-going docs build/docs
	@echo "build/docs/index.html"

clone: $(TEST)
	@MEMORANDA_CLONE=whole $(VENV)/bin/python -m pytest -s -o timeout=3600 tests/project/packaging/test_clone.py

# The suite on the installed wheel: nothing is imported from src.
wheel:
	@rm -rf dist $(WHEEL)
	@$(MAKE) --no-print-directory VENV=$(WHEEL) $(WHEEL)/.test-ready
	@$(WHEEL)/bin/python -m tests.project.packaging.building . dist
	@$(PYTHON) $(PIP_INSTALL) $(WHEEL)/bin/python uninstall --quiet --yes memoranda
	@$(PYTHON) $(PIP_INSTALL) $(WHEEL)/bin/python $(PIP_FLAGS) --no-deps dist/*.whl
	@$(PYTHON) $(PIP_INSTALL) $(WHEEL)/bin/python install --quiet --dry-run "$$(echo dist/*.whl)[$(ALL_EXTRAS)]"
	@$(WHEEL)/bin/python -m pytest $(WORKERS)

sbom: $(RELEASED) $(RUN)
	@mkdir -p build
	@$(RELEASE)/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
	  --of JSON -o build/sbom.json $(VENV)/bin/python
	@echo "build/sbom.json"

containers: $(RELEASED)
	@$(RELEASE)/bin/hadolint Dockerfile
	@$(RELEASE)/bin/check-jsonschema --builtin-schema vendor.compose-spec compose.yaml

# The suite on every supported Python that is at hand, each in an environment of its own.
pythons:
	@for python in python3.11 python3.12 python3.13 python3.14; do \
	  if $$python -c '' 2>/dev/null; then \
	    $(MAKE) --no-print-directory PYTHON=$$python VENV=.venv-$$python test || exit 1; \
	  else echo "$$python is not at hand"; fi; done

lock:
	$(COMPILE) pyproject.toml requirements/run.in $(EXTRAS) -o requirements/run.txt
	$(COMPILE) pyproject.toml requirements/run.in requirements/test.in \
	  $(EXTRAS) --extra testkit -o requirements/test.txt
	$(COMPILE) pyproject.toml requirements/run.in requirements/bench.in \
	  --extra postgres -o requirements/bench.txt
	$(COMPILE) pyproject.toml requirements/run.in requirements/frameworks.in -o requirements/frameworks.txt
	$(COMPILE) requirements/release.in -o requirements/release.txt

clean:
	rm -rf .venv .venv-* build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
