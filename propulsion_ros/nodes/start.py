"""How an executable starts a node: imports take a second, and Ctrl-C may come in that time."""
from __future__ import annotations

import importlib
import os
import signal


def start_node(module: str) -> None:
    """Import a module and call its ``main``; SIGINT or SIGTERM before that end with code 0.

    There is nothing to stop yet, and where imports stand is nobody's business.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda signum, frame: os._exit(0))
    importlib.import_module(module).main()
