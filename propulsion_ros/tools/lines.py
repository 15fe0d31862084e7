# SPDX-License-Identifier: Apache-2.0
"""Lines of a command on standard error."""
from __future__ import annotations

import sys


def note(command: str, text: object) -> None:
    """Print a line with the name of the command."""
    print(f'propulsion_ros {command}: {text}', file=sys.stderr)


def fail(command: str, text: object) -> int:
    """Print why a command fails; return its exit code."""
    note(command, text)
    return 1
