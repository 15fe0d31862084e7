# SPDX-License-Identifier: Apache-2.0
"""Readers of flight logs and of tables of commands."""
from __future__ import annotations

import functools
import gzip
import math

from fuzz.binary_formats import GZIP
from fuzz.robots import fresh_robot, require_wrenches
from fuzz.target import Target, require, written
from fuzz.text_formats import CSV
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.loops.flight.params import FlightLoopParams
from propulsion_ros.replay.sources import TableSource
from propulsion_ros.tools.apogee import apogee_of_log

_MOST_NS = 200_000_000
"""Longest stretch that is really run: a row may ask for an hour of steps."""


def _flight_log(name: str, data: bytes) -> None:
    for method in ('robust', 'legacy'):
        found, _ = apogee_of_log(written(name, data), FlightLoopParams(
            apogee=ApogeeParams(method=method), replay=True,
        ))
        numbers = [value for value in found.values() if isinstance(value, float)]
        require(all(map(math.isfinite, numbers)), f'{method}: {found}')


def _command_table(config: str, data: bytes) -> None:
    """Read a table and run its rows, those that lie close together."""
    source = TableSource(written('commands.csv', data), is_bare=True)
    first_ns: int | None = None
    for moment in source.play(fresh_robot(config)):
        require_wrenches(moment.published)
        first_ns = moment.stamp_ns if first_ns is None else first_ns
        if moment.stamp_ns - first_ns > _MOST_NS:
            return


def _flights() -> list[bytes]:
    rows = [
        f'{i / 10:.1f},{60 * i / 10 - 4.9 * (i / 10) ** 2:.2f},{60 - 9.8 * i / 10:.2f},-9.8'
        for i in range(100)
    ]
    return ['\n'.join(('time_s,altitude_m,vz_mps,az_mps2', *rows)).encode(),
            '\n'.join(('time_s,altitude_m', *(','.join(r.split(',')[:2]) for r in rows))).encode()]


TARGETS = (
    Target(
        'flight_log', functools.partial(_flight_log, 'log\n.csv'), _flights,
        words=('time_s', 'altitude_m', 'vz_mps', 'az_mps2', 'nan', 'inf', '1e308', '"', '\r\n'),
        form=CSV,
    ),
    Target(
        'packed_log', functools.partial(_flight_log, 'log.csv.gz'),
        lambda: [gzip.compress(log, mtime=0) for log in _flights()],
        words=('\x1f\x8b\x08',), form=GZIP,
    ),
    Target(
        'command_table', functools.partial(_command_table, 'thrusters.yaml'),
        lambda: [b'stamp,front_left.velocity,rear_left.velocity\n0,100,\n0.02,200,-50\n0.1,,0\n',
                 b'stamp,front_left.effort,body.velocity.x,body.velocity.y,body.velocity.z\n'
                 b'0,1,0,0,0\n0.05,2,1,0,0\n'],
        words=('stamp', '.velocity', '.effort', 'body.velocity.x', 'nan', 'inf', '1e308', '1e9',
               '9e9', '"', '\r\n', '0.000000001'),
        form=CSV,
    ),
    Target(
        'wrench_table', functools.partial(_command_table, 'fam.yaml'),
        lambda: [b'stamp,wrench.force.x,wrench.torque.z,com.x,com.y,com.z\n'
                 b'0,0.1,0.01,0,0,0\n0.05,-0.1,0,0.01,0,0\n0.1,0.2,,,,\n'],
        words=('stamp', 'wrench.force.x', 'com.x', 'nan', 'inf', '1e308', '"', 'nozzle_7.position'),
        form=CSV,
    ),
)
