.PHONY: help run cluster kubernetes check smoke test soak bench bench-full
MAKEFLAGS += --no-print-directory

help: ## what can be done here
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-10s %s\n", $$1, $$2}' Makefile

run: ## install what is needed and start the whole service on this machine
	@npm start --silent

cluster: ## the same as many processes: QuestDB, Redis, every role, HAProxy in front
	@bin/install && npm run cluster --silent

kubernetes: ## the same on a Kubernetes of two nodes, with the charts installed; needs root
	@bin/install && npm run kubernetes --silent

check: ## a minute: types, lint, format, unused code, house rules, unit tests, edges that the change affects
	@bin/install && npm run check --silent

smoke: ## 5 minutes: house rules, unit tests, edges; contracts and acceptance on the embedded store
	@bin/install && npm run smoke --silent

test: ## 30 minutes: all that a landing needs (the long faults of QuestDB: soak)
	@bin/install && npm test --silent

soak: ## at most 2.5 hours: every suite with more kills, longer outages and up to twenty times as many random cases
	@bin/install && FXD_TEST_EFFORT=20 npm test --silent

bench: ## 45 minutes at most: speed and size at the loads that count
	@bin/install && npm run bench --silent

bench-full: ## all benches at their full loads
	@bin/install && npm run bench-full --silent
