# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from golden import vectors_of
from scipy.spatial.transform import Rotation

from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.fins.fins import Fins, FinsParams
from propulsion_ros.models.fins.lift_drag import QuadraticParams, TwoLinesParams, angle_of_attack
from propulsion_ros.models.fins.lifting_surface import LiftingSurfaceParams

PLUGIN = vectors_of('uuv_fin_plugin')['scenarios']
MANAGER = vectors_of('uuv_thruster_manager')
LINES = {
    'area': 0.0064, 'fluid_density': 1028.0, 'stall_angle': 0.5, 'lift_slope': 4.0,
    'stalled_lift_slope': -1.2, 'drag_slope': 0.8, 'stalled_drag_slope': 0.9,
}
FORWARD = BodyState(velocity=np.array([2.0, 0.0, 0.0]))


def models(quadratic=(), two_lines=(), surface=()):
    return {
        'quadratic': QuadraticParams(
            fin=quadratic, **({'lift_constant': 3.0, 'drag_constant': 2.0} if quadratic else {})
        ),
        'two_lines': TwoLinesParams(fin=two_lines, **(LINES if two_lines else {})),
        'lifting_surface': LiftingSurfaceParams(
            fin=surface, **({'chord_length': 0.2, 'span_length': 0.3} if surface else {})
        ),
    }


def params(n=1, model='quadratic', **values) -> FinsParams:
    names = [f'fin_{i}' for i in range(n)]
    return FinsParams(names=names, **models(**{model: names}), **values)


def commands(*angles) -> Command:
    return Command(position=np.array(angles, dtype=float))


def run(fins, command, body, dt, steps):
    return [fins.step(command, body, dt, tick) for tick in range(steps)][-1]


# ---- the originals


@pytest.mark.parametrize('scenario', PLUGIN, ids=lambda s: s['name'])
def test_golden_plugin(scenario):
    """The original makes the force of the link as it stands; how it turns is tested in urdf/."""
    model = 'two_lines' if 'TwoLines' in scenario['xml'] else 'quadratic'
    for row in np.array(scenario['rows']):
        link = Rotation.from_quat(np.roll(row[2:6], -1)).as_matrix()
        standing = Fins(params(
            model=model, min_deflection=0.0, max_deflection=0.0, compat='uuv',
            chord=link[:, 0], span=link[:, 2],
        ))
        body = BodyState(velocity=row[6:9] - row[9:12])
        force = standing.step(commands(0.0), body, 0.0, 0).forces[0] @ link
        np.testing.assert_allclose(
            force, row[13:16], rtol=1e-12, atol=1e-12 * np.linalg.norm(row[13:16])
        )


@pytest.mark.parametrize('fin', MANAGER['fin_models'], ids=lambda f: f'{f["quat_xyzw"][0]:.3f}')
def test_golden_lift_direction(fin):
    """The allocator's lift vector is where a fin that lags the surge by some angle lifts."""
    link = Rotation.from_quat(fin['quat_xyzw']).as_matrix()
    alone = FinsParams(
        names='a', chord=link[:, 0], span=link[:, 2],
        quadratic=QuadraticParams(fin='a', lift_constant=1.0, drag_constant=0.0),
    )
    surge = BodyState(velocity=np.array([1.0, 0.0, 0.0]))
    force = Fins(alone).step(commands(0.0), surge, 0.0, 0).forces[0]
    along = link.T @ surge.velocity
    flow = np.array(along[0] + 1j * along[1])
    expected = angle_of_attack(flow) * np.abs(flow) ** 2 * np.array(fin['lift_vector'])
    np.testing.assert_allclose(force, expected, rtol=1e-12, atol=1e-15)


# ---- closed forms and conservation


def test_yoerger_settles_and_keeps_the_rate_limit():
    fins = Fins(params(2, dynamics=['yoerger', 'first_order'], alpha=4.0, beta=2.0,
                       time_constant=0.1, rate_limit=0.5))
    one = run(fins, commands(0.5, 0.5), BodyState(), 0.01, 1)
    np.testing.assert_allclose(one.position, 0.005, rtol=1e-12)
    end = run(fins, commands(0.5, 0.5), BodyState(), 0.01, 2000)
    np.testing.assert_allclose(end.position, [np.sqrt(2.0 * 0.5 / 4.0), 0.5], rtol=1e-9)


@pytest.mark.parametrize(('model', 'normal'), [
    pytest.param('quadratic', 3.0 * 0.1 * 4.0, id='quadratic'),
    pytest.param('two_lines', 0.5 * 1028.0 * 4.0 * 0.0064 * 4.0 * 0.1, id='two_lines'),
    pytest.param('surface', None, id='lifting_surface'),
])
def test_positive_deflection_in_forward_motion_pushes_to_the_normal(model, normal):
    output = Fins(params(model=model, position=(-1.0, 0.0, 0.2))).step(
        commands(0.1), FORWARD, 0.01, 0
    )
    force = output.forces[0]
    assert force[1] > 0.0 > force[0]
    assert force[2] == 0.0
    moment = output.wrench[3:] - np.cross([-1.0, 0.0, 0.2], force)
    np.testing.assert_allclose(moment[:2], 0.0, atol=1e-15)
    if normal is None:
        assert moment[2] < 0.0
    else:
        assert force[1] == pytest.approx(normal, rel=1e-12)
        assert moment[2] == pytest.approx(0.0, abs=1e-14)


# ---- hard cases


def test_stall_is_flagged():
    fins = Fins(params(model='two_lines'))
    flags = [bool(fins.step(commands(a), FORWARD, 0.1, 0).flags['stalled'][0]) for a in (0.4, 0.6)]
    assert flags == [False, True]
