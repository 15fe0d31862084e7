# SPDX-License-Identifier: Apache-2.0
"""Fly demos, check files, record, replay and plot, find apogees, prepare models for Gazebo."""
from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from propulsion_ros import __version__
from propulsion_ros.nodes.start import missing
from propulsion_ros.tools.lines import fail

COMMANDS = {
    'apogee': 'Find the apogee in a flight log.',
    'check': 'Check parameter files, robot descriptions and flight configurations.',
    'demo': 'Fly a vehicle closed loop through real ROS nodes, and draw the flight.',
    'fly': 'Simulate the body of any robot, in closed loop with its actuator nodes.',
    'gazebo': "Write Gazebo's model of a robot, and the files of its bridges.",
    'identify': 'Fit parameters of the models to a recording of the real robot.',
    'play': 'Play a bag into running nodes; needs no ros2 bag.',
    'plot': 'Draw a bag, a table or a flight log on one page.',
    'record': 'Record the topics of a running robot into a bag.',
    'replay': 'Run nodes over a bag or a table of commands, exactly and without ROS.',
    'study': 'Fly many cases of one thing: Monte Carlo and grids, on cores or a Dask cluster.',
    'view': 'Write a page for the browser: a robot in 3D with its plots, from a bag or a table.',
}
"""Summary of each command, which needs no import of it."""

_OPTION = re.compile(r'(?<!\w)--?[a-z][a-z-]*')


def module_of(command: str) -> ModuleType:
    """Return the module of a command.

    It has `EXAMPLE`, the words after the command; `add_arguments(parser)`; `run(options) -> exit
    code`, which raises `ConfigError` for wrong input and `ImportError` for a missing package.
    """
    return import_module(f'propulsion_ros.tools.{command.replace("-", "_")}')


def main(args: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = sys.argv[1:] if args is None else list(args)
    named = given[:1] if given and given[0] in COMMANDS else []
    # Ctrl-C is the regular end of a command that launch files start.
    is_served = named == ['record'] or (named == ['view'] and '--live' in given)
    code = 0 if is_served else 128 + signal.SIGINT
    try:
        try:
            with _quiet_imports(named, code):
                parser = _parser_of(named)
        except ModuleNotFoundError as error:
            return fail(' '.join(named), missing(error))
        options, unknown = parser.parse_known_args(given)
        if unknown:
            _refuse(options.parser, unknown)
        run = module_of(options.command).run
        from propulsion_ros.settings.errors import ConfigError

        try:
            with _quiet_imports(named, code) if is_served else nullcontext():
                code = int(run(options))
        except ConfigError as error:
            code = fail(options.command, error)
        except ImportError as error:
            # Only some options need the package, such as matplotlib.
            code = fail(options.command, missing(error))
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # The reader has ended, such as head in a pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        return _stopped(named, code)


class _Parser(argparse.ArgumentParser):

    def error(self, message: str) -> NoReturn:
        """Exit with a message that points to --help."""
        super().error(f'{message}; see {self.prog} --help')


def _parser_of(named: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of all commands, with the arguments of those that are named."""
    parser = _Parser(prog='propulsion_ros', description=__doc__)
    parser.add_argument('--version', action='version', version=f'%(prog)s {__version__}')
    subparsers = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    for name, text in COMMANDS.items():
        own = subparsers.add_parser(name, help=text, description=text)
        own.set_defaults(parser=own)
        if name in named:
            module = module_of(name)
            own.epilog = f'example: propulsion_ros {name} {module.EXAMPLE}'
            module.add_arguments(own)
    return parser


def _refuse(parser: argparse.ArgumentParser, unknown: Sequence[str]) -> None:
    """Exit with the words that a command does not know, and the options that may be meant."""
    # At the top it would be imported before Ctrl-C is taken care of.
    from propulsion_ros.settings.flat import suggestion

    known = _OPTION.findall(parser.format_help())
    words = [word.partition('=')[0] for word in unknown if word[:1] == '-']
    # Of a letter the option that begins with it is meant.
    hints = [next((f", did you mean '{each}'?" for each in known if each.startswith(f'-{word}')),
                  suggestion(word, known)) for word in words]
    hints += [f'; write {each.option_strings[-1]} {word}' for word in unknown
              for each in parser._actions if each.option_strings and word in (each.choices or ())]
    if not hints:
        hints += [f'; put every {each.metavar} before the options'
                  for each in parser._actions if each.nargs == '+']
    parser.error(f'unrecognized arguments: {" ".join(unknown)}{"".join(hints)}')


@contextmanager
def _quiet_imports(named: Sequence[str], code: int) -> Iterator[None]:
    """Exit at Ctrl-C, as its exception in an import could be taken for another fault."""
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if before is not signal.default_int_handler or not is_main:
        yield
        return
    signal.signal(signal.SIGINT, lambda number, frame: os._exit(_stopped(named, code)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _stopped(named: Sequence[str], code: int) -> int:
    print(f'\n{" ".join(("propulsion_ros", *named))}: stopped', file=sys.stderr, flush=True)
    return code


if __name__ == '__main__':
    sys.exit(main())
