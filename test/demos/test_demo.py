# SPDX-License-Identifier: Apache-2.0
"""Figures of a step response against closed forms."""
from __future__ import annotations

import numpy as np
import pytest

from propulsion_ros.demos.demo import demo_of, step_response
from propulsion_ros.demos.pilot import Recording, target_at, wrapped
from propulsion_ros.demos.quadrotor import QuadrotorTarget
from propulsion_ros.drawing.figure import COMMAND
from propulsion_ros.graph.simulation import BODY
from propulsion_ros.pictures.panels import page_of
from propulsion_ros.pictures.signals import Channel, Signals
from propulsion_ros.view.page import plots_of

TIME = np.linspace(0.0, 20.0, 200001)


def rows_of(value, begin=0.0):
    return np.column_stack((begin + TIME, value))


@pytest.mark.parametrize(('start', 'target'), [(0.0, 1.0), (5.0, 3.0), (-1.0, 4.0)])
@pytest.mark.parametrize('time_constant', [0.3, 2.0])
def test_first_order_lag_settles_in_the_logarithm_of_the_band(start, target, time_constant):
    value = target + (start - target) * np.exp(-TIME / time_constant)
    response = step_response(rows_of(value, begin=7.0), start, target)
    assert response.size == target - start
    assert response.settling_time == pytest.approx(time_constant * np.log(50.0), abs=2e-4)
    assert response.overshoot == 0.0
    assert response.error == pytest.approx((start - target) * np.exp(-20.0 / time_constant))


@pytest.mark.parametrize('damping', [0.2, 0.5, 0.7])
def test_second_order_system_overshoots_by_the_closed_form(damping):
    frequency = 3.0
    damped = frequency * np.sqrt(1.0 - damping**2)
    wave = np.cos(damped * TIME) + damping * frequency / damped * np.sin(damped * TIME)
    value = 1.0 - np.exp(-damping * frequency * TIME) * wave
    expected = np.exp(-np.pi * damping / np.sqrt(1.0 - damping**2))
    assert step_response(rows_of(value), 0.0, 1.0).overshoot == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize('value', [
    pytest.param(0.0 * TIME, id='stays'), pytest.param(TIME, id='runs away'),
])
def test_what_does_not_settle_has_no_settling_time(value):
    assert np.isnan(step_response(rows_of(value), 0.0, 1.0).settling_time)


def test_step_that_was_not_flown_has_no_figures():
    response = step_response(np.empty((0, 2)), 0.0, 2.0)
    assert response.size == 2.0
    assert np.isnan([response.settling_time, response.overshoot, response.error]).all()


@pytest.mark.parametrize(('time', 'index'), [(0.0, 0), (0.99, 0), (1.0, 1), (3 * 0.7, 2), (9, 2)])
def test_target_is_the_last_one_that_has_begun(time, index):
    plan = {name: QuadrotorTarget(begin, (0.0, 0.0, begin))
            for name, begin in (('one', 0.0), ('two', 1.0), ('three', 2.1))}
    assert target_at(plan, time) == list(plan.items())[index]


@pytest.mark.parametrize(('angle', 'expected'), [
    (0.0, 0.0), (3.0, 3.0), (4.0, 4.0 - 2 * np.pi), (-4.0, 2 * np.pi - 4.0), (7.0, 7 - 2 * np.pi),
])
def test_angles_are_wrapped(angle, expected):
    assert wrapped(angle) == pytest.approx(expected)


def test_targets_are_drawn_beside_the_motion_as_dashes():
    recording, signals = Recording(), Signals('flight')
    for time in (0.0, 1.0):
        recording.add('target', time, -2.0, np.pi / 2.0, 0.8)
        signals.add(Channel(BODY, 'place', 'z'), time, -2.0 * time)
    demo_of('rov').add_targets(signals, recording)
    assert list(signals.rows[Channel(BODY, 'place', 'z', COMMAND)]) == [(0.0, -2.0), (1.0, -2.0)]
    assert signals.rows[Channel(BODY, 'attitude', 'yaw', COMMAND)][0] == (0.0, 90.0)
    plot = plots_of(page_of(signals))[0][0]
    assert [line['command'] for line in plot['lines']] == ['', 'target']
