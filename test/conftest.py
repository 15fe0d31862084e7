# SPDX-License-Identifier: Apache-2.0
"""What all tests share: golden vectors, flight logs, and an own corner of the network."""
from __future__ import annotations

import gc
import importlib.util
import json
import os
import signal
import tempfile
import warnings
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

# Before numpy is imported: threads of BLAS wait for each other where every core has its tests, up
# to 10 ms of CPU for the exponential of two by two.
os.environ['OPENBLAS_NUM_THREADS'] = '1'

from parts import PART, PARTS, is_run
from propulsion_ros.graph import share
from propulsion_ros.tools.demo import own_network

# Thousands of tests are read, and none of that is ever garbage.
gc.disable()
# How long an example takes is the machine's.
settings.register_profile('untimed', deadline=None, max_examples=300 if PART else 10)
settings.load_profile('untimed')
# Before any rclpy context exists: no test may hear or disturb another robot, run or worker.
for name in ('ROS_AUTOMATIC_DISCOVERY_RANGE', 'ROS_DOMAIN_ID'):
    os.environ.pop(name, None)
# Launch files keep the record of a flight there; no test may resume another one's.
_ROS_HOME = tempfile.TemporaryDirectory(prefix='ros_home_')
os.environ['ROS_HOME'] = _ROS_HOME.name
# Fast DDS may crash over the shared memory of a process that was killed, as tests kill some.
os.environ['FASTDDS_BUILTIN_TRANSPORTS'] = 'UDPv4'
# A shell that runs this in the background ignores Ctrl-C, and so would every process of a test.
signal.signal(signal.SIGINT, signal.default_int_handler)
NETWORK = ExitStack()
NETWORK.enter_context(own_network())

HERE = Path(__file__).parent
REPOSITORY = HERE.parent


def pytest_configure():
    """Refuse a part that does not exist: nothing would run."""
    if PART and PART not in PARTS:
        raise pytest.UsageError(f'PART: no such part {PART!r}, expected one of {", ".join(PARTS)}')


def pytest_collection_modifyitems(config, items):
    """Keep the tests of the part that runs."""
    kept, others = [], []
    for item in items:
        mark = item.get_closest_marker('part')
        is_kept = is_run(mark and mark.args[0], item.get_closest_marker('slow') is not None)
        (kept if is_kept else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = kept


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop():
    """Leave what was read out of every collection of garbage: each test of nodes makes one."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure():
    """Let others have the domain."""
    NETWORK.close()


@pytest.fixture(scope='session')
def golden():
    """Return a reader of recorded vectors of the original systems, by file name."""
    def read(name: str):
        return json.loads((HERE / 'data' / 'golden' / f'{name}.json').read_text())
    return read


@pytest.fixture(scope='session')
def flights():
    """Return the folder of flight logs beside the repository, or skip."""
    folder = REPOSITORY.parent / 'shared' / 'flights'
    if not folder.is_dir():
        pytest.skip(f'no flight logs: {folder} is absent')
    return folder


@pytest.fixture(scope='session')
def identification_data():
    """Return the folder of recordings to fit beside the repository, or skip."""
    folder = REPOSITORY.parent / 'shared' / 'identify'
    if not folder.is_dir():
        pytest.skip(f'no recordings to fit: {folder} is absent')
    return folder


@pytest.fixture(scope='session')
def wheel_file(tmp_path_factory):
    """Return a wheel that is built from a copy of this tree, once for all tests."""
    from installed import built_wheel, copied_tree

    folder = tmp_path_factory.mktemp('wheel')
    return built_wheel(copied_tree(folder), folder)


@pytest.fixture(scope='session')
def rocketpy():
    """Skip, with a warning, what flies with RocketPy where it is absent."""
    if importlib.util.find_spec('rocketpy') is None:
        missing = 'RocketPy is absent, its flights are skipped: pip install -r env/rocketpy.txt'
        warnings.warn(missing, stacklevel=1)
        pytest.skip(missing)


def _each_once(expanded):
    """Return an expansion of xacro that starts one process for each description of the package."""
    kept = cache(expanded)
    # No test writes into that folder.
    return lambda path: (kept if Path(path).parent == REPOSITORY / 'urdf' else expanded)(path)


share._expanded = _each_once(share._expanded)


@pytest.fixture
def written(tmp_path):
    """Return a writer of a parameter file."""
    def write(text):
        path = tmp_path / 'params.yaml'
        path.write_text(text)
        return path
    return write


@pytest.fixture
def graph():
    """Yield a window on the ROS graph and close it."""
    from ros_graph import Graph

    graph = Graph()
    try:
        yield graph
    finally:
        graph.close()
