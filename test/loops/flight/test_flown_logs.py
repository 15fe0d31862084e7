# SPDX-License-Identifier: Apache-2.0
"""Flown logs through a flight computer and through the logic alone: the same to the last bit."""
import math

import numpy as np
import pytest
from flight_computer import Computer, odometry

from parts import few_of
from propulsion_ros.loops.flight.params import FlightLoopParams, make_flight_state, read_config
from propulsion_ros.replay.flight_log import fly, read_flight_log

LOGS = [
    'andromeda_2022', 'astra_upv_2022', 'bella_lui_2020', 'camoes_2023', 'cavour_2023',
    'erebus11_2022', 'genesis_2023', 'halcyon_2023', 'hedy_2025_baro', 'hedy_2025_ekf',
    'juno3_2023', 'lince_2023', 'ndrt_2020', 'prometheus_2022_telemega',
    'prometheus_2022_telemetrum',
]
pytestmark = pytest.mark.part('flights')
PARAMS = FlightLoopParams(replay=True)
AFTER_NS = 500_000_000
"""Of the log that is fed after the decision [ns]."""


def fly_log(path):
    """Return the samples that a computer is sent, and what the flight logic says to each."""
    # An odometry holds no acceleration.
    samples = [row._replace(acceleration=math.nan) for row in read_flight_log(path)]
    reports = []
    flight = make_flight_state(PARAMS, read_config(PARAMS), in_simulation=False)
    for _, report in fly(samples, flight):
        reports.append(report)
        if report.apogee and report.stamp_ns > report.apogee.stamp_ns + AFTER_NS:
            break
    return samples[:len(reports)], reports


def test_every_flown_log_is_here(flights):
    with_altitude = {
        path.stem for path in (flights / 'real').glob('*.csv')
        if path.open().readline().startswith('time_s,altitude_m')
    }
    assert with_altitude == set(LOGS)


@pytest.mark.parametrize('name', few_of(LOGS, 5))
def test_computer_and_logic_agree_to_the_last_bit(flights, name):
    samples, reports = fly_log(flights / 'real' / f'{name}.csv')
    computer = Computer(
        config_file='', is_simulated=True, pad_reference='zero', silence_timeout=0.0,
    )
    for k, sample in enumerate(samples):
        computer.host.deliver('~/odometry', odometry(
            sample.stamp_ns, sample.altitude, sample.velocity
        ))
        if k == 0:
            computer.command('launch')
    # The first one is before the launch.
    accepted = [report for report in reports[1:] if report.stamp.is_accepted]
    fits = computer.host.of('~/fit')
    assert [stamp_ns for stamp_ns, _ in fits] == [report.stamp_ns for report in accepted]
    # To these NaN is the same as NaN.
    np.testing.assert_array_equal([row.position[:3] for _, row in fits], [
        (each.altitude, each.velocity, each.acceleration)
        for each in (report.estimate for report in accepted)
    ])
    last = reports[-1]
    if last.apogee is None:
        assert [computer.flags[key] for key in ('apogee', 'reason', 'sigma')] == [''] * 3
        assert not computer.values('~/apogee')
        return
    decided = next(report for report in reports if report.apogee).estimate
    assert computer.flags['apogee'] == f'{last.apogee.stamp_ns * 1e-9:.9f}'
    assert computer.flags['apogee_source'] == 'detected'
    assert computer.flags['reason'] == decided.reason
    assert [(stamp_ns, point[2]) for stamp_ns, point in computer.host.of('~/apogee')] == [
        (decided.apogee_ns, decided.apogee_altitude)
    ]
