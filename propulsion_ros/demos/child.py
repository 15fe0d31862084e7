# SPDX-License-Identifier: Apache-2.0
"""A Python program that ends with the process that has started it, and quietly where ROS ends it.

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

_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of Linux."""


def main() -> None:
    """Run the program as if Python had been called with the rest of the words."""
    parent, *words = sys.argv[1:]
    if sys.platform == 'linux':
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != int(parent):
            return
    is_module = words[0] == '-m'
    sys.argv = words[is_module:]
    try:
        if is_module:
            runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)
        else:
            sys.path[0] = str(Path(words[0]).resolve().parent)
            runpy.run_path(words[0], run_name='__main__')
    except Exception as error:
        # A plain rclpy.spin() raises it where a signal ends the program.
        if type(error).__name__ != 'ExternalShutdownException':
            if is_module:
                raise
            print(_line_of(error, words[0]), file=sys.stderr)
            sys.exit(1)


def _line_of(error: Exception, program: str) -> str:
    """Return what a program has raised, and where in its own files that came from."""
    folder = str(Path(program).resolve().parent)
    own = [
        f'{Path(frame.filename).name}:{frame.lineno}'
        for frame in traceback.extract_tb(error.__traceback__)
        if os.path.realpath(frame.filename).startswith(folder) and frame.filename[0] != '<'
        and 'site-packages' not in frame.filename and frame.filename != __file__
    ]
    what = f'{type(error).__name__}: {error}'.rstrip(': ')
    text = ' '.join(f'{own[-1] if own else program}: {what}'.split())
    return text + (f', called from {", ".join(reversed(own[:-1]))}' if own[:-1] else '')


if __name__ == '__main__':
    main()
