# SPDX-License-Identifier: Apache-2.0
"""Flights through a fluid: what it does to the body is none of its actuators."""
from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from propulsion_ros import load
from propulsion_ros.identify.reading import FLOW, Names, read_recording
from propulsion_ros.loops.payloads import ImuRow, JointRow, Kind, OdometryRow
from propulsion_ros.loops.ports import Outlet
from propulsion_ros.models.body.bodies import fluid_wrench
from propulsion_ros.models.body.hulls import HullsParams
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams, RigidBody
from propulsion_ros.models.common.rotation import matrix_of, quaternion_of_rpy
from propulsion_ros.replay.bags import BagWriter, Recorded
from propulsion_ros.replay.plain import Wire, plain_message
from propulsion_ros.tools import cli

DT, MASS = 0.02, 24.0
CURRENT = np.array([0.3, -0.2, 0.1])
WATER = {
    'fluid_density': 1028.0, 'displaced_volume': 0.0235, 'drag_area': [0.03, 0.12, 0.12],
    'angular_drag': 0.05, 'angular_damping': 2.0,
}
BODY = MassProperties(MASS, np.array([0.0, 0.0, -0.04]), np.diag([0.6, 1.6, 1.8]))
AUV = Path(__file__).resolve().parents[2] / 'examples' / 'auv'
HULLS = HullsParams(names=['a'], size=[2.0, 0.5, 0.5])


@pytest.mark.parametrize('fluid', [
    WATER, {'drag_area': [0.1, 0.2, 0.3]}, {**WATER, 'hulls': HULLS, 'displaced_volume': 0.0},
], ids=['water', 'air', 'afloat'])
def test_wrench_of_the_fluid_is_that_of_the_simulated_body(fluid):
    rng = np.random.default_rng(3)
    params = BodyParams(ground=False, current=CURRENT, **fluid)
    quaternion = np.array([quaternion_of_rpy(each) for each in rng.normal(0.0, 1.0, (5, 3))])
    velocity, rate, height = (rng.normal(0.0, 1.0, size) for size in ((5, 3), (5, 3), 5))
    wrench = fluid_wrench(params, BODY, height, quaternion, velocity, rate)
    body = RigidBody(params)
    for i, each in enumerate(quaternion):
        turned = matrix_of(each)
        at_mass = turned @ (velocity[i] + np.cross(rate[i], BODY.com)) + CURRENT
        rho, _ = body._medium(height[i])
        lifted = height[i] + (turned @ BODY.com)[2]
        own = body._fluid(rho, turned, at_mass, tuple(rate[i]), BODY.com, None, lifted)
        np.testing.assert_allclose(wrench[i], np.concatenate(own), rtol=1e-9, atol=1e-9)


@pytest.fixture(scope='module')
def dive(tmp_path_factory):
    """A bag of the AUV in a current, its commands in steps."""
    folder = tmp_path_factory.mktemp('dive')
    rng, wire = np.random.default_rng(1), Wire()
    thrusters = load(AUV / 'auv.urdf')['thrusters']
    body = RigidBody(BodyParams(ground=False, current=CURRENT, **WATER))
    names = list(thrusters.actuator_names)

    with BagWriter(folder / 'dive') as bag:
        def write(topic, kind, time, payload):
            stamp_ns = round(time * 1e9)
            outlet = Outlet(topic, kind, 'command')
            message = plain_message(outlet, stamp_ns, payload)
            bag.write(Recorded(topic, kind, stamp_ns, wire.serialise(message, kind)))

        for k in range(1000):
            if k % 25 == 0:
                speeds = rng.uniform(-250.0, 250.0, len(names))
            time, motion = DT * k, body.motion
            write('/thrusters/command', Kind.JOINTS, time,
                  JointRow(names=names, velocity=speeds))
            write('/vehicle/current', Kind.TWIST, time, CURRENT)
            write('/vehicle/odometry', Kind.ODOMETRY, time, OdometryRow(
                'base_link', motion.position.tolist(), motion.quaternion.tolist(),
                motion.velocity.tolist(), motion.angular_velocity.tolist(),
            ))
            output = thrusters.step(speeds, dt=DT)
            body.step(output.wrench, BODY, BODY, DT)
            write('/vehicle/imu', Kind.IMU, time + 0.5 * DT, ImuRow(
                body.specific_force.tolist(), body.motion.angular_velocity.tolist(),
            ))
    lines = ''.join(f'    body.{key}: {value}\n' for key, value in WATER.items()
                    if not key.startswith('angular'))
    (folder / 'auv.yaml').write_text(f'/**/vehicle:\n  ros__parameters:\n{lines}')
    return folder


def test_velocities_of_a_bag_are_those_through_its_current(dive):
    recording = read_recording(dive / 'dive', Names({}, ()))
    first = [recording.measured[name].value[0] for name in FLOW[:3]]
    np.testing.assert_allclose(first, -CURRENT, atol=1e-12)
    assert not any(name.startswith('current') for name in recording.measured)


def identified(dive, capsys, *more, name='dive', fit='thrusters.time_constant'):
    assert cli.main([
        'identify', str(dive / name), '--model', str(AUV / 'auv.urdf'), *more,
        '--fit', fit, '--from', '1',
    ]) == 0
    return json.loads(capsys.readouterr().out)


def test_drag_and_buoyancy_are_no_thrust(dive, capsys):
    report = identified(dive, capsys, '--params-file', str(dive / 'auv.yaml'))
    assert report['estimates']['thrusters.time_constant']['value'] == pytest.approx(0.15, rel=0.03)
    assert report['rms'] < 0.1 * identified(dive, capsys)['rms']


def test_what_turns_against_the_fluid_is_no_moment_of_inertia(dive, tmp_path, capsys):
    (tmp_path / 'auv.yaml').write_text((dive / 'auv.yaml').read_text() + ''.join(
        f'    body.{key}: [{WATER[key]}, {WATER[key]}, {WATER[key]}]\n'
        for key in ('angular_drag', 'angular_damping')
    ))
    found = identified(dive, capsys, '--params-file', str(tmp_path / 'auv.yaml'),
                       fit='thrusters.time_constant,body.izz')['estimates']['body.izz']
    assert found['value'] == pytest.approx(BODY.inertia[2, 2], rel=0.03)


@pytest.fixture
def table(dive, tmp_path):
    """The dive as a logger writes it: a row for each message, empty where it has no number."""
    names = load(AUV / 'auv.urdf')['thrusters'].actuator_names
    recording = read_recording(dive / 'dive', Names(dict.fromkeys(names, 'velocity')))
    columns = {**recording.commands, **{
        name: each for name, each in recording.measured.items()
        if name.startswith(('accel', 'gyro', 'attitude', 'altitude', 'body.velocity'))
    }}
    rows = {}
    for i, each in enumerate(columns.values()):
        for time, value in zip(each.time.round(6), each.value, strict=True):
            rows.setdefault(time, [''] * len(columns))[i] = f'{value:.9g}'
    lines = [','.join([f'{time:.3f}', *cells]) for time, cells in sorted(rows.items())]
    (tmp_path / 'dive.csv').write_text('\n'.join([','.join(['stamp', *columns]), *lines]))
    return tmp_path / 'dive.csv'


def test_a_table_with_attitude_and_velocity_is_as_a_bag(dive, table, capsys):
    more = ('--params-file', str(dive / 'auv.yaml'))
    bag = identified(dive, capsys, *more)
    for column in ('none', 'altitude_m'):
        table.write_text(table.read_text().replace(column, 'depth'))
        found = identified(table.parent, capsys, *more, name='dive.csv')
        assert found['rms'] == pytest.approx(bag['rms'], rel=0.05)


def test_buoyancy_that_a_table_does_not_show_is_named(dive, table, capsys):
    table.write_text(table.read_text().replace('attitude.w', 'yaw'))
    assert cli.main([
        'identify', str(table), '--model', str(AUV / 'auv.urdf'), '--params-file',
        str(dive / 'auv.yaml'), '--fit', 'thrusters.time_constant',
    ]) == 1
    assert (
        'buoyancy and drag of the body (body.* of vehicle) are in the specific force, and without '
        'attitude.w they are not known; name these columns, or give a bag with odometry'
    ) in capsys.readouterr().err
