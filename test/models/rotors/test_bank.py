# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.rotors import rotors as module
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
from propulsion_ros.settings.errors import ConfigError

DRAWN = {
    'names': list('abc'), 'min_thrust': 0.1, 'max_thrust': 10.0, 'motor_constant': 1.4e-5,
    'motor_constant_range': (9e-6, 1.8e-5), 'time_constant_up': 0.06,
    'time_constant_up_range': (0.05, 0.08), 'time_constant_down': [0.005, 0.01, 0.02], 'seed': 3,
    'moment_constant': 0.01, 'initial_rotor_speed': 300.0,
    'position': [[0.2, 0.0, 0.0], [-0.1, 0.2, 0.0], [-0.1, -0.2, 0.0]],
}
STILL = BodyState()


def both(monkeypatch, **changes):
    """Return the same rotors (7, 5, 3) in one bank and in banks of four rows, the last of three."""
    params = RotorsParams(**{**DRAWN, **changes})
    whole = Rotors(params, (7, 5))
    monkeypatch.setattr(module, '_BANK', 12)
    return whole, Rotors(params, (7, 5))


@pytest.mark.parametrize('changes', [
    pytest.param({}, id='speed'),
    pytest.param({'lag_on': 'thrust'}, id='thrust'),
    pytest.param({'command_interface': 'velocity'}, id='velocity'),
    pytest.param({'max_rotor_acceleration': 3e3, 'max_thrust_rate': 50.0}, id='limited'),
    pytest.param({'integrator': 'isaaclab_rk4'}, id='isaaclab'),
])
def test_banks_change_nothing(monkeypatch, changes):
    whole, banked = both(monkeypatch, **changes)
    scale = 900.0 if whole.command_fields[0] == 'velocity' else 12.0
    asked = np.random.default_rng(5).uniform(0.0, scale, (6, 7, 5, 3))
    asked[2, 3, 1, 0] = np.nan
    for tick, values in enumerate(asked):
        if tick == 3:
            # Rows of several banks, first and last among them.
            for model in (whole, banked):
                model.reset(([0, 2, 6], [0, 3, 4]))
        command = Command(**{whole.command_fields[0]: values})
        expected, output = (model.step(command, STILL, 0.01, tick) for model in (whole, banked))
        for name in ('effort', 'velocity', 'computed', 'applied', 'forces'):
            np.testing.assert_array_equal(getattr(output, name), getattr(expected, name), name)
        np.testing.assert_allclose(output.wrench, expected.wrench, rtol=1e-13, atol=1e-13)
        np.testing.assert_array_equal(output.flags['saturated'], expected.flags['saturated'])


def test_advance_is_the_step_without_the_rest(monkeypatch):
    whole, banked = both(monkeypatch)
    values = np.random.default_rng(6).uniform(0.0, 12.0, (7, 5, 3))
    output = whole.step(Command(effort=values), STILL, 0.01, 0)
    np.testing.assert_array_equal(banked.advance(values, 0.01), output.applied)
    np.testing.assert_array_equal(banked.thrust, output.computed)
    np.testing.assert_array_equal(banked.rotor_speed, output.velocity)


def test_a_refused_step_moves_no_bank(monkeypatch):
    _, banked = both(monkeypatch, integrator='euler', time_constant_down=0.08)
    banked.constants['time_constant_up'][...] = 0.08
    banked.constants['time_constant_up'][-1, -1] = 0.05  # the only one that diverges, in the last
    before = banked.thrust.copy(), banked.rotor_speed
    with pytest.raises(ConfigError, match='diverges'):
        banked.advance(np.full((7, 5, 3), 5.0), 0.11)
    np.testing.assert_array_equal(banked.thrust, before[0])
    np.testing.assert_array_equal(banked.rotor_speed, before[1])
