# Everything a person or CI does with this project. `make help` lists it.

SHELL := /bin/bash
.DEFAULT_GOAL := help

# These must be the same everywhere, or the AWS SDK is compiled twice (docs/develop/architecture.md, "Builds"). Tests and
# linters get them from the environment; other clones on this machine share what was compiled, since no path is in it.
FLAGS   := -trimpath -gcflags all=-dwarf=false -ldflags '-s -w' -tags lambda.norpc,grpcnotrace
BUILD   := CGO_ENABLED=0 go build $(FLAGS)
export CGO_ENABLED := 0
ifeq (,$(findstring -dwarf=false,$(GOFLAGS)))
export GOFLAGS := $(GOFLAGS) -trimpath -gcflags=all=-dwarf=false '-ldflags=-s -w' -tags=lambda.norpc,grpcnotrace
endif
# The race detector needs a C compiler. CI always has one.
RACE    := $(if $(shell command -v gcc clang cc 2>/dev/null),-race,)
# The race detector runs over packages whose own code is concurrent, and over two tests of the whole: every scenario of
# infra/test/e2e once, with its crowds, and exports from hostile servers
# (docs/adr/0024-the-race-detector-sees-code-not-volume.md).
CONCURRENT := \b(go (func|[A-Za-z.]+\()|sync\.|atomic\.|errgroup\.)|\.Go\(
CROWDS     := EveryPermission.*/^scenarios$$|Crowd|Hang|Faults|Failing|Receiver
HOSTILE    := Hostile|SlowServer|LateEveryAnswer|HowMuchItBears|Chaos|WhateverServerMakes
# What it analyses has the flags of all; it was itself built without them, and is not built again.
LINT     = $$(env -u CGO_ENABLED GOFLAGS=-buildvcs=false go tool -modfile=infra/tools/go.mod -n golangci-lint)
SOAK    ?= 10m
BASE    ?= $(shell git rev-parse --quiet --verify origin/main || echo HEAD^)
CACHE   := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/recordbridge-ci
SERVERS ?= $(CACHE)/servers
# Go's own tools have memory to spare, and few cores. Not so tests of what an export may hold.
race lint conformance build runner: export GOGC := 400
FOLDERS := $(sort $(notdir $(patsubst %/,%,$(dir $(wildcard functions/*/bootstrap)))))

.PHONY: help run local-sam local-stack upgrade demo deploy smoke e2e test test-ui test-browser race soak conformance contract ccda endpoint lint lint-template fmt check ui pages freemail domains build bench docs sample clean runner ctl goflags

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)


run: runner ## build and start everything on this machine, and print how to use it
	@build/local $(ARGS)

local-sam: runner ## the same with the functions in containers, through sam local (needs Docker and the SAM CLI)
	@build/local -sam $(ARGS)

demo: runner ## perform the main job headlessly, against a stack that runs
	@$(BUILD) -o build/demo ./infra/demo
	@build/demo $(ARGS)

local-stack: domains ## deploy everything on LocalStack, in containers, and print how to use it
	@$(BUILD) -o build/localstack ./infra/localstack
	@build/localstack $(ARGS)

upgrade: ## deploy the last release on LocalStack, and upgrade it while an export runs and a delivery is pending
	@status=0; .ci/previous .local/previous || status=$$?; \
	if [ $$status = 3 ]; then exit 0; elif [ $$status != 0 ]; then exit $$status; fi; \
	$(MAKE) --no-print-directory local-stack ARGS="-upgrade-from .local/previous $(ARGS)"

deploy: domains ## build and deploy the stack of ENV (dev, staging or prod), as samconfig.toml has it
	@$(BUILD) -o build/deploy ./infra/deploy
	@build/deploy -env '$(ENV)'

# Both are about the stack of a run file (RUN, that of make run by default) or of a name (STACK); BASE_URL is its
# address, INBOX_URL receives webhooks.
smoke: ## look at a running stack from outside, safely on production: BASE_URL, STACK or RUN (docs/operate/deploy.md, "Smoke test")
	@$(BUILD) -o build/smoke ./infra/smoke
	@build/smoke $(if $(BASE_URL),-base-url '$(BASE_URL)') \
		$(if $(STACK),-stack '$(STACK)',$(if $(RUN),-outputs '$(RUN)')) $(if $(INBOX_URL),-inbox '$(INBOX_URL)') $(ARGS)

e2e: ## perform the journeys that need nothing but the outside on a running stack: RUN or STACK, which is no production
	@set -o pipefail; RECORDBRIDGE_STACK='$(STACK)' \
		RECORDBRIDGE_RUN_FILE='$(if $(STACK),,$(abspath $(or $(RUN),.local/run.json)))' \
		RECORDBRIDGE_BASE_URL='$(BASE_URL)' RECORDBRIDGE_INBOX_URL='$(INBOX_URL)' \
		go test -count=1 -timeout 20m -run 'FromOutside$$' -v $(ARGS) ./infra/test/e2e | grep -v '^ *=== '

ui: ## build the widget and our own pages into build/ui (needs Node 20)
	@cd shared/ui && { [ node_modules/.package-lock.json -nt package-lock.json ] \
		|| npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; } && node build.mjs

# Where there is no Node, everything else works, and who serves the pages says that there are none.
pages:
	@if node -e 'process.exit(Number(parseInt(process.versions.node) < 20))' 2>/dev/null \
		&& command -v npm >/dev/null; then $(MAKE) --no-print-directory ui; fi

freemail: ## fetch the published lists of mail domains that everybody can get an address at, which the dashboard refuses besides its own (needs npm)
	@infra/freemail/fetch

# Where there is no npm, our own list is all.
domains:
	@[ shared/manage/account/freemail/lists/published.txt -nt infra/freemail/package-lock.json ] \
		|| ! command -v npm >/dev/null || infra/freemail/fetch

ctl:
	@$(BUILD) -o build/ctl ./infra/ctl

# What .ci/run gives to Go where it is not called by make.
goflags:
	@echo "$$GOFLAGS"

runner: pages domains
	@infra/local/build/compile $(FLAGS)
	@$(BUILD) -o build/local ./infra/local

test: ## all tests that need no container, cloud or browser; what has not changed is not run again
	go test ./...

test-ui: ui ## the types and unit tests of the widget and our pages (needs Node 20)
	@cd shared/ui && npm run --silent check && npm test --silent

test-browser: ui runner ctl ## journeys through the widget in Chromium, which it installs from Debian where there is none; ARGS="-g keyboard" picks some
	@.ci/chromium
	@cd shared/ui && npx --no playwright test --config e2e/playwright.config.ts $(ARGS)

race: ## concurrent code under the race detector, in random order, without repetitions (-short)
	CGO_ENABLED=$(if $(RACE),1,0) go test $(RACE) -short -shuffle=on -timeout 30m \
		$$(grep -rlE '$(CONCURRENT)' --include='*.go' --exclude='*_test.go' functions shared infra/local | \
			sed 's,^,./,; s,/[^/]*$$,,' | sort -u)
	CGO_ENABLED=$(if $(RACE),1,0) go test $(RACE) -short -shuffle=on -timeout 30m -run '$(CROWDS)' ./infra/test/e2e
	CGO_ENABLED=$(if $(RACE),1,0) go test $(RACE) -short -shuffle=on -timeout 30m -run '$(HOSTILE)' ./infra/test/export

soak: ## the sweeps with many seeds and big records, for SOAK (10m)
	@set -o pipefail; RECORDBRIDGE_SOAK=$(SOAK) go test -timeout 60m \
		-run 'Soak|EveryPermission|EverySynthea|CrashAnywhere|Crowd' -v ./infra/test/e2e | grep -v '^ *=== \|--- PASS'
	RECORDBRIDGE_SOAK=$(SOAK) go test -timeout 60m ./infra/test/export ./infra/test/waits ./shared/catalog/health/rounds \
		./shared/catalog/compose ./infra/catalog ./shared/manage/account/members

conformance: ## compare the embedded AWS with other people's servers; installs them into SERVERS
	.ci/conformance $(SERVERS)
	go run ./infra/test/conformance -servers $(SERVERS)

contract: runner ## let spectral judge the API's descriptions, and schemathesis the running service by them
	.ci/contract/run $(CACHE)/contract

ccda: ctl ## let HL7's and Medplum's validators judge converted C-CDA documents, and HL7's our exports
	.ci/ccda/run $(CACHE)/ccda

# ROUTE, since a variable PATH would be the shell's.
endpoint: ## write a new endpoint that organisations call with their key: NAME=GetSomething ROUTE=/bridge/something (CONTRIBUTING.md)
	@go run ./infra/newendpoint -name '$(NAME)' -method '$(or $(METHOD),GET)' -path '$(ROUTE)' \
		-access '$(or $(ACCESS),key)'
	@go run ./infra/functiontable

lint: ## the linters of .golangci.yml, and functions that no program reaches
	$(LINT) run ./...
	.ci/deadcode

lint-template: ## let cfn-lint, checkov and cfn-guard judge template.yaml as it stands and as CloudFormation gets it
	.ci/template/run $(CACHE)

fmt: ## format the code
	$(LINT) fmt ./...

check: lint test ## what has to hold before a change lands

build: pages domains ## build every function for arm64, as it is deployed
	@set -e; for f in $(FOLDERS); do \
		GOOS=linux GOARCH=arm64 $(BUILD) -o build/arm64/$$f/bootstrap ./functions/$$f/bootstrap; done
	@rm -rf build/arm64/web/ui; [ ! -d build/ui ] || cp -RH build/ui build/arm64/web/ui
	@ls -l build/arm64/*/bootstrap | awk '{printf "  %5.1f MB  %s\n", $$5/1e6, $$NF}'

# SAM calls build-<LogicalId> for every function (BuildMethod: makefile); LAMBDA_GOARCH is for LocalStack on another
# kind of machine. A binary that make build or the runner has linked is laid there first: Go links it again only if it
# is out of date.
build-%Function: FOLDER = $(shell echo '$*' | tr '[:upper:]' '[:lower:]')
build-%Function: ARCHITECTURE = $(or $(LAMBDA_GOARCH),arm64)
build-%Function:
	@cp build/$(if $(filter arm64,$(ARCHITECTURE)),arm64/)$(FOLDER)/bootstrap "$(ARTIFACTS_DIR)/bootstrap" 2>/dev/null \
		|| true
	GOOS=linux GOARCH=$(ARCHITECTURE) $(BUILD) -o "$(ARTIFACTS_DIR)/bootstrap" ./functions/$(FOLDER)/bootstrap
	@[ '$*' != Web ] || { $(MAKE) --no-print-directory pages && { [ ! -d build/ui ] \
		|| cp -RH build/ui "$(ARTIFACTS_DIR)/ui"; }; }

bench: ## measure; the figures belong in docs/develop/performance.md
	go test -run '^$$' -bench . -benchmem ./shared/... ./infra/local/... ./infra/test/e2e ./infra/test/process

docs: ## write the generated tables of docs/develop/architecture.md and docs/reference/ccda-tables.md
	go run ./infra/functiontable
	go run ./infra/ccdadocs

sample: ## print N (30) random sentences of the change since BASE (origin/main, or HEAD^; empty: all) to judge: CONTRIBUTING.md, "Reading check"
	@go run ./infra/sample -n $(or $(N),30) -base '$(BASE)' $(if $(SEED),-seed $(SEED)) $(if $(GROUP),-group $(GROUP))

clean: ## remove what was built and what make run wrote
	rm -rf build .local .aws-sam
