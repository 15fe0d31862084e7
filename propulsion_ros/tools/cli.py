"""Fly demos, check files, record, replay, draw, find apogees, feed Gazebo, write policies."""
from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence

from propulsion_ros.tools import (
    apogee,
    apogee_trials,
    check,
    demo,
    gazebo,
    play,
    plot,
    policy,
    record,
    replay,
)

COMMANDS = {
    'apogee': apogee, 'apogee-trials': apogee_trials, 'check': check, 'demo': demo,
    'gazebo': gazebo, 'play': play, 'plot': plot, 'policy': policy, 'record': record,
    'replay': replay,
}
"""Each module has a docstring, `add_arguments(parser)` and `run(options) -> exit code`."""


def main(args: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(prog='propulsion_ros', description=__doc__)
    subparsers = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    for name, module in COMMANDS.items():
        text = (module.__doc__ or '').strip().splitlines()[0].replace('`', '')
        module.add_arguments(subparsers.add_parser(name, help=text, description=text))
    options = parser.parse_args(args)
    try:
        return int(COMMANDS[options.command].run(options))
    except KeyboardInterrupt:
        print(f'\npropulsion_ros {options.command}: stopped', file=sys.stderr)
        return 128 + signal.SIGINT


if __name__ == '__main__':
    sys.exit(main())
