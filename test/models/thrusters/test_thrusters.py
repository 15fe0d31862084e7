# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from golden import vectors_of
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.thrusters.thrusters import Thrusters, ThrustersParams
from propulsion_ros.settings.errors import ConfigError

PLUGIN = vectors_of('uuv_thruster_plugin')['scenarios']
DEADBAND = vectors_of('gz_sim')['deadband']

LAG = {'dynamics': 'first_order', 'time_constant': 0.1}
SQUARE = {'conversion': 'basic', 'rotor_constant': 0.002}
OUR_SETTINGS = {
    'plain': {},
    'thrust_limits': {'min_thrust': -3.0, 'max_thrust': 5.0},
    'efficiencies': {'thrust_efficiency': 0.7, 'propeller_efficiency': 0.8},
    'on_off': {},
    'runtime_efficiency': {},
    'reset': {},
}
REFUSED = 'invalid_efficiency'

YOERGER = {'dynamics': 'yoerger', 'alpha': 0.024, 'beta': 22.0, **SQUARE}
BESSA = {
    'dynamics': 'bessa', 'rotor_inertia': 0.1, 'linear_damping': 0.05, 'quadratic_damping': 0.01,
    'torque_constant': 0.3, 'winding_resistance': 0.6, 'conversion': 'dead_zone',
    'rotor_constant_left': 0.01, 'rotor_constant_right': 0.02, 'delta_left': -9.0,
    'delta_right': 4.0,
}
TABLE = {
    **LAG, 'conversion': 'linear_interp', 'input_values': '-120 -60 -8 8 70 150',
    'output_values': '-31 -9 0 0 14 52',
}
PROPELLER = {
    **LAG, 'conversion': 'propeller', 'thrust_coefficient': -0.004422, 'propeller_diameter': 0.2,
    'advance_coefficient': -0.004, 'direction': -1,
}


KINDS = [
    pytest.param({**LAG, **SQUARE}, id='first_order basic'),
    pytest.param(YOERGER, id='yoerger basic'),
    pytest.param(BESSA, id='bessa dead_zone'),
    pytest.param(TABLE, id='first_order linear_interp'),
    pytest.param(PROPELLER, id='first_order propeller'),
]
STILL = BodyState()


def thrusters(**settings) -> Thrusters:
    return Thrusters(ThrustersParams(names=['t0'], **settings))


def velocity(*values: float) -> Command:
    return Command(velocity=np.array(values))


def effort(*values: float) -> Command:
    return Command(effort=np.array(values))


def settled(model: Thrusters, command: Command, body: BodyState = STILL):
    for tick in range(200):
        output = model.step(command, body, 1.0, tick)
    return output


def params_of(**settings):
    """Return the configuration of the lagging thrusters above with other efficiencies."""
    return ThrustersParams(names=['t0'], **LAG, **SQUARE, **settings)


# The originals.


@pytest.mark.parametrize(
    'scenario', [s for s in PLUGIN if s['name'] != REFUSED], ids=lambda s: s['name']
)
def test_the_original_plugin_is_reproduced(scenario):
    model = thrusters(
        **LAG, **SQUARE, **OUR_SETTINGS[scenario['name']], axis=scenario['joint_axis'],
        step_value='end',
    )
    is_on = True
    found, before = [], None
    for tick, step in enumerate(scenario['steps']):
        if step[0] == 'on':
            # Off is a command of 0: the rotor coasts to rest by its own dynamics.
            is_on = step[1]
        elif step[0] == 'eff':
            model.retune(params_of(thrust_efficiency=step[1], propeller_efficiency=step[2]))
        elif step[0] == 'reset':
            model.reset()
            model.retune(params_of())
            before, is_on = None, True
        else:
            command, now = step
            # The original's first call after a start only stores the time.
            dt = 0.0 if before is None else now - before
            before = now
            output = model.step(velocity(command if is_on else 0.0), STILL, dt, tick)
            found.append([command, now, *output.effort, *output.velocity, *output.wrench[:3]])
    np.testing.assert_allclose(found, scenario['rows'], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize('interface', ['velocity', 'effort'])
def test_dead_band_is_that_of_gazebo(interface):
    model = thrusters(
        conversion='linear_interp', input_values='-16 16', output_values='-8 8',
        thrust_deadband=DEADBAND['deadband'], command_interface=interface,
    )
    for thrust, speed, expected_thrust, expected_speed in DEADBAND['rows']:
        command = effort(thrust) if interface == 'effort' else velocity(speed)
        output = model.step(command, STILL, 0.01, 0)
        assert output.effort[0] == pytest.approx(expected_thrust, rel=1e-12)
        assert output.velocity[0] == pytest.approx(expected_speed, rel=1e-12)


# The pipeline by hand.


def test_order_of_the_pipeline():
    model = thrusters(
        **SQUARE, min_command=-10.0, max_command=20.0, gain=-3.0, propeller_efficiency=0.5,
        thrust_efficiency=0.25, max_thrust=0.4, min_thrust=-0.2,
    )
    output = model.step(velocity(99.0), STILL, 0.01, 0)
    # Clamped to 20, then the gain: -60, -30 after the propeller, -1.8 N, -0.45 N, limited.
    assert output.velocity[0] == -30.0
    assert output.computed[0] == pytest.approx(-0.45, rel=1e-15)
    assert output.applied[0] == output.effort[0] == -0.2
    assert output.flags['saturated'].tolist() == [True]
    output = model.step(velocity(-10.0), STILL, 0.01, 1)
    assert output.computed[0] == pytest.approx(0.1125, rel=1e-15)
    assert output.applied[0] == output.computed[0]
    assert output.flags['saturated'].tolist() == [False]


def test_stream_along_the_axis_takes_thrust():
    model = thrusters(**PROPELLER, position=[0.0, 2.0, 0.0], moment_constant=0.3)
    body = BodyState(velocity=np.array([1.0, 0.5, 0.0]), angular_velocity=np.array([4, 5, -0.25]))
    still = settled(model, velocity(-50.0)).applied[0]
    moving = settled(model, velocity(-50.0), body).applied[0]
    # 1 m/s of the body and 0.5 m/s of its turn at the lever of 2 m.
    assert moving - still == pytest.approx(-0.004 * 0.8 * 1000 * 0.2**3 * 1.5 * 50.0, rel=1e-12)


@pytest.mark.parametrize('coefficient', [0.004, -0.004])
def test_body_turns_against_the_hand_of_the_propeller(coefficient):
    hand = 1 if coefficient > 0.0 else -1
    model = thrusters(conversion='propeller', thrust_coefficient=coefficient,
                      propeller_diameter=0.2, moment_constant=0.05, direction=hand)
    output = settled(model, velocity(hand * 60.0))
    assert output.wrench[0] > 0.0
    # Right-handed about the axis where the speed is positive: the body turns the other way.
    assert np.sign(output.wrench[3]) == -np.sign(output.velocity[0])


# Commands.


def test_fault_is_not_made_up_for():
    model = thrusters(**LAG, **SQUARE, command_interface='effort', thrust_efficiency=0.5)
    assert settled(model, effort(4.0)).applied[0] == pytest.approx(4.0, rel=1e-12)
    model.retune(params_of(thrust_efficiency=0.25))
    assert settled(model, effort(4.0)).applied[0] == pytest.approx(2.0, rel=1e-12)


@pytest.mark.parametrize(
    ('settings', 'wanted', 'reached'),
    [
        pytest.param({**TABLE}, 99.0, 52.0, id='end of the table'),
        pytest.param({**TABLE, 'thrust_efficiency': 0.5}, -20.0, -15.5, id='end, half efficient'),
        pytest.param({**SQUARE, 'max_thrust': 3.0}, 9.0, 3.0, id='thrust limit'),
        pytest.param({**SQUARE, 'max_command': 10.0}, 9.0, 0.2, id='command limit'),
        pytest.param({**BESSA, 'rotor_constant_left': 0.0}, -9.0, 0.0, id='one way'),
    ],
)
def test_unreachable_thrust_is_the_nearest_and_flagged(settings, wanted, reached):
    output = settled(thrusters(**settings, command_interface='effort'), effort(wanted))
    assert output.applied[0] == pytest.approx(reached, rel=1e-12)
    assert output.flags['saturated'].tolist() == [True]


def test_speed_beyond_the_table_is_flagged():
    model = thrusters(**{**TABLE, 'time_constant': 0.0})
    assert model.step(velocity(151.0), STILL, 0.1, 0).flags['off_curve'].tolist() == [True]
    assert model.step(velocity(150.0), STILL, 0.1, 0).flags['off_curve'].tolist() == [False]


# Configuration.


def test_euler_needs_limits_that_it_can_hold():
    settings = {**YOERGER, 'integrator': 'euler'}
    with pytest.raises(ConfigError, match="'integrator': euler may overshoot"):
        thrusters(**settings).step(velocity(1.0), STILL, 0.01, 0)
    model = thrusters(**settings, min_command=-5.0, max_command=5.0)
    assert settled_in(model, 5.0, 0.01) == pytest.approx(np.sqrt(22.0 * 5.0 / 0.024), rel=1e-9)


def settled_in(model: Thrusters, command: float, dt: float) -> float:
    for tick in range(2000):
        output = model.step(velocity(command), STILL, dt, tick)
    return float(output.velocity[0])


# Hard cases.


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize('interface', ['velocity', 'effort'])
@given(command=st.floats(allow_nan=True, allow_infinity=False), dt=st.floats(1e-6, 30.0),
       gain=st.sampled_from([1.0, -1e6, 0.0]))
def test_any_command_stays_finite_and_inside_the_limits(kind, interface, command, dt, gain):
    model = thrusters(
        **kind, command_interface=interface, gain=gain, min_thrust=-7.0, max_thrust=11.0
    )
    for tick, value in enumerate((command, -command, 0.0)):
        output = model.step(Command(**{interface: np.array([value])}), STILL, dt, tick)
        assert np.isfinite(output.wrench).all()
        assert np.isfinite(model.rotor_speed).all()
        assert -7.0 <= output.applied[0] <= 11.0


@pytest.mark.parametrize('kind', KINDS)
def test_many_steps_are_single_ones_to_the_last_bit(kind):
    many, single = thrusters(**kind), thrusters(**kind)
    values = np.random.default_rng(0).uniform(-100.0, 100.0, (50, 1))
    done = many.steps(velocity(*values), STILL, 0.01)
    if done is not None:
        efforts = [single.step(velocity(*row), STILL, 0.01, 0).effort for row in values]
        assert done.effort.tobytes() == np.array(efforts).tobytes()


@pytest.mark.parametrize(('conversion', 'given', 'part'), [
    pytest.param('basic', {'thrust_efficiency': [1.0, 0.25]}, 0.25, id='thrust'),
    pytest.param('basic', {'propeller_efficiency': [1.0, 0.5]}, 0.25, id='speed, squared'),
    pytest.param('linear_interp', {'propeller_efficiency': [1.0, 0.5]}, 0.5, id='speed, a line'),
    pytest.param('basic', {'propeller_efficiency': [1.0, 0.0]}, 0.0, id='none'),
    pytest.param('basic', {'thrust_efficiency': [1.0, 0.4], 'gain': [1.0, 0.0]}, 1.0,
                 id='of one that never pushes'),
])
def test_effectiveness_is_what_is_left_of_a_commanded_thrust(conversion, given, part):
    fixed = {
        'names': ['a', 'b'], 'rotor_constant': [1e-4], 'conversion': [conversion],
        'input_values': ['-300 300'], 'output_values': ['-60 60'], 'min_command': [-300.0],
        'max_command': [300.0], 'dynamics': ['zero_order'], 'gain': given.pop('gain', [1.0]),
    }
    model = Thrusters(ThrustersParams(**fixed))
    np.testing.assert_array_equal(model.effectiveness, 1.0)
    model.retune(ThrustersParams(**fixed, **given))
    np.testing.assert_allclose(model.effectiveness, [1.0, part])
    _, highest = model.thrust_limits
    output = model.step(Command(velocity=model.command_for(highest)), BodyState(), 0.01, 0)
    np.testing.assert_allclose(output.applied, highest * model.effectiveness)
