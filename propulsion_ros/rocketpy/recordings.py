# SPDX-License-Identifier: Apache-2.0
"""Flights of RocketPy as the files that the commands read."""
from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from propulsion_ros.graph.simulation import BODY
from propulsion_ros.loops.payloads import Kind, OdometryRow
from propulsion_ros.loops.ports import Outlet
from propulsion_ros.replay.bags import BagWriter, Recorded
from propulsion_ros.replay.cdr import SECOND, Wire
from propulsion_ros.replay.plain import maker_of
from propulsion_ros.rocketpy.computer import FlightComputer
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import write_text
from propulsion_ros.settings.quantity import FloatArray

_ODOMETRY = Outlet(f'/{BODY}/odometry', Kind.ODOMETRY, 'state', 'map')


def write_bag(path: str | Path, computer: FlightComputer, flight: Any = None) -> None:
    """Write a new bag with all that a computer got in its last flight, for `replay`.

    Parameters
    ----------
    path : str or Path
        Of the bag.
    computer : FlightComputer
        After the flight.
    flight : rocketpy.Flight, optional
        Whose true motion is written too, for `view`.

    Raises
    ------
    SourceError
        Where it has flown nothing, or the bag cannot be written.
    """
    if not computer.received:
        raise SourceError(str(path), 'expected a flight computer that has flown')
    wire = Wire()
    rows = [
        (each.arrival_ns, each.topic, each.kind, each.message) for each in computer.received
    ]
    if flight is not None:
        rows += _motion(flight, computer.begin_ns)
        rows.sort(key=lambda row: row[0])
    with BagWriter(Path(path)) as writer:
        for stamp_ns, topic, kind, message in rows:
            writer.write(Recorded(topic, kind, stamp_ns, wire.serialise(message, kind)))


def write_logs(
    folder: str | Path, flights: Mapping[str, Any], rate: float = 50.0
) -> None:
    """Write ``NAME.csv`` of each flight as `apogee` and `view` read it, and the list of `study`.

    Parameters
    ----------
    folder : str or Path
        That is there.
    flights : mapping of rocketpy.Flight
        By name. Their true motion is written, up to the highest point and 10 s beyond it.
    rate : float
        Rows a second.
    """
    known: dict[str, Any] = {}
    for name, flight in flights.items():
        text, apogee = io.StringIO(), float(flight.apogee_time)
        writer = csv.writer(text, lineterminator='\n')
        writer.writerow(('time_s', 'altitude_m', 'vz_mps', 'az_mps2'))
        end = min(apogee + 10.0, float(flight.t_final))
        time = np.arange(0.0, end, 1.0 / rate)
        columns = [time, *(_at(each, time) for each in (flight.z, flight.vz, flight.az))]
        columns[1] = columns[1] - flight.env.elevation
        writer.writerows(np.round(np.array(columns).T, 6).tolist())
        write_text(Path(folder) / f'{name}.csv', text.getvalue())
        known[name] = {'apogee_t': apogee}
    write_text(Path(folder) / 'truth.json', json.dumps(known, indent=1))


def _motion(flight: Any, begin_ns: int) -> Iterator[tuple[int, str, str, Any]]:
    """Yield the true motion 50 times a second, in the axes of the body."""
    time = np.arange(float(flight.t_initial), float(flight.t_final), 0.02)
    x, y, z, *turn, w1, w2, w3 = (
        _at(getattr(flight, name), time)
        for name in ('x', 'y', 'z', 'e1', 'e2', 'e3', 'e0', 'w1', 'w2', 'w3')
    )
    unit = np.array(turn).T
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    velocity = np.stack([_at(getattr(flight, name), time) for name in ('vx', 'vy', 'vz')], axis=1)
    # In the axes of the body, as an Odometry has it.
    from scipy.spatial.transform import Rotation

    velocity = Rotation.from_quat(unit).inv().apply(velocity)
    make = maker_of(_ODOMETRY)
    for i, each in enumerate(time.tolist()):
        stamp_ns = begin_ns + round(each * SECOND)
        row = OdometryRow(
            'base_link', (x[i], y[i], z[i] - flight.env.elevation), unit[i], velocity[i],
            (w1[i], w2[i], w3[i]),
        )
        yield stamp_ns, _ODOMETRY.topic, _ODOMETRY.kind, make(_ODOMETRY, stamp_ns, row)


def _at(source: Any, time: FloatArray) -> FloatArray:
    return np.array(source.get_value(time.tolist()), dtype=float)
