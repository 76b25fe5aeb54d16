.DEFAULT_GOAL := help
.PHONY: help demo test test-all race race-packages race-commands lint bench bench-large cold build deployable deploy release-snapshot fuzz sim mutants house

T ?= 30s
CONFIG = default
comma := ,

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

# What these keep for a moment they keep in memory.
test race-packages race-commands sim mutants: export TMPDIR ?= $(shell scripts/memory.sh)

demo: ## run the whole pipeline in one process on a week of earthquakes
	go run ./cmd/ingot demo

# TESTFLAGS: more arguments of go test. Tests make much garbage and keep little, so it is collected less often. Many
# of them wait, so half as many packages more than cores are tested at once. make lint vets all packages, so that the
# tests need not. Without a symbol table, which a stack trace does not need, they are linked sooner.
test: export GOGC ?= 400
test: export CGO_ENABLED ?= 0
test race-packages: cores = $(shell getconf _NPROCESSORS_ONLN)
test: ## go test ./... (Go alone is enough; Docker tests skip without Docker, long ones always)
	go test -vet=off -ldflags=-s -p $$(($(cores) * 3 / 2)) $(strip $(TESTFLAGS) ./...)

test-all: export INGOT_TEST_ALL = 1
test-all: test ## make test with the tests that take long (CI runs these)

race: race-packages race-commands ## the short tests of what runs goroutines, under the race detector (needs gcc; -j2 for both parts at once)

race-packages race-commands: export CGO_ENABLED = 1
race-packages:
	packages=$$(scripts/race-packages.sh) && go test -p $$(($(cores) * 3 / 2)) -vet=off -ldflags=-s -race -short $$packages

race-commands:
	commands=$$(scripts/race-packages.sh commands) && go test -vet=off -ldflags=-s -race -short -run "$$commands" ./cmd/ingot

lint: ## gofmt, vet, staticcheck, govulncheck, and the template's checks
	scripts/lint.sh

# Without the emulator (npm missing, or no Linux on x86-64) the parts over HTTP are left out, and the output says so.
bench: ## speed and memory beside what they are compared with, then make cold (BENCHFLAGS=-check fails where a target is missed)
	go run ./internal/prove/bench -emulator "$$(scripts/dynoxide.sh)" $(BENCHFLAGS)
	go test -run '^$$' -bench . ./...
	$(MAKE) --no-print-directory cold

# With BENCHFLAGS=-events=336776 of another size.
bench-large: ## a million events: what one costs, what memory holds, verify and rebuild; a million rows that move (minutes; BENCHFLAGS=-check)
	go run ./internal/prove/bench -only large,moves,size $(BENCHFLAGS)

# Both are measured, even if the first misses its target.
cold: ## cold start and size of the built functions, beside plain ones (fails where a target is missed)
	go run ./internal/prove/cold -max-ratio 1.3 -max-mb 15; first=$$?; \
	go run ./internal/prove/cold -max-ratio 1.3 -max-mb 15 -function ./cmd/streams -reference ./internal/prove/cold/reference/streams -event events/streams-insert.json && exit $$first

# SAM's Go builder hands the environment on to go build. Static, because the function's image may have another libc.
build: export CGO_ENABLED = 0
# LOCAL=1 builds in-process tables into them, for sam local invoke with nothing else running, on this machine's own
# processor; such a build refuses to start in Lambda.
build: export GOFLAGS = -tags=lambda.norpc$(if $(LOCAL),$(comma)ingotlocal) -trimpath -ldflags=-s
build: export SAM_CLI_TELEMETRY = 0
build: own = --parameter-overrides Architecture=$(if $(filter arm64 aarch64,$(shell uname -m)),arm64,x86_64)
build: ## build both functions with the SAM CLI (CONFIG=prod; SAMFLAGS: more arguments)
	bin=$$(scripts/sam.sh) && "$$bin/sam" build --config-env $(CONFIG) $(if $(LOCAL),$(own)) $(SAMFLAGS)

# On a command line they would hold for the build or for the deployment alone, and take the place of all in the file.
deployable:
	@if [ -n "$(strip $(LOCAL) $(findstring parameter-overrides,$(SAMFLAGS) $(DEPLOYFLAGS)))" ]; then \
	  echo "deploy: parameters of the template, Architecture too, stand in samconfig.toml, which build and deploy both read; leave out LOCAL and --parameter-overrides" >&2; exit 2; fi

deploy: deployable build ## build, show what would change in the AWS account of your credentials, and deploy it (CONFIG=prod; DEPLOYFLAGS)
	bin=$$(scripts/sam.sh) && SAM_CLI_TELEMETRY=0 "$$bin/sam" deploy --config-env $(CONFIG) $(DEPLOYFLAGS)

release-snapshot: ## build what a release of this commit would consist of, into dist/ (ONLY="windows ingest": what has a word in its name)
	rm -rf dist
	go run ./scripts/release $(ONLY)

sim: ## live seeded worlds over the real handlers, check every step, say what went wrong in them (SIMFLAGS: more)
	go run ./internal/prove/sim/worlds $(SIMFLAGS)

mutants: ## wrong designs, each of which the simulation must kill (R=6: so many, drawn at random)
	go run ./internal/prove/sim/mutants $(if $(R),-random $(R)) $(MUTANTFLAGS)

fuzz: ## run every fuzz target for T each (T=30s)
	scripts/fuzz.sh $(T)

house: ## how large the project is and how it is divided, beside the budgets
	@go run ./scripts/house
