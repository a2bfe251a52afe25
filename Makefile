# `make demo` and `make test` need Python 3.11+ and make; everything else they install into this folder.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DEMO := build/demo
RELEASE := build/release
SECONDS ?= 900
QUESTION ?= How does Assay keep a run after a crash?

export PIP_DISABLE_PIP_VERSION_CHECK = 1
export PIP_NO_INPUT = 1

.PHONY: demo test test-fast crash fuzz lock audit release check lint format types imports docs messages bench clean help

help:
	@echo "make demo     install Assay into $(DEMO) and research a question over docs/"
	@echo "make test     format, lint, types, import contracts and all tests"
	@echo "make test-fast  only the unit and contract tests that tests/slow.txt does not name (over 50 ms, or a PostgreSQL server)"
	@echo "make crash    kill runs at every point and at 300 random moments, and resume them; and whatever else make test takes a sample of"
	@echo "make fuzz     give everything which reads foreign bytes bytes nobody wrote, for 15 minutes (SECONDS=7200: two hours), the server odd requests, and each property 500 examples"
	@echo "make lock     pin what the image and the developers' environment install, with hashes (needs uv; UPGRADE=--upgrade: the newest)"
	@echo "make audit    ask whether what the image installs has known vulnerabilities (needs uv and the network)"
	@echo "make release  build the wheel, and a list of what it installs (CycloneDX), into dist/"
	@echo "make check    the same without the tests"
	@echo "make format   format and fix what can be fixed"
	@echo "make docs     write the generated pages of docs/ again, and build them all as a site in build/site"
	@echo "make messages bring the catalogues of src/assay/locale up to date with the source, and compile them"
	@echo "make bench    measure everything (python -m bench lists what)"
	@echo "make clean    remove what these commands made"

demo: $(DEMO)/.installed
	$(DEMO)/venv/bin/assay "$(QUESTION)" --in docs/ --home $(DEMO)/home --yes

# With its compiled files kept, the next run reads the tests, and commands start, in half the time.
# Types are checked beside the tests, which leave part of a processor idle; what is wrong with them is said at the end.
test: lint
	@mkdir -p build; $(BIN)/mypy > build/types.log 2>&1 & types=$$!; \
		PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest; tests=$$?; \
		wait $$types || { cat build/types.log; exit 1; }; exit $$tests

test-fast: $(VENV)/.installed
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --fast tests/unit tests/contracts

crash: $(VENV)/.installed
	@$(BIN)/python tests/runs/campaign.py
	@$(BIN)/python tests/runs/campaign_workers.py
	@$(BIN)/python tests/runs/campaign_commands.py
	@$(BIN)/python -m pytest -m campaign

fuzz: $(VENV)/.installed
	@$(BIN)/python tests/fuzz/fuzz.py --seconds $(SECONDS)
	@ASSAY_TEST_EXAMPLES=100 $(BIN)/python -m pytest -q tests/server/test_server_conformance.py tests/server/test_server_fuzz.py
	@ASSAY_TEST_EXAMPLES=500 $(BIN)/python -m pytest -q -m "hypothesis and not campaign" tests/unit tests/contracts tests/runs

PIN := uv pip compile $(UPGRADE) pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate -q

lock:
	@$(PIN) --extra server --extra workers --extra office --extra s3 --extra pdf --extra docx -o deploy/requirements.lock
	@$(PIN) --extra dev -o deploy/development.lock

audit:
	@uvx pip-audit --strict --disable-pip --require-hashes -r deploy/requirements.lock

release: $(VENV)/.installed
	@rm -rf dist $(RELEASE)
	@$(BIN)/python -m build --outdir dist
	@$(PYTHON) -m venv $(RELEASE)
	@$(RELEASE)/bin/python -m pip install --quiet --require-hashes -r deploy/requirements.lock
	@$(RELEASE)/bin/python -m pip install --quiet --no-deps dist/*.whl
	@$(RELEASE)/bin/python -m pip uninstall --quiet --yes pip setuptools
	@$(BIN)/cyclonedx-py environment --output-reproducible --pyproject pyproject.toml --mc-type application \
		-o dist/assay.cdx.json $(RELEASE)/bin/python

check: lint types

lint: $(VENV)/.installed
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports

format: $(VENV)/.installed
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

types: $(VENV)/.installed
	@$(BIN)/mypy

imports: $(VENV)/.installed
	@$(BIN)/lint-imports

docs: $(VENV)/.installed
	@$(BIN)/python scripts/generate_events.py
	@$(BIN)/python scripts/generate_errors.py
	@$(BIN)/python scripts/generate_reference.py
	@$(BIN)/python scripts/generate_licences.py
	@$(BIN)/python scripts/generate_schema.py
	@$(BIN)/python scripts/generate_prompts.py
	@$(BIN)/mkdocs build --quiet
	@echo "the documentation is in build/site/index.html"

messages: $(VENV)/.installed
	@$(BIN)/python scripts/messages.py

bench: $(VENV)/.installed
	@$(BIN)/python -m bench all

clean:
	rm -rf build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache $(VENV)

# The locked libraries, checked against their hashes; where a mirror lacks one of them, what pyproject.toml asks for.
$(VENV)/.installed: pyproject.toml deploy/development.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Assay needs Python 3.11 or later, this is " + sys.version)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --require-hashes -r deploy/development.lock || \
		{ echo "deploy/development.lock cannot be installed here; installing what pyproject.toml asks for, unlocked"; \
		$(BIN)/python -m pip install --quiet --editable '.[dev]'; }
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(DEMO)/.installed: pyproject.toml $(shell find src -name '*.py' -o -name '*.md' -o -name '*.json')
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Assay needs Python 3.11 or later, this is " + sys.version)'
	@test -x $(DEMO)/venv/bin/python || $(PYTHON) -m venv $(DEMO)/venv
	@$(DEMO)/venv/bin/python -m pip install --quiet '.[server]'
	@touch $@
