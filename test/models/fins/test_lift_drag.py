# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from golden import vectors_of

from propulsion_ros.models.fins.lift_drag import (
    Quadratic,
    QuadraticParams,
    TwoLines,
    TwoLinesParams,
)

ORIGINAL = vectors_of('uuv_liftdrag')['scenarios']
CORRECTED = vectors_of('uuv_fixed')['liftdrag']
OUR_NAME = {
    'a0': 'angle_offset', 'alpha_stall': 'stall_angle', 'cla': 'lift_slope',
    'cla_stall': 'stalled_lift_slope', 'cda': 'drag_slope', 'cda_stall': 'stalled_drag_slope',
}
FIN = {
    'fin': 'a', 'area': 0.0064, 'fluid_density': 1028.0, 'stall_angle': 0.5, 'lift_slope': 4.0,
    'stalled_lift_slope': -1.2, 'drag_slope': 0.8, 'stalled_drag_slope': 0.9,
}


def model_of(name: str, params: dict[str, float], compat: str):
    values = {OUR_NAME.get(key, key): value for key, value in params.items()}
    if name.startswith('quadratic'):
        return Quadratic(QuadraticParams(fin='a', **values))
    return TwoLines(TwoLinesParams(fin='a', **values), compat)


def planar(velocity) -> np.ndarray:
    velocity = np.asarray(velocity)
    return velocity[..., 0] + 1j * velocity[..., 1]


def force_on(model, velocity) -> np.ndarray:
    """Return the force on one fin, which sees no flow along its span."""
    flow = planar(np.atleast_2d(velocity))
    force, moment = model.coefficients(flow, np.zeros(1)).loads(flow)
    assert not np.any(moment)
    return np.array([force[0].real, force[0].imag, 0.0])


def force_in_space(model, velocity) -> np.ndarray:
    """Return forces (..., 3) as the originals have them: with drag of flow along the span too."""
    flow, speed = planar(velocity), np.linalg.norm(velocity, axis=-1)
    made = model.coefficients(flow, np.zeros(1)).force
    size = np.abs(flow)
    across = 1j * made.imag * flow * speed**2 / np.where(size > 0.0, size, np.inf)
    still = np.zeros_like(speed)
    lift = np.stack((across.real, across.imag, still), axis=-1)
    return lift + (made.real * speed)[..., None] * velocity


@pytest.mark.parametrize(
    ('scenario', 'compat'),
    [pytest.param(s, 'uuv', id=f'original-{s["name"]}') for s in ORIGINAL
     if s['create'] != 'null']
    + [pytest.param(s, 'none', id=f'corrected-{s["name"]}') for s in CORRECTED],
)
def test_golden_sweep(scenario, compat):
    rows = np.array(scenario['rows'])
    model = model_of(scenario['name'], scenario['params'], compat)
    scale = np.maximum(np.linalg.norm(rows[:, 3:], axis=1, keepdims=True), 1e-3)
    force = force_in_space(model, rows[:, None, :3])[:, 0]
    assert np.max(np.abs(force - rows[:, 3:]) / scale) < 1e-12
    in_plane = rows[:, 2] == 0.0
    force = np.array([force_on(model, row[:3]) for row in rows])
    assert np.max((np.abs(force - rows[:, 3:]) / scale)[in_plane]) < 1e-12


def test_original_feeds_power_in_and_default_does_not():
    velocity = np.array([1.73, -1.0, 0.0])
    params = TwoLinesParams(**FIN)
    assert force_on(TwoLines(params, 'uuv'), velocity) @ velocity > 10.0
    assert force_on(TwoLines(params), velocity) @ velocity < -10.0


def test_lift_does_not_change_sign_beyond_stall():
    model = TwoLines(TwoLinesParams(**{**FIN, 'stalled_lift_slope': -20.0}))
    a = 1.2
    velocity = np.array([np.cos(a), np.sin(a), 0.0])
    force = force_on(model, velocity)
    np.testing.assert_allclose(np.cross(force, velocity), 0.0, atol=1e-14)
    assert force @ velocity < 0.0


def test_a_positive_offset_pushes_away_from_the_normal():
    # Gazebo adds its a0 to an angle that counts the other way: there it pushes upward.
    params = TwoLinesParams(
        fin='a', area=0.1, stall_angle=0.4, lift_slope=4.0, stalled_lift_slope=-1.0,
        drag_slope=0.5, stalled_drag_slope=0.5, angle_offset=0.1,
    )
    flow = np.array([5.0 + 0.0j])
    force, _ = TwoLines(params).coefficients(flow, np.zeros(1)).loads(flow)
    assert force[0].imag < 0.0
