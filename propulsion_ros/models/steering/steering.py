# SPDX-License-Identifier: Apache-2.0
"""Joints that turn the links of actuators: gimbals, tilts, azimuth drives.

Between base_link and the link of an actuator are up to two of them. The outer one carries the
inner one, so that what the link has along u is along R1 R2 u. Each is moved by a servo, a
first-order lag or a `Servo`, or is measured.
"""
from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from propulsion_ros.models.common.family import restart
from propulsion_ros.models.common.lag import Lag
from propulsion_ros.models.common.layout import ThrustLayout
from propulsion_ros.models.common.servo import Servo, ServoParams, check_servos
from propulsion_ros.models.common.wrench import cross, move_wrench, skew
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import (
    BoolArray,
    FloatArray,
    IntArray,
    check_known,
    check_order,
    names,
    per_row,
    quantity,
    validate,
)

SERVO, JOINT_STATES, FIXED = 'servo', 'joint_states', 'fixed'
"""What moves a joint: a servo of its own, by command; something that measures it; nothing."""

_HERE = np.eye(4)
_FREE = 1e6
"""Limits of a joint that has none [rad]."""
_MOST = 2
"""Largest number of joints that turn one link."""
_SLOW = (
    'time_constant', 'rate_limit', 'natural_frequency', 'acceleration_limit', 'backlash',
)
"""Fields that make a servo slower than its command."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SteeringParams(ServoParams):
    """Configuration of k joints that turn the links of actuators."""

    joints: tuple[str, ...] = names('joints that turn links of actuators', ())
    mode: tuple[str, ...] = per_row(
        FIXED, kind=str, choices=(SERVO, JOINT_STATES, FIXED),
        doc='what moves the joint: servo: commands of its position [rad], by name; joint_states: '
        'something else, which publishes its position; fixed: it stays at position 0',
    )
    lower: FloatArray = per_row(-_FREE, 'rad', doc='lowest angle', lo=-_FREE, hi=_FREE)
    upper: FloatArray = per_row(_FREE, 'rad', doc='highest angle', lo=-_FREE, hi=_FREE)
    time_constant: FloatArray = per_row(
        0.0, 's', doc='servo: first-order lag of the angle', lo=0.0
    )
    rate_limit: FloatArray = per_row(
        0.0, 'rad/s', doc='servo: largest rate of the angle; 0 means no limit', lo=0.0
    )
    max_age: FloatArray = per_row(
        0.5, 's', lo=0.0, hi=1e6, usual=(0.0, 10.0),
        doc='joint_states: age from which on the angle is reported as lost; it is held. 0: never',
    )
    axis: FloatArray = quantity(
        (0.0, 0.0, 1.0), doc='axis of rotation with all joints at position 0, in base_link',
        shape=('n', 3), geometry='steering',
    )
    pivot: FloatArray = quantity(
        (0.0, 0.0, 0.0), 'm', doc='a point of the axis, in base_link', shape=('n', 3),
        geometry='steering',
    )
    carried_by: tuple[str, ...] = quantity(
        '', kind=str, doc='joint that carries this one; empty: none', shape=('n',),
        geometry='steering',
    )
    actuators: tuple[str, ...] = quantity(
        (), kind=str, shape=('*',), geometry='steering',
        doc='for each actuator in their order, the joint nearest to it of those that turn its '
        "link; '' for none",
    )

    integrator = 'exact'
    """Scheme of the lags of the servos."""

    def __post_init__(self) -> None:
        validate(self)
        check_servos(self)
        check_order(self, 'lower', 'upper', 'rad')
        for key in ('carried_by', 'actuators'):
            check_known(key, getattr(self, key), 'joint', self.joints)
        for joint in (*self.joints, *self.actuators):
            chain = self._chain(joint)
            if len(chain) > _MOST:
                raise ConfigError(
                    'mode', f'expected at most {_MOST} joints that turn a link, got '
                    f'{", ".join(map(repr, chain))}; write {FIXED} for one',
                    self.joints.index(joint),
                )

    @property
    def moving(self) -> SteeringParams:
        """The joints that are not fixed, alone; those that are measured follow at once."""
        rows = np.flatnonzero([mode != FIXED for mode in self.mode])
        by_servo = np.array([self.mode[i] == SERVO for i in rows], float)
        kept: dict[str, Any] = {
            key: [value[i] for i in rows] if isinstance(value, tuple) else value[rows]
            for key, value in vars(self).items() if key != 'actuators'
        }
        kept.update({key: by_servo * kept[key] for key in _SLOW})
        nearest = {joint: ('', *self._chain(joint))[-1] for joint in ('', *self.joints)}
        kept['carried_by'] = [nearest[joint] for joint in kept['carried_by']]
        kept['actuators'] = [nearest[joint] for joint in self.actuators]
        return replace(self, **kept)

    def chains(self) -> IntArray:
        """Return the columns of the outer and the inner joint of each actuator, -1 for none."""
        rows = [[self.joints.index(each) for each in self._chain(joint)]
                for joint in self.actuators]
        return np.array([row + [-1] * (_MOST - len(row)) for row in rows], int).reshape(-1, _MOST)

    def _chain(self, joint: str) -> list[str]:
        """Return the joints that turn what a joint carries, without fixed ones, outer one first."""
        chain: list[str] = []
        first = joint
        for _ in range(len(self.joints) + 1):
            if not joint:
                return chain
            i = self.joints.index(joint)
            if self.mode[i] != FIXED:
                chain.insert(0, joint)
            joint = self.carried_by[i]
        raise ConfigError('carried_by', f'{first!r} carries itself', self.joints.index(first))


class Steering:
    """The angles of joints, and what they do to the links that they carry.

    Parameters
    ----------
    params : ServoParams
        Validated configuration of the servos, with ``time_constant``, ``rate_limit`` and
        ``integrator``.
    axes, pivots : FloatArray
        Axes, of length 1, of the outer and the inner joint of c chains, and points of them, with
        all joints at position 0, in base_link, (c, 2, 3).
    limits : tuple of FloatArray
        Lowest and highest angles [rad], each of the shape of the joints: a row of them has its
        row of the parameters.
    columns : IntArray, optional
        Joints of each chain in a row of them, -1 for none, (c, 2); None where the joints are
        (c, 2) themselves.

    Attributes
    ----------
    angles, applied : FloatArray
        At the end of the last step, and what turned its force [rad], (..., c, 2), or (..., k)
        with columns.
    """

    angles: FloatArray
    applied: FloatArray

    def __init__(
        self, params: Any, axes: FloatArray, pivots: FloatArray,
        limits: tuple[FloatArray, FloatArray], batch: tuple[int, ...] = (),
        step_value: str = 'end', columns: IntArray | None = None,
    ) -> None:
        self._lower, self._upper = limits
        shape, self._columns = self._lower.shape, columns
        apart = (-1, *(1,) * (len(shape) - 1))
        lag = Lag(
            np.broadcast_to(params.time_constant.reshape(apart), shape),
            np.broadcast_to(params.rate_limit.reshape(apart), shape),
            params.integrator,
            step_value,
        )
        needs = params.natural_frequency.any() or params.backlash.any()
        self._servo = Servo(
            params, lag, self._lower, self._upper, batch, step_value
        ) if needs else None
        self._follower = self._servo or lag
        self._axes, self._pivots = axes, pivots
        turn = skew(self._axes)
        self._by_sine = _about(turn, pivots)
        self._by_versine = _about(turn @ turn, pivots)
        self._batch, self._shape = batch, (*batch, *shape)
        self.reset()

    def place(self, angles: FloatArray) -> None:
        """Take where a simulator has the joints [rad], of the shape of `angles`."""
        self.angles = angles
        if self._servo:
            self._servo.angle = angles

    def reset(self, indices: Any = None, angles: FloatArray | None = None) -> None:
        """Return to some angles, or to 0, in some environments; see `restart`."""
        start = self.range[0] if angles is None else angles
        restart(self, indices, self._batch, angles=start)
        self.applied, self._before, self._dt = self.angles, self.angles, 0.0
        if self._servo:
            self._servo.reset(indices, start)

    @property
    def range(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Angles at the start, and the lowest and highest ones [rad]."""
        nearest = np.where(self._lower > 0.0, self._lower, np.minimum(self._upper, 0.0))
        return np.broadcast_to(nearest, self._shape), self._lower, self._upper

    def step(self, command: FloatArray, dt: float) -> BoolArray:
        """Follow the commanded angles for dt [s].

        ``command`` [rad] has the shape of `angles`; it is clipped to the range.

        Returns
        -------
        BoolArray
            Whether each command was outside the range.
        """
        demand = np.minimum(np.maximum(command, self._lower), self._upper)
        self._before, self._dt = self.angles, dt
        self.angles, self.applied = self._follower.advance(self.angles, demand, dt)
        return np.asarray(demand != command)

    def hold(self) -> None:
        """Keep the angles for one step."""
        self.applied = self._before = self.angles
        if self._servo:
            self._servo.stop()

    @property
    def rates(self) -> FloatArray:
        """Mean rates of the last step [rad/s], of the shape of `angles`."""
        if self._dt <= 0.0:
            return np.zeros(self._shape)
        return np.asarray((self.angles - self._before) / self._dt)

    def displacements(self, angles: FloatArray) -> FloatArray:
        """Return how each chain moves what it carries from where position 0 has it.

        Returns
        -------
        FloatArray
            p_now = matrix @ p_then in base_link, with a 1 behind points, (..., c, 4, 4).
        """
        return self._motions(angles)[1]

    def twists(self, angles: FloatArray, rates: FloatArray) -> FloatArray:
        """Return how the joints move what each chain carries.

        Returns
        -------
        FloatArray
            Velocity at the origin of base_link, then angular velocity, in its axes, (..., c, 6).
        """
        outer, _ = self._motions(angles)
        axes, pivots = (
            np.broadcast_to(rows, (*outer.shape[:-2], 2, 3)).copy()
            for rows in (self._axes, self._pivots)
        )
        axes[..., 1, :] = (outer[..., :3, :3] @ axes[..., 1, :, None])[..., 0]
        pivots[..., 1, :] = (outer[..., :3, :3] @ pivots[..., 1, :, None])[..., 0]
        pivots[..., 1, :] += outer[..., :3, 3]
        spins = self._in_chains(rates)[..., None] * axes
        return np.asarray(np.concatenate((cross(pivots, spins), spins), axis=-1).sum(axis=-2))

    def _in_chains(self, angles: FloatArray) -> FloatArray:
        """Return the values of the outer and the inner joint of each chain, (..., c, 2)."""
        if self._columns is None:
            return angles
        return np.concatenate((angles, np.zeros((*angles.shape[:-1], 1))), -1)[..., self._columns]

    def _motions(self, angles: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what the outer axis and both do, as 4 x 4 matrices about the pivots."""
        parts = _parts(self._in_chains(angles))[..., None, None]
        each = _HERE + parts[..., 1, :, :] * self._by_sine + parts[..., 2, :, :] * self._by_versine
        outer = each[..., 0, :, :]
        return outer, outer @ each[..., 1, :, :]

    def carry(
        self, points: FloatArray, axes: FloatArray, angles: FloatArray, chains: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return points and axes (n, 3) of base_link as angles move them, (..., n, 3).

        The points turn about the pivots, the axes do not. Each hangs on one of ``chains``, (n,).
        """
        whole = self.displacements(angles)[..., chains, :, :]
        # Points carry a 1 below, which takes up the shift; directions a 0.
        columns = np.zeros((*np.shape(points)[:-1], 4, 2))
        columns[..., :3, 0], columns[..., :3, 1] = points, axes
        columns[..., 3, 0] = 1.0
        moved = whole @ columns
        return moved[..., :3, 0], moved[..., :3, 1]

    def wrench_table(self, points: FloatArray, axes: FloatArray) -> FloatArray:
        """Return what `wrenches` needs of forces along axes (c, 3) at points, (c, 9, 6)."""
        wrench = np.concatenate((axes, cross(points, axes)), axis=-1)
        inner = _turned_parts(wrench, self._axes[:, 1], self._pivots[:, 1])
        both = _turned_parts(inner, self._axes[:, :1], self._pivots[:, :1])
        return both.reshape(-1, 9, 6)

    def wrenches(self, table: FloatArray) -> FloatArray:
        """Return the wrench per force of each chain over the last step, (..., c, 6)."""
        parts = _parts(self._in_chains(self.applied))
        # Both rotations together are the sum over all products of their parts.
        products = parts[..., 1, :, None] * parts[..., 0, None, :]
        weights = products.reshape(*products.shape[:-2], 1, 9)
        return np.asarray((weights @ table)[..., 0, :])


@dataclass(frozen=True, kw_only=True, eq=False)
class TurnedLayout(ThrustLayout):
    """Actuators some of whose links joints turn; those of the joints are its last angles."""

    own: ThrustLayout
    """Layout of the actuators with all joints at position 0."""
    steering: Steering
    rows: IntArray
    chains: IntArray
    """What turns some of the actuators, which these are, and the chain of each of them."""

    def in_base(self, angles: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return positions and axes in base_link; see `ThrustLayout.in_base`."""
        own, turned = np.split(angles, [len(self.own.angle_names)])
        position, axis = (part.copy() for part in self.own.in_base(own))
        rows = self.rows
        position[rows], axis[rows] = self.steering.carry(
            position[rows], axis[rows], turned.reshape(self.steering.range[1].shape), self.chains
        )
        return position, axis

    def in_links(self, angles: FloatArray) -> FloatArray:
        """Return the axes in each actuator's link; see `ThrustLayout.in_links`."""
        return self.own.in_links(angles[:len(self.own.angle_names)])

    def load(self, thrust: FloatArray, angles: FloatArray) -> FloatArray:
        """Return how near each actuator is to its limit; see `ThrustLayout.load`."""
        return self.own.load(thrust, angles[:len(self.own.angle_names)])


def turned_layout(
    own: ThrustLayout, joints: tuple[str, ...], steering: Steering, rows: IntArray, chains: IntArray
) -> TurnedLayout:
    """Return how actuators are drawn that joints turn; see `TurnedLayout`."""
    given = {each.name: getattr(own, each.name) for each in fields(ThrustLayout)}
    given['angle_names'] = (*own.angle_names, *joints)
    return TurnedLayout(**given, own=own, steering=steering, rows=rows, chains=chains)


def _parts(angles: FloatArray) -> FloatArray:
    """Return 1, sine and 1 - cosine of each angle, of which a rotation is a sum, (..., 3)."""
    parts = np.empty((*angles.shape, 3))
    parts[..., 0] = 1.0
    np.sin(angles, out=parts[..., 1])
    np.subtract(1.0, np.cos(angles), out=parts[..., 2])
    return parts


def _turned_parts(wrench: FloatArray, axis: FloatArray, pivot: FloatArray) -> FloatArray:
    """Return what each part of a rotation makes of wrenches (..., 6), (..., 3, 6)."""
    here = move_wrench(wrench, -pivot)
    pair = here.reshape(*here.shape[:-1], 2, 3)
    once = cross(axis[..., None, :], pair)
    twice = cross(axis[..., None, :], once)
    turned = np.stack((pair, once, twice), axis=-3)
    return move_wrench(turned.reshape(*here.shape[:-1], 3, 6), pivot[..., None, :])


def _about(turn: FloatArray, pivots: FloatArray) -> FloatArray:
    """Return 4 x 4 matrices that do to p - pivot what ``turn`` does, (..., 4, 4)."""
    matrix = np.zeros((*turn.shape[:-2], 4, 4))
    matrix[..., :3, :3] = turn
    matrix[..., :3, 3] = -(turn @ pivots[..., None])[..., 0]
    return matrix
