# SPDX-License-Identifier: Apache-2.0
"""The model of a robot's actuators for several candidate parameters at once.

What runs is the family itself. Where its actuators do not touch each other, candidates are further
rows of one configuration, so that many cost little more than one; else each has its own model.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.models.common.family import Allocatable, BodyState, Command, Family
from propulsion_ros.models.steering.steered import SteeredFamily, made_family
from propulsion_ros.settings.flat import build
from propulsion_ros.settings.quantity import (
    FloatArray,
    Group,
    Quantity,
    flatten,
    names_field,
    spec_of,
)

_WARM = 60
_WARM_STEP = 0.25
"""Steps before the first sample, and how long each is [s]: what lags follows its first command."""


@dataclass(frozen=True)
class Ticks:
    """What a model is stepped with."""

    dt: float
    commands: FloatArray
    """One row a step, one column a command name, (k, m)."""
    flow: FloatArray | None = None
    """Velocity through the fluid and angular velocity, (k, 6), where the family needs it."""
    is_warm: bool = True
    """Whether what came before the first row was the same."""


@dataclass(frozen=True)
class Response:
    """What candidates did, c of them over k steps."""

    wrench: FloatArray
    """In base_link about its origin, (c, k, 6)."""
    state: Mapping[str, FloatArray]
    """By '<name>.<field>', (c, k)."""


class Candidates:
    """Runs candidates of one family; ``states``, '<name>.<field>', are those that are wanted."""

    def __init__(
        self, family: type[Family], values: Mapping[str, Any], states: Sequence[str] = ()
    ) -> None:
        self._family = family
        self._values = values
        self._states = tuple(states)
        self.model = self.made({})
        self.command_names = tuple(self.model.command_names)
        self.command_fields = tuple(self.model.command_fields)
        self._is_wide = self._can_be_wide()

    def made(self, changes: Mapping[str, Any]) -> Family:
        """Return a model with other values; raise `ConfigError` where they are wrong."""
        values = {**self._values, **changes}
        return made_family(self._family, build(self._family.Params, values), values)

    def changed(self, values: Mapping[str, Any]) -> Candidates:
        """Return candidates with other values in common."""
        return Candidates(self._family, {**self._values, **values}, self._states)

    def predicts(self, state: str) -> bool:
        """Return whether a model has a state, '<name>.<field>'."""
        name, _, field = state.rpartition('.')
        ticks = Ticks(_WARM_STEP, np.zeros((1, len(self.command_names))), is_warm=False)
        rows = getattr(next(_outputs(self.made({}), ticks, self.command_fields)), field)
        return rows is not None and bool(np.isfinite(rows[self.model.state_names.index(name)]))

    def run(self, changes: Sequence[Mapping[str, Any]], ticks: Ticks) -> Response:
        """Return what a model does with each set of changed parameters.

        Raises `ConfigError` where one of them is refused.
        """
        if self._is_wide and all(self._is_row(key) for each in changes for key in each):
            return self._run_wide(changes, ticks)
        parts = [self._run_one(self.made(each), ticks) for each in changes]
        return Response(
            np.stack([part.wrench[0] for part in parts]),
            {name: np.stack([part.state[name][0] for part in parts]) for name in self._states},
        )

    def efforts(self, changes: Mapping[str, Any], ticks: Ticks) -> FloatArray | None:
        """Return the thrust of each actuator [N], (k, n), None where they cannot be told apart."""
        if not self._is_wide:
            return None
        model = self.made(changes)
        names = list(model.actuator_names)
        places = [(i, 0) for i in range(len(names))]
        return self._steps(model, ticks, places, names)[0]

    def _can_be_wide(self) -> bool:
        model, cls = self.model, self._family.Params
        if not isinstance(model, Allocatable) or model.uses_body or names_field(cls) is None:
            return False
        is_plain = tuple(model.command_names) == tuple(model.actuator_names)
        return is_plain and not isinstance(model, SteeredFamily) and not any(
            flatten(self._values.get(f'{field.name}.names'))
            for field in dataclasses.fields(cls) if isinstance(spec_of(field), Group)
        )

    def _is_row(self, key: str) -> bool:
        spec = next(
            (spec_of(f) for f in dataclasses.fields(self._family.Params) if f.name == key), None
        )
        return isinstance(spec, Quantity) and spec.per_row

    def _run_wide(self, changes: Sequence[Mapping[str, Any]], ticks: Ticks) -> Response:
        cls, count = self._family.Params, len(changes)
        base: Any = build(cls, self._values)
        naming = names_field(cls)
        if naming is None:
            raise TypeError(f'{cls.__name__} has no rows')
        names = getattr(base, naming.name)
        wide: dict[str, Any] = {}
        for field in dataclasses.fields(cls):
            spec = spec_of(field)
            if not isinstance(spec, Quantity):
                continue
            own = getattr(base, field.name)
            if field is naming:
                wide[field.name] = [f'{name}@{i}' for i in range(count) for name in names]
            elif spec.per_row:
                rows = [self._rows(spec, each.get(field.name, own), len(names))
                        for each in changes]
                wide[field.name] = [value for row in rows for value in row]
        model = self.made(wide)
        n = len(names)
        effort, state = self._steps(model, Ticks(
            ticks.dt, np.tile(ticks.commands, (1, count)), ticks.flow, ticks.is_warm,
        ), [(i % n, i // n) for i in range(n * count)], names)
        matrix = model.allocation_matrix.reshape(6, count, n)  # type: ignore[attr-defined]
        wrench = np.einsum('wcn,kcn->ckw', matrix, effort.reshape(-1, count, n), optimize=True)
        return Response(wrench, {
            name: np.stack([state[name, i] for i in range(count)]) for name in self._states
        })

    @staticmethod
    def _rows(spec: Quantity, value: Any, n: int) -> list[Any]:
        """Return a value as one row for each name."""
        flat = flatten(value)
        size = int(np.prod([int(each) for each in spec.shape[1:]] or [1]))
        return flat if len(flat) == n * size else flat * n

    def _steps(
        self, model: Family, ticks: Ticks, places: Sequence[tuple[int, int]], names: Sequence[str]
    ) -> tuple[FloatArray, dict[tuple[str, int], FloatArray]]:
        """Return the efforts (k, n) and the wanted states of each candidate, by name."""
        effort = np.empty((len(ticks.commands), len(places)))
        width = len(model.state_names)
        kept: dict[str, FloatArray] = {
            field: np.empty((len(effort), width))
            for field in {name.rpartition('.')[2] for name in self._states}
        }
        for k, output in enumerate(_outputs(model, ticks, self.command_fields[0])):
            effort[k] = output.thrusts
            for field, rows in kept.items():
                rows[k] = getattr(output, field)
        columns = {name: i for i, name in enumerate(model.state_names)}
        state: dict[tuple[str, int], FloatArray] = {}
        for i, candidate in places if self._states else ():
            for name in self._states:
                owner, _, field = name.rpartition('.')
                # A candidate's actuators have its number behind their names.
                if owner.partition('/')[0] == names[i]:
                    wide = owner.replace(names[i], f'{names[i]}@{candidate}', 1)
                    state[name, candidate] = kept[field][:, columns[wide]]
        return effort, state

    def _run_one(self, model: Family, ticks: Ticks) -> Response:
        k = len(ticks.commands)
        wrench = np.empty((1, k, 6))
        state = {name: np.empty((1, k)) for name in self._states}
        columns = {name: i for i, name in enumerate(model.state_names)}
        for step, output in enumerate(_outputs(model, ticks, self.command_fields)):
            wrench[0, step] = output.wrench
            for name, rows in state.items():
                owner, _, field = name.rpartition('.')
                rows[0, step] = getattr(output, field)[columns[owner]]
        return Response(wrench, state)


def _outputs(model: Family, ticks: Ticks, fields: str | Sequence[str]) -> Any:
    """Yield what a model does in each step."""
    one = isinstance(fields, str)
    arrays = (
        {str(fields): ticks.commands} if one else {
            field: np.where([each == field for each in fields], ticks.commands, np.nan)
            for field in dict.fromkeys(fields)
        }
    )
    flow, still = ticks.flow, BodyState()
    if ticks.is_warm and not model.tank_names and len(ticks.commands):
        first = Command(**{field: rows[0] for field, rows in arrays.items()})
        body = still if flow is None else _body(flow[0])
        # Some models know one length of step alone, and settle in steps of that.
        for tick in range(2 * _WARM):
            model.step(first, body, _WARM_STEP if tick < _WARM else ticks.dt, tick)
    for tick in range(len(ticks.commands)):
        command = Command(**{field: rows[tick] for field, rows in arrays.items()})
        body = still if flow is None else _body(flow[tick])
        yield model.step(command, body, ticks.dt, tick)


def _body(flow: FloatArray) -> BodyState:
    return BodyState(velocity=flow[:3], angular_velocity=flow[3:])
