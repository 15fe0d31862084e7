# Every target sets up what it needs; the second run starts at once.
VENV ?= $(CURDIR)/.venv
VEHICLE ?= rocket
MINUTES ?= 10
RUN = $(VENV)/bin
export VENV

.PHONY: help demo test lint benchmarks soak install-check setup clean

help:
	@echo 'make demo    fly the rocket through real ROS nodes, write demo/rocket.png'
	@echo '             (VEHICLE=quadrotor, rov or freeflyer for another one)'
	@echo 'make test    run all tests (ARGS="-k name" for some)'
	@echo 'make lint    run ruff and mypy'
	@echo 'make benchmarks   measure what docs/performance.md says, write it anew (half an hour)'
	@echo 'make soak    run 16 nodes under load and faults for MINUTES=10, write what was found'
	@echo 'make install-check   build with colcon elsewhere and start what it installed'
	@echo 'make clean   remove what was made, the virtual environment too'

setup:
	@./env/setup.sh

demo: setup
	@$(RUN)/propulsion_ros demo --vehicle $(VEHICLE) --output demo

test: setup
	@$(RUN)/python -m pytest -n auto --dist loadfile $(ARGS)

lint: setup
	@$(RUN)/ruff check .
	@$(RUN)/mypy

benchmarks: setup
	@$(RUN)/python -m benchmarks --page docs/performance.md --json docs/performance.json \
		--picture docs/performance.png

soak: setup
	@$(RUN)/python -m benchmarks.soak --minutes $(MINUTES) --page docs/reliability.md \
		--json docs/reliability.json $(ARGS)

install-check:
	@VENV=$(CURDIR)/.venv-colcon ./env/install_check.sh

clean:
	rm -rf $(VENV) .venv-* demo build install log *.egg-info
