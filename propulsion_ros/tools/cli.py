"""Fly demos, check files, record, replay, draw, find apogees, feed Gazebo, write policies."""
from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

COMMANDS = (
    'apogee', 'apogee-trials', 'check', 'demo', 'gazebo', 'play', 'plot', 'policy', 'record',
    'replay',
)


def module_of(command: str) -> ModuleType:
    """Return a docstring, `add_arguments(parser)` and `run(options) -> exit code` of a command."""
    return import_module(f'propulsion_ros.tools.{command.replace("-", "_")}')


def main(args: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = sys.argv[1:] if args is None else list(args)
    parser = argparse.ArgumentParser(prog='propulsion_ros', description=__doc__)
    subparsers = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    # Of a start most is imports: only help needs what all commands import.
    for name in given[:1] if given and given[0] in COMMANDS else COMMANDS:
        module = module_of(name)
        text = (module.__doc__ or '').strip().splitlines()[0].replace('`', '')
        module.add_arguments(subparsers.add_parser(name, help=text, description=text))
    options = parser.parse_args(given)
    try:
        return int(module_of(options.command).run(options))
    except KeyboardInterrupt:
        print(f'\npropulsion_ros {options.command}: stopped', file=sys.stderr)
        return 128 + signal.SIGINT


if __name__ == '__main__':
    sys.exit(main())
