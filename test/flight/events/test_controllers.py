# SPDX-License-Identifier: Apache-2.0
import math

import pytest

from propulsion_ros.flight.events.controllers import ControllerBank, Pid, PidSpec
from propulsion_ros.flight.events.variables import Variables

MS = 1_000_000


def east(ms, value):
    return Variables(ms * MS, position=(0.0, value, 0.0))


def spec(**changes):
    values = {'kp': 2.0, 'ki': 0.5, 'kd': 0.25, 'setpoint': 10.0, 'interval_ns': 100 * MS}
    return PidSpec(0, 'pid', engine=0, **(values | changes))


def test_steps_by_hand():
    pid = Pid(spec())
    outputs = [pid.update(east(ms, value)).output for ms, value in ((0, 0.0), (100, 2.0), (300, 8))]
    # Errors 10, 8, 2: P 20, 16, 4; I 0.5 (0, 0.9, 0.9 + 1.0); D 0.25 (0, -20, -30).
    assert outputs == pytest.approx([20.0, 16.0 + 0.45 - 5.0, 4.0 + 0.95 - 7.5], abs=1e-12)


def test_integral_of_a_constant_error_does_not_depend_on_the_step():
    def integral(step_ms):
        pid = Pid(spec(kp=0.0, kd=0.0, interval_ns=0))
        return [pid.update(east(ms, 4.0)).output for ms in range(0, 1001, step_ms)][-1]

    assert [integral(1), integral(10), integral(1000)] == pytest.approx([3.0] * 3, abs=1e-9)


def test_it_keeps_its_interval():
    pid = Pid(spec())
    assert [pid.update(east(ms, 0.0)) is not None for ms in (0, 50, 99, 100, 150, 200)] == [
        True, False, False, True, False, True,
    ]


def test_silence_gives_no_output_and_is_not_integrated_over():
    pid = Pid(spec(kd=0.0, kp=0.0))
    pid.update(east(0, 0.0))
    lost = pid.update(east(100, math.nan))
    assert math.isnan(lost.output)
    assert math.isnan(lost.measured)
    assert pid.update(east(60_000, 0.0)).output == 0.0


def test_other_inputs():
    pid = Pid(spec(variable='Velocity', component=2, ki=0.0, kd=0.0))
    output = pid.update(Variables(0, velocity=(0.0, 0.0, -30.0)))
    assert (output.measured, output.output) == (-30.0, 80.0)


def test_events_stop_and_run_it_and_it_begins_anew():
    bank = ControllerBank([spec(kp=0.0, kd=0.0)])
    for ms in (0, 100, 200):
        (output,) = bank.update(east(ms, 0.0))
    assert output.output == pytest.approx(1.0)
    bank.execute(0, 0)
    (stopped,) = bank.update(east(300, 0.0))
    assert math.isnan(stopped.output)
    bank.execute(0, 1)
    (again,) = bank.update(east(400, 0.0))
    assert again.output == 0.0
    bank.execute(0, 1)
    (goes_on,) = bank.update(east(500, 0.0))
    assert goes_on.output == pytest.approx(0.5), 'running what runs changes nothing'
    bank.reset()
    assert bank.update(east(600, 0.0))[0].output == 0.0
