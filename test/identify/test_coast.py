# SPDX-License-Identifier: Apache-2.0
"""The drag area of rockets from the coast of their flights."""
from __future__ import annotations

import re

import numpy as np
import pytest

from parts import few_of
from propulsion_ros.identify.robot import read_robot
from propulsion_ros.identify.session import Request, Session
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams, RigidBody
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.tools.identify import _table

MASS = '<inertial><mass value="{}"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'


def fitted(*args, **kwargs):
    return result_of(*args, **kwargs).report


def result_of(tmp_path, log, mass, site=0.0, output=None):
    model, params = tmp_path / 'rocket.urdf', tmp_path / 'rocket.yaml'
    inertial = f'{MASS.format(mass)}</inertial>' if mass else ''
    model.write_text(f'<robot name="r"><link name="base_link">{inertial}</link></robot>')
    # A pad with a rail that leans has no part in the coast.
    params.write_text(
        f'/**/vehicle:\n  ros__parameters:\n    body.site_altitude: {float(site)}\n'
        '    body.rail_length: 5.0\n    body.start_rpy: [0.0, 0.1, 0.0]\n'
    )
    fit = ['body.drag_area']
    session = Session(read_robot(model, [params], fit), Request(log, fit, 'odometry'))
    result = session.run()
    if output is not None:
        session.write(output, result)
    return result


@pytest.fixture
def coast(tmp_path):
    """Return the log of a body with a drag area of 0.01 m^2 and 20 kg, thrown up at 2 s."""
    params = BodyParams(drag_area=[0.0, 0.0, 0.01], ground=False, start_velocity=[0, 0, 150.0])
    body, mass = RigidBody(params), MassProperties(20.0, np.zeros(3), np.eye(3))
    rng, rows = np.random.default_rng(2), []
    for k in range(40):
        rows.append((k * 0.05, 0.0, 75.0 * k * 0.05))
    for k in range(400):
        rows.append((2.0 + k * 0.05, body.motion.position[2], body.velocity[2]))
        body.step(np.zeros(6), mass, mass, 0.05)
    path = tmp_path / 'log.csv'
    path.write_text('time_s,altitude_m,vz_mps\n' + ''.join(
        f'{t:.3f},{h + rng.normal(0.0, 0.3):.3f},{v + rng.normal(0.0, 0.2):.3f}\n'
        for t, h, v in rows
    ))
    return path


def test_a_known_drag_area_is_found(coast, tmp_path):
    report = fitted(tmp_path, coast, 20.0, output=tmp_path / 'fitted.yaml')
    estimate = report['estimates']['body.drag_area']
    assert estimate['value'] == pytest.approx(0.01, abs=3 * estimate['sd'])
    assert estimate['sd'] < 5e-4
    assert report['rms'] == pytest.approx(0.2, rel=0.1)
    assert not any('falls' in line for line in report['warnings'])
    text = (tmp_path / 'fitted.yaml').read_text()
    assert 'body.drag_area: [0.0, 0.0, 0.0' in text
    assert 'belongs into the robot description' not in text


@pytest.mark.parametrize(('share', 'verdict'), [(0.1, 'known'), (1.05, 'weakly known')])
def test_parts_that_contradict_each_other_know_it_weakly(coast, tmp_path, share, verdict):
    result = result_of(tmp_path, coast, 20.0)
    estimate = result.report['estimates']['body.drag_area']
    estimate['sd_of_parts'] = share * estimate['value']
    line = next(line for line in _table(result) if line.startswith('body.drag_area'))
    assert re.split(r'\s{2,}', line)[-1] == verdict


def test_a_log_in_feet_is_doubted(coast, tmp_path):
    rows = [row.split(',') for row in coast.read_text().split()]
    text = '\n'.join(f'{t},{float(h) / 0.3048},{float(v) / 0.3048}' for t, h, v in rows[1:])
    coast.write_text(f'{",".join(rows[0])}\n{text}\n')
    warnings = fitted(tmp_path, coast, 20.0)['warnings']
    assert any(re.match(r'it falls with 3[123]\.\d m/s\^2, a free', each) for each in warnings)


@pytest.mark.slow
def test_without_a_mass_only_their_ratio_is_known(coast, tmp_path):
    report = fitted(tmp_path, coast, 0.0)
    assert 'body.drag_area' not in report['estimates']
    estimate = report['estimates']['body.drag_area/mass']
    assert estimate['value'] == pytest.approx(0.01 / 20.0, abs=3 * estimate['sd'])
    assert estimate['unit'] == 'm^2/kg'
    assert any('only the drag area over the mass is known' in each for each in report['warnings'])


@pytest.mark.parametrize(('log', 'mass', 'site', 'largest'), few_of([
    ('bella_lui_2020', 18.227, 407.0, 1.0), ('ndrt_2020', 20.846, 206.0, 3.0),
], 2))
def test_real_flights_are_reproduced(log, mass, site, largest, flights, tmp_path):
    """Masses without propellant are those of RocketPy's notebooks (MIT licence)."""
    report = fitted(tmp_path, flights / 'real' / f'{log}.csv', mass, site)
    assert report['rms'] <= largest
    assert 0.005 < report['estimates']['body.drag_area']['value'] < 0.02


def test_a_log_without_a_coast_is_refused(tmp_path):
    path = tmp_path / 'log.csv'
    path.write_text('time_s,vz_mps\n' + ''.join(f'{k * 0.1},{k * 2.0}\n' for k in range(50)))
    with pytest.raises(ConfigError, match='no coast'):
        fitted(tmp_path, path, 1.0)
    path.write_text('time_s,altitude_m\n' + ''.join(
        f'{k * 0.1},{991.77 + 0.01 * k * (k - 50)}\n' for k in range(50)
    ))
    with pytest.raises(ConfigError, match=r'no coast.* if it is a pressure in hPa, write 44330\.8'):
        fitted(tmp_path, path, 1.0)
