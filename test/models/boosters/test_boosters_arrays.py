# SPDX-License-Identifier: Apache-2.0
"""Many boosters are so many single ones, and a batch of vehicles is so many vehicles."""
from __future__ import annotations

import numpy as np
import pytest

from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.boosters.gimbals import GimbalsParams
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.supply.tanks import TanksParams

STILL = BodyState()


def many(n: int, batch: tuple[int, ...] = ()) -> tuple[BoostersParams, Boosters]:
    """Return boosters that differ in everything, the last without a tank."""
    rng = np.random.default_rng(n)
    names = [f'b{i}' for i in range(n)]
    gimbals = GimbalsParams(
        booster=names, range=0.5, time_constant=rng.uniform(0.0, 0.2, n),
        axes=rng.normal(size=(n, 2, 3)), pivots=rng.normal(size=(n, 2, 3)),
    )
    tanks = TanksParams(names=names, capacity=rng.uniform(0.0, 0.5, n), inertia=[1.0, 2.0, 3.0])
    params = BoostersParams(
        names=names, max_thrust=rng.uniform(50.0, 500.0, n), min_thrust=rng.uniform(0.0, 50.0, n),
        max_fuel_rate=rng.uniform(0.1, 1.0, n), time_constant=rng.uniform(0.0, 0.2, n),
        reignitable=rng.random(n) < 0.5, position=rng.normal(size=(n, 3)),
        axis=rng.normal(size=(n, 3)), tank=[*names[:-1], ''], tanks=tanks, gimbals=gimbals,
    )
    return params, Boosters(params, batch)


def asked_of(rng: np.random.Generator, n: int, batch: tuple[int, ...] = ()) -> Command:
    effort = rng.choice([0.0, 30.0, 200.0, 1e3], (*batch, 3 * n))
    return Command(effort=effort, position=rng.uniform(-0.7, 0.7, (*batch, 3 * n)))


def row(params: BoostersParams, i: int) -> Boosters:
    """Return booster i alone."""
    tanks, gimbals = params.tanks, params.gimbals
    scalars = ('max_thrust', 'min_thrust', 'max_fuel_rate', 'time_constant')
    return Boosters(BoostersParams(
        names=[params.names[i]], tank=[params.tank[i]], reignitable=[bool(params.reignitable[i])],
        position=params.position[i], axis=params.axis[i],
        tanks=TanksParams(
            names=[tanks.names[i]], capacity=tanks.capacity[i], inertia=tanks.inertia[i]
        ),
        gimbals=GimbalsParams(
            booster=[params.names[i]], range=0.5, time_constant=gimbals.time_constant[i],
            axes=gimbals.axes[i], pivots=gimbals.pivots[i],
        ),
        **{key: getattr(params, key)[i] for key in scalars},
    ))


@pytest.mark.parametrize('n', [1, 2, 3, 7])
def test_n_boosters_are_n_times_one(n):
    params, model = many(n)
    ones = [row(params, i) for i in range(n)]
    rng = np.random.default_rng(0)
    for tick in range(40):
        asked, total = asked_of(rng, n), np.zeros(6)
        output = model.step(asked, STILL, 0.05, tick)
        for i, one in enumerate(ones):
            own = [i, n + 2 * i, n + 2 * i + 1]
            single = Command(effort=asked.effort[own], position=asked.position[own])
            alone = one.step(single, STILL, 0.05, tick)
            total += alone.wrench
            np.testing.assert_allclose(output.forces[i], alone.forces[0], 1e-12, 1e-10)
            np.testing.assert_allclose(output.tanks.mass[i], alone.tanks.mass[0], atol=1e-13)
        np.testing.assert_allclose(output.wrench, total, rtol=1e-12, atol=1e-9)
