# SPDX-License-Identifier: Apache-2.0
"""Write the SROS2 policy for the nodes of a launch file."""
from __future__ import annotations

import argparse
import sys
from pathlib import Path

from propulsion_ros.graph.graph_options import add_graph_options
from propulsion_ros.gz.model import ROUTES
from propulsion_ros.nodes.start import missing
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.files import printable, write_text
from propulsion_ros.tools.policy_xml import Profile, policy_text

_OF_ALL = {'enclave', 'output'}
_TAKEN = {
    'gazebo': {'gazebo', 'vehicle', 'model', 'namespace', 'params_file', 'visualize', *_OF_ALL},
    'record': {'record', *_OF_ALL},
    'play': {'play', *_OF_ALL},
}
"""Options that go with each that asks for something else than the nodes of a robot."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_graph_options(parser)
    parser.add_argument(
        '--params-file', action='append', default=[], metavar='YAML',
        help="settings that win over the vehicle's own (repeat for several)",
    )
    parser.add_argument(
        '--clock-topic', default='/clock', metavar='TOPIC', help='simulated time'
    )
    parser.add_argument(
        '--gazebo', choices=ROUTES, help='with --vehicle: with Gazebo as its body, by this route'
    )
    parser.add_argument(
        '--record', nargs='*', metavar='TOPIC',
        help='of a recorder of these topics, by default of all',
    )
    parser.add_argument(
        '--play', type=Path, metavar='BAG', help='of who plays this bag'
    )
    parser.add_argument(
        '--enclave', default='',
        help='path of the enclave (default: /<vehicle>, /gazebo_<vehicle>, /robot, /recorder or '
        '/player)',
    )
    parser.add_argument(
        '--output', type=Path, metavar='FILE', help='file to write (default: standard output)'
    )


def run(args: argparse.Namespace) -> int:
    """Write the policy; return the exit code."""
    try:
        from propulsion_ros.messages.rclpy_private import reason_of
        from propulsion_ros.nodes.spin import ROS_REFUSALS
    except ImportError as error:
        return _fail(missing(error))
    try:
        _check(args)
        text = policy_text(args.enclave or _enclave(args), profiles_of(args))
        if args.output is None:
            sys.stdout.write(text)
        else:
            write_text(args.output, text)
    except ConfigError as error:
        return _fail(str(error))
    except ROS_REFUSALS as error:
        return _fail(reason_of(error))
    except OSError as error:
        return _fail(f'{printable(args.output)}: {error.strerror}')
    return 0


def profiles_of(args: argparse.Namespace) -> list[Profile]:
    """Return what each node does that the command line asks for.

    Parameters
    ----------
    args : argparse.Namespace
        The arguments of the command.

    Raises
    ------
    ConfigError
        For what is wrong with what they name.
    """
    from propulsion_ros.tools import policy_profiles

    if args.record is not None:
        return policy_profiles.recorder_profiles(args.record)
    if args.play:
        return policy_profiles.player_profiles(args.play)
    if args.gazebo:
        return policy_profiles.gazebo_profiles(args)
    return policy_profiles.graph_profiles(args)


def _check(args: argparse.Namespace) -> None:
    """Refuse options that say nothing together."""
    parser = argparse.ArgumentParser(add_help=False)
    add_arguments(parser)
    given = {
        name for name, default in vars(parser.parse_args([])).items()
        if getattr(args, name) != default
    }
    if not given & {'vehicle', 'model', 'gazebo', 'record', 'play'}:
        raise SourceError('arguments', 'expected --vehicle, --model, --record or --play')
    for option in sorted(given & _TAKEN.keys()):
        others = sorted(given - _TAKEN[option])
        if others:
            raise SourceError(f'--{option}', f'does not go with --{others[0].replace("_", "-")}')
    if args.gazebo and not args.vehicle:
        raise SourceError('--gazebo', 'expected --vehicle too')


def _enclave(args: argparse.Namespace) -> str:
    """Return the enclave of a launch file, which its shipped policy is named after."""
    if args.record is not None:
        return '/recorder'
    if args.play:
        return '/player'
    if args.gazebo:
        return f'/gazebo_{args.vehicle}' + ('_bridge' if args.gazebo == 'bridge' else '')
    return f'/{args.vehicle or "robot"}'


def _fail(reason: str) -> int:
    print(f'propulsion_ros policy: {reason}', file=sys.stderr)
    return 1
