# Thin over meson and ninja: `make help` lists what there is.
BUILD ?= build/dev
PREFIX ?= /usr/local
export LEAT_BUILD = $(abspath $(BUILD))

.PHONY: build all help deps unit test check long faults conformance limits boxed combinations scratch verify mutants versions fuzz soak valgrind demo bench install format tidy clean

build: $(BUILD)/build.ninja
	ninja -C $(BUILD)

all: build

$(BUILD)/build.ninja:
	@command -v meson >/dev/null && pkg-config --exists libfyaml libuv libxxhash cmocka || \
		{ echo 'make: build tools or libraries are missing; run: make deps' >&2; exit 1; }
	meson setup --prefix=$(PREFIX) -Dbench=true $(BUILD)

help:
	@echo 'make            build leat into $(BUILD)'
	@echo 'make deps       install what is missing of the packages in .ci/packages (root or sudo)'
	@echo 'make demo       a real workflow as a batch and streamed, outputs compared'
	@echo 'make unit       the unit tests, seconds'
	@echo 'make test T=1320  one bats file of tests/t, or several (T=13), or a unit test by its name (T=wire)'
	@echo 'make check      install what is missing, build, test, lint: half an hour on two cores'
	@echo 'make long       what CI runs behind it: small campaigns, clang, clang-tidy, faults, conformance, Debian 13, fuzzers, sanitizers'
	@echo 'make faults     whatever dies, at each point: the long fault campaign (docs/explanation/reliability.md)'
	@echo 'make conformance  random calls of 8 processes at once, examples with random delays (docs/developer/testing.md)'
	@echo 'make combinations  the command-line tests that try a part of their combinations, with all of them'
	@echo 'make scratch    3 x 1,000 random workflows whose steps share names, against their batches (docs/developer/testing.md)'
	@echo 'make limits     the examples under limits on memory, /dev/shm, CPUs and address space'
	@echo 'make boxed      the examples in containers of Debian 13, by each engine; options in BOXED, e.g. BOXED="--small podman"'
	@echo 'make verify     the rules in every order of events: three steps, three files, all combinations'
	@echo 'make versions   10,000 sequences of versions, made and read in all ways'
	@echo 'make mutants    faults put into the rules, which the model checker must find'
	@echo 'make fuzz       the fuzzers, FUZZ_SECONDS (600) each'
	@echo 'make soak       small workflows over and over: does anything grow? ROUNDS= or HOURS= (2)'
	@echo 'make valgrind   unit tests and runs under memcheck'
	@echo 'make bench      the benchmarks; options in BENCH, e.g. BENCH="--quick --only call"'
	@echo 'make install    into PREFIX ($(PREFIX))'
	@echo 'make format     lay out the sources; make tidy LAYER=lang: clang-tidy over one layer'

deps:
	@.ci/deps build check examples

unit: $(BUILD)/build.ninja
	@meson test -C $(BUILD) --suite unit --num-processes $$(($$(nproc) * 2))

test: $(BUILD)/build.ninja
	@tests/one $(BUILD) $(or $(T),$(error which? make test T=1320, or T=wire))

check: deps
	@.ci/check

long: deps
	@.ci/check --long

faults:
	@.ci/deps build check
	@.ci/faults --long

conformance: build
	@.ci/deps build check examples
	@.ci/conformance --long

combinations: build
	@.ci/deps build check examples
	@.ci/combinations

scratch: build
	@tests/scratch/campaign.py
	@tests/scratch/campaign.py --producers
	@tests/scratch/campaign.py --pairs

limits: build
	@.ci/deps build check examples
	@tests/limits/run $(LIMITS)

boxed: build
	@.ci/deps build check examples
	@tests/boxed/run $(BOXED)

verify: build
	@$(BUILD)/tests/verify/verify-family

mutants:
	@tests/mutants/run

versions: build
	@tests/versions/campaign 1 10000 --keep $(BUILD)/versions

fuzz:
	@.ci/deps build check
	@.ci/fuzz $(or $(FUZZ_SECONDS),600)

soak: build
	@tests/soak/soak.py $(if $(ROUNDS),--rounds $(ROUNDS),$(if $(HOURS),--hours $(HOURS)))

valgrind:
	@.ci/deps build check valgrind
	@.ci/valgrind

demo:
	@.ci/deps build examples
	@mkdir -p build && echo 'building leat into $(BUILD)'
	@$(MAKE) --no-print-directory build >build/demo.log 2>&1 || { cat build/demo.log; exit 1; }
	@examples/demo

bench: build
	@bench/run $(BENCH)

install: build
	meson install -C $(BUILD)

format:
	@.ci/format

tidy:
	@[ -d build/clang ] || CC=clang meson setup -Dbench=true build/clang
	@.ci/tidy build/clang $(LAYER)

clean:
	rm -rf build
