# SPDX-License-Identifier: Apache-2.0
"""Motors on a stand: their curve from a load cell or the pressure in the chamber, and tanks."""
from __future__ import annotations

import numpy as np
import pytest

from parts import few_of
from propulsion_ros import load
from propulsion_ros.identify.robot import read_robot
from propulsion_ros.identify.session import Request, Session
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.settings.errors import ConfigError

MOTOR = """<robot name="stand"><link name="base_link"/>
  <gazebo><plugin filename="propulsion_ros" name="boosters">
    <booster name="motor"><link>base_link</link>
      <thrust_curve>0 0 0.1 1200 1.0 1200 2.0 1200 2.2 0</thrust_curve>
      <max_thrust>1200</max_thrust><max_fuel_rate>0.6</max_fuel_rate>
    </booster>
  </plugin></gazebo></robot>"""
JETS = """<robot name="stand"><link name="base_link"/>
  <gazebo><plugin filename="propulsion_ros" name="jets">
    <tank name="main"><link>base_link</link><capacity>0.5</capacity><propellant>gas</propellant>
      <pressure>2e7</pressure></tank>
    <jet name="jet"><link>base_link</link><max_thrust>10</max_thrust>
      <specific_impulse>50</specific_impulse><tank>main</tank></jet>
  </plugin></gazebo></robot>"""
COLUMNS = """/**/identify:
  ros__parameters:
    columns.igniter: motor
"""
GUESS = '/**/jets: {ros__parameters: {specific_impulse: 40.0}}\n'
PLACES, HEIGHTS = [0.0, 0.1, 1.0, 2.0, 2.2], [0.0, 1500.0, 1400.0, 900.0, 0.0]
AREA, DT = 3e-4, 0.004
FIT = ['boosters.thrust_curve']


@pytest.fixture(scope='module')
def stand(tmp_path_factory):
    """Return a folder with a burn at 2 s, as a load cell and a pressure sensor measure it."""
    folder, rng = tmp_path_factory.mktemp('stand'), np.random.default_rng(1)
    time = np.arange(0.0, 5.0, DT)
    thrust = np.interp(time - 2.0, PLACES, HEIGHTS, left=0.0, right=0.0)
    cell = thrust + rng.normal(0.0, 10.0, len(time))
    pressure = thrust / AREA + rng.normal(0.0, 3e4, len(time))
    rows = ['stamp,igniter,cell,chamber', *(
        f'{t:.3f},{100.0 * (t >= 2.0):g},{f:.2f},{p:.0f}'
        for t, f, p in zip(time, cell, pressure, strict=True)
    )]
    (folder / 'burn.csv').write_text('\n'.join(rows) + '\n')
    (folder / 'motor.urdf').write_text(MOTOR)
    return folder


def session(folder, columns, measured, log='burn.csv', model='motor.urdf', fit=FIT):
    params = folder / 'stand.yaml'
    params.write_text(columns)
    return Session(
        read_robot(folder / model, [params], fit), Request(folder / log, fit, measured)
    )


@pytest.mark.parametrize(('measured', 'column'), few_of([
    ('state', f'chamber: pressure.motor\n    thrust_area: {AREA}'),
    ('wrench', 'cell: wrench.force.z'),
], 2))
def test_the_curve_of_a_motor_is_found(measured, column, stand, tmp_path):
    run = session(stand, f'{COLUMNS}    columns.{column}\n', measured)
    result = run.run()
    estimates = result.report['estimates'].values()
    assert result.report['unit'] == 'N'
    for each, truth in zip(estimates, HEIGHTS, strict=True):
        assert each['value'] == pytest.approx(truth, abs=4 * each['sd'])
        assert each['sd'] < 20.0
    assert result.report['cross_validation_rms'] is None
    # The largest thrust follows the curve, and the specific impulse stays.
    run.write(tmp_path / 'fitted.yaml', result)
    values = read_robot(stand / 'motor.urdf', [tmp_path / 'fitted.yaml'], FIT).values
    assert values['max_thrust'] == pytest.approx([1500.0], rel=0.02)
    assert values['max_fuel_rate'] == pytest.approx(0.6 / 1200.0 * values['max_thrust'])


@pytest.mark.parametrize(('columns', 'problem'), [
    ('    columns.chamber: pressure.motor\n', 'expected identify: thrust_area'),
    ('    columns.chamber: pressure.engine\n    thrust_area: 1.0\n',
     'pressure.engine: no model of this group has this pressure; found: pressure.motor'),
    ('    columns.chamber: wrench.force.z\n    columns.cell: wrench.force.z\n',
     'cell, chamber: expected one column of wrench.force.z'),
])
def test_a_pressure_that_no_model_has_is_refused(columns, problem, stand):
    with pytest.raises(ConfigError, match=problem):
        session(stand, COLUMNS + columns, 'wrench').run()


@pytest.mark.slow
def test_a_tank_shows_the_specific_impulse(stand):
    (stand / 'jets.urdf').write_text(JETS)
    jets, rng = load(stand / 'jets.urdf')['jets'], np.random.default_rng(2)
    rows, column = ['stamp,jet.effort,pressure.main'], jets.state_names.index('main/pressure')
    for k in range(200):
        command = 10.0 * (k // 40 % 2)
        pressure = jets.step(
            Command(effort=np.array([command])), BodyState(), 0.05, k
        ).position[column]
        rows.append(f'{k * 0.05:.3f},{command},')
        rows.append(f'{(k + 1) * 0.05 - 1e-3:.3f},,{pressure + rng.normal(0.0, 2e4):.0f}')
    (stand / 'tank.csv').write_text('\n'.join(rows) + '\n')
    fit = ['jets.specific_impulse']
    report = session(stand, GUESS, 'state', 'tank.csv', 'jets.urdf', fit).run().report
    assert report['unit'] == 'Pa'
    found = report['estimates'][fit[0]]
    assert found['value'] == pytest.approx(50.0, abs=4 * found['sd'])
    assert found['sd'] < 1.0
