# SPDX-License-Identifier: Apache-2.0
"""An estimator with its topics, on a host without ROS."""
import math

import numpy as np
import pytest

from fake_host import MS, FakeHost, joints, message, wrench_message, xyz
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.loops.actuator_ports import ActuatorPorts
from propulsion_ros.loops.estimate_loop import COVARIANCE_NAMES, EstimateParams, EstimatePorts
from propulsion_ros.loops.ports import OK, WARN
from propulsion_ros.models.fam.fam import Fam, FamParams
from propulsion_ros.models.fam.inverse_fam import InverseFam, InverseFamParams

NAN = math.nan


class Estimates:
    """An estimator of commands that a test delivers."""

    def __init__(self, lossless=True, is_simulated=False, **values):
        self.host = FakeHost()
        self.host.is_simulated = is_simulated
        inverse = InverseFam(InverseFamParams(**values))
        self.loop = EstimatePorts(
            inverse, EstimateParams(), 'base_link', self.host, lossless=lossless
        )
        self.host.run(self.loop)
        self.names = list(inverse.command_names)

    def command(self, ms, angle=0.5, speed=200.0):
        n = len(self.names) - 2
        angles, speeds = [angle] * n + [NAN] * 2, [NAN] * n + [speed] * 2
        self.host.deliver('~/command', joints(ms * MS, self.names, angles, speeds))

    def health(self):
        (_, level, text, _), = self.loop.health()
        return level, text


def test_the_table():
    estimates = Estimates()
    assert [port.topic for port in estimates.loop.ports] == [
        '~/command', '~/wrench_command', '~/measured', '~/inertia',
    ]
    assert [outlet.topic for outlet in estimates.loop.outlets] == [
        '~/wrench', '~/state', '~/residual', '~/covariance', '~/requests',
    ]
    assert estimates.loop.outlets[3].names == COVARIANCE_NAMES
    assert [request.topic for request in estimates.loop.requests] == ['~/reset']
    assert [timer.period for timer in estimates.loop.timers] == [0.02]
    simulated = Estimates(is_simulated=True)
    assert simulated.loop.ports[-1].topic == '/clock'
    assert not simulated.loop.timers


def test_each_command_is_estimated_at_its_stamp():
    estimates = Estimates()
    estimates.command(10)
    (stamp_ns, wrench), = estimates.host.of('~/wrench')
    assert stamp_ns == 10 * MS
    (_, state), = estimates.host.of('~/state')
    n = len(estimates.names) - 2
    assert (state.effort[:n] > 0.0).all()
    assert np.isnan(state.effort[n:]).all()
    assert state.velocity[n:].tolist() == [200.0, 200.0]
    assert not estimates.host.of('~/residual')
    assert not estimates.host.of('~/covariance')
    estimates.host.deliver('~/wrench_command', wrench_message(20 * MS, np.ones(6)))
    estimates.command(20)
    (_, residual), = estimates.host.of('~/residual')
    np.testing.assert_allclose(residual, 1.0 - wrench)
    assert estimates.health() == (OK, 'ok')


def test_what_fam_sends_is_the_wrench_that_was_demanded():
    wanted = np.array([0.1, 0.02, -0.05, 0.004, 0.002, -0.003])
    fam, estimates = FakeHost(), Estimates()
    fam.run(ActuatorPorts(
        Fam(FamParams()), LoopParams(step_on='stamp', update_rate=62.5), 'base_link', fam
    ))
    for host in (fam, estimates.host):
        host.deliver('~/wrench_command', wrench_message(160 * MS, wanted))
    ((stamp_ns, row),) = fam.of('~/state')
    names = fam.loop.outlets[1].names
    estimates.host.deliver('~/command', joints(stamp_ns, names, row.position, row.velocity))
    ((applied_ns, wrench),) = estimates.host.of('~/wrench')
    assert applied_ns == 160 * MS
    np.testing.assert_allclose(wrench[:3], wanted[:3], atol=3e-3)
    ((_, residual),) = estimates.host.of('~/residual')
    np.testing.assert_allclose(residual + wrench, wanted, atol=1e-12)


def test_measured_speeds_are_of_impellers():
    estimates = Estimates(speed_source='measured')
    estimates.host.deliver('~/measured', joints(10 * MS, estimates.names[:1], position=[0.1]))
    assert estimates.host.said('warn') == [
        'speed refused: expected impellers only, got a nozzle'
    ]
    estimates.host.deliver('~/measured', joints(
        10 * MS, estimates.names[-2:], velocity=[100.0, 120.0]
    ))
    estimates.command(20)
    (_, state), = estimates.host.of('~/state')
    assert state.velocity[-2:].tolist() == [100.0, 120.0]


def test_without_a_clock_nothing_is_estimated_on_a_robot():
    estimates = Estimates(lossless=False)
    estimates.command(10)
    assert not estimates.host.of('~/wrench')
    assert estimates.health() == (WARN, 'inputs wait for a clock that has not come yet')
    estimates.host.now = 10 * MS
    estimates.host.wait(0.02)
    assert [stamp_ns for stamp_ns, _ in estimates.host.of('~/wrench')] == [10 * MS]


def test_a_silent_module_counts_as_without_thrust():
    estimates = Estimates(lossless=False)
    estimates.host.now = 10 * MS
    estimates.host.wait(0.02)
    estimates.command(10)
    estimates.host.now = 1000 * MS
    estimates.host.wait(0.02)
    assert not estimates.host.of('~/wrench')[-1][1].any()
    assert estimates.health() == (WARN, 'a module is silent and counts as without thrust')


def test_the_end_is_a_zero_wrench_and_a_jump_is_complained_of():
    estimates = Estimates(lossless=False)
    for now in (20_000 * MS, 1000 * MS):
        estimates.host.now = now
        estimates.host.wait(0.02)
    assert estimates.host.said('warn') == ['time jumped by -19.000 s, commands are forgotten']
    estimates.command(1000)
    estimates.loop.stop()
    stamp_ns, wrench = estimates.host.of('~/wrench')[-1]
    assert stamp_ns == 1000 * MS
    assert not wrench.any()


def test_reset_forgets_the_time():
    estimates = Estimates()
    estimates.command(10)
    assert estimates.loop.requests[0].serve(True) == (True, 'reset')
    assert estimates.loop.inputs.last_stamp_ns is None


def test_covariance_is_published_where_errors_are_known():
    estimates = Estimates(angle_std=0.01)
    estimates.command(10)
    (_, row), = estimates.host.of('~/covariance')
    covariance = np.reshape(row.effort, (6, 6))
    assert (np.linalg.eigvalsh(covariance) >= -1e-12).all()
    assert np.trace(covariance) > 0.0


@pytest.mark.parametrize('is_active', [True, False])
def test_centre_of_mass_moves_what_the_demand_is_about(is_active):
    estimates = Estimates()
    # Time has gone on since it was published, as it has for any latched message.
    estimates.host.now = 100_000 * MS
    estimates.host.wait(0.02)
    estimates.host.is_active = is_active
    estimates.host.deliver('~/inertia', message(
        5 * MS, 'base_link', inertia={'com': xyz(0.1)}
    ))
    estimates.host.is_active = True
    estimates.command(100_000)
    for _ in range(2):
        assert estimates.loop.family.to_origin[4, 2] == pytest.approx(-0.1)
        # It is latched, so it comes once.
        estimates.loop.core.reset()
