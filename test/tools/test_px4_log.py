# SPDX-License-Identifier: Apache-2.0
"""Each command that reads bags reads logs of PX4."""
from __future__ import annotations

import csv
import json

import numpy as np
import pytest

pytest.importorskip('rosbags')
pytest.importorskip('pyulog')

from ulog_flights import BOOT_US, MAP, ORDER, flown, robot, written

from propulsion_ros.tools.cli import main


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp('px4')


@pytest.fixture(scope='module')
def flight(folder):
    return flown(folder, seconds=5.0)


@pytest.fixture(scope='module')
def log(folder, flight):
    return written(folder / 'log.ulg', flight)


def test_replay_computes_what_the_motors_did(folder, flight, log, capsys):
    model, params = robot(folder, 0.07)
    out = folder / 'out.csv'
    assert main(['replay', str(params), str(log), str(out), '--model', str(model), '--map', MAP]) \
        == 0, capsys.readouterr().err
    with out.open() as file:
        rows = list(csv.DictReader(file))
    name, _ = ORDER[0]
    stamp = np.array([float(row['stamp']) for row in rows]) - BOOT_US * 1e-6
    column = next(key for key in rows[0] if key.endswith(f'{name}.velocity'))
    speed = np.array([float(row[column] or 'nan') for row in rows])
    there = np.interp(stamp, flight.time, flight.speed[:, 0])
    assert np.nanmax(speed) > 400.0
    assert np.nanmedian(np.abs(speed - there)[there > 100.0]) < 0.02 * np.nanmax(speed)


def test_a_bag_is_made_of_a_log(folder, log, capsys):
    model, params = robot(folder, 0.07)
    bag, again = folder / 'bag', folder / 'again.csv'
    assert main(['replay', str(params), str(log), str(bag), '--model', str(model), '--map', MAP,
                 '--keep-inputs']) == 0, capsys.readouterr().err
    assert main(['plot', str(bag), '--list']) == 0
    assert '/rotors/command: 1250 sensor_msgs/msg/JointState' in capsys.readouterr().out
    assert main(['replay', str(params), str(bag), str(again), '--model', str(model)]) == 0


def test_plot_lists_and_draws(folder, log, capsys):
    assert main(['plot', str(log), '--list', '--map', MAP]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert '/rotors/state: 250 sensor_msgs/msg/JointState' in lines
    assert 'not read: cpuload' in lines
    pytest.importorskip('matplotlib')
    picture = folder / 'plot.png'
    assert main(['plot', str(log), '--map', MAP, '--output', str(picture)]) == 0
    assert picture.stat().st_size > 10_000


def test_view_shows_the_flight(folder, log, capsys):
    pytest.importorskip('plotly')
    model, _ = robot(folder)
    page = folder / 'page.html'
    assert main(['view', str(log), '--map', MAP, '--model', str(model), '--html', str(page)]) == 0
    assert page.stat().st_size > 1_000_000


def test_apogee_takes_the_odometry(log, capsys):
    assert main(['apogee', str(log)]) == 0
    printed = capsys.readouterr()
    assert set(json.loads(printed.out)) >= {'apogee_time', 'apogee_altitude'}


@pytest.mark.parametrize(('words', 'text'), [
    pytest.param(['plot', 'a.csv', '--map', 'motor_1=a/b'], '--map: is for logs of PX4 (.ulg)',
                 id='table'),
    pytest.param(['plot', 'a.mcap', '--map', 'imu=/imu'], '--map: is for logs of PX4 (.ulg)',
                 id='bag'),
    pytest.param(['plot', 'a.ulg', '--map', 'motor=a/b'], '--map: expected motor_<n>', id='map'),
    pytest.param(['plot', 'a.ulg', '--list'], 'a.ulg: cannot be read: No such file', id='absent'),
    pytest.param(['apogee', 'a.ulg'], 'a.ulg: cannot be read: No such file', id='apogee'),
])
def test_what_is_wrong_is_one_line(words, text, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert text in line
