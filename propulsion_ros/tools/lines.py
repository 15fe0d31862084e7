# SPDX-License-Identifier: Apache-2.0
"""Lines of a command on standard error, a progress bar, and numbers for JSON."""
from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_EVERY = 0.2  # time between two updates of the bar [s]
_SELDOM = 60.0  # time between two lines where there is no terminal [s]
_WIDTH = 30  # of the bar [characters]


def note(command: str, text: object) -> None:
    """Print a line with the name of the command."""
    print(f'propulsion_ros {command}: {text}', file=sys.stderr)


def fail(command: str, text: object) -> int:
    """Print why a command fails; return its exit code."""
    note(command, text)
    return 1


def known(value: Any) -> Any:
    """Return a value for JSON, with None, which becomes null, for numbers that are not finite."""
    from dataclasses import asdict, is_dataclass  # as slow as all other imports of --help

    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {key: known(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [known(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yield ``at(done)``, which draws a bar on a terminal, else a line a minute."""
    is_shown, drawn, printed = sys.stderr.isatty() and total > 0, 0.0, time.monotonic()

    def at(done: int) -> None:
        nonlocal drawn, printed
        if is_shown and (now := time.monotonic()) - drawn > _EVERY:
            drawn, share = now, done / total
            filled = round(_WIDTH * min(share, 1.0))
            bar = '#' * filled + '-' * (_WIDTH - filled)
            print(f'\r{what} [{bar}] {share:4.0%}', end='', file=sys.stderr, flush=True)
        elif not is_shown and total > 0 and (now := time.monotonic()) - printed > _SELDOM:
            printed = now
            print(f'{what}: {done / total:.0%}', file=sys.stderr, flush=True)

    try:
        yield at
    finally:
        if drawn:
            print('\r\033[K', end='', file=sys.stderr, flush=True)
