# Thin front door: CMake presets build, scripts/ check. `make help` lists the targets.
JOBS ?= $(shell nproc)
export JOBS
BUILD_RELEASE = cmake --preset release && cmake --build --preset release --parallel $(JOBS)

.NOTPARALLEL:
.PHONY: all deps demo test asan tsan bench bench-peers bench-notes bench-scaling paper wheel format check golden clean help

all: ## release build into build/release (installs nothing)
	@$(BUILD_RELEASE)

deps: ## install the packages that building and running need
	@scripts/install_deps.sh

demo: deps all ## install what is missing, build, run the demo
	@build/release/bin/hyperatom demo -o build/demo --overwrite

wheel: deps ## the Python package, into build/dist
	@scripts/build_wheel.sh

test: ## install what is missing, then all checks and tests (presets dev and asan, the Python package)
	@scripts/install_deps.sh --dev
	@scripts/test.sh

asan: ## the tests under address and undefined-behaviour sanitizers
	@scripts/install_deps.sh --dev
	@scripts/test.sh asan

tsan: ## the tests under the thread sanitizer
	@scripts/install_deps.sh --dev
	@scripts/test.sh tsan

bench: ## build and run the micro-benchmarks
	@scripts/install_deps.sh --dev
	@$(BUILD_RELEASE) --target hyperatom_bench hyperatom_ratios
	@build/release/bin/hyperatom_bench
	@build/release/bin/hyperatom_ratios

bench-peers: build/venv-peers/.installed ## the coder beside its peers from PyPI; hours, or QUICK=1: minutes
	@scripts/install_deps.sh --dev
	@$(BUILD_RELEASE) --target hyperatom_cli hyperatom_rivals
	@build/venv-peers/bin/python bench/peers/measure.py $(if $(QUICK),--quick -o build/peers/quick.json) $(if $(DATA),--data $(DATA))
	@$(if $(QUICK),,build/venv-peers/bin/python bench/peers/report.py)

bench-notes: build/venv-peers/.installed ## the coder beside the prototype of the performance notes, on real scenes; half an hour, or QUICK=1: two minutes
	@scripts/install_deps.sh --dev
	@$(BUILD_RELEASE) --target hyperatom_cli hyperatom_rivals
	@build/venv-peers/bin/python bench/peers/notes.py $(if $(QUICK),--quick -o build/peers/notes-quick.json) $(if $(DATA),--data $(DATA))

bench-scaling: build/venv-peers/.installed ## whole scenes and training: time, threads, memory; half an hour, or QUICK=1: minutes
	@scripts/install_deps.sh --dev
	@$(BUILD_RELEASE) --target hyperatom_cli hyperatom_scene_bench
	@bench/scaling.py $(if $(QUICK),--quick -o build/scaling/quick.json)
	@$(if $(QUICK),,build/venv-peers/bin/python bench/scaling_report.py)

build/venv-peers/.installed: bench/peers/requirements.txt
	@scripts/install_deps.sh --dev
	@python3 -m venv build/venv-peers
	@build/venv-peers/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

paper: deps all ## the paper's tables on the scenes in ../shared/data (or DATA=...), into docs/results.md
	@bench/paper/tables.py --write $(if $(DATA),--data $(DATA))

format: ## format all C++ in place
	@scripts/check_format.sh --fix

check: ## formatting, include directions, documentation links
	@scripts/test.sh check

golden: build/venv/.numpy ## regenerate tests/golden from the NumPy reference
	@build/venv/bin/python scripts/make_golden.py

build/venv/.numpy:
	@python3 -m venv build/venv
	@build/venv/bin/pip install --quiet --disable-pip-version-check numpy
	@touch $@

clean: ## remove everything built
	@rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 17
