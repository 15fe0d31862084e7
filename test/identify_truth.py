# SPDX-License-Identifier: Apache-2.0
"""Recordings of models whose parameters are known, with noise as sensors have it."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from propulsion_ros.identify.candidates import Candidates, Ticks
from propulsion_ros.identify.fit import Fit, fitted
from propulsion_ros.identify.free import free_parameters
from propulsion_ros.identify.problem import Problem, Setup
from propulsion_ros.identify.reading import FLOW, STATE, WRENCH, Recording, Series
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.common.family import WRENCH_NAMES
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.settings.flat import build, parameters_of

BODY = MassProperties(1.2, np.zeros(3), np.diag([0.01, 0.012, 0.02]))
SECONDS = 10.0
Values = Mapping[str, Any]


@dataclass(frozen=True)
class Bench:
    """How one family is tested."""

    family: str
    fixed: Values
    draw: Callable[[np.random.Generator], Values]
    """Random values of what is fitted."""
    fit: Sequence[str]
    command: Callable[[np.random.Generator, np.ndarray, int], np.ndarray]
    """Commands at times, (k, m)."""
    noise: float
    """Of white noise, over the largest part of the wrench."""
    colour: float = 0.0
    """Of noise with a correlation time of 20 ms, over the same."""
    off: float = 1.3
    """Where the search begins, over the truth."""
    dt: float = 0.01
    flow: Callable[[np.random.Generator, np.ndarray], np.ndarray] | None = None
    is_slow: bool = False
    states: Sequence[str] = ()
    """What of the state is measured in place of the wrench."""


def steps(low: float, high: float, held: float) -> Callable[..., np.ndarray]:
    """Return random steps of the command, each held for about so long [s]."""
    def command(rng: np.random.Generator, time: np.ndarray, count: int) -> np.ndarray:
        columns = []
        for _ in range(count):
            edges = np.cumsum(rng.uniform(0.3, 1.7, 400) * held)
            levels = rng.uniform(low, high, 401)
            columns.append(levels[np.searchsorted(edges, time)])
        return np.stack(columns, axis=1)
    return command


def full(family: str, values: Values) -> dict[str, Any]:
    """Return every flat parameter of a family."""
    params = FAMILIES[family].Params
    built = build(params, values)
    return {each.key: attrgetter(each.key)(built) for each in parameters_of(params)}


def recorded(bench: Bench, truth: Values, rng: np.random.Generator) -> Recording:
    """Return what a test stand measures of a model with the true values."""
    time = np.arange(0.0, SECONDS, bench.dt)
    candidates = Candidates(FAMILIES[bench.family], full(bench.family, truth), bench.states)
    names = candidates.command_names
    command = bench.command(rng, time, len(names))
    flow = None if bench.flow is None else bench.flow(rng, time)
    response = candidates.run([{}], Ticks(bench.dt, command, flow))
    wrench, middle = response.wrench[0], time + 0.5 * bench.dt
    sizes = np.abs(wrench).max(axis=0)
    measured = {}

    def noisy(values: np.ndarray, size: float) -> np.ndarray:
        white = rng.normal(0.0, bench.noise * size, len(time)) if bench.noise else 0.0
        return values + white + coloured(rng, len(time), bench.colour * size, bench.dt)

    for i, name in enumerate(() if bench.states else WRENCH_NAMES):
        size = float(sizes[:3].max() if i < 3 else sizes[3:].max())
        if sizes[i] > 1e-6 * max(size, 1e-12):
            measured[WRENCH + name] = Series(middle, noisy(wrench[:, i], size))
    for name in bench.states:
        rows = response.state[name][0]
        measured[STATE + name] = Series(time + bench.dt, noisy(rows, float(np.ptp(rows))))
    if flow is not None:
        measured |= {key: Series(middle, flow[:, i]) for i, key in enumerate(FLOW)}
    return Recording('truth', 0.0, {
        name: Series(time, command[:, i]) for i, name in enumerate(names)
    }, measured)


def coloured(rng: np.random.Generator, count: int, sd: float, dt: float) -> np.ndarray:
    """Return noise with a correlation time of 20 ms."""
    if not sd:
        return np.zeros(count)
    keep = np.exp(-dt / 0.02)
    values, state = np.empty(count), 0.0
    for i, kick in enumerate(rng.normal(0.0, sd * np.sqrt(1.0 - keep**2), count)):
        state = keep * state + kick
        values[i] = state
    return values


def fit_of(bench: Bench, truth: Values, recording: Recording) -> Fit:
    """Fit a recording, from a start that is not the truth."""
    begin = {**bench.fixed, **truth, **{
        key: np.asarray(truth[key]) * bench.off for key in truth
        if not isinstance(np.ravel(truth[key])[0], str)
    }}
    values = full(bench.family, begin)
    schema = list(parameters_of(FAMILIES[bench.family].Params))
    free = free_parameters(
        [f'{bench.family}.{key}' for key in bench.fit], bench.family, schema, values, {}
    )
    candidates = Candidates(FAMILIES[bench.family], values, bench.states)
    kind = 'state' if bench.states else 'wrench'
    problem = Problem(Setup(recording, candidates, tuple(free), BODY, kind))
    return fitted(problem, lambda what: None)


def true_numbers(bench: Bench, truth: Values) -> np.ndarray:
    """Return the true numbers in the order of the estimates."""
    numbers: list[float] = []
    for key in bench.fit:
        value = truth[key.partition('[')[0]]
        first = np.ravel(value)[0]
        if isinstance(first, str):
            words = [float(word) for word in str(first).split()]
            numbers += words
        else:
            numbers.append(float(first))
    return np.array(numbers)
