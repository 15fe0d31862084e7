# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from propulsion_ros.loops.actuator_loop import (
    CLOCK,
    COMMAND,
    CURRENT,
    ODOMETRY,
    ActuatorLoop,
    LoopParams,
)
from propulsion_ros.loops.command_hold import CommandUpdate
from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.models.fins.fins import Fins, FinsParams
from propulsion_ros.models.fins.lift_drag import QuadraticParams
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
from propulsion_ros.models.supply.tanks import TanksParams
from propulsion_ros.models.thrusters.thrusters import Thrusters, ThrustersParams
from propulsion_ros.settings.errors import ConfigError

MS = 1_000_000
STILL = Motion(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), np.zeros(3), np.zeros(3))


def make_loop(reports, family=None, **params):
    family = family or Boosters(BoostersParams(
        names=['b'], max_thrust=1000.0, max_fuel_rate=2.0, time_constant=0.05, tank='t',
        tanks=TanksParams(names=['t'], capacity=5.0),
    ))
    return ActuatorLoop(family, LoopParams(**params), reports.append)


def thrust(value):
    return CommandUpdate(np.array([0]), np.array([float(value)]))


def test_impulse_is_conserved_when_publishing_slower_than_stepping():
    fine, coarse = [], []
    for reports, rate in ((fine, 0.0), (coarse, 20.0)):
        loop = make_loop(reports, step_on='stamp', publish_rate=rate, command_timeout=0.0)
        loop.inputs.push(COMMAND, 0, thrust(0))
        loop.inputs.push(COMMAND, 10 * MS, thrust(800))
        for ms in range(20, 1010, 10):
            loop.inputs.push(COMMAND, ms * MS, thrust(800))
    assert len(coarse) == 21
    impulse = sum(report.wrench[2] * 0.01 for report in fine)
    # The first report holds one step, each other one five.
    mean = sum(report.wrench[2] * 0.05 for report in coarse[1:])
    assert mean == pytest.approx(impulse, rel=1e-12)
    assert all(report.stamp_ns % (50 * MS) == 0 for report in coarse)


def test_state_is_the_value_at_its_stamp():
    reports = []
    loop = make_loop(reports, step_on='stamp', publish_rate=50.0)
    for ms in (0, 10, 20):
        loop.inputs.push(COMMAND, ms * MS, thrust(1000))
    assert reports[-1].output.applied[0] > reports[-1].wrench[2]


def test_clock_steps_without_commands_and_the_watchdog_counts_in_stamp_time():
    reports, stale = [], []
    loop = make_loop(reports, command_timeout=0.1)
    loop.inputs.push(COMMAND, 0, thrust(1000))
    assert not reports, 'on the clock a command alone runs nothing'
    for ms in range(0, 1010, 10):
        loop.inputs.push(CLOCK, ms * MS)
        stale.append(loop.hold.stale[0])
    assert stale.index(True) == 11
    assert reports[10].output.applied[0] > 500.0
    assert reports[-1].output.applied[0] < 1.0


def test_what_was_queued_before_it_was_disabled_never_fires():
    reports = []
    loop = make_loop(reports)
    loop.inputs.push(CLOCK, 0)
    loop.inputs.push(COMMAND, 100 * MS, thrust(1000))
    loop.enabled = False
    loop.enabled = True
    for ms in range(10, 300, 10):
        loop.inputs.push(CLOCK, ms * MS)
    assert max(report.output.applied[0] for report in reports) == 0.0


@pytest.mark.parametrize('make', [
    pytest.param(lambda **efficiency: Boosters(BoostersParams(
        names=['a', 'b'], max_thrust=1000.0, max_fuel_rate=2.0, **efficiency,
    )), id='boosters'),
    pytest.param(lambda **efficiency: Rotors(RotorsParams(
        names=['a', 'b'], max_thrust=1000.0, motor_constant=1e-3, moment_constant=0.1,
        time_constant_up=0.05, **efficiency,
    )), id='rotors'),
    pytest.param(lambda **efficiency: Thrusters(ThrustersParams(
        names=['a', 'b'], rotor_constant=1e-4, moment_constant=0.1, command_interface='effort',
        **{f'thrust_{key}': value for key, value in efficiency.items()},
    )), id='thrusters'),
])
def test_actuator_of_efficiency_0_pushes_like_one_that_is_switched_off(make):
    off, degraded = [], []
    for loop in (
        make_loop(off, make(), step_on='stamp', switched_off=['a']),
        make_loop(degraded, make(efficiency=[0.0, 1.0]), step_on='stamp'),
    ):
        for ms in range(0, 50, 10):
            update = CommandUpdate(np.arange(2), np.array([400.0, 800.0]))
            loop.inputs.push(COMMAND, ms * MS, update)
    assert np.abs(off[-1].wrench).max() > 100.0
    for one, other in zip(off, degraded, strict=True):
        np.testing.assert_array_equal(one.wrench, other.wrench)


def test_settings_that_are_wrong_only_together_stop_the_start():
    with pytest.raises(ConfigError, match='30 Hz does not divide 100 Hz'):
        make_loop([], publish_rate=30.0)
    family = Boosters(BoostersParams(
        names=['b'], max_thrust=1.0, max_fuel_rate=1.0, time_constant=0.001, integrator='euler'
    ))
    with pytest.raises(ConfigError, match=r'euler diverges for a step of 0\.01 s'):
        make_loop([], family)


def make_fin():
    """Return a fin whose chord is x and whose span is z."""
    return Fins(FinsParams(
        names=['f'], chord=[1, 0, 0], span=[0, 0, 1],
        quadratic=QuadraticParams(fin=['f'], lift_constant=[2.0], drag_constant=[0.5]),
    ))


def test_fin_feels_the_flow_and_the_current():
    reports = []
    loop = make_loop(reports, make_fin(), step_on='stamp', wait_for=[COMMAND])
    assert loop.lacks_motion
    # Heading north: the body's x axis is the world's y axis.
    north = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])
    ahead = Motion(np.zeros(3), north, np.array([3.0, 0.0, 0.0]), np.zeros(3))
    loop.inputs.push(ODOMETRY, 0, ahead)
    loop.inputs.push(COMMAND, 0, CommandUpdate(np.array([0]), np.array([0.1])))
    assert not loop.lacks_motion
    swimming = reports[-1].wrench.copy()
    assert swimming[1] != 0.0
    # A current that goes along leaves no flow.
    loop.inputs.push(CURRENT, 10 * MS, np.array([0.0, 3.0, 0.0]))
    loop.inputs.push(COMMAND, 10 * MS, CommandUpdate(np.array([0]), np.array([0.1])))
    np.testing.assert_allclose(reports[-1].wrench, 0.0, atol=1e-12)
    # Half of it leaves a quarter of the force.
    loop.inputs.push(CURRENT, 20 * MS, np.array([0.0, 1.5, 0.0]))
    loop.inputs.push(COMMAND, 20 * MS, CommandUpdate(np.array([0]), np.array([0.1])))
    np.testing.assert_allclose(reports[-1].wrench, swimming / 4.0, rtol=1e-12)


def test_older_command_that_comes_late_does_not_win_over_a_newer_one():
    reports = []
    loop = make_loop(reports, step_on='stamp', command_timeout=0.0)
    for ms, value in ((10, 800), (90, 0), (100, 0)):
        loop.inputs.push(COMMAND, ms * MS, thrust(value))
    assert not loop.family.ignition.any()
    loop.inputs.push(COMMAND, 50 * MS, thrust(1000))
    loop.inputs.push(COMMAND, 200 * MS, thrust(0))
    assert not any(report.output.flags['saturated'].any() for report in reports[-9:])
    assert loop.inputs.counts['late'] == 1
    assert reports[-1].wrench[2] < reports[8].wrench[2]


def test_disabled_actuators_are_at_rest_at_once_and_keep_their_propellant():
    reports = []
    loop = make_loop(reports, step_on='stamp')
    for ms in range(0, 200, 10):
        loop.inputs.push(COMMAND, ms * MS, thrust(1000))
    left = reports[-1].output.tanks.mass[0]
    loop.enabled = False
    loop.inputs.push(COMMAND, 200 * MS, thrust(1000))
    assert reports[-1].wrench[2] == 0.0
    assert reports[-1].output.tanks.mass[0] == left < 5.0


def test_stray_from_before_a_disabling_does_not_come_back():
    reports = []
    loop = make_loop(reports, step_on='stamp')
    loop.inputs.push(COMMAND, 10 * MS, thrust(0))
    loop.inputs.push(COMMAND, 60_000 * MS, thrust(1000))
    loop.enabled = False
    loop.enabled = True
    loop.inputs.push(COMMAND, 60_010 * MS, thrust(0))
    loop.inputs.push(COMMAND, 60_020 * MS, thrust(0))
    assert all(report.wrench[2] == 0.0 for report in reports)


def test_wrenches_of_links_are_means_too():
    reports = []
    family = Boosters(BoostersParams(
        names=['b'], max_thrust=1000.0, max_fuel_rate=2.0, time_constant=0.05,
    ))
    params = LoopParams(step_on='stamp', publish_rate=20.0)
    loop = ActuatorLoop(family, params, reports.append, with_links=True)
    for ms in range(0, 310, 10):
        loop.inputs.push(COMMAND, ms * MS, thrust(1000))
    assert len(reports) == 7
    for report in reports:
        np.testing.assert_allclose(report.links[0], report.wrench, rtol=1e-12)


@pytest.mark.parametrize('params', [
    {}, {'update_rate': 30.0}, {'update_rate': 700.0, 'command_timeout': 0.015},
    {'switched_off': ['b'], 'command_timeout': 0.0},
])
def test_a_run_of_commands_is_what_they_are_one_by_one(params):
    """It may begin and end anywhere, and what follows of it is the same too."""
    rng = np.random.default_rng(7)
    stamps = np.cumsum(rng.integers(1, 20 * MS, 200))
    values = rng.uniform(0.0, 1000.0, (200, 1))
    reports, expected = [], []
    loop = make_loop(reports, step_on='stamp', **params)
    single = make_loop(expected, step_on='stamp', **params)
    wrenches = []
    begin = taken = 0
    while begin < len(stamps):
        loop.inputs.push(COMMAND, int(stamps[begin]), thrust(values[begin, 0]))
        wrenches += [(report.stamp_ns, report.wrench.tobytes()) for report in reports]
        reports.clear()
        end = begin + int(rng.integers(1, 40))
        run = loop.run(stamps[begin:end], values[begin:end])
        if run:
            rows = map(np.ndarray.tobytes, run.steps.wrench)
            wrenches += zip(run.stamps.tolist(), rows, strict=True)
            begin, taken = begin + run.count, taken + run.count
        begin += 1
    for stamp_ns, (value,) in zip(stamps.tolist(), values.tolist(), strict=True):
        single.inputs.push(COMMAND, stamp_ns, thrust(value))
    assert wrenches == [(report.stamp_ns, report.wrench.tobytes()) for report in expected]
    assert taken > 50
    assert loop.output.tanks.mass.tobytes() == single.output.tanks.mass.tobytes()
    assert (loop.hold.stale == single.hold.stale).all()
    assert loop.hold.next_stale_ns() == single.hold.next_stale_ns()
    for name in ('waiting', 'newest_ns', 'last_stamp_ns', 'counts'):
        assert getattr(loop.inputs, name) == getattr(single.inputs, name)


@pytest.mark.parametrize(('before', 'reason'), [
    (lambda loop: None, 'the first command was not pushed'),
    (lambda loop: loop.inputs.push(ODOMETRY, 5 * MS, STILL), 'something is newer'),
    (lambda loop: loop.inputs.push(COMMAND, 60_000 * MS, thrust(1)), 'a stray may be confirmed'),
    (lambda loop: setattr(loop, 'enabled', False), 'no command is followed'),
])
def test_a_run_is_refused_unless_nothing_else_happens(before, reason):
    stamps = np.arange(0, 300, 10) * MS
    loop = make_loop([], step_on='stamp')
    if reason != 'the first command was not pushed':
        loop.inputs.push(COMMAND, 0, thrust(0))
    before(loop)
    assert loop.run(stamps, np.ones((30, 1))) is None
    fits = make_loop([], step_on='stamp')
    fits.inputs.push(COMMAND, 0, thrust(0))
    for wrong in (stamps[::-1], stamps + 5 * MS, stamps * 2000, stamps[:2], stamps * 0):
        assert fits.run(wrong, np.ones((len(wrong), 1))) is None
    assert fits.run(stamps, np.ones((30, 1))).count == 28
