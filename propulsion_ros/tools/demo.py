"""Fly the rocket closed loop through real ROS nodes, and draw the flight."""
from __future__ import annotations

import argparse
import json
import math
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from propulsion_ros.share import share_directory
from propulsion_ros.tools.recording import FlightSummary, Recording, summarise

_START_LIMIT = 30.0
_WALL_LIMIT = 180.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        '--output', type=Path, default=Path('demo'),
        help='folder for the picture (default: %(default)s)',
    )
    parser.add_argument(
        '--until', type=float, default=240.0, metavar='SECONDS',
        help='simulated time at which the flight ends in any case (default: %(default)g)',
    )


def run(options: argparse.Namespace) -> int:
    """Fly, print the table, write flight.png and flight.json; 0 where all of it is right."""
    # The traffic stays on this machine and apart from other robots on it.
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    os.environ.setdefault('ROS_DOMAIN_ID', str(random.SystemRandom().randint(1, 100)))
    from propulsion_ros.tools.flight_plot import draw
    from propulsion_ros.tools.pilot import EXHAUST_VELOCITY, PERIOD, fly

    if options.until <= 0.0:
        print(f'propulsion_ros demo: --until {options.until:g} is not above 0 s', file=sys.stderr)
        return 1
    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        print(f'propulsion_ros demo: --output {options.output}: {error.strerror}', file=sys.stderr)
        return 1
    config = share_directory() / 'config' / 'rocket_demo.yaml'
    print('Starting boosters, fins, vehicle and flight_state ...', flush=True)
    command = [
        sys.executable, '-m', 'propulsion_ros.nodes.stack', '--vehicle', 'rocket',
        '--ros-args', '--params-file', str(config), '--log-level', 'warn',
    ]
    begun = time.monotonic()
    stack = subprocess.Popen(command)  # noqa: S603  our own module, no shell
    try:
        recording = fly(options.until, _START_LIMIT, _WALL_LIMIT, lambda: stack.poll() is None)
    finally:
        if stack.poll() is None:
            stack.send_signal(signal.SIGINT)
        code = stack.wait(timeout=15.0)
    wall = time.monotonic() - begun
    summary = summarise(recording, PERIOD, EXHAUST_VELOCITY)
    picture = options.output / 'flight.png'
    draw(recording, summary, picture)
    results = options.output / 'flight.json'
    results.write_text(json.dumps(vars(summary), indent=2) + '\n', encoding='utf-8')
    simulated = recording.series('motion')[-1, 0]
    print(table(summary, recording))
    print(f'\n{simulated:.0f} s flown in {wall:.0f} s of wall time; picture: {picture}')
    return code


def table(summary: FlightSummary, recording: Recording) -> str:
    """Return the flight as a short table."""
    s = summary
    error = s.impulse / s.impulse_of_propellant - 1.0 if s.impulse_of_propellant else math.nan
    rows = [
        ('liftoff', s.liftoff, ''),
        ('burnout', s.burnout, ''),
        ('maximum speed', s.max_speed_time, f'{s.max_speed:.1f} m/s'),
        ('apogee, predicted', s.predicted,
         f'{s.predicted_altitude:.1f} m (said at {s.predicted_at:.2f} s)'),
        ('apogee, true', s.true_apogee, f'{s.true_altitude:.1f} m'),
        ('apogee, found', s.apogee, f'{s.altitude:.1f} m (decided at {s.detected:.2f} s)'),
        *((f'event {name}', stamp, '') for stamp, name in recording.marks),
    ]
    lines = [
        (name, f'{stamp:.2f} s', note) if math.isfinite(stamp) else (name, 'not reached', '')
        for name, stamp, note in rows
    ]
    lines += [
        ('propellant left', f'{s.propellant_left:.3f} kg', f'of {s.propellant_start:.3f} kg'),
        ('impulse', f'{s.impulse:.1f} N s', f'off the propellant burnt by {abs(error):.1e}'),
    ]
    return '\n'.join(['', *(f'  {name:<22} {value:>12}  {note}'.rstrip()
                            for name, value, note in lines)])
