# Targets for developers and CI. `make help` lists them.

SHELL := /bin/bash
.DEFAULT_GOAL := help

# These flags must be the same everywhere, or the AWS SDK is compiled twice (docs/develop/architecture.md, "Builds").
# Tests and linters get them from the environment. They contain no paths, so other clones on this machine share the
# build cache.
FLAGS   := -trimpath -gcflags all=-dwarf=false -ldflags '-s -w' -tags lambda.norpc,grpcnotrace
BUILD   := CGO_ENABLED=0 go build $(FLAGS)
export CGO_ENABLED := 0
ifeq (,$(findstring -dwarf=false,$(GOFLAGS)))
export GOFLAGS := $(GOFLAGS) -trimpath -gcflags=all=-dwarf=false '-ldflags=-s -w' -tags=lambda.norpc,grpcnotrace
endif
# The race detector needs a C compiler, which CI always has.
RACE    := $(if $(shell command -v gcc clang cc 2>/dev/null),-race,)
# The race detector runs on packages with concurrent code and on two system tests: every scenario of infra/test/e2e
# once, including crowds, and exports from hostile servers (docs/adr/0024-the-race-detector-sees-code-not-volume.md).
CONCURRENT := \b(go (func|[A-Za-z.]+\()|sync\.|atomic\.|errgroup\.)|\.Go\(
CROWDS     := EveryPermission.*/^scenarios$$|Crowd|Hang|Faults|Failing|Receiver
HOSTILE    := Hostile|SlowServer|LateServer|ConcurrencyAfter429|Chaos|AnyBatchSupport
# The linter analyses code with the common flags, but is itself built without them, so it isn't rebuilt.
LINT     = $$(env -u CGO_ENABLED GOFLAGS=-buildvcs=false go tool -modfile=infra/tools/go.mod -n golangci-lint)
SOAK    ?= 10m
BASE    ?= $(shell git rev-parse --quiet --verify origin/main || echo HEAD^)
CACHE   := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/recordbridge-ci
SERVERS ?= $(CACHE)/servers
SDK_TOOLS ?= $(CACHE)/sdk
# Go's tools and tests have spare memory but few cores, so they collect garbage less often.
test race lint conformance build runner: export GOGC := 400
HAS_NODE = node -e 'process.exit(Number(parseInt(process.versions.node) < 20))' 2>/dev/null && command -v npm >/dev/null
FOLDERS := $(sort $(notdir $(patsubst %/,%,$(dir $(wildcard functions/*/bootstrap)))))

.PHONY: help run local-sam local-stack upgrade demo drill deploy rollback smoke e2e test test-ui test-browser test-engines test-package package race soak conformance contract clients guide sdk sdk-typescript sdk-python sdk-go example test-examples ccda endpoint lint lint-template fmt check ui site pages recordbridge freemail domains build bench docs sample clean runner ctl goflags

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)


run: runner ## build and start the whole service on this machine, and print how to use it
	@build/local $(ARGS)

local-sam: runner ## like run, with the functions in containers under sam local (needs Docker and the SAM CLI)
	@build/local -sam $(ARGS)

demo: runner ## run the main workflow from the command line, against a running stack
	@$(BUILD) -o build/demo ./infra/demo
	@build/demo $(ARGS)

drill: runner ctl ## stage an incident and wait until it is mended: NAME=leaked-key; without NAME, run the commands of all runbooks (docs/operate/drills.md)
	@$(BUILD) -o build/drill ./infra/drill
	@build/drill $(if $(NAME),-name '$(NAME)') $(ARGS)

local-stack: domains ## deploy everything to LocalStack in containers, and print how to use it
	@$(BUILD) -o build/localstack ./infra/localstack
	@build/localstack $(ARGS)

upgrade: ## deploy the last release to LocalStack, and upgrade it during a running export and a pending delivery
	@status=0; .ci/previous .local/previous || status=$$?; \
	if [ $$status = 3 ]; then exit 0; elif [ $$status != 0 ]; then exit $$status; fi; \
	$(MAKE) --no-print-directory local-stack ARGS="-upgrade-from .local/previous $(ARGS)"

deploy: domains ## build and deploy the stack of ENV (dev, staging or prod) with its settings in samconfig.toml and the file PARAMETERS
	@$(BUILD) -o build/deploy ./infra/deploy
	@build/deploy -env '$(ENV)' $(if $(PARAMETERS),-parameters '$(PARAMETERS)')

rollback: ## make an earlier release of ENV's stack live at once: TO=RELEASE, or without TO list the releases
	@$(BUILD) -o build/deploy ./infra/deploy
	@build/deploy -env '$(ENV)' -rollback -to '$(TO)'

# Both targets use a stack from a run file (RUN, by default the one of make run) or by name (STACK). BASE_URL is its
# base URL; INBOX_URL receives webhooks.
smoke: ## check a running stack from outside, safe for production: BASE_URL, STACK or RUN (docs/operate/deploy.md, "Smoke test")
	@$(BUILD) -o build/smoke ./infra/smoke
	@build/smoke $(if $(BASE_URL),-base-url '$(BASE_URL)') \
		$(if $(STACK),-stack '$(STACK)',$(if $(RUN),-outputs '$(RUN)')) $(if $(INBOX_URL),-inbox '$(INBOX_URL)') $(ARGS)

e2e: ## run the black-box journeys against a running stack, never production: RUN or STACK
	@set -o pipefail; RECORDBRIDGE_STACK='$(STACK)' \
		RECORDBRIDGE_RUN_FILE='$(if $(STACK),,$(abspath $(or $(RUN),.local/run.json)))' \
		RECORDBRIDGE_BASE_URL='$(BASE_URL)' RECORDBRIDGE_INBOX_URL='$(INBOX_URL)' \
		go test -count=1 -timeout 20m -run 'FromOutside$$' -v $(ARGS) ./infra/test/e2e | grep -v '^ *=== '

ui: ## build the widget and the hosted pages into build/ui (needs Node 20)
	@cd shared/ui && { [ node_modules/.package-lock.json -nt package-lock.json ] \
		|| npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; } && node build.mjs

site: ## build the documentation site from docs/ into build/site (needs Node 20)
	@go run ./infra/apiparts
	@cd infra/site && { [ node_modules/.package-lock.json -nt package-lock.json ] \
		|| npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; } && node build.mjs

# Without Node, everything else works, and the service reports that it was built without pages.
pages:
	@if $(HAS_NODE); then $(MAKE) --no-print-directory ui site; fi

freemail: ## fetch the published lists of public e-mail domains, which the dashboard rejects in addition to its own list (needs npm)
	@infra/freemail/fetch

# Without npm, only our own list is used.
domains:
	@[ shared/manage/account/freemail/lists/published.txt -nt infra/freemail/package-lock.json ] \
		|| ! command -v npm >/dev/null || infra/freemail/fetch

# The command embeds the record viewer. Without Node, its other parts work.
recordbridge: ## build the developers' command line into build/recordbridge
	@if $(HAS_NODE); then $(MAKE) --no-print-directory ui >/dev/null; fi
	@script=infra/recordbridge/assets/record-view.js; if [ ! -d build/ui ]; then rm -f $$script; else \
		cmp -s build/ui/sdk/*/record-view.js $$script || cp build/ui/sdk/*/record-view.js $$script; fi
	@$(BUILD) -o build/recordbridge ./infra/recordbridge

ctl:
	@$(BUILD) -o build/ctl ./infra/ctl

# GOFLAGS for .ci/run when make doesn't call it.
goflags:
	@echo "$$GOFLAGS"

runner: pages domains
	@infra/local/build/compile $(FLAGS)
	@$(BUILD) -o build/local ./infra/local

# One package more than cores, because some tests wait for processes and timers.
test: ## run all tests that need no container, cloud or browser; results of unchanged packages are cached
	go test -p $$(($$(getconf _NPROCESSORS_ONLN) + 1)) ./...

test-ui: ui ## check types and run unit tests of the widget and the hosted pages (needs Node 20)
	@cd shared/ui && npm run --silent check && npm test --silent

test-browser: ui runner ctl recordbridge ## run the widget journeys in Chromium, installed from Debian if missing; ARGS="-g keyboard" selects some
	@.ci/chromium
	@cd shared/ui && npx --no playwright test --config e2e/playwright.config.ts $(ARGS)

test-engines: ui runner ctl ## run the main journeys in Firefox and WebKit, installed from Debian if missing; ENGINE=firefox or webkit selects one
	@.ci/browsers
	@cd shared/ui && npx --no playwright test --config e2e/engines/playwright.config.ts \
		$(if $(ENGINE),--project=$(ENGINE)) $(ARGS)

package: ui ## write the elements' npm package to build/svc-widget-<version>.tgz
	@node shared/ui/sdk/pack.mjs && cd build && npm pack --silent ./npm

test-examples: ui runner ctl recordbridge ## walk through the example applications in Chromium, with a patient who connects, reads and deletes a record
	@.ci/chromium
	@for language in typescript python go; do \
		$(MAKE) --no-print-directory example-sdk LANGUAGE=$$language || exit; done
	@rm -rf build/recordbridge-go && tar -xzf build/recordbridge-go-0.1.0.tgz -C build
	@GOFLAGS= go -C docs/examples/go vet ./...
	@cd shared/ui && npx --no playwright test --config e2e/examples/playwright.config.ts $(ARGS)

test-package: package ## install the package as customers do, and compile every snippet with it by tsc and vite
	@node shared/ui/sdk/customer/check.mjs build/customer

race: ## run concurrent code under the race detector, in random order, without repetitions (-short)
	CGO_ENABLED=$(if $(RACE),1,0) go test $(RACE) -short -shuffle=on -timeout 30m \
		$$(grep -rlE '$(CONCURRENT)' --include='*.go' --exclude='*_test.go' functions shared infra/local | \
			sed 's,^,./,; s,/[^/]*$$,,' | sort -u)
	CGO_ENABLED=$(if $(RACE),1,0) go test $(RACE) -short -shuffle=on -timeout 30m -run '$(CROWDS)' ./infra/test/e2e
	CGO_ENABLED=$(if $(RACE),1,0) go test $(RACE) -short -shuffle=on -timeout 30m -run '$(HOSTILE)' ./infra/test/export

soak: ## run the randomised tests with many seeds and large records, for SOAK (10m)
	@set -o pipefail; RECORDBRIDGE_SOAK=$(SOAK) go test -timeout 60m \
		-run 'Soak|EveryPermission|EverySynthea|CrashAnywhere|Crowd' -v ./infra/test/e2e | grep -v '^ *=== \|--- PASS'
	RECORDBRIDGE_SOAK=$(SOAK) go test -timeout 60m ./infra/test/export ./infra/test/waits ./shared/catalog/health/rounds \
		./shared/catalog/compose ./infra/catalog ./shared/manage/account/members ./shared/webhook/deliverylog \
		./shared/manage/operator

conformance: ## compare the embedded AWS with third-party servers, which it installs into SERVERS
	.ci/conformance $(SERVERS)
	go run ./infra/test/conformance -servers $(SERVERS)

contract: runner ## check the API descriptions with spectral, and the running service against them with schemathesis
	.ci/contract/run $(CACHE)/contract

clients: runner ## generate clients from the API's documents with four generators, and call the running service with each
	.ci/clients/run $(CACHE)/clients

guide: runner ## run every code block of docs/guide against a running service (needs Node 20 and Python 3.11)
	.ci/guide/run $(CACHE)

sdk: sdk-typescript sdk-python sdk-go ## generate, test and pack the server SDKs for TypeScript, Python and Go into build/ (needs Node 20 and Python 3.11)

sdk-typescript:
	@go run ./infra/apiparts
	@cd infra/sdk/typescript && { [ node_modules/.package-lock.json -nt package-lock.json ] \
		|| npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; } \
		&& npm run --silent generate >/dev/null && rm -rf dist dist-test && npx --no tsc \
		&& npx --no tsc -- -p tsconfig.test.json && npm test --silent >dist-test/log || { cat dist-test/log; exit 1; }
	@cd build && npm pack --silent ../infra/sdk/typescript

sdk-python:
	@go run ./infra/apiparts
	@infra/sdk/python/build.sh '$(SDK_TOOLS)'

sdk-go:
	@go run ./infra/apiparts
	@infra/sdk/go/build.sh

# An example installs a packed SDK. It is packed again if its code or the API has changed.
SDK_FILE = build/recordbridge-$(or $(SDK_FILE_$(LANGUAGE)),$(error LANGUAGE must be typescript, python or go))
SDK_FILE_typescript := server-0.1.0.tgz
SDK_FILE_python     := 0.1.0-py3-none-any.whl
SDK_FILE_go         := go-0.1.0.tgz
build/recordbridge-server-0.1.0.tgz: $(wildcard infra/sdk/typescript/src/*.ts) docs/openapi.yaml
	@$(MAKE) --no-print-directory sdk-typescript
build/recordbridge-0.1.0-py3-none-any.whl: $(wildcard infra/sdk/python/src/recordbridge/*.py) docs/openapi.yaml
	@$(MAKE) --no-print-directory sdk-python
build/recordbridge-go-0.1.0.tgz: $(wildcard infra/sdk/go/*.go) docs/openapi.yaml
	@$(MAKE) --no-print-directory sdk-go

example-sdk:
	@$(MAKE) --no-print-directory $(SDK_FILE)

example: recordbridge example-sdk ## start an example application against the stack of make run: LANGUAGE=typescript, python or go
	@docs/examples/start.sh '$(LANGUAGE)'

ccda: ctl ## validate converted C-CDA documents with HL7's and Medplum's validators, and exports with HL7's
	.ci/ccda/run $(CACHE)/ccda

# ROUTE, because PATH would be the shell's.
endpoint: ## generate a new endpoint of the organisations' API: NAME=GetSomething ROUTE=/bridge/something (CONTRIBUTING.md)
	@go run ./infra/newendpoint -name '$(NAME)' -method '$(or $(METHOD),GET)' -path '$(ROUTE)' \
		-access '$(or $(ACCESS),key)'
	@go run ./infra/functiontable

lint: ## run the linters in .golangci.yml, and find unreachable functions
	$(LINT) run ./...
	.ci/deadcode

lint-template: ## check template.yaml with cfn-lint, checkov and cfn-guard, as written and as CloudFormation receives it
	.ci/template/run $(CACHE)

fmt: ui ## format Go, TypeScript and CSS (needs Node 20)
	$(LINT) fmt ./...
	@cd shared/ui && npm run --silent format

check: lint test ## run everything that must pass before a change is merged

build: pages domains ## build every function for arm64, as deployed
	@set -e; for f in $(FOLDERS); do \
		GOOS=linux GOARCH=arm64 $(BUILD) -o build/arm64/$$f/bootstrap ./functions/$$f/bootstrap; done
	@for f in ui site; do rm -rf build/arm64/web/$$f; [ ! -d build/$$f ] || cp -RH build/$$f build/arm64/web/$$f; done
	@ls -l build/arm64/*/bootstrap | awk '{printf "  %5.1f MB  %s\n", $$5/1e6, $$NF}'

# SAM calls build-<LogicalId> for every function (BuildMethod: makefile). LAMBDA_GOARCH is for LocalStack on another
# architecture. A binary from make build or the runner is copied there first: Go relinks it only if it is out of date.
build-%Function: FOLDER = $(shell echo '$*' | tr '[:upper:]' '[:lower:]')
build-%Function: ARCHITECTURE = $(or $(LAMBDA_GOARCH),arm64)
build-%Function:
	@cp build/$(if $(filter arm64,$(ARCHITECTURE)),arm64/)$(FOLDER)/bootstrap "$(ARTIFACTS_DIR)/bootstrap" 2>/dev/null \
		|| true
	GOOS=linux GOARCH=$(ARCHITECTURE) $(BUILD) -o "$(ARTIFACTS_DIR)/bootstrap" ./functions/$(FOLDER)/bootstrap
	@[ '$*' != Web ] || { $(MAKE) --no-print-directory pages && for f in ui site; do \
		[ ! -d build/$$f ] || cp -RH build/$$f "$(ARTIFACTS_DIR)/$$f" || exit; done; }

bench: ## run the benchmarks; record the figures in docs/develop/performance.md
	go test -run '^$$' -bench . -benchmem ./shared/... ./infra/local/... ./infra/test/e2e ./infra/test/process

docs: ## write the generated tables in docs/develop/functions.md and docs/reference/ccda-tables.md
	go run ./infra/functiontable
	go run ./infra/ccdadocs

sample: ## print N (30) random sentences of the change since BASE (origin/main, or HEAD^; empty: all) for the reading check of CONTRIBUTING.md
	@go run ./infra/sample -n $(or $(N),30) -base '$(BASE)' $(if $(SEED),-seed $(SEED)) $(if $(GROUP),-group $(GROUP))

clean: ## remove build output and the files of make run
	rm -rf build .local .aws-sam
