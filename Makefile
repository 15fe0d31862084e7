# Every target sets up what it needs; the second run starts at once.
VENV ?= $(CURDIR)/.venv
RUN = $(VENV)/bin
export VENV

.PHONY: demo test lint setup clean

setup:
	@./env/setup.sh

demo: setup
	@$(RUN)/propulsion_ros demo --output demo

test: setup
	@$(RUN)/python -m pytest $(ARGS)

lint: setup
	@$(RUN)/ruff check .
	@$(RUN)/mypy

clean:
	rm -rf $(VENV) demo build install log *.egg-info
