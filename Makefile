# make run    the webhook on 127.0.0.1 with the shipped policy and certificates of its own; no cluster needed
# make test   everything that is needed, then every test, those on a real Kubernetes control plane included
# make lint   formatting, lint, types, layers
# make bench  the benchmarks; WRITE=1 keeps the results in docs/benchmarks.md
# make generate  the files of deploy/ that are made from the code
# make soak   a million reviews and a minute of slow clients (5 to 10 minutes); WRITE=1 keeps the result there too
# make sbom   dist/gpugate.cdx.json: what the image holds, as CycloneDX
# make lock   pin the newest dependencies again, with hashes

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= auto
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# A missing control plane is an error here, not a skip. It can be built wherever Go is.
export GPUGATE_REQUIRE_CONTROL_PLANE ?= 1

.PHONY: help run test lint format bench soak generate sbom lock control-plane clean
.DEFAULT_GOAL := help

help:
	@sed -n 's/^# //p' Makefile

$(VENV)/installed: requirements.txt pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing gpugate into $(VENV) ..." >&2
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements.txt
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed requirements-dev.txt
	@echo "installing what tests and lint need ..." >&2
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.txt
	@touch $@

run: $(VENV)/installed
	@$(BIN)/gpugate serve --policy shipped --dev

control-plane:
	@$(PYTHON) tests/controlplane/build.py >/dev/null
	@$(PYTHON) tests/tools/build.py >/dev/null
	@$(PYTHON) tests/tools/chromium.py >/dev/null

test: $(VENV)/installed-dev control-plane
	$(BIN)/pytest -n $(WORKERS) --dist loadfile $(PYTEST_ARGS)

lint: $(VENV)/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/installed-dev
	$(BIN)/python -m tests.bench.server $(if $(WRITE),--write)
	$(BIN)/python -m tests.bench.check $(if $(WRITE),--write)
	$(BIN)/python -m tests.bench.kyverno $(if $(WRITE),--write)
	$(BIN)/python -m tests.bench.scan $(if $(WRITE),--write)

generate: $(VENV)/installed-dev
	$(BIN)/python -m tests.deploy.generate

soak: $(VENV)/installed-dev
	$(BIN)/python -m tests.bench.soak $(if $(WRITE),--write)

sbom: $(VENV)/installed-dev
	@mkdir -p dist
	$(BIN)/cyclonedx-py requirements requirements.txt --pyproject pyproject.toml --mc-type application \
		--output-reproducible --spec-version 1.6 --validate -o dist/gpugate.cdx.json

LOCK := $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-annotate --quiet
lock: $(VENV)/installed-dev
	$(LOCK) --upgrade pyproject.toml requirements.in -o requirements.txt
	$(LOCK) --upgrade requirements-dev.in -o requirements-dev.txt

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
