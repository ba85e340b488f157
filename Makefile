# One line a target; what needs more is a Go program in tools/.
# Flags for the program behind a target: make test ARGS='-run TestX -v'.

export GOFLAGS := -trimpath -buildvcs=false
TOOL   := go tool -modfile=tools/pinned/go.mod
COMMIT := $(shell git rev-parse HEAD 2>/dev/null)
STAMP  := -X main.commit=$(COMMIT) -X main.release=$(RELEASE)

.PHONY: help up build tools test test-documents test-browser test-race test-all test-upstream fuzz mutants verify format lint rules generated modules fmt generate bench bench-peer bench-release catalog docs map release site clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 24

up: tools ## a cluster to play with: make up ARGS='--reset'
	@bin/tenon up $(ARGS)

build: ## bin/tenon and what else is a command
	@go build -ldflags '$(STAMP)' -o bin/ ./cmd/...

tools: build ## bin/tenon, bin/kubectl, bin/helm
	@go run ./tools/controlplane -links bin >/dev/null

test: ## all tests but the documents' walkthroughs
	@go run ./tools/runtests $(ARGS)

test-documents: ## the documents' walkthroughs
	@if [ -d test/documents ]; then go test -timeout 60m -count=1 -p 2 $(ARGS) ./test/documents/...; else echo 'no documents yet'; fi

test-browser: ## the pages in a real Chromium, which must be in the PATH
	@cd test/browser && go test -count=1 $(ARGS) ./...

test-race: ## the race detector over every package: make test-race ARGS='-part race-aws'
	@go run ./tools/testall -part 'race-*' $(ARGS)

test-all: ## every suite, in parts that can be resumed: make test-all ARGS='-list'
	@go run ./tools/testall $(ARGS)

test-upstream: tools ## Karpenter's own suites against Tenon: make test-upstream ARGS='-suite regression -focus Buffer'
	@cd test/upstream && go run . -out ../../docs/upstream.md $(ARGS)

fuzz: ## every fuzz target for half a minute: make fuzz ARGS='-fuzz 5m'
	@go run ./tools/testall -again -fuzz 30s $(ARGS) -part fuzz

mutants: ## what no test of a package notices: make mutants ARGS=./engine/amount
	@go run ./tools/mutants $(or $(ARGS),./engine/amount)

verify: ## all that must hold beside the tests: formatting, lint, rules, generated files
	@$(MAKE) --no-print-directory -k format lint rules generated modules

format: ## how all Go files should look, where they do not
	@$(TOOL) golangci-lint fmt --diff

lint: ## what .golangci.yml asks for, go vet among it
	@$(TOOL) golangci-lint run $(ARGS)

rules: ## the rules of the house: layers, purity, names
	@go test ./internal/rules/...

generated: ## what is generated is what its sources make
	@go run ./tools/generated

modules: ## the benchmarks, the runner of upstream's suites and the test with a collector compile, and their tests pass
	@for at in bench test/upstream test/upstream/otlp; do (cd $$at && go vet ./... && go test ./...) || exit; done

fmt: ## format all Go files
	@$(TOOL) golangci-lint fmt

generate: ## deep copies, CRDs, references
	@go generate ./...

docs: ## the pages of docs/reference
	@go generate ./tools/docs

catalog: ## the bundled EC2 catalogue from its source tables: make catalog FROM=<folder>
	@go run ./tools/catalog -from '$(FROM)' $(ARGS)

bench: ## how fast and how cheap the engine's plans are on generated worlds
	@cd bench && go run . -side tenon $(ARGS)

bench-peer: ## beside Karpenter's own code, some minutes: adds a line to docs/benchmarks/history.md
	@go run ./tools/controlplane >/dev/null
	@cd bench && go run . -quick -judge 1000 -tiny 10 -families 3 -beside 2 -shrink 900 -own-cap 1m -history ../docs/benchmarks/history.md $(ARGS)

bench-release: ## the same with all there is, an hour: writes docs/benchmarks.md as well
	@go run ./tools/controlplane >/dev/null
	@cd bench && go run . -seeds 3 -small 10 -judge 1000 -tiny 40 -races 20 -families 20 -family-pods 1000,50000 -beside 10 -beside-pods 1000 -solver 40 -out ../docs/benchmarks.md -history ../docs/benchmarks/history.md $(ARGS)

release: ## programs, image, charts and what they are made of, in dist: make release RELEASE=v0.1.0
	@go run ./tools/release -version '$(or $(RELEASE),v0.0.0-dev)' -commit '$(shell git describe --always --abbrev=40 --dirty --exclude "*")' -date '$(shell git log -1 --format=%ct)' $(ARGS)

site: ## the pages as a static site, in dist/site
	@go run ./tools/site dist/site

map: ## every package, in one sentence
	@go list -f '{{slice .ImportPath 26}}	{{.Doc}}' ./... | expand -t 32

clean: ## remove what was built here
	@rm -rf bin dist
