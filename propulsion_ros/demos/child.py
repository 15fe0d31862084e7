# SPDX-License-Identifier: Apache-2.0
"""Runs a Python program that ends with the process that started it, and quietly if ROS ends it.

Run as ``python -m propulsion_ros.demos.child PARENT FILE ...`` or ``... PARENT -m MODULE ...``.
"""
from __future__ import annotations

import ctypes
import os
import runpy
import signal
import sys
import traceback
from pathlib import Path
from types import FrameType

_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux
ASKED = signal.SIGUSR1
"""Signal at which a program prints the line that it runs."""


def main() -> None:
    """Run the program as if Python had been called with the rest of the words."""
    parent, *words = sys.argv[1:]
    if sys.platform == 'linux':
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != int(parent):
            return
    is_module = words[0] == '-m'
    if not is_module:
        signal.signal(ASKED, lambda number, frame: _print_place(frame, words[0]))
    sys.argv = words[is_module:]
    try:
        if is_module:
            runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)
        else:
            sys.path[0] = str(Path(words[0]).resolve().parent)
            runpy.run_path(words[0], run_name='__main__')
    except Exception as error:
        # A plain rclpy.spin() raises this one when a signal ends the program.
        if type(error).__name__ != 'ExternalShutdownException':
            if is_module:
                raise
            print(_line_of(error, words[0]), file=sys.stderr)
            sys.exit(1)


def _line_of(error: Exception, program: str) -> str:
    """Return the error of a program, and the lines of its own files that led to it."""
    what = f'{type(error).__name__}: {error}'.rstrip(': ')
    return _located(traceback.extract_tb(error.__traceback__), program, what)


def _print_place(frame: FrameType | None, program: str) -> None:
    """Print the line that a program runs, unless it waits for messages."""
    stack = traceback.extract_stack(frame)
    own = [i for i, each in enumerate(stack) if _is_own(each, program)]
    calls = [i for i, each in enumerate(stack) if '/rclpy/' in each.filename]
    if own and (own[-1] == len(stack) - 1 or any(i < own[-1] for i in calls)):
        print(_located(stack, program, 'has not returned from here'), file=sys.stderr, flush=True)


def _is_own(frame: traceback.FrameSummary, program: str) -> bool:
    folder = str(Path(program).resolve().parent)
    return os.path.realpath(frame.filename).startswith(folder) and frame.filename[0] != '<' and (
        'site-packages' not in frame.filename and frame.filename != __file__
    )


def _located(stack: traceback.StackSummary, program: str, what: str) -> str:
    own = [f'{Path(each.filename).name}:{each.lineno}' for each in stack if _is_own(each, program)]
    text = ' '.join(f'{own[-1] if own else program}: {what}'.split())
    return text + (f', called from {", ".join(reversed(own[:-1]))}' if own[:-1] else '')


if __name__ == '__main__':
    main()
