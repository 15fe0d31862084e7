# SPDX-License-Identifier: Apache-2.0
"""Starts a node in an executable: guards its imports, which take a second and need ROS 2.

This module imports almost nothing, so that Ctrl-C is handled early.
"""
from __future__ import annotations

import importlib
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

_OWN = __name__.split('.')[0]
_ROS_SUFFIXES = ('_msgs', '_srvs', '_interfaces')


def start_node(module: str) -> None:
    """Import a module, run its ``main`` and exit with its result; see `guard_imports`."""
    guard_imports()
    sys.exit(importlib.import_module(module).main())


def guard_imports() -> None:
    """Have SIGINT and SIGTERM end the process with code 0, and a missing package with one line.

    During the imports of a node there is nothing to stop yet, and a traceback helps no user.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda signum, frame: os._exit(0))
    sys.excepthook = _explain


def missing(error: ImportError) -> str:
    """Return which package is missing and how to get it; raise the error if it is our own."""
    from importlib.util import find_spec

    from propulsion_ros.settings.imports import how_to_get

    package = (error.name or 'rclpy').split('.')[0]
    if package == _OWN:
        raise error
    if package == 'rclpy' or package.endswith(_ROS_SUFFIXES):
        # If all of ROS 2 is absent, name that instead of one package after the other.
        is_absent = package == 'rclpy' or find_spec('rclpy') is None
        how = "pip install '.[ros]' in the clone" if is_absent else how_to_get(package)
        return f'needs ROS 2: {error}; source its setup file, or {how}'
    return f'needs {package}, {how_to_get(package)}: {error}'


def _explain(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """Print an uncaught exception: one line if another package is missing."""
    if not isinstance(error, ModuleNotFoundError) or (error.name or _OWN).split('.')[0] == _OWN:
        sys.__excepthook__(kind, error, traceback)
        return
    program = os.path.basename(sys.argv[0]).removesuffix('.py')
    print(f'{program}: {missing(error)}', file=sys.stderr)
