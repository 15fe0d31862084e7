# SPDX-License-Identifier: Apache-2.0
"""Hulls against Qhull, quadrature, the wall-sided formula, and the closed forms of a float."""
import numpy as np
import pytest
from scipy.spatial import ConvexHull, HalfspaceIntersection
from scipy.spatial.transform import Rotation

from bodies import G, part, run
from propulsion_ros.models.body.bodies import Bodies, MassRows
from propulsion_ros.models.body.hulls import Hulls, HullsParams
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams, RigidBody

RHO = 1025.0
LENGTH, BREADTH, DEPTH = 3.0, 1.2, 0.6
DRAUGHT = 0.25


def hulls_of(**values) -> Hulls:
    return Hulls(HullsParams(**{'names': ['a'], **values}))


def clipped(corners: np.ndarray, up: np.ndarray, depth: float) -> tuple[float, np.ndarray]:
    """Return volume and moment of a convex solid below a plane, by Qhull."""
    planes = np.vstack((ConvexHull(corners).equations, [*up, -depth]))
    wet = [corner for corner in corners if up @ corner < depth]
    if not wet:
        return 0.0, np.zeros(3)
    # A point inside: from the deepest corner a little to the middle.
    lowest = corners[np.argmin(corners @ up)]
    inside = lowest + min(1e-3, 0.1 * (depth - up @ lowest)) * (corners.mean(axis=0) - lowest)
    hull = ConvexHull(HalfspaceIntersection(planes, inside).intersections)
    volume, moment = 0.0, np.zeros(3)
    for simplex in hull.simplices:
        tetra = np.vstack((hull.points[simplex], inside))
        part_ = abs(np.linalg.det(tetra[:3] - inside)) / 6.0
        volume, moment = volume + part_, moment + part_ * tetra.mean(axis=0)
    return volume, moment


def test_boxes_are_cut_as_qhull_cuts_them():
    rng = np.random.default_rng(1)
    unit = np.stack(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5]), axis=-1).reshape(-1, 3)
    for _ in range(300):
        size, at, rpy = rng.uniform(0.1, 3.0, 3), rng.normal(0, 1, 3), rng.uniform(-3, 3, 3)
        up = rng.normal(0, 1, 3)
        up /= np.linalg.norm(up)
        turn = Rotation.from_euler('xyz', rpy).as_matrix()
        corners = (unit * size) @ turn.T + at
        ends = corners @ up
        depth = rng.uniform(ends.min() - 0.1, ends.max() + 0.1)
        volume, moment = hulls_of(size=size, position=at, rpy=rpy).immersed(up, np.array(depth))
        expected = clipped(corners, up, depth)
        scale = size.prod()
        assert volume == pytest.approx(expected[0], abs=1e-9 * scale)
        np.testing.assert_allclose(moment, expected[1], atol=1e-9 * scale)


@pytest.mark.parametrize('up', [
    [0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.3, -0.5, 0.4], [0.0, 1e-9, 1.0],
    [1.0, 0.0, 1e-9], [0.9, 0.1, -0.05],
], ids=str)
@pytest.mark.parametrize('depth', [-0.9, -0.2, 0.0, 0.13, 0.6, 9.0])
def test_cylinders_are_cut_as_prisms_of_many_sides(up, depth):
    up, size, sides = np.array(up) / np.linalg.norm(up), np.array([0.8, 0.5, 1.4]), 200
    turns = 2.0 * np.pi * np.arange(sides) / sides
    # As large as the circle.
    radius = 0.5 * np.sqrt(2.0 * np.pi / (sides * np.sin(2.0 * np.pi / sides)))
    ring = radius * np.stack((np.cos(turns), np.sin(turns)), axis=-1)
    unit = np.vstack([np.insert(ring, 2, end, axis=1) for end in (-0.5, 0.5)])
    volume, moment = hulls_of(shape='cylinder', size=size).immersed(up, np.array(depth))
    expected = clipped(unit * size, up, depth)
    scale = size.prod()
    assert volume == pytest.approx(expected[0], abs=2e-4 * scale)
    np.testing.assert_allclose(moment, expected[1], atol=2e-4 * scale)


# A boat.


def test_a_lying_cylinder_is_a_segment_of_a_circle():
    radius, long = 0.35, 2.0
    hull = hulls_of(shape='cylinder', size=[2 * radius, 2 * radius, long], rpy=[0, np.pi / 2, 0])
    for depth in (-0.3, -0.1, 0.0, 0.2, 0.34):
        half = np.arccos(-depth / radius)
        area = radius**2 * (half - np.sin(half) * np.cos(half))
        lever = -2.0 / 3.0 * (radius * np.sin(half)) ** 3
        volume, moment = hull.immersed(np.array([0.0, 0.0, 1.0]), np.array(depth))
        assert volume == pytest.approx(area * long, rel=1e-13)
        np.testing.assert_allclose(moment, [0, 0, lever * long], atol=1e-13)
        # Trimmed, the ends are cut aslant: half the volume is wet where the middle line dips in.
        volume, _ = hull.immersed(np.array([0.3, 0.0, 1.0]) / np.hypot(0.3, 1.0), np.array(0.0))
        assert volume == pytest.approx(0.5 * np.pi * radius**2 * long, rel=1e-13)


def barge(**values) -> tuple[RigidBody, MassProperties]:
    """Return a box boat, base_link in its middle, and what it weighs at its draught."""
    mass = RHO * LENGTH * BREADTH * DRAUGHT
    weight = part(mass, (0.0, 0.0, 0.05), mass * np.array([0.15, 0.8, 0.85]))
    params = {
        'ground': False, 'fluid_density': RHO,
        'hulls': HullsParams(names=['barge'], size=[LENGTH, BREADTH, DEPTH]),
        'start_position': [0.0, 0.0, DEPTH / 2 - DRAUGHT], **values,
    }
    return RigidBody(BodyParams(**params)), weight


DAMPED = {'drag_area': [0.4, 2.0, 7.0], 'angular_drag': [1.0, 4.0, 4.0]}


@pytest.mark.parametrize('level', [0.0, 2.5])
def test_a_boat_stays_at_its_waterline(level):
    model, mass = barge(water_level=level, **DAMPED)
    model.reset(state={'position': [0.0, 0.0, level + DEPTH / 2 - DRAUGHT]})
    motion = run(model, 250, mass=mass, dt=0.02)
    np.testing.assert_allclose(motion.position, [0, 0, level + DEPTH / 2 - DRAUGHT], atol=1e-6)
    np.testing.assert_allclose(motion.specific_force, [0, 0, G], atol=1e-6)


BM, KB, KG = BREADTH**2 / (12.0 * DRAUGHT), DRAUGHT / 2.0, DEPTH / 2.0 + 0.05
GM = KB + BM - KG


def righting(degrees: float) -> float:
    """Return the lever GZ of the barge that is held at a heel, at the draught of its weight."""
    hull = hulls_of(size=[LENGTH, BREADTH, DEPTH])
    heel = np.radians(degrees)
    up, com = np.array([0.0, np.sin(heel), np.cos(heel)]), np.array([0.0, 0.0, 0.05])
    wanted, low, high = LENGTH * BREADTH * DRAUGHT, -2.0, 2.0
    for _ in range(80):
        depth = 0.5 * (low + high)
        volume, moment = hull.immersed(up, np.array(depth))
        low, high = (low, depth) if volume > wanted else (depth, high)
    return float(-np.cross(moment - volume * com, up)[0] / volume)


@pytest.mark.parametrize('degrees', [0.5, 5.0, 10.0, 20.0, 22.0])
def test_it_rights_as_the_wall_sided_formula_up_to_the_edge_of_the_deck(degrees):
    # The bilge comes out at tan = 2 draught / breadth, 22.6 degrees; the deck dips in later.
    tan, sin = np.tan(np.radians(degrees)), np.sin(np.radians(degrees))
    assert righting(degrees) == pytest.approx((GM + 0.5 * BM * tan**2) * sin, rel=1e-12)


def test_beyond_the_edge_it_rights_less_than_the_formula():
    tan, sin = np.tan(np.radians(35.0)), np.sin(np.radians(35.0))
    assert 0.0 < righting(35.0) < 0.97 * (GM + 0.5 * BM * tan**2) * sin


def test_it_rolls_with_the_period_of_its_metacentre():
    model, mass = barge(start_rpy=[0.01, 0.0, 0.0])
    period = 2.0 * np.pi * np.sqrt(mass.inertia[0, 0] / (mass.mass * G * GM))
    rolls = [run(model, 1, mass=mass, dt=2e-3).quaternion[0] for _ in range(1500)]
    crossings = np.flatnonzero(np.diff(np.sign(rolls)))
    assert np.diff(crossings).mean() * 4e-3 == pytest.approx(period, rel=4e-3)
    assert len(crossings) >= 2


def test_a_roll_dies_out_by_the_damping_of_what_is_wet():
    ratio, (_, mass) = 0.1, barge()
    rigid = np.sqrt(mass.mass * G * GM * mass.inertia[0, 0])
    damping = 2.0 * ratio * rigid * DEPTH / DRAUGHT  # Of the whole hull, a part of which is wet.
    model, mass = barge(start_rpy=[0.01, 0.0, 0.0], angular_damping=[damping, 0.0, 0.0])
    rolls = np.array([run(model, 1, mass=mass, dt=2e-3).quaternion[0] for _ in range(3000)])
    peaks = np.flatnonzero((rolls[1:-1] > rolls[:-2]) & (rolls[1:-1] > rolls[2:])) + 1
    lost = np.exp(-2.0 * np.pi * ratio / np.sqrt(1.0 - ratio**2))
    assert rolls[peaks[1]] / rolls[peaks[0]] == pytest.approx(lost, rel=0.02)


@pytest.mark.parametrize('yaw', [0.3, np.pi / 4.0, 2.0])
def test_metacentre_is_that_of_the_axis_about_which_it_turns_over_first(yaw):
    """Of a hull between the axes of base_link it was nearly that of its length."""
    hull, (_, mass) = hulls_of(size=[LENGTH, BREADTH, DEPTH], rpy=[0.0, 0.0, yaw]), barge()
    height = hull.height_at_rest(mass.mass, RHO)
    assert hull.metacentric_heights(mass, RHO, height)[0] == pytest.approx(GM, rel=1e-5)


def test_height_and_metacentre_of_a_barge_and_of_a_catamaran():
    hull, (_, mass) = hulls_of(size=[LENGTH, BREADTH, DEPTH]), barge()
    height = hull.height_at_rest(mass.mass, RHO)
    assert height == pytest.approx(DEPTH / 2 - DRAUGHT, abs=1e-12)
    assert hull.metacentric_heights(mass, RHO, height)[0] == pytest.approx(GM, rel=1e-6)
    assert hull.height_at_rest(2000.0 * mass.mass, RHO) is None
    two = Hulls(HullsParams(names=['port', 'starboard'], size=[LENGTH, 0.3, DEPTH],
                            position=[[0, 0.8, 0], [0, -0.8, 0]]))
    light = part(0.5 * mass.mass, mass.com)
    height = two.height_at_rest(light.mass, RHO)
    draught, section = DEPTH / 2 - height, LENGTH * 0.3
    inertia = 2.0 * (LENGTH * 0.3**3 / 12.0 + section * 0.8**2)
    kg, volume = DEPTH / 2 + 0.05, light.mass / RHO
    trim = 2.0 * 0.3 * LENGTH**3 / 12.0
    expected = draught / 2 + min(inertia, trim) / volume - kg
    assert two.metacentric_heights(light, RHO, height)[0] == pytest.approx(expected, rel=1e-6)


def test_drag_is_that_of_what_is_wet():
    """A box that is held at half its depth has half the drag of one below the surface."""
    gains = []
    for height in (0.0, -50.0):
        model, mass = barge(gravity=0.0, drag_area=1.0, start_velocity=[2.0, 0.0, 0.0])
        model.reset(state={'position': [0.0, 0.0, height], 'velocity': [2.0, 0.0, 0.0]})
        gains.append(run(model, 1, mass=mass, dt=1e-4).velocity[0] - 2.0)
    assert gains[0] / gains[1] == pytest.approx(0.5, rel=1e-3)


def test_many_boats_are_each_as_one():
    rng = np.random.default_rng(5)
    params = BodyParams(
        ground=False, fluid_density=RHO, drag_area=[0.4, 2.0, 7.0], angular_drag=1.0,
        angular_damping=[20.0, 30.0, 5.0], water_level=1.0, hulls=HullsParams(
            names=['a', 'b'], shape=['box', 'cylinder'], size=[[2.0, 0.5, 0.5], [0.4, 0.4, 1.5]],
            position=[[0, 0.6, 0], [0, -0.6, 0]], rpy=[[0, 0, 0], [0, np.pi / 2, 0]],
        ),
    )
    mass = part(250.0, (0.05, 0.02, -0.1), (60.0, 90.0, 120.0))
    starts = {'position': np.array([0, 0, 1.0]) + rng.normal(0, 0.3, (4, 3)),
              'rpy': rng.normal(0, 1, (4, 3))}
    dt = 0.002
    many = Bodies(params, 4)
    many.reset(state=starts)
    for _ in range(100):
        many.step(np.array([30.0, 5.0, 0, 0, 0, 4.0]), MassRows.of(mass), dt)
    for i in range(4):
        one = RigidBody(params)
        one.reset(state={key: rows[i] for key, rows in starts.items()})
        motion = run(one, 100, [30.0, 5.0, 0, 0, 0, 4.0], mass=mass, dt=dt)
        np.testing.assert_allclose(many.position[i], motion.position, atol=1e-9)
        np.testing.assert_allclose(many.angular_velocity[i], motion.angular_velocity, atol=1e-9)
