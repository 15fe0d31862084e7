# SPDX-License-Identifier: Apache-2.0
# Every target sets up what it needs; the second run starts at once.
VENV ?= $(CURDIR)/.venv
VEHICLE ?= rocket
MINUTES ?= 10
PARTS = walks kills floods flights fits fuzz rest
PART ?= $(PARTS)
# One more than there are cores: a test of ROS nodes waits for messages half of its time.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
RUN = $(VENV)/bin
PYTEST = $(RUN)/python -m pytest -n $(WORKERS) --maxprocesses 32 --dist worksteal
export VENV
# What is compiled is kept, also where the environment forbids it: tests start hundreds of processes.
export PYTHONDONTWRITEBYTECODE =

.PHONY: help demo test test-quick test-all lint lint-ros site benchmarks soak fuzz install-check lock licences version addresses release release-check \
	setup clean

help:
	@echo 'make demo    fly the rocket through real ROS nodes, write demo/rocket.png'
	@echo '             (VEHICLE=quadrotor, rov, freeflyer or cubesat for another one;'
	@echo '             VIEW=1 to watch it in a browser)'
	@echo 'make test    run the tests, but for slow and rare cases (ARGS="-k name" for some)'
	@echo 'make test-quick  run the tests of models, files and pages, in two minutes'
	@echo 'make test-all    run every test, with many more cases, in two hours'
	@echo '             (PART=walks, kills, floods, flights, fits, fuzz or rest for one)'
	@echo 'make lint    run ruff and mypy'
	@echo 'make lint-ros    run the rules of ament_flake8, ament_pep257 and of package.xml'
	@echo 'make site    make a site of docs/ in build/site; a warning is an error'
	@echo 'make benchmarks   measure what docs/performance.md says, write it anew (eight minutes)'
	@echo 'make soak    run 16 nodes under load and faults for MINUTES=10, write what was found'
	@echo 'make fuzz    run every reader on hostile bytes, guided by coverage (MINUTES=10 for each)'
	@echo 'make install-check   build with colcon elsewhere and start what it installed'
	@echo '             (EVERY=1: run every command and the first pages with it)'
	@echo 'make lock    renew the versions and hashes that CI installs, env/*.lock'
	@echo 'make licences   write docs/licences.md anew, from what is installed'
	@echo 'make version VERSION=1.0.0    write a version and the date where they stand'
	@echo 'make addresses   write what env/urls.txt has into package.xml and CITATION.cff'
	@echo 'make release     build and try what is published, stop before the upload'
	@echo 'make release-check   the same for what is forthcoming (QUICK=1: build and compare alone)'
	@echo 'make clean   remove what was made, the virtual environment too'

setup:
	@./env/setup.sh

demo: setup
	@$(RUN)/propulsion_ros demo --vehicle $(VEHICLE) --output demo $(if $(VIEW),--view)

test: setup
	@PART= $(PYTEST) $(ARGS)

# Without processes of their own: what a change of a model, a tag or a page can break.
QUICK_TESTS = models settings timing urdf rml drawing messages graph/test_load.py docs/test_shape.py docs/test_words.py \
	test_imports.py test_vehicles.py test_family_names.py test_style.py test_forbidden.py

test-quick: setup
	@PART= $(PYTEST) $(addprefix test/,$(QUICK_TESTS)) $(ARGS)

test-all: setup
	@case ' $(PART) ' in *' flights '*) \
		$(RUN)/python -m pip install --quiet --disable-pip-version-check -r env/rocketpy.txt || \
		echo 'test-all: RocketPy cannot be installed, its flights are skipped' >&2;; esac
	@case ' $(PART) ' in *' rest '*) \
		$(RUN)/python -m pip install --quiet --disable-pip-version-check -r env/site.txt || \
		echo 'test-all: Sphinx cannot be installed, no site is made' >&2;; esac
	@failed=; for part in $(PART); do \
		echo "test-all: $$part"; PART=$$part $(PYTEST) $(ARGS) || failed="$$failed $$part"; \
	done; [ -z "$$failed" ] || { echo "test-all: failed:$$failed" >&2; exit 1; }

lint: setup
	@$(RUN)/ruff check .
	@$(RUN)/ruff check --quiet --preview --select E203,E301,E302,E303,E305,E306,W391 .
	@$(RUN)/mypy

lint-ros: VENV = $(CURDIR)/.venv-lint
lint-ros:
	@python3 -m venv $(VENV)
	@$(RUN)/python -m pip install --quiet --disable-pip-version-check -r env/lint.txt
	@$(RUN)/python -m flake8
	@$(RUN)/python env/manifest.py

site: setup
	@$(RUN)/python -m pip install --quiet --disable-pip-version-check -r env/site.txt
	@$(RUN)/python -m sphinx -q -W --keep-going docs build/site
	@echo 'site: build/site/index.html'

# The originals need an older numpy.
benchmarks: VENV = $(CURDIR)/.venv-benchmarks
benchmarks: setup
	@grep '^[^#]' env/peers.txt | while read -r peer; do \
		$(RUN)/python -m pip install --quiet --disable-pip-version-check $$peer || \
		echo "benchmarks: $$peer cannot be installed and is not measured" >&2; done
	@$(RUN)/python -m benchmarks --page docs/performance.md --json docs/performance.json \
		--picture docs/performance.png

soak: setup
	@$(RUN)/python -m benchmarks.soak --minutes $(MINUTES) --page docs/reliability.md \
		--json docs/reliability.json $(ARGS)

fuzz: VENV = $(CURDIR)/.venv-fuzz
fuzz: setup
	@$(RUN)/python -m pip install --quiet --disable-pip-version-check -r env/fuzz.txt
	@$(RUN)/python -m fuzz --minutes $(MINUTES) $(ARGS)

install-check: VENV = $(CURDIR)/.venv-colcon
install-check:
	@./env/install_check.sh

lock:
	@./env/lock.sh

licences: setup
	@$(RUN)/python env/licences.py docs/licences.md

version:
	@python3 env/release.py version $(VERSION)

addresses:
	@python3 env/release.py addresses

release:
	@python3 env/release.py build

release-check:
	@python3 env/release.py build --check $(if $(QUICK),--quick)

clean:
	rm -rf $(VENV) .venv-* .fuzz demo build dist install log *.egg-info
