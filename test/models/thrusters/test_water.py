# SPDX-License-Identifier: Apache-2.0
"""Propellers in four quadrants and near the surface, against published numbers and closed forms."""
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.common.wrench import move_wrench
from propulsion_ros.models.supply.batteries import BatteriesParams
from propulsion_ros.models.thrusters.thrusters import Thrusters, ThrustersParams

RNG = np.random.default_rng(5)
DIAMETER, DENSITY = 0.1, 1025.0
PROPELLER = {
    'conversion': 'four_quadrant', 'propeller_diameter': DIAMETER, 'fluid_density': DENSITY,
    'wake_fraction': 0.0,
}
SQUARE = {'conversion': 'basic', 'rotor_constant': 1e-3, 'propeller_diameter': DIAMETER}
SERIES = {
    'thrust_cosines': '0 0.2', 'thrust_sines': '0 -0.7', 'torque_cosines': '0 0.03',
    'torque_sines': '0 -0.1',
}
UP = np.array([0.0, 0.0, 1.0])


def made(names='p', **values):
    return Thrusters(ThrustersParams(names=list(names), **values))


def stepped(speed, velocity, model=None, dt=0.01, **body):
    """Return the output of a step along the axis, which turns at a speed."""
    model = made(**PROPELLER) if model is None else model
    body = BodyState(velocity=[velocity, 0.0, 0.0], **body)
    return model.step(Command(velocity=np.full(len(model.command_names), speed)), body, dt, 0)


def coefficients(output, speed, velocity):
    """Return C_T and C_Q of an output."""
    pressure = 0.5 * DENSITY * np.pi / 4.0 * DIAMETER**2
    pressure *= velocity**2 + (0.35 * DIAMETER * speed) ** 2
    return output.wrench[0] / pressure, -output.wrench[3] / (pressure * DIAMETER)


@pytest.mark.parametrize('degrees', range(-180, 180, 7))
def test_every_quadrant_is_that_of_the_series(degrees):
    angle = np.radians(degrees + 0.2)
    speed, velocity = 50.0 * np.cos(angle) / (0.35 * DIAMETER), 50.0 * np.sin(angle)
    params = ThrustersParams(names='p', **PROPELLER)
    found = coefficients(stepped(speed, velocity), speed, velocity)
    given = coefficients(stepped(speed, velocity, made(**PROPELLER, **SERIES)), speed, velocity)
    np.testing.assert_allclose(
        given, [0.2 * np.cos(angle) - 0.7 * np.sin(angle),
                0.03 * np.cos(angle) - 0.1 * np.sin(angle)], atol=1e-6,
    )
    table = params.coefficients(0)
    near = table[round((degrees + 180.2) / 360.0 * 8192)]
    np.testing.assert_allclose(found, [near.real, near.imag], atol=2e-3)


def test_a_stopped_propeller_drags_by_the_square_of_the_stream():
    forward, backward = stepped(0.0, 2.0), stepped(0.0, -2.0)
    pressure = 0.5 * DENSITY * np.pi / 4.0 * DIAMETER**2 * 4.0
    # Sum of the series at 90 and -90 degrees, by hand from the published numbers.
    assert forward.wrench[0] == pytest.approx(-0.7701055 * pressure, rel=1e-6)
    assert backward.wrench[0] == pytest.approx(0.7080578 * pressure, rel=1e-6)
    assert stepped(0.0, 4.0).wrench[0] == pytest.approx(4.0 * forward.wrench[0], rel=1e-12)
    assert stepped(0.0, 0.0).wrench[0] == 0.0


def test_a_hull_holds_back_its_part_of_the_stream():
    held = made(**{**PROPELLER, 'wake_fraction': 0.25})
    np.testing.assert_allclose(
        stepped(40.0, 2.0, held).wrench, stepped(40.0, 1.5).wrench, rtol=1e-12
    )


def test_without_knowledge_of_the_stream_it_is_at_rest_in_the_water():
    model = made(**PROPELLER)
    assert model.uses_body
    for speed in (80.0, -60.0, 0.0):
        blind = model.step(Command(velocity=[speed]), BodyState(), 0.01, 0)
        np.testing.assert_allclose(blind.wrench, stepped(speed, 0.0).wrench, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize('thrust', [-12.0, -1e-3, 0.0, 2.0, 30.0])
def test_a_commanded_thrust_is_that_at_rest_in_the_water(thrust):
    model = made(**PROPELLER, command_interface='effort')
    output = model.step(Command(effort=[thrust]), BodyState(velocity=np.zeros(3)), 0.01, 0)
    assert output.applied[0] == pytest.approx(thrust, rel=1e-12)
    still = output.velocity
    assert model.step(
        Command(effort=[thrust]), BodyState(velocity=[1.0, 0.0, 0.0]), 0.01, 1
    ).velocity == pytest.approx(still)


@pytest.mark.parametrize('dynamics', [
    {'dynamics': 'first_order', 'time_constant': 0.1},
    {'dynamics': 'yoerger', 'alpha': 0.024, 'beta': 22.0},
])
@pytest.mark.parametrize('velocity', [0.0, 1.5, -1.0])
def test_the_loads_of_a_step_are_their_means(dynamics, velocity):
    coarse, fine = (made(**PROPELLER, **dynamics) for _ in range(2))
    for speed in (60.0, -40.0, 80.0):
        whole = stepped(speed, velocity, coarse, 0.01).wrench
        parts = [stepped(speed, velocity, fine, 0.0005).wrench for _ in range(20)]
        np.testing.assert_allclose(whole, np.mean(parts, axis=0), atol=1e-3 * np.max(np.abs(parts)))


def test_the_mean_at_rest_is_the_closed_form():
    """A lag from rest has the mean of (1 - exp(-t))^2."""
    model = made(**PROPELLER, dynamics='first_order', time_constant=0.1)
    found = stepped(100.0, 0.0, model, 0.05).applied[0]
    x = 0.5
    mean = 1.0 - 2.0 * -np.expm1(-x) / x - np.expm1(-2.0 * x) / (2.0 * x)
    assert found == pytest.approx(stepped(100.0, 0.0).applied[0] * mean, rel=1e-7)


def mixed():
    turns = Rotation.random(3, random_state=3).as_matrix()
    return made('abc', **{
        **PROPELLER, 'conversion': ['four_quadrant', 'basic', 'four_quadrant'],
        'rotor_constant': 1e-3, 'moment_constant': [0.0, 0.02, 0.0], 'direction': [1, 1, -1],
        'axis': turns[..., 0], 'rotation': turns, 'position': RNG.uniform(-1.0, 1.0, (3, 3)),
        'surface_loss': [True, True, False], 'dynamics': 'first_order', 'time_constant': 0.05,
        'max_thrust': 2.0, 'min_thrust': -1.0,
    })


def moving(i):
    rng = np.random.default_rng(1)
    return BodyState(
        velocity=rng.uniform(-2, 2, (4, 3))[i], height=rng.uniform(-0.3, 0.1, 4)[i],
        angular_velocity=rng.uniform(-1, 1, (4, 3))[i],
        up=Rotation.random(4, random_state=1).as_matrix()[:, 2][i],
    )


def test_links_add_up_in_a_mixed_group():
    model = mixed()
    for tick, speed in enumerate((150.0, -220.0)):
        output = model.step(Command(velocity=np.full(3, speed)), moving(tick), 0.02, tick)
        assert output.flags['saturated'].any()
        links = model.link_wrenches(output)
        turned = np.einsum('nij,nkj->nki', model.params.rotation, links.reshape(3, 2, 3))
        total = move_wrench(turned.reshape(3, 6), model.params.position).sum(axis=0)
        np.testing.assert_allclose(total, output.wrench, rtol=1e-12, atol=1e-12)


def test_what_a_limit_or_a_fault_takes_from_the_thrust_it_takes_from_the_torque():
    whole = stepped(100.0, 0.5).wrench
    for values in ({'thrust_efficiency': 0.5}, {'max_thrust': 0.5 * whole[0]}):
        half = stepped(100.0, 0.5, made(**PROPELLER, **values)).wrench
        np.testing.assert_allclose(half, 0.5 * whole, rtol=1e-9)


def test_a_battery_gives_the_power_of_the_shaft():
    model = made(
        **PROPELLER, drive_efficiency=0.8, battery='b', max_command=200.0,
        batteries=BatteriesParams(names=['b'], capacity=10.0, open_circuit_voltage='20'),
    )
    for speed, velocity in ((100.0, 0.0), (100.0, 1.0), (-80.0, 1.0)):
        output = stepped(speed, velocity, model)
        given = output.batteries.voltage * output.batteries.current
        assert given == pytest.approx(-output.wrench[3] * speed / 0.8, rel=1e-9)
    # A stream that turns it, or drags it while it stands, takes nothing from the battery.
    for speed in (50.0, 0.0):
        assert stepped(speed, 5.0, model).batteries.current == 0.0


# The surface.


@pytest.mark.parametrize(('depth', 'left'), [
    (9.0, 1.0), (1.31, 1.0), (1.0, 1.0 - 0.675 * 0.231**1.258), (0.0, 0.325),
    (-0.3, 1.0 - 0.675 * 1.2307**1.258), (-0.48, 0.0), (-5.0, 0.0),
])
def test_thrust_near_the_surface_is_that_of_minsaas(depth, left):
    model = made(**SQUARE, surface_loss=True, moment_constant=0.02, surface_height=7.0)
    body = {'height': np.array(7.0 - depth * DIAMETER / 2.0), 'up': UP}
    output = stepped(100.0, 0.0, model, **body)
    assert output.applied[0] == pytest.approx(10.0 * left, rel=1e-9, abs=0.03)
    if depth > -0.4:
        assert output.applied[0] == pytest.approx(10.0 * left, rel=1e-9)
    assert output.wrench[3] == pytest.approx(-0.02 * output.applied[0])


def test_without_a_height_and_off_nothing_is_lost():
    deep = {'height': np.array(5.0), 'up': UP}
    off, on = made(**SQUARE), made(**SQUARE, surface_loss=True)
    assert not off.uses_body
    assert on.uses_body
    assert stepped(100.0, 0.0, off, **deep).applied[0] == 10.0
    assert stepped(100.0, 0.0, on).applied[0] == 10.0


# The dead band.


@pytest.mark.parametrize('interface', ['velocity', 'effort'])
def test_the_dead_band_may_change_while_it_runs(interface):
    given = {'names': 'p', **SQUARE, 'command_interface': interface}
    model = Thrusters(ThrustersParams(**given))
    value = 50.0 if interface == 'velocity' else 2.5

    def pushed(**values):
        model.retune(ThrustersParams(**given, **values))
        command = Command(**{interface: [value]})
        return model.step(command, BodyState(), 0.01, 0).applied[0]

    assert [pushed(), pushed(thrust_deadband=3.0), pushed(thrust_deadband=2.0), pushed()] == [
        pytest.approx(2.5), 0.0, pytest.approx(2.5), pytest.approx(2.5)
    ]


def test_in_a_stream_the_dead_band_goes_by_the_thrust_at_rest():
    model = made(**PROPELLER, thrust_deadband=2.0)
    # The stream takes all thrust of the first, which turns on; the second is stopped and drags.
    assert stepped(100.0, 1.633, model).velocity[0] == 100.0
    assert stepped(20.0, 1.0, model).velocity[0] == 0.0
