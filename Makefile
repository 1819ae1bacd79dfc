.PHONY: help run cluster kubernetes check smoke test soak bench bench-full terminals
MAKEFLAGS += --no-print-directory

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-10s %s\n", $$1, $$2}' Makefile

run: ## install the packages and start the whole service on this machine
	@npm start --silent

cluster: ## start it as separate processes: QuestDB, Redis, every role, HAProxy
	@bin/install && npm run cluster --silent

kubernetes: ## start it on a Kubernetes of two nodes with the charts; requires root
	@bin/install && npm run kubernetes --silent

check: ## 1 minute: types, lint, format, unused code, tidy rules, unit tests, edge tests that the change affects
	@bin/install && npm run check --silent

smoke: ## 5 minutes: tidy rules, unit and edge tests; contracts and acceptance on the embedded store
	@bin/install && npm run smoke --silent

test: ## 38 minutes: all suites that a merge requires (soak adds the long faults of QuestDB)
	@bin/install && npm test --silent

soak: ## 2 hours: all suites with more kills, longer outages and FXD_TEST_EFFORT (5) times as many random cases
	@bin/install && FXD_TEST_EFFORT=$${FXD_TEST_EFFORT:-5} npm test --silent

bench: ## at most an hour: speed and size at the relevant loads
	@bin/install && npm run bench --silent

bench-full: ## all benches with their full loads
	@bin/install && npm run bench-full --silent

terminals: ## check the programs of MetaTrader terminals, and write them from their sources
	@bin/install && bin/node terminals/write-programs.ts
