# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from golden import vectors_of

from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.fins.fins import Fins, FinsParams
from propulsion_ros.models.fins.lifting_surface import LiftingSurface, LiftingSurfaceParams

SCENARIOS = vectors_of('pyflyt_lifting_surface')['scenarios']

PLAIN = {'fin': 'a', 'chord_length': 0.3, 'span_length': 0.9, 'flap_to_chord': 0.4}


def params_of(scenario) -> LiftingSurfaceParams:
    p = scenario['params']
    return LiftingSurfaceParams(
        fin='a', chord_length=p['chord'], span_length=p['span'], lift_slope=p['Cl_alpha_2D'],
        flap_to_chord=p['flap_to_chord'], flap_effectiveness=p['eta'],
        zero_lift_angle=np.radians(p['alpha_0_base']),
        max_stall_angle=np.radians(p['alpha_stall_P_base']),
        min_stall_angle=np.radians(p['alpha_stall_N_base']), zero_lift_drag=p['Cd_0'],
    )


def loads_in(model, flow, deflection):
    """Return chord force, normal force and moment, (..., 3)."""
    force, moment = model.coefficients(flow, deflection).loads(flow)
    return np.stack((force.real, force.imag, moment), axis=-1)


def loads_at(model, alpha, deflection=0.0):
    return loads_in(model, np.exp([-1j * alpha]), np.array([deflection]))[0]


@pytest.mark.parametrize('scenario', SCENARIOS, ids=lambda s: s['name'])
def test_golden_sweep(scenario):
    rows = np.array(scenario['rows'])
    forward, lift = np.array(scenario['forward_unit']), np.array(scenario['lifting_unit'])
    axes = np.stack((forward, lift, np.cross(forward, lift)))
    model = LiftingSurface(params_of(scenario), 'pyflyt')
    limit = np.radians(scenario['params']['deflection_limit'])
    velocity = rows[:, 2:5] @ axes.T
    assert not np.any(velocity[:, 2])
    loads = loads_in(model, velocity[:, 0] + 1j * velocity[:, 1], limit * rows[:, 0])
    got, want = np.hstack((loads[:, :2] @ axes[:2], loads[:, 2:] * axes[2])), rows[:, 5:]
    scale = np.maximum(np.linalg.norm(want, axis=1, keepdims=True), 1e-3)
    assert np.max(np.abs(got - want) / scale) < 1e-12


@pytest.mark.parametrize('scenario', SCENARIOS, ids=lambda s: s['name'])
def test_golden_step_response(scenario):
    rows = np.array(scenario['step_rows'])
    forward, lift = scenario['forward_unit'], scenario['lifting_unit']
    limit = np.radians(scenario['params']['deflection_limit'])
    fins = Fins(FinsParams(
        names='a', min_deflection=-limit, max_deflection=limit, integrator='euler',
        time_constant=scenario['params']['tau'], chord=forward, span=np.cross(forward, lift),
        lifting_surface=params_of(scenario), compat='pyflyt',
    ))
    body = BodyState(velocity=np.array(scenario['step_velocity']))
    for tick, row in enumerate(rows):
        output = fins.step(Command(position=limit * row[:1]), body, scenario['dt'], tick)
        np.testing.assert_allclose(fins.deflection[0], limit * row[1], rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(output.wrench, row[2:], rtol=1e-12, atol=1e-12)


def test_plate_broadside_to_the_flow_by_hand():
    model = LiftingSurface(LiftingSurfaceParams(**PLAIN, zero_lift_drag=0.0))
    pressure, chord = 0.5 * 1.225 * 0.27, 0.3
    normal = pressure * 1.98 * (1.0 - 0.41 * (1.0 - np.exp(-17.0 / 3.0)))
    got = loads_at(model, np.pi / 2)
    np.testing.assert_allclose(got, [0.0, normal, -0.25 * chord * normal], atol=1e-15)


def test_moment_joins_at_negative_stall_where_the_original_jumps():
    params = LiftingSurfaceParams(**PLAIN, zero_lift_drag=0.0)
    stall = params.min_stall_angle[0]

    def centres(compat):
        model = LiftingSurface(params, compat)
        sides = [loads_at(model, stall + side) for side in (1e-9, -1e-9)]
        return [abs(moment / np.hypot(chord, normal)) / 0.3 for chord, normal, moment in sides]

    attached, stalled = centres('none')
    assert attached == pytest.approx(stalled, abs=1e-8)
    attached, stalled = centres('pyflyt')
    assert stalled - attached > 0.02


def random_surfaces(rng, count):
    """Return legal surfaces of any shape, those at the ends of their ranges among them."""
    def between(low, high):
        part = np.clip(rng.uniform(-0.1, 1.1, count), 0.0, 1.0)
        return low + (high - low) * part

    lowest, highest = between(-np.pi / 2, -1e-9), between(1e-9, np.pi / 2)
    return LiftingSurfaceParams(
        fin=[str(i) for i in range(count)], chord_length=10.0 ** between(-6, 6),
        span_length=10.0 ** between(-6, 6), lift_slope=between(1e-9, 4 * np.pi),
        flap_to_chord=between(0.0, 1.0), flap_effectiveness=between(0.0, 1.0),
        zero_lift_angle=lowest + (highest - lowest) * rng.uniform(0.01, 0.99, count),
        min_stall_angle=lowest, max_stall_angle=highest, zero_lift_drag=between(0.0, 1.0),
        fluid_density=between(0.0, 2000.0),
    )


def power_of(model, flow, deflection):
    """Return the power that the fluid feeds in [W], and force times speed [W]."""
    force, _ = model.coefficients(flow, deflection).loads(flow)
    return (force * flow.conj()).real, np.abs(force) * np.abs(flow)


def test_20000_legal_surfaces_never_take_power_from_the_fluid():
    rng = np.random.default_rng(5)
    worst_original = 0.0
    for _ in range(40):
        params = random_surfaces(rng, 500)
        flow = rng.uniform(0.0, 50.0, 500) * np.exp(1j * rng.uniform(-np.pi, np.pi, 500))
        deflection = rng.uniform(-np.pi / 2, np.pi / 2, 500)
        power, size = power_of(LiftingSurface(params), flow, deflection)
        assert np.all(np.isfinite(size))
        # Lift is perpendicular to the flow up to rounding, which may have either sign.
        assert np.all(power <= 1e-12 * size)
        original, size = power_of(LiftingSurface(params, 'pyflyt'), flow, deflection)
        worst_original = max(worst_original, np.max(original / np.maximum(size, 1e-300)))
    assert worst_original > 0.9


def test_force_coefficient_stays_that_of_a_plate_beyond_stall():
    # The profile's own line ends at the stall angle past zero lift, with any flap.
    params = LiftingSurfaceParams(fin='a', chord_length=0.1, span_length=2.0)
    pressure = 0.5 * 1.225 * 0.1 * 2.0
    model, original = LiftingSurface(params), LiftingSurface(params, 'pyflyt')
    alpha, flap = np.radians(10.0), np.radians(45.0)
    line = model._slope[0] * params.max_stall_angle[0] / np.cos(params.max_stall_angle[0])
    assert np.hypot(*loads_at(original, alpha, flap)[:2]) / pressure > 4.0
    sweep = np.linspace(-np.pi, np.pi, 721)
    for deflection in np.linspace(-np.pi / 2, np.pi / 2, 31):
        force = np.array([loads_at(model, a, deflection)[:2] for a in sweep[::20]]) / pressure
        assert np.max(np.hypot(*force.T)) < max(line, 2.3) + 0.01


def test_no_flow_stays_attached_beyond_30_degrees():
    params = LiftingSurfaceParams(
        **PLAIN, max_stall_angle=np.pi / 2, min_stall_angle=-np.pi / 2, zero_lift_angle=0.1,
    )
    alpha = 0.1 + np.array([-np.pi / 6 - 1e-9, -0.5, 0.5, np.pi / 6 + 1e-9])
    stalled = LiftingSurface(params).coefficients(np.exp(-1j * alpha), np.zeros(4)).stalled
    np.testing.assert_array_equal(stalled, [True, False, False, True])
