# SPDX-License-Identifier: Apache-2.0
"""How an executable starts a node: imports take a second, fail without ROS 2, and meet Ctrl-C.

It imports next to nothing itself, so that little is imported before Ctrl-C is met.
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
    """Import a module and exit as its ``main`` returns; see `guard_imports`."""
    guard_imports()
    sys.exit(importlib.import_module(module).main())


def guard_imports() -> None:
    """Let SIGINT and SIGTERM end the process with code 0, and a missing package with one line.

    While a node is imported there is nothing to stop yet, and no traceback helps the user.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda signum, frame: os._exit(0))
    sys.excepthook = _explain


def missing(error: ImportError) -> str:
    """Return which package is missing and how to get it, in one line; raise what is our fault."""
    from importlib.util import find_spec

    from propulsion_ros.settings.imports import how_to_get

    package = (error.name or 'rclpy').split('.')[0]
    if package == _OWN:
        raise error
    if package == 'rclpy' or package.endswith(_ROS_SUFFIXES):
        # Where all of it is absent, one package after the other would be named.
        is_absent = package == 'rclpy' or find_spec('rclpy') is None
        how = "pip install '.[ros]' in the clone" if is_absent else how_to_get(package)
        return f'needs ROS 2: {error}; source its setup file, or {how}'
    return f'needs {package}, {how_to_get(package)}: {error}'


def _explain(
    kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """Print an uncaught exception: one line for a package of others that is missing."""
    if not isinstance(error, ModuleNotFoundError) or (error.name or _OWN).split('.')[0] == _OWN:
        sys.__excepthook__(kind, error, traceback)
        return
    program = os.path.basename(sys.argv[0]).removesuffix('.py')
    print(f'{program}: {missing(error)}', file=sys.stderr)
