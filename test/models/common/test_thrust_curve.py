# SPDX-License-Identifier: Apache-2.0
import numpy as np

from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.common.thrust_curve import BurnCurves
from propulsion_ros.models.supply.tanks import TanksParams

TRIANGLE = '0 0 0.1 20 1.1 0'  # 1 N s while it rises, 10 N s while it falls
PLATEAU = '0.25 40, 2.25 40, 2.5 0'  # begins after 0: it rises from no thrust
STILL = BodyState()
LIT = Command(effort=np.array([1.0, 1.0]))


def motors(**changes) -> Boosters:
    """Return both motors, each with a tank that its burn just empties."""
    return Boosters(BoostersParams(**{
        'names': ['a', 'b'], 'max_thrust': [20.0, 40.0], 'thrust_curve': [TRIANGLE, PLATEAU],
        # 0.022 and 0.18 kg over the whole burn.
        'max_fuel_rate': [20.0 * 0.022 / 11.0, 40.0 * 0.18 / 90.0], 'tank': ['ta', 'tb'],
        'tanks': TanksParams(names=['ta', 'tb'], capacity=[0.022, 0.18]), **changes,
    }))


def test_thrust_of_a_moment_by_hand():
    curves = BurnCurves([TRIANGLE, PLATEAU])
    lit = np.array([True, True])
    for time, expected in (
        (0.0, [0.0, 0.0]), (0.05, [10.0, 8.0]), (0.1, [20.0, 16.0]), (0.6, [10.0, 40.0]),
        (1.1, [0.0, 40.0]), (2.375, [0.0, 20.0]), (2.5, [0.0, 0.0]), (99.0, [0.0, 0.0]),
    ):
        curves.reset()
        curves.step(lit, time)
        np.testing.assert_allclose(curves.step(lit, 0.0), expected, rtol=0, atol=1e-12)


def test_once_lit_nothing_cuts_or_throttles_it():
    lit, cut = motors(time_constant=0.5, min_thrust=[15.0, 15.0]), motors()
    start = Command(effort=np.array([1e6, 1e-6]))
    off = Command(effort=np.array([0.0, np.nan]))
    for tick in range(300):
        expected = lit.step(LIT, STILL, 0.01, tick)
        output = cut.step(off if tick else start, STILL, 0.01, tick)
        np.testing.assert_array_equal(output.applied, expected.applied)
        assert not output.flags['saturated'].any()
        assert cut.ignition.all()
