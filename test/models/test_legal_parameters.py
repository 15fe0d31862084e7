# SPDX-License-Identifier: Apache-2.0
"""20,000 random legal actuators of each family: finite, within limits, no power from nothing."""
import numpy as np
import pytest
from legal_parameters import Draw, in_order, legal
from scipy.spatial.transform import Rotation

from parts import amount
from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.boosters.params import GimbalsParams
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.fam import constants as astrobee
from propulsion_ros.models.fam.fam import Fam, FamParams
from propulsion_ros.models.fam.inverse_fam import InverseFam, InverseFamParams
from propulsion_ros.models.fam.propulsion_module import PropulsionModules, PropulsionModulesParams
from propulsion_ros.models.fins.fins import Fins, FinsParams
from propulsion_ros.models.fins.lift_drag import QuadraticParams, TwoLinesParams
from propulsion_ros.models.fins.lifting_surface import LiftingSurfaceParams
from propulsion_ros.models.jets.jets import Jets, JetsParams
from propulsion_ros.models.jets.supply import SupplyParams
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
from propulsion_ros.models.supply.batteries import BatteriesParams
from propulsion_ros.models.supply.tanks import TanksParams
from propulsion_ros.models.thrusters.dynamics import SMALLEST
from propulsion_ros.models.thrusters.thrusters import Thrusters, ThrustersParams

pytestmark = pytest.mark.filterwarnings('error::RuntimeWarning')
COUNT = 500
SETS = amount('rest', 1, 40)
DENORMAL = 1e-290
"""Products of anything smaller may have no digits left."""
FULL = 1.0 + 1e-12
STEPS = (1e-6, 1e-3, 0.01, 0.3, 2.0)
DIVIDED = (
    'alpha', 'beta', 'rotor_inertia', 'torque_constant', 'winding_resistance', 'rotor_constant',
    'thrust_coefficient', 'propeller_diameter', 'fluid_density', 'quadratic_damping',
)
SPEEDS = (-1e12, -100.0, -3.0, 1e-300, 2.0, 50.0, 1e12)


def assert_finite(*arrays):
    for array in arrays:
        assert np.all(np.isfinite(array))


def rows(count=COUNT):
    return [str(i) for i in range(count)]


def raised(given, **least):
    """Raise parameters to their least values."""
    given.update({key: np.maximum(given[key], value) for key, value in least.items()})


def sized(given):
    """Raise constants that a model divides by to where they are legal."""
    for key in given.keys() & set(DIVIDED):
        values = np.array(given[key])
        given[key] = np.where(np.abs(values) >= SMALLEST, values, SMALLEST)


def numbers(rng, count=COUNT):
    return rng.choice([-1.0, 1.0], count) * 10.0 ** rng.uniform(-3.0, 8.0, count)


def steps(rng):
    return float(rng.choice(STEPS))


def moving(rng):
    """Return a random motion near the ground and the surface."""
    return BodyState(
        velocity=rng.uniform(-50.0, 50.0, 3), angular_velocity=rng.uniform(-9.0, 9.0, 3),
        height=np.array(rng.uniform(-2.0, 4.0)),
        up=Rotation.random(random_state=rng).as_matrix()[2],
    )


def still(rng):
    """Return no motion, and no height."""
    return BodyState()


def flown(model, rng, dt, values=numbers, motion=moving):
    """Yield the motion and the finite output of each of some steps under random commands."""
    for tick in range(4):
        body, command = motion(rng), Command(**{model.command_fields[0]: values(rng)})
        output = model.step(command, body, dt, tick)
        assert_finite(output.applied, output.wrench, output.computed, model.link_wrenches(output))
        yield body, output


def sizes(rng):
    return np.abs(numbers(rng))


def tables(rng):
    """Return input and output values of rising tables without thrust at rest."""
    inputs, outputs = [], []
    for _ in range(COUNT):
        speeds = sorted([0.0, *rng.choice(SPEEDS, 3, replace=False)])
        scale = rng.choice([1e-3, 1.0, 5e-324])
        inputs.append(' '.join(repr(float(speed)) for speed in speeds))
        outputs.append(' '.join(repr(float(scale * speed)) for speed in speeds))
    return {'input_values': inputs, 'output_values': outputs}


def thrusters(rng, **fixed):
    given = Draw(rng).fields(
        ThrustersParams, rows(), integrator='exact', **tables(rng), esc_curve='-20 50',
        esc_kind='polynomial',
        direction=rng.choice([-1, 1], COUNT).tolist(), **fixed,
    )
    sized(given)
    most = 1e12
    if 'battery' in fixed:
        most = 1e11
        raised(given, power_constant=1e-9)
    for low, high in (('min_command', 'max_command'), ('min_thrust', 'max_thrust')):
        in_order(given, low, high)
        least = np.array(given[low])
        above = np.maximum(given[high], least + 1e-3 * (1.0 + np.abs(least)))
        given[high] = np.minimum(above, most)
    series = np.array(given['conversion']) == 'four_quadrant'
    for key in ('moment_constant', 'power_constant'):
        given[key] = np.where(series, 0.0, given[key])
    given['surface_loss'] = np.array(given['propeller_diameter']) >= SMALLEST
    is_left = np.array(given['thrust_coefficient']) < 0.0
    given['direction'] = np.where(is_left, -1, given['direction'])
    return ThrustersParams(**given)


@pytest.mark.parametrize('seed', range(SETS))
def test_thrusters(seed):
    rng = np.random.default_rng(seed)
    params = thrusters(rng)
    for _, output in flown(Thrusters(params), rng, steps(rng)):
        assert_finite(output.velocity)
        assert np.all((params.min_thrust <= output.applied) & (output.applied <= params.max_thrust))


@pytest.mark.parametrize('seed', range(SETS))
def test_many_steps_of_thrusters_are_single_ones_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    params = thrusters(
        rng, dynamics=rng.choice(['zero_order', 'first_order'], COUNT),
        conversion=rng.choice(['basic', 'dead_zone', 'linear_interp', 'propeller'], COUNT),
    )
    many, single, dt, body = Thrusters(params), Thrusters(params), steps(rng), moving(rng)
    values = np.array([numbers(rng) for _ in range(5)])
    # What is at rest, or held for so long that it has come to its goal, takes another way.
    values = np.concatenate((np.zeros((2, COUNT)), values, values[-1:].repeat(8, axis=0)))
    field = many.command_fields[0]
    done = many.steps(Command(**{field: values}), body, dt)
    assert done is not None
    for i, row in enumerate(values):
        output = single.step(Command(**{field: row}), body, dt, i)
        for name in ('wrench', 'velocity', 'effort'):
            assert getattr(done, name)[i].tobytes() == getattr(output, name).tobytes(), name
    assert many.rotor_speed.tobytes() == single.rotor_speed.tobytes()


def propellers(rng):
    """Return series of propellers that take some power at any advance angle; '' for the usual."""
    ahead, drag, load = 10.0 ** rng.uniform(-3.0, 2.0, (3, COUNT))
    share = rng.uniform(-0.999, 0.999, COUNT)
    cross = 0.35 * (2.0 * share * np.sqrt(drag * load / 0.35) - ahead)
    usual = rng.random(COUNT) < 0.3
    return {
        key: ['' if plain else f'0 {value!r}' for plain, value in zip(
            usual, values.tolist(), strict=True
        )] for key, values in (
            ('thrust_cosines', ahead), ('thrust_sines', -drag), ('torque_cosines', load),
            ('torque_sines', -cross),
        )
    }


def shaft_power(model, output, params):
    """Return what motors give thrusters along x, or take from them where the stream turns them."""
    return -params.direction * model.link_wrenches(output)[:, 3] * output.velocity


@pytest.mark.parametrize('seed', range(SETS))
def test_propellers_in_a_stream(seed):
    """Shaft and stream together give the water power, whichever drives the other."""
    rng = np.random.default_rng(seed)
    params = thrusters(
        rng, conversion='four_quadrant', step_value='end', **propellers(rng)
    )
    model = Thrusters(params)
    for body, output in flown(
        model, rng, steps(rng), lambda rng: numbers(rng) * rng.choice([0.0, 1.0], COUNT)
    ):
        shaft = shaft_power(model, output, params)
        assert_finite(output.velocity, shaft)
        pushed = output.applied * (1.0 - params.wake_fraction) * body.velocity[0]
        scale = np.abs(shaft) + np.abs(pushed)
        assert np.all(shaft - pushed >= -1e-6 * scale - DENORMAL)
        # One that stands can only be dragged.
        assert np.all((pushed <= DENORMAL)[output.velocity == 0.0])


def rotors(rng, **fixed):
    """Return legal fields of rotors, all alike in time."""
    none = [0.0, 0.0]
    given = Draw(rng).fields(
        RotorsParams, rows(), integrator='exact', motor_constant_range=none,
        time_constant_up_range=none, time_constant_down_range=none, initial_rotor_speed=0.0,
        esc_curve='0 5 1', esc_kind='polynomial', **fixed,
    )
    in_order(given, 'min_thrust', 'max_thrust')
    return given


@pytest.mark.parametrize('seed', range(SETS))
def test_rotors(seed):
    rng = np.random.default_rng(seed)
    params = RotorsParams(**rotors(rng, direction=rng.choice([-1, 1], COUNT).tolist()))
    model = Rotors(params)
    before = model.rotor_speed
    for _, output in flown(model, rng, steps(rng), sizes, still):
        assert_finite(output.velocity)
        assert np.all((output.applied >= 0.0) & (output.applied <= params.max_thrust))
        # No rotor pushes more than its faster speed of the step does.
        fastest = np.maximum(before, output.velocity)
        most = params.motor_constant * fastest**2 * params.efficiency
        assert np.all(output.applied <= most * (1.0 + 1e-9) + 1e-14 * params.max_thrust + DENORMAL)
        before = model.rotor_speed


@pytest.mark.parametrize('seed', range(SETS))
def test_rotors_in_moving_air(seed):
    rng = np.random.default_rng(seed)
    given = rotors(rng, direction=rng.choice([-1, 1], COUNT).tolist())
    given['axis'] = Rotation.random(COUNT, random_state=seed).as_matrix()[..., 2]
    given['position'] = rng.uniform(-2.0, 2.0, (COUNT, 3))
    params = RotorsParams(**given)
    model = Rotors(params)
    for body, output in flown(model, rng, steps(rng), sizes):
        rest = np.minimum(output.computed, params.max_thrust) * params.efficiency
        moved = body.velocity + np.cross(body.angular_velocity, params.position)
        along = np.einsum('ni,ni->n', moved, params.axis)
        # What goes against the stream opposes it; all else at most doubles or adds a third.
        speed = np.maximum(params.motor_constant, 1e-300) ** -0.5 * np.sqrt(params.max_thrust)
        lost = params.inflow_coefficient * speed * np.abs(along)
        most = rest * (1.0 + (params.translational_lift_coefficient > 0.0) + 1.0 / 3.0)
        assert np.all(output.applied <= (most + lost) * (1.0 + 1e-9) + DENORMAL)
        assert np.all(output.applied >= rest * (1.0 - 1e-9) - lost * (1.0 + 1e-9) - DENORMAL)
        climbs = along > 0.0
        assert np.all((output.applied <= most * (1.0 + 1e-9) + DENORMAL)[climbs])
        check_drag(model, output, params, moved)


def check_drag(model, output, params, moved):
    """Assert that the force across the axes opposes the stream across them."""
    links = model.link_wrenches(output)
    force = links[:, :3] - np.einsum('ni,ni->n', links[:, :3], params.axis)[:, None] * params.axis
    # No norm, which squares and so loses the smallest.
    size = np.abs(links[:, :3]).sum(axis=1) * np.abs(moved).sum(axis=1)
    assert np.all(np.einsum('ni,ni->n', force, moved) <= 1e-12 * size + DENORMAL)


def batteries(rng):
    """Return as many batteries as actuators, each with a curve of its own."""
    volts = np.sort(10.0 ** rng.uniform(-5.0, 5.0, (COUNT, 3)))
    given = Draw(rng).fields(BatteriesParams, rows(), open_circuit_voltage=[
        f'0.0 {low!r} 0.3 {middle!r} 1.0 {high!r}' for low, middle, high in volts.tolist()
    ])
    raised(given, capacity=1e-9)
    nominal, cut_off = np.array(given['nominal_voltage']), np.array(given['cut_off_voltage'])
    given['nominal_voltage'] = np.where(nominal >= 1e-6, nominal, 0.0)
    given['cut_off_voltage'] = np.where(cut_off < volts[:, 2], cut_off, 0.5 * volts[:, 2])
    return BatteriesParams(**given)


def check_supply(model, before, output, params, dt):
    """Assert that batteries discharge, and by no less than what their actuators draw."""
    own, (voltage, current, charge) = params.batteries, output.batteries
    most = [own.curve(i)[1][-1] for i in range(COUNT)]
    assert np.all(np.isfinite(output.batteries))
    assert np.all((voltage >= 0.0) & (voltage <= np.multiply(most, 1.0 + 1e-9)))
    assert np.all((current >= 0.0) & (charge >= 0.0) & (charge <= before))
    thrust = np.abs(output.applied)
    by_moment = params.moment_constant * thrust * np.abs(output.velocity)
    if isinstance(params, ThrustersParams):
        series = np.array(params.conversion) == 'four_quadrant'
        by_moment = np.where(series, shaft_power(model, output, params), by_moment)
    by_thrust = params.power_constant * thrust * np.sqrt(thrust)
    drawn = np.where(params.power_constant > 0.0, by_thrust, by_moment / params.drive_efficiency)
    # What still turns faster than the voltage allows runs on by itself.
    feeds = model._batteries._ratio > 0.0
    given = (voltage * current - own.standby_power)[feeds]
    assert np.all(given >= (drawn * (1.0 - 1e-6) - 1e-6 * own.standby_power)[feeds] - 1e-200)


def powered_rotors(rng):
    given = rotors(
        rng, direction=1, battery=rows(), batteries=batteries(rng), step_value='end',
        power_constant=0.0,
    )
    raised(given, moment_constant=1e-9)
    params = RotorsParams(**given)
    return Rotors(params), params, np.zeros(COUNT), sizes, still


def powered_thrusters(rng):
    params = thrusters(rng, battery=rows(), batteries=batteries(rng), step_value='end')
    return Thrusters(params), params, params.min_thrust, numbers, moving


@pytest.mark.parametrize('make', [powered_rotors, powered_thrusters])
@pytest.mark.parametrize('seed', range(SETS))
def test_batteries(make, seed):
    rng = np.random.default_rng(seed)
    (model, params, lowest, values, motion), dt = make(rng), steps(rng)
    before = model._batteries.state().charge
    for _, output in flown(model, rng, dt, values, motion):
        assert_finite(output.velocity)
        assert np.all((lowest <= output.applied) & (output.applied <= params.max_thrust))
        check_supply(model, before, output, params, dt)
        before = output.batteries.charge


def grains(rng, draw):
    """Return tanks, half of them with solid propellant."""
    given = draw.fields(TanksParams, [f't{i}' for i in range(COUNT)])
    is_solid = rng.random(COUNT) < 0.5
    outer = np.where(is_solid, np.maximum(given['grain_outer_radius'], 1e-9), 0.0)
    given['grain_outer_radius'] = outer
    given['grain_inner_radius'] = np.where(is_solid, 0.99 * outer * rng.random(COUNT), 0.0)
    given['grain_length'] = np.maximum(given['grain_length'], 1e-6 * outer)
    inertia = np.reshape(given['inertia'], (COUNT, 3))
    given['inertia'] = np.where(is_solid[:, None], 0.0, inertia)
    return TanksParams(**given)


def servos(given):
    """Make the parameters of servos legal."""
    frequency = np.array(given['natural_frequency'])
    given['natural_frequency'] = np.where(frequency > 0.0, np.maximum(frequency, 1e-3), 0.0)
    given['acceleration_limit'] = np.where(frequency > 0.0, given['acceleration_limit'], 0.0)


def gimbals(draw):
    """Return a gimbal of each booster."""
    given = draw.fields(GimbalsParams, rows(), integrator='exact')
    servos(given)
    sizes = np.array(given['negative_range'])
    given['negative_range'] = np.where(sizes < 0.0, -1.0, sizes)
    return GimbalsParams(**given)


def check_gimbals(params, before, after, dt):
    """Assert that angles are within their range, and no rate is too large."""
    most = np.repeat(params.rate_limit, 2)
    negative = np.where(params.negative_range < 0.0, params.range, params.negative_range)
    assert np.all((-negative.ravel() <= after) & (after <= params.range.ravel()))
    slow = most > 0.0
    assert np.all((np.abs(after - before) <= most * dt * (1.0 + 1e-9) + 1e-12)[slow])


@pytest.mark.parametrize('seed', range(SETS))
def test_boosters(seed):
    rng = np.random.default_rng(seed)
    draw = Draw(rng)
    tanks = grains(rng, draw)
    given = draw.fields(
        BoostersParams, rows(), tank=list(tanks.names), tanks=tanks, integrator='exact',
        noise_seed=1, exact_final_step=True, esc_gives='thrust', gimbals=gimbals(draw),
    )
    impulse = np.array(given['specific_impulse'])
    given['specific_impulse'] = np.where(impulse > 0.0, np.maximum(impulse, 1e-3), 0.0)
    given['max_fuel_rate'] = np.where(impulse > 0.0, -1.0, np.abs(given['max_fuel_rate']))
    in_order(given, 'min_thrust', 'max_thrust')
    params = BoostersParams(**given)
    model, dt = Boosters(params), steps(rng)
    # What the pressure adds at most doubles a thrust.
    share = np.where(params.exit_area > 0.0, 0.5, 1.0)
    for tick in range(4):
        body = BodyState(height=np.array(rng.uniform(-2e3, 200e3)))
        before, tilts = model.propellant, np.full(3 * COUNT, np.nan)
        tilts[COUNT:] = rng.uniform(-4.0, 4.0, 2 * COUNT)
        values = {'position': tilts, 'effort': np.full(3 * COUNT, np.nan)}
        values[model.command_fields[0]][:COUNT] = np.abs(numbers(rng))
        angles = model._gimbals.angles.ravel()
        output = model.step(Command(**values), body, dt, tick)
        check_gimbals(params.gimbals, angles, output.position[COUNT:3 * COUNT], dt)
        assert_finite(output.applied, output.wrench, output.tanks.mass, output.tanks.inertia)
        assert np.all(output.applied >= 0.0)
        assert np.all(share * output.applied <= 2.0 * params.max_thrust)
        burnt = before - model.propellant
        assert np.all((burnt >= 0.0) & (model.propellant >= 0.0))
        # The impulse is that of the propellant burnt, and of no more.
        owed = share * output.applied / params.max_thrust * params.max_fuel_rate * dt
        exact = output.applied > DENORMAL
        assert np.all((owed <= burnt * (1.0 + 1e-9) + 1e-15 * before + DENORMAL)[exact])


def jets(rng, dt):
    draw = Draw(rng)
    names = [f't{i}' for i in range(COUNT)]

    def supplies():
        given = draw.fields(SupplyParams, names)
        regulated = np.array(given['regulated_pressure'])
        given['regulated_pressure'] = np.where(regulated > 0.0, np.maximum(regulated, 1.0), 0.0)
        for key in ('regulated_pressure', 'min_pressure'):
            in_order(given, key, 'pressure')
            raised(given, pressure=1.0)
        return SupplyParams(**given)

    given = draw.fields(JetsParams, rows(), tank=names, tanks=supplies())
    in_order(given, 'off_level', 'on_level')
    low = np.minimum(given['off_level'], 0.999)
    given.update(off_level=low, on_level=np.clip(given['on_level'], low + 1e-3, 1.0))
    raised(given, filter_gain=1.1, filter_time_constant=10.0, min_on_time=max(0.05 * dt, 1e-3))
    raised(given, pulse_period=np.maximum(0.05 * dt, given['min_on_time'] + given['min_off_time']))
    return JetsParams(**given)


@pytest.mark.parametrize('seed', range(SETS))
def test_jets(seed):
    rng = np.random.default_rng(seed)
    dt = steps(rng)
    params = jets(rng, dt)
    model = Jets(params)
    before = model.propellant
    for _, output in flown(
        model, rng, dt, lambda rng: rng.choice([numbers(rng), np.ones(COUNT)])
    ):
        assert_finite(output.tanks.mass, output.tanks.inertia, output.position)
        assert np.all((output.applied >= 0.0) & (output.applied <= params.max_thrust * FULL))
        burnt = before - model.propellant
        assert np.all((burnt >= 0.0) & (model.propellant >= 0.0))
        # The impulse is that of the propellant burnt, and of no more.
        owed = output.applied * dt / (params.specific_impulse * STANDARD_GRAVITY)
        exact = output.applied > DENORMAL
        assert np.all((owed <= burnt * (1.0 + 1e-9) + 1e-15 * before + DENORMAL)[exact])
        before = model.propellant


def fins(rng):
    kinds = {'quadratic': QuadraticParams, 'two_lines': TwoLinesParams,
             'lifting_surface': LiftingSurfaceParams}
    draw, part, groups, names = Draw(rng), COUNT // 3, {}, []
    for key, cls in kinds.items():
        own = [f'{key}_{i}' for i in range(part)]
        given = draw.fields(cls, own)
        if key == 'lifting_surface':
            low, high = rng.uniform(1e-6, 1.57, (2, part)) * [[-1.0], [1.0]]
            given.update(min_stall_angle=low, max_stall_angle=high)
            share = rng.uniform(0.01, 0.99, part)
            given['zero_lift_angle'] = low + (high - low) * share
        groups[key] = cls(**given)
        names += own
    given = draw.fields(FinsParams, names, integrator='exact', compat='none', **groups)
    sized(given)
    kinds = np.array(given['dynamics'])
    given['natural_frequency'] = np.where(
        kinds == 'first_order', given['natural_frequency'], 0.0
    )
    given['backlash'] = np.where(np.char.find(kinds, 'order') > 0, given['backlash'], 0.0)
    servos(given)
    in_order(given, 'min_deflection', 'max_deflection')
    for key in ('min_deflection', 'max_deflection'):
        given[key] = np.clip(given[key], -1.57, 1.57).tolist()
    return FinsParams(**given)


@pytest.mark.parametrize('seed', range(SETS))
def test_fins(seed):
    rng = np.random.default_rng(seed)
    params = fins(rng)
    model, count = Fins(params), len(params.names)
    for body, output in flown(model, rng, steps(rng), lambda rng: numbers(rng, count)):
        assert_finite(output.position, output.forces)
        assert np.all(
            (params.min_deflection <= output.position) & (output.position <= params.max_deflection)
        )
        # What is left beside drag is lift, perpendicular to the flow but for rounding.
        power = output.forces @ body.velocity
        assert np.all(power <= 1e-12 * output.thrusts * np.linalg.norm(body.velocity) + DENORMAL)


def modules(cls, draw):
    """Return a configuration on Astrobee's layout."""
    nozzles, impellers = type(cls().nozzles), type(cls().impellers)
    return legal(lambda: cls(**draw.fields(
        cls, [],
        nozzles=nozzles(**draw.fields(
            nozzles, list(astrobee.NOZZLE_NAMES), position=astrobee.NOZZLE_POSITIONS,
            axis=astrobee.NOZZLE_AXES,
        )),
        impellers=impellers(**draw.fields(
            impellers, list(astrobee.IMPELLER_NAMES), axis=astrobee.IMPELLER_AXES
        )),
    )))


def flaps(rng):
    n, m = len(astrobee.NOZZLE_NAMES), len(astrobee.IMPELLER_NAMES)
    return Command(
        position=np.r_[rng.uniform(-1.0, 2.0, n), np.full(m, np.nan)],
        velocity=np.r_[np.full(n, np.nan), rng.uniform(-100.0, 400.0, m)],
    )


@pytest.mark.parametrize(('cls', 'family', 'command'), [
    pytest.param(FamParams, Fam, lambda rng: Command(effort=numbers(rng, 6)), id='fam'),
    pytest.param(InverseFamParams, InverseFam, flaps, id='inverse_fam'),
    pytest.param(PropulsionModulesParams, PropulsionModules, flaps, id='propulsion_modules'),
])
@pytest.mark.parametrize('seed', range(SETS))
def test_modules_of_astrobee(cls, family, command, seed):
    """A nozzle pushes one way alone, and not at all where the air stands still."""
    rng = np.random.default_rng(seed)
    draw = Draw(rng)
    for _ in range(amount('rest', 5, COUNT)):
        model, dt = family(modules(cls, draw)), float(rng.choice([1e-3, 1.0 / 62.5, 0.1]))
        for tick in range(3):
            body = BodyState(velocity=np.zeros(3), angular_velocity=rng.uniform(-1.0, 1.0, 3))
            output = model.step(command(rng), body, dt, tick)
            assert_finite(output.wrench, output.thrusts)
            assert np.all(output.thrusts >= 0.0)
