# SPDX-License-Identifier: Apache-2.0
# Two commands matter: `make demo` and `make test`. Each sets up all it needs, system packages
# included; what is there already is left alone, so a second run starts at once.

VENV := .venv
PYTHON := $(VENV)/bin/python
HEAPFIT := $(VENV)/bin/heapfit
environment := $(VENV)/environment-installed
extension := $(VENV)/extension-built
tools := $(VENV)/tools-installed
# What the demo runs: built here, or a wheel of this very commit, by make demo WHEEL=dist/heapfit-...whl
ready := $(if $(WHEEL),$(VENV)/wheel-installed,$(extension))

# Tests start Python some thousand times: what it compiles is kept, and not in the tree.
export PYTHONPYCACHEPREFIX := $(CURDIR)/build/bytecode
unexport PYTHONDONTWRITEBYTECODE

# Folders are listed beside their files, so that a removed file counts as a change.
c_folders := $(wildcard core baselines papers/include papers/src recorder engine python/bindings)
native := CMakeLists.txt $(wildcard papers/*.*) $(shell find $(c_folders) proofs)
c_files := $(shell find $(c_folders) $(wildcard tests examples target python/heapfit/plugin) -name "*.[ch]" -o -name "*.[ch]pp")
python_files := $(wildcard python papers target scripts tests bench examples)

.DEFAULT_GOAL := help
.PHONY: help demo firmware quick test test-more native-more test-long style types core-builds ctest ctest-quick \
        ctest-32 ctest-more ctest-release pytest pytest-more pytest-quick bench attack attack-run attack-heaps attack-readers mutants format packages wheels try-packages \
        docs site lint clean build-packages \
        recorder-packages board-packages test-packages
ifdef IN_ORDER
.NOTPARALLEL:
endif
.DELETE_ON_ERROR:

# How much `make attack` tries; .ci/run asks for less.
# Seconds of each fuzzer; second frees of an allocator; steps of random programs on an allocator's plans;
# which heaps' states, full or some; interrupts of each heap; mutants of the proven text, and of core's lines
# that the last commit changed.
ATTACK_SECONDS := 60
ATTACK_FREES := 1000000
ATTACK_STEPS := 1000000
ATTACK_STATES := full
ATTACK_INTERRUPTS := 10000
ATTACK_MUTANTS := 20

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

demo: $(ready) ## set up (or WHEEL=FILE), then fit a heap to two recordings and size packet pools for a capture
	@scripts/demo

firmware: $(extension) | board-packages ## the closed loop on examples/firmware: record, fit, verify, until it settles
	scripts/firmware tasks

quick: style types ctest-quick pytest-quick ## before a commit: style, types, core's tests once, quick Python tests

# Two at a time, so that no core waits for the last of a suite. What each prints comes when it ends, in one piece.
AT_ONCE := $(MAKE) --no-print-directory --jobs=2 --output-sync=target

test: test-packages $(extension) $(tools) ## set up, then what a newcomer runs: minutes
	+@$(AT_ONCE) style types ctest pytest

test-more: test-packages $(extension) $(tools) ## the rest of the checks and tests, after `make test`: as long again
	+@$(AT_ONCE) native-more pytest-more

native-more:
	+@$(MAKE) --no-print-directory IN_ORDER=1 core-builds ctest-32 ctest-release ctest-more

style: $(extension) $(tools) ## layout and lint of Python and C, and what a commit adds to the package
	$(VENV)/bin/ruff format --check $(python_files)
	$(VENV)/bin/ruff check $(python_files)
	@echo clang-format --dry-run -Werror, $(words $(c_files)) files
	@$(VENV)/bin/clang-format --dry-run -Werror $(c_files)
	$(PYTHON) scripts/check_functions.py
	$(PYTHON) scripts/check_dead_code.py
	$(PYTHON) scripts/check_language.py
	$(PYTHON) scripts/check_test_bonds.py
	$(PYTHON) scripts/list_options.py
	$(PYTHON) scripts/check_statements.py

types: $(extension) $(tools) ## strict types of the package and of what measures it
	$(VENV)/bin/mypy --strict

core-builds: | test-packages ## core alone, by gcc and by clang, warnings are errors
	cmake --preset core-gcc && cmake --build --preset core-gcc
	cmake --preset core-clang && cmake --build --preset core-clang

ctest: | test-packages ## C and C++ tests under the address and undefined-behaviour sanitizers
	cmake --preset sanitize && cmake --build --preset sanitize && ctest --preset sanitize

ctest-32: | test-packages ## the contract of every allocator on 32-bit pointers
	cmake --preset m32 && cmake --build --preset m32 && ctest --preset m32

ctest-more: | test-packages
	cmake --preset sanitize && cmake --build --preset sanitize && ctest --preset sanitize-more

ctest-release: $(environment) | test-packages ## the C tests as firmware builds them, on 64 and on 32 bits
	cmake --preset release && cmake --build --preset release && ctest --preset release
	cmake --preset release-m32 && cmake --build --preset release-m32 && ctest --preset release-m32
	$(PYTHON) scripts/battery_page.py --check
	$(PYTHON) scripts/hardening_page.py --check

ctest-quick: | build-packages
	cmake --preset release && cmake --build --preset release && ctest --preset quick

test-long: test-packages $(extension) $(tools) ## ten times the contract's random steps, every code linked, every row of the papers: an hour
	for build in sanitize m32; do cmake --preset $$build -D HFIT_CONTRACT_LEVEL=1 -D HFIT_CONTRACT_STEPS=10000000 \
	    -D HFIT_LEVEL_STEPS=50000 && cmake --build --preset $$build && ctest --preset $$build --tests-regex contract \
	    || exit 1; done
	HEAPFIT_ALL_TURNS=1 ctest --preset sanitize --tests-regex engine
	for build in release release-m32; do cmake --preset $$build -D CMAKE_C_FLAGS_RELEASE="-O3 -DNDEBUG" \
	    && cmake --build --preset $$build --target second_frees heap \
	    && build/$$build/tests/attack/second_frees 100000000 && build/$$build/tests/attack/heap --steps 10000000 \
	    || exit 1; done
	cmake --build --preset release
	build/release/tests/core/test_sizes all
	build/release/tests/core/test_huge_regions all
	$(PYTHON) -m pytest $$(cat tests/turns.txt)
	HEAPFIT_WORST_CASE_EVENTS=200000 $(PYTHON) -m pytest tests/target/test_worst_case.py
	HEAPFIT_ALL_PROOFS=1 $(PYTHON) -m pytest tests/python/test_proof.py
	HEAPFIT_ALL_RECORDINGS=1 $(PYTHON) -m pytest tests/python/test_corpus.py tests/python/test_many_recordings.py
	HEAPFIT_ALL_PAIRS=1 $(PYTHON) -m pytest $$(grep -l '^from grid import' tests/*/test_*.py)
	HEAPFIT_ALL_FAILURES=1 HEAPFIT_KILLS=200 $(PYTHON) -m pytest tests/python/test_record.py
	HEAPFIT_ALL_CODES=1 $(PYTHON) -m pytest tests/target/test_measured_codes.py
	$(PYTHON) scripts/try_aarch64.py
	HEAPFIT_ALL_EXAMPLES=1 $(PYTHON) -m pytest tests/python/test_every_command.py tests/repository/test_documentation.py \
	    tests/repository/test_walked_pages.py
	HEAPFIT_ALL_INTERRUPTS=1 $(PYTHON) -m pytest tests/python/test_every_command.py --keyword "interrupt or ctrl_c"
	HEAPFIT_SCALE_EVENTS=1e8 $(PYTHON) -m pytest tests/python/test_benches.py --keyword hold_no_events
	+@$(MAKE) --no-print-directory try-packages
	scripts/try_packagers
	$(PYTHON) scripts/try_exports.py
	HEAPFIT_ALL_ROWS=1 $(PYTHON) -m pytest tests/papers/test_reproduce.py tests/papers/test_reproduce_freshness.py \
	    tests/target/test_queue_instructions.py

attack: attack-run ## fuzzers, all states of small heaps, second frees, interrupts, proofs and mutants
	$(PYTHON) scripts/prove.py
	$(PYTHON) scripts/prove.py --mutants $(ATTACK_MUTANTS)
	$(PYTHON) scripts/prove_sizes.py
	$(PYTHON) scripts/prove_sizes.py --mutants
	$(PYTHON) scripts/prove_heap.py full
	$(PYTHON) scripts/prove_heap.py --mutants $(ATTACK_MUTANTS)
	$(PYTHON) scripts/mutation.py core --since HEAD~1 --count $(ATTACK_MUTANTS)

attack-run: attack-heaps attack-readers ## of these what runs code; .ci/run has a small form

attack-heaps: | test-packages
	cmake --preset release && cmake --build --preset release
	build/release/tests/attack/second_frees $(ATTACK_FREES)
	build/release/tests/attack/second_frees_level3 $(ATTACK_FREES)
	build/release/tests/attack/heap --steps $(ATTACK_STEPS)
	build/release/tests/attack/heap_level3 --steps $(ATTACK_STEPS)
	build/release/tests/attack/damaged_words
	build/release/tests/attack/explorer $(ATTACK_STATES:some=)

attack-readers: test-packages $(extension) $(tools)
	$(PYTHON) tests/fuzz/run.py --seconds $(ATTACK_SECONDS)
	cd target && ../$(PYTHON) -m harness interrupts --count $(ATTACK_INTERRUPTS)

# Two at a time, a file's tests in one process. Those in tests/more.txt are left to `make test-more`.
PYTEST := $(PYTHON) -m pytest --numprocesses=auto --dist=loadfile --no-loadscope-reorder

pytest: test-packages $(extension) $(tools) ## Python tests and the checks of the repository itself
	$(PYTEST) $(foreach line,$(file <tests/more.txt),$(if $(findstring ::,$(line)),--deselect,--ignore)=$(line))

pytest-more: test-packages $(extension) $(tools)
	HEAPFIT_TURNS=1 $(PYTEST) @tests/more.txt

pytest-quick: $(extension) $(tools)
	$(PYTEST) @tests/quick.txt

bench: $(extension) ## speeds as ratios in one run, memory against peers; nothing fails
	$(PYTHON) bench/replay.py
	$(PYTHON) bench/design.py
	$(PYTHON) bench/robust.py
	$(PYTHON) bench/adversary.py
	$(PYTHON) bench/simulate.py
	$(PYTHON) bench/exhaustive.py
	$(PYTHON) bench/bounds.py
	$(PYTHON) bench/memory.py
	[ -z "$$HEAPFIT_CORPUS" ] || $(PYTHON) bench/tailored.py
	$(PYTHON) bench/choice.py
	[ -z "$$HEAPFIT_CORPUS" ] || $(PYTHON) bench/cases.py
	$(PYTHON) bench/packet_pools.py
	$(PYTHON) bench/check.py
	$(PYTHON) bench/recorder.py
	$(PYTHON) bench/target.py
	$(PYTHON) bench/firmware.py

mutants: test-packages $(extension) $(tools) ## small faults that tests must notice; judges what has changed: hours
	for population in core engine package; do $(PYTHON) scripts/mutation.py $$population --count 200; done
	$(PYTHON) scripts/branches.py >build/branches-not-taken
	$(PYTHON) scripts/mutants_page.py >build/page && mv build/page docs/evidence/mutants.md

format: $(tools) ## lay out all sources
	$(VENV)/bin/ruff format $(python_files)
	@$(VENV)/bin/clang-format -i $(c_files)

packages: recorder-packages $(extension) $(tools) ## what is published, in dist/: the wheel, the list of what ships in it (SPDX), the sources
	$(PYTHON) scripts/build_packages.py dist

wheels: $(environment) ## by cibuildwheel, in containers of the oldest Linux that wheels are for
	$(PYTHON) -m pip install --quiet cibuildwheel==4.3.5
	$(PYTHON) -m cibuildwheel --platform linux --output-dir dist

try-packages: packages ## the wheel installed with what it needs, newest and lowest, by pip's way and by uvx
	$(PYTHON) scripts/try_packages.py dist

docs: $(extension) $(tools) ## renew what pages show of the code: lists, battery, examples
	$(PYTHON) scripts/allocators_page.py >build/page && mv build/page docs/evidence/allocators.md
	$(PYTHON) scripts/formats_page.py >build/page && mv build/page docs/import-formats.md
	$(PYTHON) scripts/workloads_page.py >build/page && mv build/page docs/evidence/workloads.md
	$(PYTHON) scripts/package_stub.py >build/page && mv build/page python/heapfit/__init__.pyi
	for preset in release release-m32; do cmake --preset $$preset >build/log && cmake --build --preset $$preset >build/log \
	    && ctest --preset $$preset --tests-regex "battery|faults" >build/log || exit 1; done
	$(PYTHON) scripts/battery_page.py >build/page && mv build/page docs/evidence/battery.md
	$(PYTHON) scripts/hardening_page.py >build/page && mv build/page docs/hardening.md
	$(PYTHON) scripts/readme.py docs/evidence/simulation.md >build/page && mv build/page docs/evidence/simulation.md
	rm -rf build/picture && mkdir build/picture && $(PYTHON) scripts/heap_map_picture.py build/picture
	rm -rf build/picture && mkdir build/picture && $(PYTHON) scripts/page_pictures.py build/picture
	$(PYTHON) bench/page_tables.py
	$(PYTHON) scripts/reproduce_page.py >build/page && mv build/page docs/evidence/reproduce.md
	$(PYTHON) scripts/readme.py docs/evidence/packet-pools.md >build/page && mv build/page docs/evidence/packet-pools.md
	$(PYTHON) scripts/readme.py docs/check.md >build/page && mv build/page docs/check.md
	$(PYTHON) scripts/readme.py docs/forecast.md >build/page && mv build/page docs/forecast.md
	$(PYTHON) scripts/readme.py docs/out-of-memory.md >build/page && mv build/page docs/out-of-memory.md
	$(PYTHON) scripts/readme.py docs/now.md >build/page && mv build/page docs/now.md
	$(PYTHON) scripts/readme.py docs/sizing.md >build/page && mv build/page docs/sizing.md
	$(PYTHON) scripts/readme.py >build/page && mv build/page README.md

site: $(extension) $(tools) ## all pages as a site that opens without a network: build/site/html/index.html
	$(PYTHON) scripts/site/site_build.py build/site

lint: style types ## style and types only

clean: ## remove builds, the environment and the reports
	rm -rf build $(VENV) out

build-packages:
	@scripts/install-packages $(if $(WHEEL),wheel,build)

recorder-packages:
	@scripts/install-packages recorders

board-packages:
	@scripts/install-packages boards

test-packages:
	@scripts/install-packages test

$(environment): requirements.lock scripts/install-environment | build-packages
	scripts/install-environment requirements.lock
	@touch $@

# What developers need, and no fit.
$(tools): requirements-dev.lock $(environment)
	scripts/install-environment requirements-dev.lock
	@touch $@

$(extension): $(environment) $(native)
	$(PYTHON) -m pip install --quiet --no-build-isolation --no-deps \
	    --config-settings=build-dir=build/extension --editable .
	@cp build/extension/python/bindings/_engine.pyi python/heapfit/  # for mypy and editors
	@rm -f $(VENV)/wheel-installed
	@touch $@

$(VENV)/wheel-installed: $(environment) $(WHEEL)
	scripts/install-wheel $(WHEEL)
	@touch $@
