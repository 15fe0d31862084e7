# SPDX-License-Identifier: Apache-2.0
"""Flights as bags and logs, read by the commands."""
from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from rocketpy_fakes import (
    APOGEE,
    Barometer,
    Flight,
    GnssReceiver,
    Gyroscope,
    SpecificForce,
    height,
    replayed,
    with_settings,
)

from parts import few_of
from propulsion_ros.replay.bags import BagReader
from propulsion_ros.rocketpy import FlightComputer, SensorFault, write_bag, write_logs
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.tools import cli

pytest.importorskip('rosbags')


class Curve:
    """A number over the time of a flight."""

    def __init__(self, of):
        self._of = of

    def get_value(self, time):
        return [float(self._of(np.array(each))) for each in time]


class Flown:
    """A flight of RocketPy that has ended, at 300 m above the sea."""

    t_initial, t_final, apogee_time = 0.0, 40.0, APOGEE

    class env:  # noqa: N801  as RocketPy has it
        elevation = 300.0

    z = Curve(lambda t: 300.0 + height(t))
    vz = Curve(lambda t: (height(t + 1e-3) - height(t - 1e-3)) / 2e-3)
    az = Curve(lambda t: np.where(t < 3.0, 40.0, -9.81))
    x, y = Curve(lambda t: 2.0 * t), Curve(lambda t: -t)
    vx, vy = Curve(lambda t: 2.0 + 0.0 * t), Curve(lambda t: -1.0 + 0.0 * t)
    # Turned by 90 degrees about z: its x points north.
    e0 = e3 = Curve(lambda t: np.sqrt(0.5) + 0.0 * t)
    e1 = e2 = w1 = w2 = Curve(lambda t: 0.0 * t)
    w3 = Curve(lambda t: 0.25 + 0.0 * t)


@pytest.fixture
def fly(tmp_path):
    """Return what flies until what happens at the apogee has happened."""
    def fly(source, sensors, lost=(0.0, 0.0), **faults):
        config = with_settings(
            tmp_path / 'flight.yaml', altitude_source=source, **{'estimation.rate': 20.0}
        )
        computer = FlightComputer(config, faults=faults)
        end = APOGEE + 3.0
        Flight(sensors, {'drogue': computer.trigger('drogue')}, 20.0, end=end, lost=lost)
        return config, computer
    return fly


def raw_sensors():
    return [GnssReceiver(2.0), Gyroscope(25.0), SpecificForce(25.0), Barometer(20.0)]


@pytest.mark.parametrize(('source', 'sensors', 'given', 'waited'), few_of([
    # The pressure comes first after a gap at the apogee, and has waited long enough for the
    # inertial sensor at 0.1 s before its stamp.
    pytest.param('sensors', raw_sensors(), {'lost': (15.24, 15.39)}, 0.1, id='estimated in a gap'),
    pytest.param('pressure', [Barometer(20.0)], {}, 0.0, id='at once'),
    pytest.param(
        'pressure', [Barometer(20.0)],
        {'pressure': SensorFault('late', 15.0, {'length': 0.525})}, 0.225, id='in a queue',
    ),
    pytest.param('sensors', raw_sensors(), {}, 0.0, id='estimated at once'),
], 2))
def test_a_replay_of_the_bag_fires_the_same(fly, tmp_path, source, sensors, given, waited):
    config, computer = fly(source, sensors, **given)
    write_bag(tmp_path / 'bag', computer)
    found = replayed(config, tmp_path / 'bag', tmp_path / 'out')
    begin_ns = computer.begin_ns
    assert found == [
        (begin_ns + round(each.time * 1e9), begin_ns + round(each.stamp * 1e9), each.name)
        for each in computer.events
    ]
    assert computer.events[0].time - computer.events[0].stamp == pytest.approx(waited)
    drogue = computer.deployed[0]
    assert drogue[::2] == computer.events[0][::2]


def test_the_bag_has_the_true_motion_in_the_axes_of_the_body(fly, tmp_path):
    _, computer = fly('pressure', [Barometer(20.0)])
    write_bag(tmp_path / 'bag.mcap', computer, Flown)
    with BagReader(tmp_path / 'bag.mcap') as reader:
        rows = [
            (each.stamp_ns, reader.decode(each))
            for each in reader.messages({'/vehicle/odometry'})
        ]
    assert len(rows) == 2000
    stamp_ns, odometry = rows[500]
    assert stamp_ns == computer.begin_ns + 10_000_000_000
    place, turn = odometry.pose.pose.position, odometry.pose.pose.orientation
    assert (place.x, place.y) == (20.0, -10.0)
    assert place.z == pytest.approx(float(height(np.array(10.0))))
    assert (turn.z, turn.w) == pytest.approx((np.sqrt(0.5), np.sqrt(0.5)))
    # East is the body's -y, north its x.
    speed = odometry.twist.twist
    assert (speed.linear.x, speed.linear.y) == pytest.approx((-1.0, -2.0))
    assert speed.angular.z == 0.25


def test_a_computer_that_has_not_flown_has_no_bag(tmp_path):
    computer = FlightComputer(with_settings(tmp_path / 'flight.yaml'))
    with pytest.raises(SourceError, match='expected a flight computer that has flown'):
        write_bag(tmp_path / 'none', computer)
    assert not (tmp_path / 'none').exists()


@pytest.mark.parametrize(('folder', 'rate', 'problem'), [
    ('', 0.0, 'rate: expected Hz above 0, got 0.0'),
    ('', 'x', "rate: expected Hz above 0, got 'x'"),
    ('none', 20.0, 'one.csv: cannot be written: there is no folder'),
])
def test_logs_that_cannot_be_written_are_one_line(tmp_path, folder, rate, problem):
    with pytest.raises(SourceError) as error:
        write_logs(tmp_path / folder, {'one': Flown}, rate)
    assert problem in str(error.value)
    assert '\n' not in str(error.value)


def test_logs_are_read_by_apogee_and_study(tmp_path, capsys):
    write_logs(tmp_path, {'one': Flown, 'two': Flown}, rate=20.0)
    with (tmp_path / 'one.csv').open(encoding='utf-8') as file:
        rows = [*csv.reader(file)]
    assert rows[0] == ['time_s', 'altitude_m', 'vz_mps', 'az_mps2']
    table = np.array(rows[1:], float)
    np.testing.assert_allclose(table[:, 1], height(table[:, 0]), atol=1e-5)
    assert APOGEE + 9.9 < table[-1, 0] <= APOGEE + 10.0
    assert cli.main(['apogee', str(tmp_path / 'one.csv')]) == 0
    assert json.loads(capsys.readouterr().out)['apogee_time'] == pytest.approx(APOGEE, abs=0.3)
    study = tmp_path / 'study.yaml'
    study.write_text(
        'kind: apogee\ninput: .\ncases: 2\nvary:\n  flight.fault: {grid: [none]}\n',
        encoding='utf-8',
    )
    assert cli.main(['study', str(study), '--output', str(tmp_path / 'out'), '--jobs', '1',
                     '--no-picture']) == 0
    with next((tmp_path / 'out').glob('results.csv')).open(encoding='utf-8') as file:
        cases = [*csv.DictReader(file)]
    assert {case['log'] for case in cases} == {'one', 'two'}
    assert all(case['missed'] == case['premature'] == '0' for case in cases)
