# SPDX-License-Identifier: Apache-2.0
"""Boosters against what was recorded of PyFlyt's, run one at a time and as one array."""
import numpy as np
import pytest
from golden import vectors_of

from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.boosters.params import GimbalsParams
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.supply.tanks import TanksParams

RECORDED = vectors_of('pyflyt_boosters')
SCENARIOS = {each['name']: each for each in RECORDED['scenarios']}
MEMBERS = RECORDED['multi']['members']
REFUSED = 'start_overfull', 'start_negative', 'dt_gt_2tau_diverges'
BIASED = 'noise_seeded'
REPRODUCED = [
    pytest.param(each, id=name) for name, each in SCENARIOS.items()
    if name not in REFUSED and name != BIASED
] + [pytest.param(each, id=each['name']) for each in MEMBERS]


def original(*recorded, gimbals: GimbalsParams | None = None) -> Boosters:
    """Return the recorded boosters as one array, stepped as the original steps."""
    names = [f'booster_{i}' for i in range(len(recorded))]

    def joined(key: str) -> list:
        return [each['params'][key] for each in recorded]

    tanks = TanksParams(
        names=names, capacity=joined('total_fuel_mass'), inertia=joined('max_inertia'),
        starting_fuel_ratio=[each['start_fuel_ratio'] for each in recorded],
    )
    return Boosters(BoostersParams(
        names=names, tank=names, tanks=tanks, gimbals=gimbals or GimbalsParams(),
        max_thrust=joined('max_thrust'), min_thrust=joined('min_thrust'),
        max_fuel_rate=joined('max_fuel_rate'), time_constant=joined('tau'),
        axis=joined('thrust_unit'), reignitable=joined('reignitable'),
        integrator='euler', exact_final_step=False,
    ))


def replay(recorded) -> None:
    """Check that our array of boosters does what was recorded of each original."""
    rotations = recorded[0]['inputs'].get('rotation')
    # Gimbals without lag turn to the recorded attitude R1(x) R2(y) at once.
    turning = GimbalsParams(booster=['booster_0'], range=np.pi) if rotations else None
    model = original(*recorded, gimbals=turning)
    idle = np.array([each['params']['min_thrust'] for each in recorded])
    full = np.array([each['params']['max_thrust'] for each in recorded])
    ratio = idle / full
    stays_lit = np.array([not each['params']['reignitable'] for each in recorded])

    def joined(part: str, key: str) -> np.ndarray:
        return np.stack([each[part][key] for each in recorded], axis=1)

    ignition, pwm = joined('inputs', 'ignition') > 0.5, joined('inputs', 'pwm')
    outputs = {key: joined('outputs', key) for key in recorded[0]['outputs']}
    n = len(recorded)
    for k in range(len(pwm)):
        effort, position = np.full((2, len(model.command_names)), np.nan)
        # What is lit at no throttle is lit by the smallest thrust, and what cannot be cut is not.
        thrust = np.maximum((pwm[k] * (1.0 - ratio) + ratio) * full, 5e-324)
        effort[:n] = np.where(ignition[k] | (model.ignition & stays_lit), thrust, 0.0)
        if rotations:
            r = np.array(rotations[k])
            position[n:] = np.arctan2(r[2, 1], r[1, 1]), np.arctan2(r[0, 2], r[0, 0])
        output = model.step(Command(position, effort=effort), BodyState(), recorded[0]['dt'], k)

        def same(ours, key, scale=1.0, k=k):
            recorded_value = outputs[key][k]
            np.testing.assert_allclose(ours / scale, recorded_value / scale, 1e-12, 1e-12, key)

        fuel_ratio = output.position[-n:]
        np.testing.assert_array_equal(model.ignition, outputs['ignition_state'][k])
        same(model.throttle, 'throttle')
        same(fuel_ratio, 'fuel_ratio')
        same(output.applied, 'thrust', full)
        same(output.effort[:n], 'thrust', full)
        same(output.forces, 'thrust_vector', full[:, None])
        same(output.tanks.mass, 'tank_mass')
        same(np.diagonal(output.tanks.inertia, axis1=1, axis2=2), 'tank_inertia')
        same(np.stack((model.ignition, fuel_ratio, model.throttle), axis=-1), 'states')


@pytest.mark.parametrize('recorded', REPRODUCED)
def test_recorded_outputs(recorded):
    replay([recorded])


def test_members_that_the_original_cannot_run_together_run_as_one_array():
    assert 'ValueError' in RECORDED['n_gt_1_probe']['n4']['physics_update_raises']
    replay(MEMBERS)
