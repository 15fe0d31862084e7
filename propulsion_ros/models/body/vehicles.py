# SPDX-License-Identifier: Apache-2.0
"""Many vehicles at once: their actuators, tanks and bodies, each step as the nodes make it."""
from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from propulsion_ros.models.body.bodies import Bodies, MassRows
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams
from propulsion_ros.models.common.family import BodyState, Output, StepLimited, read_only, shown
from propulsion_ros.models.common.model import (
    AnyCommand,
    Model,
    Sealed,
    advance,
    command_of,
    seconds_of,
)
from propulsion_ros.models.common.start import State
from propulsion_ros.settings.errors import CommandError, ConfigError, warn
from propulsion_ros.settings.quantity import BoolArray

_LONGEST = 1.0
"""What no step is longer than, which is not divided [s]."""
_FLATTEST = 1.25
"""Largest moment of inertia over the sum of the others, as rough descriptions have it."""


class Vehicles(Sealed):
    """n vehicles alike, each in an environment of its own.

    A step is that of the nodes in lockstep: the actuators see the motion at its start, and what
    they apply acts until its end.

    Parameters
    ----------
    groups : mapping of str to family
        Actuators by the names of their groups, made with the batch (n,).

    Attributes
    ----------
    bodies : Bodies
        Where the vehicles are and how they move.
    groups : mapping of str to Model
        The groups by their names, as `load` returns them.
    outputs : mapping of str to Output
        What each group did in the last step; empty before the first.
    """

    def __init__(
        self, groups: Mapping[str, Any], body: BodyParams, dry: MassProperties, count: int
    ) -> None:
        self.outputs: Mapping[str, Output] = {}
        for key, given, kind in (
            ('groups', groups, Mapping), ('body', body, BodyParams), ('dry', dry, MassProperties),
        ):
            if not isinstance(given, kind):
                raise ConfigError(key, f'expected {kind.__name__}, got {shown(given)}')
        dry.require_solid('mass')
        largest = max(dry.moments)
        if largest > _FLATTEST * (sum(dry.moments) - largest):
            warn(f'mass: moment of inertia of {largest:g} kg m^2 about an axis, no body has one '
                 'above the sum of the others')
        self.bodies, self.count = Bodies(body, count), count
        self.groups = {name: Model(group, (count,), name) for name, group in groups.items()}
        self._dry = MassRows.of(dry)
        self._uses_body = any(group.uses_body for group in self.groups.values())
        self._checked_dt = 0.0
        self.reset()
        self._is_made = True

    def __repr__(self) -> str:
        return f'<Vehicles: {self.count}, each with {", ".join(self.groups)}>'

    def reset(
        self, indices: Any = None, state: State | None = None,
        groups: Mapping[str, State] | None = None, seed: int | None = None,
    ) -> None:
        """Return some or all vehicles to the start, or to states.

        Parameters
        ----------
        indices : index, optional
            Which; without it all.
        state : mapping, optional
            Of the bodies; see `Bodies.reset`.
        groups : mapping of str to mapping, optional
            States of groups by their names; see `Restartable.reset`.
        seed : int, optional
            From now on in place of the ``seed`` of groups whose constants are drawn from ranges;
            without indices alone, as all are drawn anew.

        Raises
        ------
        ConfigError
            For a state or a group that there is not, or that cannot be; then nothing is reset.
        IndexError
            For indices that are none of the batch.
        """
        states = groups or {}
        for name in states:
            if name not in self.groups:
                raise ConfigError('groups', f'unknown {name!r}, known: {", ".join(self.groups)}')
        if seed is not None and indices is not None:
            raise ConfigError('seed', 'is that of all vehicles; leave out the indices')
        if seed is not None and (
            isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0
        ):
            raise ConfigError('seed', f'expected a whole number of at least 0, got {seed!r}')
        for name, given in states.items():
            # A copy refuses what the group would, which is reset after the bodies.
            copy.deepcopy(self.groups[name]).reset(indices, given)
        self.bodies.reset(indices, state)
        for i, (name, group) in enumerate(self.groups.items()):
            if seed is not None and hasattr(group.family, 'reseed'):
                group.family.reseed((seed, i))
            group.reset(indices, states.get(name))
        if indices is None:
            self._mass = self._dry
            vars(self).update(outputs=dict[str, Output]())
            self._is_fresh: BoolArray = np.ones(self.count, bool)
        else:
            self._is_fresh[indices] = True

    def step(self, commands: Mapping[str, AnyCommand], dt: float) -> Mapping[str, Output]:
        """Advance by ``dt`` [s] and return what each group did.

        Parameters
        ----------
        commands : mapping of str to array_like, mapping or Command
            By the names of the groups, each (n, m) as `Model.step` takes it; a group without one
            is not commanded.
        dt : float
            [s].

        Raises
        ------
        CommandError
            For an unknown group, and for commands of another type, length or batch.
        ConfigError
            For a step that is too long for a group; then none is advanced.
        """
        known, dt = ', '.join(self.groups), seconds_of(dt)
        if not 0.0 < dt <= _LONGEST:
            raise CommandError(f'dt: expected above 0 and at most {_LONGEST:g} s, got {dt:g}')
        if not isinstance(commands, Mapping):
            got = type(commands).__name__
            raise CommandError(f'commands: expected a mapping with a group ({known}), got {got}')
        for name in commands:
            if name not in self.groups:
                raise CommandError(f'commands: unknown group {name!r}, known: {known}')
        wanted = {
            name: command_of(group.family, commands.get(name), (self.count,), name)
            for name, group in self.groups.items()
        }
        body = self.bodies.through_fluid if self._uses_body else BodyState()
        if dt != self._checked_dt:
            # The groups before one that refuses must not have moved.
            for group in self.groups.values():
                if isinstance(group.family, StepLimited):
                    group.family.check_step(dt)
            self._checked_dt = dt
        outputs = {
            name: advance(group, wanted[name], body, dt) for name, group in self.groups.items()
        }
        vars(self).update(outputs=outputs)
        wrench = sum((each.wrench for each in outputs.values()), np.zeros((self.count, 6)))
        self.bodies.step(wrench, self._acting_mass(), dt)
        return self.outputs

    def _acting_mass(self) -> MassRows:
        """Return the mean mass of the step."""
        tanks = [output.tanks for output in self.outputs.values() if output.tanks is not None]
        if not tanks:
            return self._dry
        after = self._dry.with_tanks(tanks)
        before = self._mass
        if self._is_fresh.any():
            # What is in a tank is known only after a step, so the first one burns nothing.
            before = before.replaced(self._is_fresh, after)
            self._is_fresh = np.zeros(self.count, bool)
        self._mass = after
        return before.mean(after)

    @property
    def mass(self) -> MassRows:
        """Masses of the vehicles with what is in their tanks now."""
        states = [getattr(each, 'tank_state', None) for each in self.groups.values()]
        tanks = [state for state in states if state is not None]
        if not tanks or not self._is_fresh.any():
            return read_only(self._mass)
        return read_only(self._mass.replaced(self._is_fresh, self._dry.with_tanks(tanks)))
