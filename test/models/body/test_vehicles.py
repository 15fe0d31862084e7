# SPDX-License-Identifier: Apache-2.0
"""Each vehicle of a batch moves as the one of the nodes does."""
from pathlib import Path

import numpy as np
import pytest

import propulsion_ros
from propulsion_ros.graph.load import vehicles_of
from propulsion_ros.models.body.bodies import Bodies, MassRows
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams
from propulsion_ros.models.body.simulated_body import ParachutesParams, SimulatedBody
from propulsion_ros.models.body.vehicles import Vehicles
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.jets.jets import Jets, JetsParams
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
from propulsion_ros.models.thrusters.thrusters import Thrusters, ThrustersParams
from propulsion_ros.settings.errors import CommandError, ConfigError
from propulsion_ros.settings.flat import build
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.urdf.reader import mass_from_urdf

ROOT = Path(__file__).parents[3]
DT = 0.01
QUADROTOR = 'urdf/quadrotor.urdf.xacro', 'config/quadrotor.yaml', 'rotors'
HOPPER = 'examples/hopper/hopper.urdf', 'examples/hopper/hopper.yaml', 'boosters'
STARTS = {
    'position': [[0.0, 0.0, 0.0], [1.0, -2.0, 0.4], [0.0, 5.0, 30.0]],
    'rpy': [[0.0, 0.0, 0.3], [0.1, 0.0, 0.0], [0.3, -0.4, 2.0]],
    'velocity': [[0.0, 0.0, 0.0], [0.3, 0.0, -1.0], [3.0, 1.0, -6.0]],
    'angular_velocity': [[0.0, 0.0, 0.0], [0.1, 0.2, 0.0], [0.5, -0.3, 1.0]],
}


def row_of(command, i):
    return Command(**{
        field: None if value is None else value[i] for field, value in vars(command).items()
    })


def commands_of(group, steps):
    """Return commands of three vehicles, within what the actuators take."""
    rng = np.random.default_rng(5)
    for _ in range(steps):
        if group == 'rotors':
            yield Command(effort=rng.uniform(2.0, 6.0, (3, 4)))
        else:
            effort, position = np.full((2, 3, 3), np.nan)
            effort[:, 0] = rng.choice([0.0, 500.0, 1200.0], 3, p=[0.1, 0.4, 0.5])
            position[:, 1:] = rng.uniform(-0.1, 0.1, (3, 2))
            yield Command(effort=effort, position=position)


class One:
    """One vehicle as the nodes in lockstep move it."""

    def __init__(self, robot, params, group, i):
        self.family = propulsion_ros.load(ROOT / robot, ROOT / params)[group]
        from propulsion_ros.graph.share import read_description
        _, dry = mass_from_urdf(read_description(ROOT / robot).text)
        body = build(BodyParams, ParameterFile(ROOT / params).of('vehicle'), 'body.')
        self.current = body.current
        self.body = SimulatedBody(body, ParachutesParams(), dry, ['wrench'])
        self.body.reset(state={key: rows[i] for key, rows in STARTS.items()})

    def step(self, command, tick):
        motion = self.body.motion
        output = self.family.step(command, BodyState(
            velocity=motion.velocity - motion.rotation.T @ self.current,
            angular_velocity=motion.angular_velocity, height=motion.position[2],
            up=motion.rotation[2],
        ), DT, tick)
        self.body.push('wrench', output.wrench)
        if output.tanks is not None:
            mass, com, inertia = (values[0] for values in output.tanks)
            self.body.weigh('tank', MassProperties(float(mass), com, inertia))
        self.body.step(0, DT)
        return output


@pytest.mark.parametrize('vehicle', [QUADROTOR, HOPPER], ids=['quadrotor', 'hopper'])
def test_each_vehicle_moves_as_a_single_one(vehicle):
    robot, params, group = vehicle
    many = vehicles_of(ROOT / robot, ROOT / params, 3)
    many.reset(state=STARTS)
    singles = [One(robot, params, group, i) for i in range(3)]
    landed = False
    for tick, command in enumerate(commands_of(group, 200)):
        output = many.step({group: command}, DT)[group]
        for i, single in enumerate(singles):
            expected, motion = single.step(row_of(command, i), tick), single.body.motion
            np.testing.assert_allclose(output.wrench[i], expected.wrench, rtol=1e-9, atol=1e-9)
            for got, wanted in (
                (many.bodies.position, motion.position),
                (many.bodies.quaternion, motion.quaternion),
                (many.bodies.angular_velocity, motion.angular_velocity),
                (many.bodies.specific_force, single.body.rigid.specific_force),
            ):
                np.testing.assert_allclose(got[i], wanted, rtol=1e-8, atol=1e-8)
            assert many.bodies.on_ground[i] == single.body.rigid.on_ground
            touchdown = single.body.rigid.touchdown
            if touchdown is not None:
                landed = True
                np.testing.assert_allclose(many.bodies.touchdown[i], touchdown, atol=1e-8)
            else:
                assert np.isnan(many.bodies.touchdown[i]).all()
    assert landed or group == 'rotors'


def test_reset_of_some_leaves_the_others_as_they_are():
    robot, params, group = HOPPER
    many, twin = (vehicles_of(ROOT / robot, ROOT / params, 3) for _ in range(2))
    for vehicles in (many, twin):
        vehicles.reset(state=STARTS)
    commands = list(commands_of(group, 40))
    for command in commands[:20]:
        many.step({group: command}, DT)
        twin.step({group: command}, DT)
    many.reset([1], {'position': [[0.0, 0.0, 8.0]]}, {group: {'fuel_ratio': 0.5}})
    np.testing.assert_array_equal(many.bodies.position[1], [0.0, 0.0, 8.0])
    for command in commands[20:]:
        many.step({group: command}, DT)
        twin.step({group: command}, DT)
    for i in (0, 2):
        np.testing.assert_array_equal(many.bodies.position[i], twin.bodies.position[i])
        assert many.mass.mass[i] == twin.mass.mass[i]
    assert 60.0 < many.mass.mass[1] < 67.6


@pytest.mark.parametrize('indices', [(0, 1), [7], [1.0], 'a', np.ones(2, bool)])
def test_indices_that_are_none_of_the_batch_are_named_and_nothing_is_reset(indices):
    robot, params, _ = QUADROTOR
    many = vehicles_of(ROOT / robot, ROOT / params, 3)
    many.reset(state=STARTS)
    with pytest.raises(IndexError, match=r'^reset: indices of a batch of \(3,\): '):
        many.reset(indices)
    np.testing.assert_array_equal(many.bodies.position, STARTS['position'])


@pytest.mark.parametrize(('wrong', 'state', 'text'), [
    ({'fins': {'deflexion': 0.1}}, {}, "unknown 'deflexion'"),
    ({'fins': {'deflection': [0.1, 0.1]}}, {}, r'state.deflection.*got \(2,\)'),
    ({}, {'position': 5.0}, r'state.position.* fits \(3, 3\), got \(\)'),
    ({}, {'velocity': [[1.0], [2.0], [3.0]]}, r'state.velocity.* fits \(3, 3\), got \(3, 1\)'),
    ({}, {'rpy': [0.0, 90.0, 0.0]}, r'state.rpy\[0, 1\]..*, got 90; in rad'),
    ({}, {'position': ['0', '0', '5']}, 'state.position.*expected numbers, got list'),
    ({'boosters': {'throttle': [[0.5], [0.5], [0.5]]}}, {}, r'throttle.* fits \(3, 2\), got'),
])
def test_a_refused_reset_moves_nothing(wrong, state, text):
    """The body and the groups before the wrong one were reset."""
    rocket = propulsion_ros.load_vehicles('rocket', count=3)
    for _ in range(20):
        rocket.step({'boosters': [900.0, 900.0, 0.01, 0.0, 0.0, 0.0]}, DT)
    before = [*all_arrays(rocket), rocket.groups['boosters'].fuel_ratio]
    groups = {'boosters': {'fuel_ratio': 0.5, 'throttle': 0.3}, **wrong}
    with pytest.raises(ConfigError, match=text):
        rocket.reset(None, {'position': [0.0, 0.0, 50.0], **state}, groups)
    for values, kept in zip(
        [*all_arrays(rocket), rocket.groups['boosters'].fuel_ratio], before, strict=True
    ):
        np.testing.assert_array_equal(values, kept)
    rocket.reset(None, {'position': [0.0, 0.0, 50.0]}, {'boosters': {'throttle': 0.3}})
    assert rocket.groups['boosters'].throttle.tolist() == [[0.3, 0.3]] * 3


@pytest.mark.parametrize('wrong', [
    [0.1, 0.1], {'fin_9': 0.1}, 'much', Command(effort=[0.1] * 4),
])
def test_a_refused_step_advances_no_group(wrong):
    rocket, twin = (propulsion_ros.load_vehicles('rocket', count=2) for _ in range(2))
    lit = {'boosters': [900.0, 900.0, 0.01, 0.0, 0.0, 0.0]}
    with pytest.raises(CommandError, match='fin'):
        rocket.step({**lit, 'fins': wrong}, DT)
    assert rocket.outputs == {}
    for _ in range(2):
        output, expected = rocket.step(lit, DT), twin.step(lit, DT)
    np.testing.assert_array_equal(output['boosters'].position, expected['boosters'].position)


@pytest.mark.parametrize(('limited', 'match'), [
    pytest.param(Jets(JetsParams(
        names=['j'], max_thrust=1.0, modulation='pulse_width', pulse_period=0.001,
    ), (3,)), 'more than 200 pulses', id='pulses'),
    pytest.param(Thrusters(ThrustersParams(
        names=['j'], dynamics='yoerger', alpha=0.5, beta=0.8, conversion='basic',
        rotor_constant=1e-3, integrator='euler', max_command=3.0, min_command=-3.0,
    ), (3,)), 'euler may overshoot', id='euler'),
])
def test_a_step_too_long_for_one_group_advances_none(limited, match):
    many = made(groups={'r': one_rotor(), 'j': limited})
    many.step({}, DT)
    with pytest.raises(ConfigError, match=match):
        many.step({'r': [5.0]}, 0.9)
    assert not many.groups['r'].rotor_speed.any()
    assert many.groups['r'].tick == 1


def test_the_mass_is_right_before_the_first_step_and_after_a_reset():
    """It was that without propellant."""
    robot, params, group = HOPPER
    many = vehicles_of(ROOT / robot, ROOT / params, 3)
    full = many.mass.mass.copy()
    many.step({}, DT)
    np.testing.assert_allclose(full, many.mass.mass, rtol=1e-12)
    assert np.all(full > 74.0)
    many.reset([1], groups={group: {'fuel_ratio': 0.5}})
    half = many.mass.mass.copy()
    assert np.all(half[[0, 2]] == full[[0, 2]])
    assert half[1] < full[1] - 5.0
    many.step({}, DT)
    np.testing.assert_allclose(half, many.mass.mass, rtol=1e-12)


def test_groups_of_vehicles_are_models():
    drones = propulsion_ros.load_vehicles('quadrotor', count=2)
    rotors = drones.groups['rotors']
    assert rotors.step([4.0] * 4, dt=DT).wrench.shape == (2, 6)
    assert not rotors.rotor_speed.flags.writeable
    drones.step({}, DT)
    assert rotors.tick == 2
    drones.reset()
    assert rotors.tick == 0


def one_rotor(batch=(3,)):
    return Rotors(RotorsParams(names=['a'], max_thrust=9.0, motor_constant=1e-5), batch)


@pytest.mark.parametrize(('change', 'text'), [
    ({'groups': [one_rotor()]}, "'groups': expected Mapping, got list"),
    ({'groups': {'r': one_rotor((4,))}}, r"'batch': r is made for \(4,\), got \(3,\)"),
    ({'groups': {'r': one_rotor(())}}, r"'batch': r is made for \(\), got \(3,\)"),
    ({'body': {}}, "'body': expected BodyParams, got dict"),
    ({'dry': 1.0}, "'dry': expected MassProperties, got float"),
    ({'count': 0}, "'count': expected how many robots, 64, got 0"),
    ({'count': '3'}, "'count': expected how many robots, 64, got '3'"),
    ({'mass': [1.0]}, r"'mass': expected shape \(\), got \(1,\)"),
    ({'mass': '1'}, "'mass': expected numbers, got str '1'"),
    ({'com': [0.0, 0.0]}, r"'com': expected shape \(3,\), got \(2,\)"),
    ({'com': ['0'] * 3}, "'com': expected numbers, got list"),
    ({'inertia': [1.0] * 3}, r"'inertia': expected shape \(3, 3\), got \(3,\)"),
    ({'inertia': [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]}, "'inertia': .* symmetric"),
])
def test_what_makes_no_vehicles_is_one_line(change, text):
    with pytest.raises(ConfigError, match=text):
        made(**change)


def made(count=3, mass=1.0, com=(0, 0, 0), inertia=((1, 0, 0), (0, 1, 0), (0, 0, 1)), **given):
    own = {'groups': {'r': one_rotor()}, 'body': BodyParams(), 'count': count}
    return Vehicles(**{'dry': MassProperties(mass, com, inertia), **own, **given})


def test_lists_are_a_mass_and_an_inertia_of_no_body_is_a_warning():
    assert made(com=[0.0, 0.0, 0.1]).mass.com == (0.0, 0.0, 0.1)
    text = 'inertia of 5 kg m.* above the sum of the others'
    with pytest.warns(UserWarning, match=text) as warned:
        Vehicles({}, BodyParams(), MassProperties(1.0, [0.0] * 3, np.diag([1.0, 1.0, 5.0])), 3)
    assert warned[0].filename == __file__


RANGES = """\
/**/rotors:
  ros__parameters:
    motor_constant_range: [8.0e-6, 1.2e-5]
    time_constant_up_range: [0.03, 0.06]
    seed: 3
"""


@pytest.fixture
def drawn(tmp_path):
    (tmp_path / 'rand.yaml').write_text(RANGES)
    return lambda: propulsion_ros.load_vehicles('quadrotor', tmp_path / 'rand.yaml', 5)


def constants_of(vehicles):
    constants = vehicles.groups['rotors'].constants
    return np.stack([constants[key] for key in ('motor_constant', 'time_constant_up')]).copy()


def test_what_is_drawn_from_ranges_follows_the_seed(drawn):
    """Each vehicle and rotor has its own; a reset of some draws theirs anew."""
    vehicles = drawn()
    assert repr(vehicles) == '<Vehicles: 5, each with rotors>'
    first = constants_of(vehicles)
    assert len(np.unique(first)) == first.size == 2 * 5 * 4
    np.testing.assert_array_equal(constants_of(drawn()), first)
    vehicles.reset([1])
    second = constants_of(vehicles)
    assert not np.any(second[:, 1] == first[:, 1])
    np.testing.assert_array_equal(np.delete(second, 1, axis=1), np.delete(first, 1, axis=1))
    vehicles.reset()
    np.testing.assert_array_equal(constants_of(vehicles), first)
    vehicles.reset(seed=8)
    other = constants_of(vehicles)
    assert not np.any(other == first)
    vehicles.reset([1])
    vehicles.reset()
    np.testing.assert_array_equal(constants_of(vehicles), other)
    # The seed of a file is the same one.
    vehicles.reset(seed=3)
    np.testing.assert_array_equal(constants_of(vehicles), first)
    with pytest.raises(ConfigError, match='leave out the indices'):
        vehicles.reset([1], seed=3)


@pytest.mark.parametrize('dt', [0.0, 10.0])
def test_a_step_without_length_or_in_milliseconds_is_refused(dt):
    vehicles = vehicles_of(ROOT / QUADROTOR[0], count=2)
    with pytest.raises(CommandError, match='dt: expected above 0 and at most 1 s, got'):
        vehicles.step({}, dt)


def test_a_start_below_the_ground_is_named_by_its_place():
    vehicles = vehicles_of(ROOT / QUADROTOR[0], count=2)
    with pytest.raises(ConfigError, match=r'position\[0, 2\].*-1; it is x, y, z, and the ground'):
        vehicles.reset([0, 1], {'position': [-3.0, -2.0, -1.0]})


def test_many_chunks_are_as_few():
    count = 5000
    starts = np.random.default_rng(2).normal(0.0, 1.0, (count, 3))
    mass = MassRows.of(MassProperties(2.0, np.array([0.0, 0.1, 0.2]), np.diag([1.0, 2.0, 1.5])))
    all_, few = (
        Bodies(BodyParams(ground=False, fluid_density=1000.0, drag_area=0.01, displaced_volume=1e-3,
                          centre_of_buoyancy=[0.0, 0.0, 0.1], angular_drag=1e-4), n)
        for n in (count, 2)
    )
    all_.reset(state={'rpy': starts, 'velocity': starts})
    few.reset(state={'rpy': starts[[0, -1]], 'velocity': starts[[0, -1]]})
    for _ in range(20):
        for bodies in (all_, few):
            bodies.step(np.array([1.0, 0.2, 3.0, 0.1, 0.0, 0.2]), mass, 0.02)
    np.testing.assert_allclose(all_._state[:, [0, -1]], few._state, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(('wrench', 'dt', 'text'), [
    (np.ones(3), DT, r'wrench: expected shape \(2, 6\), got \(3,\)'),
    (1.0, DT, r'wrench: expected shape \(2, 6\), got \(\)'),
    (['1'] * 6, DT, 'wrench: expected numbers, got list'),
    (np.ones(6), -0.1, 'dt: expected the seconds'), (np.ones(6), np.nan, 'dt: expected'),
])
def test_bodies_are_stepped_alone(wrench, dt, text):
    mass = MassProperties(2.0, [0.0, 0.1, 0.2], np.diag([1.0, 2.0, 1.5]))
    one, other = Bodies(BodyParams(), 2), Bodies(BodyParams(), 2)
    one.step([0.0, 0.0, 30.0, 0.1, 0.0, 0.0], mass, DT)
    other.step([0.0, 0.0, 30.0, 0.1, 0.0, 0.0], MassRows.of(mass), DT)
    np.testing.assert_array_equal(one.velocity, other.velocity)
    assert np.all(one.velocity[:, 2] > 0.0)
    with pytest.raises(CommandError, match=text):
        one.step(wrench, mass, dt)


def test_body_that_leaves_the_numbers_is_lost_alone_and_found_by_a_reset():
    bodies = Bodies(BodyParams(ground=False), 2)
    mass = MassRows.of(MassProperties(1.0, np.zeros(3), np.eye(3)))
    push = np.zeros((2, 6))
    push[0, 3] = 1e300
    before = bodies.position.copy()
    for _ in range(3):
        bodies.step(push, mass, 0.1)
    assert bodies.lost.tolist() == [True, False]
    np.testing.assert_array_equal(bodies.position[0], before[0])
    assert bodies.position[1, 2] < -0.1
    bodies.reset([0])
    assert not bodies.lost.any()


@pytest.mark.parametrize(('key', 'value'), [
    ('rail_length', 3.0), ('drag_over_mach', '0 1 1 2'), ('temperature_offset', 5.0),
])
def test_what_a_batch_does_not_know_is_refused(key, value):
    with pytest.raises(ConfigError, match=f"'{key}': is known to nodes and studies only"):
        Bodies(BodyParams(**{key: value}), 2)


@pytest.mark.parametrize('seed', [-1, 1.5, 'a', True])
def test_a_seed_is_a_whole_number(drawn, seed):
    with pytest.raises(ConfigError, match="'seed': expected a whole number of at least 0, got"):
        drawn().reset(seed=seed)


def test_unknown_group_and_a_robot_without_mass_are_refused(tmp_path):
    vehicles = vehicles_of(ROOT / QUADROTOR[0], count=2)
    with pytest.raises(ConfigError, match="unknown 'wings', known: rotors"):
        vehicles.reset(groups={'wings': {}})
    text = (ROOT / HOPPER[0]).read_text(encoding='utf-8').replace('<inertial>', '<was>')
    light = tmp_path / 'light.urdf'
    light.write_text(text.replace('</inertial>', '</was>'), encoding='utf-8')
    with pytest.raises(ConfigError, match=r'light.urdf.* 0 kg .*; give base_link an <inertial>'):
        propulsion_ros.load_vehicles(light)


def arrays_of(values):
    """Yield the arrays that a program is given in tuples and mappings."""
    if isinstance(values, np.ndarray):
        yield values
    elif isinstance(values, tuple):
        for part in values:
            yield from arrays_of(part)
    elif isinstance(values, dict):
        yield from arrays_of(tuple(values.values()))


def all_arrays(vehicles):
    read = [name for name, at in vars(Bodies).items() if isinstance(at, property)]
    bodies = tuple(getattr(vehicles.bodies, name) for name in read if name != 'through_fluid')
    return list(arrays_of((bodies, dict(vehicles.outputs), vehicles.mass)))


def test_motion_through_the_fluid_is_a_copy():
    bodies = Bodies(BodyParams(start_position=[0.0, 0.0, 3.0]), 2)
    for values in vars(bodies.through_fluid).values():
        if values is not None and values.flags.writeable:
            values[...] = 7.0
    assert bodies.position[:, 2].tolist() == [3.0, 3.0]
    assert not bodies.angular_velocity.any()


@pytest.mark.parametrize('vehicle', [QUADROTOR, HOPPER], ids=['quadrotor', 'hopper'])
def test_what_is_read_is_overwritten_by_no_step_and_by_nobody(vehicle):
    robot, params, group = vehicle
    vehicles = vehicles_of(ROOT / robot, ROOT / params, 3)
    vehicles.reset(state=STARTS)
    kept = []
    for command in commands_of(group, 60):
        vehicles.step({group: command}, DT)
        arrays = all_arrays(vehicles)
        kept.append((arrays, [array.copy() for array in arrays]))
        assert all(values.flags.writeable for values in arrays_of(tuple(vars(command).values())))
    vehicles.reset([1])
    assert len(kept[0][0]) > 15
    for arrays, copies in kept:
        for array, copy in zip(arrays, copies, strict=True):
            np.testing.assert_array_equal(array, copy)
            with pytest.raises(ValueError, match='read-only'):
                array[...] = 0
