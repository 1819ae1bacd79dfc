.PHONY: help run cluster test check soak bench
MAKEFLAGS += --no-print-directory

help: ## what can be done here
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-7s %s\n", $$1, $$2}' Makefile

run: ## install what is needed and start the whole service on this machine
	@npm start --silent

cluster: ## the same as many processes: QuestDB, Redis, every role, HAProxy in front
	@bin/install && npm run cluster --silent

test: ## install what is needed and run every suite (the long faults of QuestDB: soak)
	@bin/install && npm test --silent

check: ## the inner loop: types, lint, format, unused code, house rules, unit tests
	@bin/install && npm run check --silent

soak: ## every suite with twenty times as many random cases
	@bin/install && FXD_TEST_EFFORT=20 npm test --silent

bench: ## measure speed and size at the loads that count
	@bin/install && npm run bench --silent
