# SPDX-License-Identifier: Apache-2.0
"""The model of a robot's actuators for several candidate parameters at once.

The family itself runs. If its actuators do not interact, candidates are further rows of one
configuration, so that many cost little more than one; otherwise each has a model of its own.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.models.common.family import (
    Allocatable,
    BodyState,
    Command,
    Family,
    Output,
    battery_names,
)
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

_WARM = 60  # steps with the first command before the first sample, in which lags settle
_WARM_STEP = 0.25  # length of such a step [s]


@dataclass(frozen=True)
class Ticks:
    """Inputs of a model over k steps."""

    dt: float
    """Length of a step [s]."""
    commands: FloatArray
    """One row a step, one column a command name, (k, m)."""
    flow: FloatArray | None = None
    """Velocity through the fluid and angular velocity, (k, 6), if the family needs it."""
    voltage: FloatArray | None = None
    """Measured voltages of the batteries [V], (k, b)."""


@dataclass(frozen=True)
class Response:
    """Response of c candidates over k steps."""

    wrench: FloatArray
    """Wrench in base_link about its origin [N], [N m], (c, k, 6)."""
    state: Mapping[str, FloatArray]
    """Fields of actuator states by '<name>.<field>', (c, k)."""


class Candidates:
    """Runs candidates of one family and returns ``states``, each named '<name>.<field>'."""

    def __init__(
        self, family: type[Family], values: Mapping[str, Any], states: Sequence[str] = ()
    ) -> None:
        self._family = family
        self._values = values
        self._states = tuple(states)
        self.model = self.made({})
        self.command_names = tuple(self.model.command_names)
        self._rows = {
            field.name: spec for field in dataclasses.fields(family.Params)
            if isinstance(spec := spec_of(field), Quantity) and spec.per_row
        }
        self._naming = self._field_of_names()

    def made(self, changes: Mapping[str, Any]) -> Family:
        """Return a model with other values; raise `ConfigError` if they are invalid."""
        values = {**self._values, **changes}
        return made_family(self._family, build(self._family.Params, values), values)

    def changed(self, values: Mapping[str, Any]) -> Candidates:
        """Return candidates with other values in common."""
        return Candidates(self._family, {**self._values, **values}, self._states)

    def predicts(self, state: str) -> bool:
        """Return whether the model predicts a state, '<name>.<field>'."""
        name, _, field = state.rpartition('.')
        ticks = Ticks(_WARM_STEP, np.zeros((1, len(self.command_names))))
        rows = getattr(next(_outputs(self.made({}), ticks)), field)
        return rows is not None and bool(np.isfinite(rows[self.model.state_names.index(name)]))

    def run(self, changes: Sequence[Mapping[str, Any]], ticks: Ticks) -> Response:
        """Return the response of the model with each set of changed parameters.

        Raises `ConfigError` if the model refuses one of them.
        """
        if self._is_wide(ticks) and all(key in self._rows for each in changes for key in each):
            return self._run_wide(changes, ticks)
        parts = [self._followed(self.made(each), 'wrench', ticks) for each in changes]
        return Response(
            np.stack([wrench for wrench, _ in parts]),
            {name: np.stack([state(name) for _, state in parts]) for name in self._states},
        )

    def efforts(self, changes: Mapping[str, Any], ticks: Ticks) -> FloatArray | None:
        """Return the thrust of each actuator [N], (k, n); None if actuators interact."""
        if not self._is_wide(ticks):
            return None
        return self._followed(self.made(changes), 'thrusts', ticks)[0]

    def _is_wide(self, ticks: Ticks) -> bool:
        """Return whether candidates can be rows: actuators share no battery, or one as measured."""
        return bool(self._naming) and (ticks.voltage is not None or not battery_names(self.model))

    def _field_of_names(self) -> str:
        """Return the field that names the rows; '' if candidates cannot be further rows."""
        model, cls = self.model, self._family.Params
        if not isinstance(model, Allocatable) or model.uses_body:
            return ''
        is_plain = tuple(model.command_names) == tuple(model.actuator_names)
        shared = [
            name for field in dataclasses.fields(cls) if isinstance(spec_of(field), Group)
            for name in flatten(self._values.get(f'{field.name}.names'))
        ]
        has_groups = shared != [*battery_names(model)]
        is_one = is_plain and not isinstance(model, SteeredFamily) and not has_groups
        naming = names_field(cls) if is_one else None
        return naming.name if naming else ''

    def _run_wide(self, changes: Sequence[Mapping[str, Any]], ticks: Ticks) -> Response:
        naming, count = self._naming, len(changes)
        base: Any = build(self._family.Params, self._values)
        names = getattr(base, naming)
        wide: dict[str, Any] = {naming: [f'{name}@{i}' for i in range(count) for name in names]}
        n = len(names)
        for key, spec in self._rows.items():
            if key != naming:
                size = n * int(np.prod([int(each) for each in spec.shape[1:]] or [1]))
                flat = [flatten(each.get(key, getattr(base, key))) for each in changes]
                # One value may stand for all names.
                wide[key] = [x for row in flat for x in (row if len(row) == size else row * n)]
        model = self.made(wide)
        effort, state = self._followed(model, 'thrusts', dataclasses.replace(
            ticks, commands=np.tile(ticks.commands, (1, count))
        ))
        matrix = model.allocation_matrix.reshape(6, count, n)  # type: ignore[attr-defined]
        wrench = np.einsum('wcn,kcn->ckw', matrix, effort.reshape(-1, count, n), optimize=True)
        found = {}
        for name in self._states:
            owner, _, part = name.rpartition('.')
            # A candidate's actuators have its number behind their names.
            own, slash, rest = owner.partition('/')
            found[name] = np.stack([
                state(f'{own}@{i}{slash}{rest}.{part}') for i in range(count)
            ])
        return Response(wrench, found)

    def _followed(
        self, model: Family, what: str, ticks: Ticks
    ) -> tuple[FloatArray, Callable[[str], FloatArray]]:
        """Return a field of the outputs, (k, ...), and a function from a state's name to (k,)."""
        fields = {name.rpartition('.')[2] for name in self._states} | {what}
        rows: dict[str, FloatArray] = {}
        for k, output in enumerate(_outputs(model, ticks)):
            for field in fields:
                value = getattr(output, field)
                if not k:
                    rows[field] = np.empty((len(ticks.commands), *value.shape))
                rows[field][k] = value

        def state(name: str) -> FloatArray:
            owner, _, field = name.rpartition('.')
            return rows[field][:, model.state_names.index(owner)]

        return rows[what], state


def _outputs(model: Family, ticks: Ticks) -> Iterator[Output]:
    """Yield the output of a model at each step."""
    fields = list(model.command_fields)
    arrays = {
        field: np.where([each == field for each in fields], ticks.commands, np.nan)
        for field in dict.fromkeys(fields)
    }
    flow, still = ticks.flow, BodyState()
    if not model.tank_names and len(ticks.commands):
        # The first row also held before the start, so that lags begin settled.
        first = Command(**{field: rows[0] for field, rows in arrays.items()})
        body = still if flow is None else _body(flow[0])
        _supply(model, ticks, 0)
        # Some models support a single length of step, and settle in steps of that.
        for tick in range(2 * _WARM):
            model.step(first, body, _WARM_STEP if tick < _WARM else ticks.dt, tick)
    for tick in range(len(ticks.commands)):
        command = Command(**{field: rows[tick] for field, rows in arrays.items()})
        body = still if flow is None else _body(flow[tick])
        _supply(model, ticks, tick)
        yield model.step(command, body, ticks.dt, tick)


def _supply(model: Any, ticks: Ticks, tick: int) -> None:
    if ticks.voltage is not None:
        model.measure_supply(ticks.voltage[tick])


def _body(flow: FloatArray) -> BodyState:
    return BodyState(velocity=flow[:3], angular_velocity=flow[3:])
