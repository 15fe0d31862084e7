# SPDX-License-Identifier: Apache-2.0
import math

from propulsion_ros.flight.phases.progress import BurnMonitor

NAN = math.nan
STEP_NS = 10_000_000


def burn(accelerations, fitted=False, step_ns=STEP_NS):
    monitor = BurnMonitor()
    states = []
    for i, a in enumerate(accelerations):
        monitor.update(i * step_ns, *((NAN, a) if fitted else (a, NAN)))
        states.append(monitor.is_burning)
    return states


def test_burnout_and_a_second_stage_are_seen():
    states = burn([30.0] * 100 + [-12.0] * 100 + [40.0] * 100 + [-10.0] * 100)
    changes = [i for i in range(1, 400) if states[i] != states[i - 1]]
    assert changes == [110, 210, 310]


def test_noise_about_zero_does_not_chatter():
    assert all(burn([4.0 * (-1) ** i for i in range(500)]))
    assert not any(burn([-12.0] * 20 + [-12.0 + 40.0 * (i % 5 == 0) for i in range(500)])[20:])


def test_fitted_acceleration_needs_a_second():
    states = burn([-12.0] * 200, fitted=True)
    assert states.index(False) == 100
