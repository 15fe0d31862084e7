# SPDX-License-Identifier: Apache-2.0
"""Fly demos, check files, record, replay and plot, find apogees, prepare models for Gazebo."""
from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

COMMANDS = (
    'apogee', 'apogee-trials', 'check', 'demo', 'fly', 'gazebo', 'play', 'plot', 'record', 'replay',
)


def module_of(command: str) -> ModuleType:
    """Return a docstring, `add_arguments(parser)` and `run(options) -> exit code` of a command."""
    return import_module(f'propulsion_ros.tools.{command.replace("-", "_")}')


def main(args: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = sys.argv[1:] if args is None else list(args)
    named = given[:1] if given and given[0] in COMMANDS else []
    try:
        with _quiet_imports(named):
            parser = _parser_of(named or COMMANDS)
        options = parser.parse_args(given)
        return int(module_of(options.command).run(options))
    except KeyboardInterrupt:
        return _stopped(named)


def _parser_of(commands: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of some commands: only help needs what all of them import."""
    parser = argparse.ArgumentParser(prog='propulsion_ros', description=__doc__)
    subparsers = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    for name in commands:
        module = module_of(name)
        text = (module.__doc__ or '').strip().splitlines()[0].replace('`', '')
        module.add_arguments(subparsers.add_parser(name, help=text, description=text))
    return parser


@contextmanager
def _quiet_imports(named: Sequence[str]) -> Iterator[None]:
    """End the process at Ctrl-C: an exception in an import could be taken for another fault."""
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if before is not signal.default_int_handler or not is_main:
        yield
        return
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(_stopped(named)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _stopped(named: Sequence[str]) -> int:
    print(f'\n{" ".join(("propulsion_ros", *named))}: stopped', file=sys.stderr, flush=True)
    return 128 + signal.SIGINT


if __name__ == '__main__':
    sys.exit(main())
