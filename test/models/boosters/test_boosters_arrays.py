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


def test_a_batch_is_a_loop():
    batch = (2, 3)
    _, together = many(4, batch)
    loop = {at: many(4)[1] for at in np.ndindex(batch)}
    rng = np.random.default_rng(1)
    for tick in range(30):
        asked = asked_of(rng, 4, batch)
        output = together.step(asked, STILL, 0.05, tick)
        assert output.wrench.shape == (*batch, 6)
        for at, one in loop.items():
            single = Command(effort=asked.effort[at], position=asked.position[at])
            alone = one.step(single, STILL, 0.05, tick)
            for field in ('wrench', 'forces', 'position', 'effort', 'applied'):
                ours, its = getattr(output, field)[at], getattr(alone, field)
                np.testing.assert_allclose(ours, its, rtol=1e-12, atol=1e-10, err_msg=field)
            np.testing.assert_array_equal(output.flags['dry'][at], alone.flags['dry'])


def test_a_thousand_boosters_on_one_tank():
    model = Boosters(BoostersParams(
        names=[f'b{i}' for i in range(1000)], max_thrust=100.0, max_fuel_rate=0.5, tank='t',
        tanks=TanksParams(names=['t'], capacity=100.0),
    ))
    full = Command(effort=np.full(1000, 100.0))
    assert model.step(full, STILL, 0.1, 0).wrench[2] == pytest.approx(1e5, rel=1e-12)
    assert model.propellant[0] == pytest.approx(50.0, rel=1e-12)
    # The next step wants twice what is left.
    assert model.step(full, STILL, 0.2, 1).wrench[2] == pytest.approx(5e4, rel=1e-12)


def test_a_large_batch_with_noise():
    params = BoostersParams(
        names=['a', 'b'], max_thrust=100.0, max_fuel_rate=0.5, noise_ratio=0.1, noise_seed=[1, 2],
        tank=['a', 'b'], tanks=TanksParams(names=['a', 'b'], capacity=[1.0, 2.0]),
    )
    model = Boosters(params, (4096,))
    output = model.step(Command(effort=np.full((4096, 2), 50.0)), STILL, 0.1, 0)
    assert output.wrench.shape == (4096, 6)
    assert output.position.shape == (4096, len(model.state_names))
    assert output.tanks.inertia.shape == (4096, 2, 3, 3)
    assert np.unique(output.applied).size == 2 * 4096
    assert output.applied.mean() == pytest.approx(50.0, abs=5.0 * 5.0 / np.sqrt(8192))
