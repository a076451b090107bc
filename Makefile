# Every target sets up what it needs; `make demo` and `make test` are the two to remember.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
RUNTIME := $(VENV)/.runtime
READY := $(VENV)/.ready
PEERS := .venv-bench
PACKAGES := clients/js/node_modules clients/jspsych/node_modules clients/surveyjs/node_modules

.PHONY: setup demo serve test browser lint format bench league attacks docs lock clean

setup: $(READY)

# One environment in two steps. The runtime lock is what `make demo` needs; the development lock holds
# the same versions and everything else. The locks pin every package with its hash; the project
# itself is linked, so edits need no reinstall.
$(RUNTIME): requirements-runtime.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) --no-compile --require-hashes -r requirements-runtime.lock
	$(PIP) --no-deps --no-build-isolation -e .
	touch $@

# Tests start many processes, so bytecode is made now, on all cores (pip would use one).
$(READY): $(RUNTIME) requirements.lock
	$(PIP) --no-compile --require-hashes -r requirements.lock
	-$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib
	touch $@

demo: $(RUNTIME)
	$(BIN)/forsooth demo

# The service with a simulated survey, and one to answer, in a temporary database.
serve: $(READY)
	$(BIN)/forsooth serve --demo

test: $(READY) lint browser $(PACKAGES)
	$(BIN)/python -m pytest -n auto

# Tests in real browsers want Debian's packages; where one may not be installed its tests are skipped.
# Package=program. Together they take about a minute, once.
BROWSERS := chromium=chromium firefox-esr=firefox-esr webkit2gtk-driver=WebKitWebDriver xvfb=Xvfb
APT := DEBIAN_FRONTEND=noninteractive apt-get -qq
browser:
	@missing=$$(for each in $(BROWSERS); do command -v $${each#*=} >/dev/null || echo $${each%=*}; done); \
	[ -z "$$missing" ] || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && $(APT) update >/dev/null; }; \
	for package in $$missing; do \
	  { [ "$$(id -u)" = 0 ] && $(APT) install -y --no-install-recommends $$package >/dev/null; } \
	    || echo "$$package is not here and cannot be installed: its tests in a browser will be skipped"; \
	done

# The browser client has no dependencies to run; its types are checked with TypeScript where npm is. The
# plugins for jsPsych and SurveyJS are tested with these libraries.
$(PACKAGES): %/node_modules: %/package-lock.json
	@if command -v npm >/dev/null; then cd $* && npm ci --silent --no-audit --no-fund && touch node_modules; \
	  else echo "npm is not here: tests with what $* needs will be skipped"; fi

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Takes about ten minutes; the figures want a machine that does nothing else meanwhile.
bench: $(READY) $(PEERS)/.ready
	$(BIN)/forsooth bench --peers $(PEERS)/bin/python -o docs/benchmarks.md -o docs/benchmarks.json \
	  --plot docs/images/benchmark-scale.png

# The page about the league: some minutes on two cores. The real data are found through FORSOOTH_DATA.
league: $(READY)
	$(BIN)/forsooth league --quick -o forsooth-league
	sed 's,](figures/,](images/,' forsooth-league/league.md >docs/league.md
	cp forsooth-league/figures/league-*.png docs/images/

# Every attack on what is promised, as a table; `make test` runs the same attacks.
attacks: $(READY) browser clients/js/node_modules
	$(BIN)/python -m benchmarks.attacks

# Other libraries to compare with have packages of their own; one that cannot be had stops nothing.
$(PEERS)/.ready: benchmarks/peers.txt
	$(PYTHON) -m venv $(PEERS)
	while read -r peer; do \
	  $(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check $$peer </dev/null \
	    || echo "$$peer could not be installed and will be reported so"; \
	done <benchmarks/peers.txt
	touch $@

# The site is in site/: open site/index.html. A broken link is an error (not with --quiet).
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Needs uv (https://docs.astral.sh/uv). Pinned versions stay; to upgrade, remove all three files first.
# The other locks take their versions from the first one. No index address is written.
LOCK = uv pip compile pyproject.toml --group build --universal --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-annotate --custom-compile-command "make lock" --quiet
lock:
	$(LOCK) --all-extras -o requirements.lock
	$(LOCK) --constraint requirements.lock -o requirements-runtime.lock
	$(LOCK) --constraint requirements.lock --extra service -o requirements-service.lock

clean:
	rm -rf $(VENV) $(PEERS) .mypy_cache .pytest_cache .ruff_cache site $(PACKAGES) forsooth-demo* forsooth-league
