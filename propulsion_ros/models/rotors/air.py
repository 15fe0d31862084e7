# SPDX-License-Identifier: Apache-2.0
"""What the motion of the body, the ground and their own inertia do to rotors.

Drag and moments are in proportion to rotor speed and speed through the air across the axis, as in
RotorS and gz-sim (Martin and Salaun, The true role of accelerometer feedback in quadrotor control,
2010). The changes of thrust are those of RotorPy (Folk, Paulos and Kumar, 2023), and near the
ground of Cheeseman and Bennett (1955).
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np

from propulsion_ros.models.common.family import BodyState, Output
from propulsion_ros.models.common.wrench import cross, in_link_axes, product, unit_rows
from propulsion_ros.models.rotors.params import RotorsParams
from propulsion_ros.settings.quantity import FloatArray

_NEAREST = 2.0
"""Least distance to the ground over a quarter of the radius: below, none was measured."""
_SMALLEST = 1e-300


class Turning:
    """Rotors and their body in a step; what only some effects need is computed where one does.

    Parameters
    ----------
    thrust : FloatArray
        At rest in the air, with limits and faults [N], (..., n).
    before : callable
        Returns the rotor speeds at the start of the step [rad/s], (..., n).
    after : FloatArray
        Those at its end.
    efficiency : FloatArray or None
        Factor on what the air does, (n,); None where all are healthy.
    body : BodyState
        Motion of the body.
    dt : float
        [s].
    takes_mean : bool
        Whether the mean of the speeds stands for the step, or the one at its end.
    """

    def __init__(
        self, thrust: FloatArray, before: Callable[[], FloatArray], after: FloatArray,
        efficiency: FloatArray | None, body: BodyState, dt: float, takes_mean: bool,
    ) -> None:
        self.thrust, self.body, self.met = thrust, body, body.met
        self._at_start, self._after, self.dt = before, after, dt
        self._efficiency, self._takes_mean = efficiency, takes_mean

    @functools.cached_property
    def _before(self) -> FloatArray:
        return self._at_start()

    @property
    def speed(self) -> FloatArray:
        """What stands for the step [rad/s], (..., n)."""
        return 0.5 * (self._before + self._after) if self._takes_mean else self._after

    @property
    def pushing(self) -> FloatArray:
        """The same times the efficiency [rad/s], (..., n)."""
        return self.speed if self._efficiency is None else self.speed * self._efficiency

    @property
    def gained(self) -> FloatArray:
        """Change of the speed in the step [rad/s], (..., n)."""
        return self._after - self._before

    @functools.cached_property
    def twist(self) -> FloatArray | None:
        """As of `BodyState.twist`."""
        return self.body.twist


class _Along(Protocol):
    """An effect along the axes."""

    def thrust(self, turning: Turning) -> FloatArray | None:
        """Return what it adds to the thrusts [N], (..., n)."""


class _Beside(Protocol):
    """An effect across the axes, or a torque."""

    def wrench(self, turning: Turning) -> FloatArray | None:
        """Return its wrench about the origin of base_link, (..., 6)."""

    def hub_wrenches(self, turning: Turning) -> FloatArray | None:
        """Return it for each rotor about its hub, (..., n, 6), in base_link axes."""


class RotorAir:
    """The effects that are configured; false where there are none.

    Parameters
    ----------
    params : RotorsParams
        Validated configuration.
    axis : FloatArray
        Directions of the thrusts in base_link, of length 1, (n, 3).
    """

    def __init__(self, params: RotorsParams, axis: FloatArray) -> None:
        self._along, self._beside = tuple(_along(params, axis)), tuple(_beside(params, axis))
        self._axis, self._rotation = axis, params.rotation
        self._rows = np.concatenate((axis, cross(params.position, axis)), axis=-1)
        self._last: Turning | None = None

    def __bool__(self) -> bool:
        return bool(self._along or self._beside)

    def act(self, turning: Turning) -> tuple[FloatArray, FloatArray | None]:
        """Return the thrusts [N], (..., n), and the wrench that is added, (..., 6), of a step."""
        self._last = turning
        wrench = _sum([effect.wrench(turning) for effect in self._beside])
        added = _sum([effect.thrust(turning) for effect in self._along])
        if added is None:
            return turning.thrust, wrench
        lift = product(added, self._rows)
        return turning.thrust + added, lift if wrench is None else lift + wrench

    def at_rest(self, output: Output) -> Output:
        """Return the output of the last step with the thrusts at rest in the air."""
        return output if self._last is None else output._replace(thrusts=self._last.thrust)

    def link_wrenches(self, wrenches: FloatArray) -> FloatArray:
        """Return those of the thrusts at rest, (..., n, 6), with what the last step added."""
        turning = self._last
        if turning is None:
            return wrenches
        added = _sum([effect.thrust(turning) for effect in self._along])
        if added is not None:
            wrenches = wrenches + in_link_axes(self._rotation, added[..., None] * self._axis)
        beside = _sum([effect.hub_wrenches(turning) for effect in self._beside])
        if beside is None:
            return wrenches
        return wrenches + in_link_axes(self._rotation, beside[..., :3], beside[..., 3:])


def _sum(parts: Sequence[FloatArray | None]) -> FloatArray | None:
    """Return the sum of those that are there, None of none."""
    whole: FloatArray | None = None
    for part in parts:
        if part is not None:
            whole = part if whole is None else whole + part
    return whole


def _along(params: RotorsParams, axis: FloatArray) -> Iterator[_Along]:
    if params.inflow_coefficient.any():
        yield _Inflow(params, axis)
    if params.translational_lift_coefficient.any():
        yield _TranslationalLift(params, axis)
    if params.rotor_radius.any():
        yield _Ground(params, axis)


def _beside(params: RotorsParams, axis: FloatArray) -> Iterator[_Beside]:
    side = (
        params.rotor_drag_coefficient, params.rolling_moment_coefficient,
        params.flapping_moment_coefficient,
    )
    if any(coefficient.any() for coefficient in side):
        yield _SideStream(params, axis)
    if params.rotor_inertia.any():
        yield _Inertia(params, axis)


class _Inflow:
    """A stream along the axis takes from the thrust, against it: -c w v."""

    def __init__(self, params: RotorsParams, axis: FloatArray) -> None:
        along = axis[:, None, :] @ _local_velocity(params.position)
        self._loss = -(params.inflow_coefficient[:, None] * along[:, 0, :]).T

    def thrust(self, turning: Turning) -> FloatArray | None:
        twist = turning.twist
        return None if twist is None else turning.met(twist, self._loss) * turning.pushing


class _TranslationalLift:
    """A stream across the axis adds c v^2, at most the thrust at rest, so that it needs to turn."""

    def __init__(self, params: RotorsParams, axis: FloatArray) -> None:
        self._n = len(axis)
        root = np.sqrt(params.translational_lift_coefficient)[:, None, None]
        across = root * _plane(axis) @ _local_velocity(params.position)
        self._across = np.swapaxes(across, 0, 1).reshape(-1, 6).T.copy()

    def thrust(self, turning: Turning) -> FloatArray | None:
        if turning.twist is None:
            return None
        square = np.square(turning.met(turning.twist, self._across))
        lift = square[..., : self._n] + square[..., self._n:]
        return np.asarray(np.minimum(lift, turning.thrust))


class _Ground:
    """Thrust over that far from the ground is 1 / (1 - (R / 4z)^2), z along the wake."""

    def __init__(self, params: RotorsParams, axis: FloatArray) -> None:
        self._n, self._origin = len(axis), np.array([params.ground_height])
        self._none, self._tiny = np.zeros(len(axis)), np.full(len(axis), _SMALLEST)
        # The height of a hub over the origin, a quarter of the radius times how upright it is, and
        # the least height that counts.
        quarter = axis * params.rotor_radius[:, None] / 4.0
        self._place = np.concatenate((params.position, quarter, _NEAREST * quarter)).T.copy()

    def thrust(self, turning: Turning) -> FloatArray | None:
        height, up = turning.body.heights, turning.body.up
        if height is None or up is None:
            return None
        place, n = turning.met(up, self._place), self._n
        height = place[..., :n] + (height - self._origin)
        np.maximum(height, place[..., 2 * n:], out=height)
        # Nothing that blows upwards feels the ground.
        square = np.maximum(place[..., n:2 * n], self._none)
        np.multiply(square, square, out=square)
        np.multiply(height, height, out=height)
        np.subtract(height, square, out=height)
        np.maximum(height, self._tiny, out=height)
        np.divide(square, height, out=square)
        return np.asarray(square * turning.thrust)


class _SideStream:
    """A stream across the axis drags and turns a rotor, in proportion to it and the rotor speed."""

    def __init__(self, params: RotorsParams, axis: FloatArray) -> None:
        identity = np.eye(3)
        drag = -params.rotor_drag_coefficient[:, None, None] * identity
        turn = -params.rolling_moment_coefficient[:, None, None] * identity
        turn = turn + params.flapping_moment_coefficient[:, None, None] * _cross_matrix(axis)
        plane = _plane(axis)
        stream = np.swapaxes(plane, -1, -2) @ plane @ _local_velocity(params.position)
        moved = turn + _cross_matrix(params.position) @ drag
        self._hub, self._base = (
            _Table(np.concatenate((drag, torque), axis=1) @ stream) for torque in (turn, moved)
        )

    def wrench(self, turning: Turning) -> FloatArray | None:
        twist = turning.twist
        return None if twist is None else self._base.sum(turning.pushing, twist, turning)

    def hub_wrenches(self, turning: Turning) -> FloatArray | None:
        twist = turning.twist
        return None if twist is None else turning.pushing[..., None] * self._hub.of(twist, turning)


class _Inertia:
    """What speeds up pushes back, and what spins resists a turn of its axis: -L' - rate x L."""

    def __init__(self, params: RotorsParams, axis: FloatArray) -> None:
        momentum = (params.rotor_inertia * params.direction)[:, None] * axis
        none = np.zeros_like(momentum)
        self._momentum = np.concatenate((none, momentum), axis=-1)
        self._dt, self._slowing = 0.0, np.zeros_like(self._momentum)
        turn = _cross_matrix(momentum)
        self._turning = _Table(np.concatenate((np.zeros_like(turn), turn), axis=1))

    def wrench(self, turning: Turning) -> FloatArray | None:
        slowing = product(turning.gained, self._per_gain(turning.dt))
        rate = turning.body.angular_velocity
        return slowing if rate is None else (
            slowing + self._turning.sum(turning.speed, rate, turning)
        )

    def hub_wrenches(self, turning: Turning) -> FloatArray | None:
        slowing: FloatArray = turning.gained[..., None] * self._per_gain(turning.dt)
        rate = turning.body.angular_velocity
        return slowing if rate is None else (
            slowing + turning.speed[..., None] * self._turning.of(rate, turning)
        )

    def _per_gain(self, dt: float) -> FloatArray:
        """Return the wrenches of a change of speed in a step, (n, 6)."""
        if dt != self._dt:
            self._dt = dt
            self._slowing = -self._momentum / dt if dt > 0.0 else np.zeros_like(self._momentum)
        return self._slowing


class _Table:
    """Wrenches of n rotors that are linear in a motion, for a speed of 1 rad/s each.

    Parameters
    ----------
    matrices : FloatArray
        From the motion to the wrench, (n, 6, k).
    """

    def __init__(self, matrices: FloatArray) -> None:
        self._shape = matrices.shape[:2]
        self._flat = matrices.reshape(-1, matrices.shape[-1]).T.copy()

    def of(self, motion: FloatArray, turning: Turning) -> FloatArray:
        """Return the wrenches for a motion of the body, (..., n, 6)."""
        each = turning.met(motion, self._flat, True)
        return each.reshape(*each.shape[:-1], *self._shape)

    def sum(self, speed: FloatArray, motion: FloatArray, turning: Turning) -> FloatArray:
        """Return the wrench of all together at speeds (..., n), (..., 6)."""
        each = self.of(motion, turning)
        if each.ndim == 2:
            return product(speed, each)
        return np.asarray((speed[..., None, :] @ each)[..., 0, :])


def _cross_matrix(vectors: FloatArray) -> FloatArray:
    """Return matrices that turn p into v x p for vectors v (n, 3), (n, 3, 3)."""
    return np.swapaxes(cross(vectors[:, None, :], np.eye(3)), -1, -2)


def _plane(axis: FloatArray) -> FloatArray:
    """Return two directions across each axis (n, 3) and each other, of length 1, (n, 2, 3)."""
    # The first is across the coordinate from which the axis is farthest.
    other = np.eye(3)[np.argmin(np.abs(axis), axis=-1)]
    first = unit_rows('axis', cross(axis, other))
    return np.stack((first, cross(axis, first)), axis=-2)


def _local_velocity(points: FloatArray) -> FloatArray:
    """Return matrices that turn a twist into the velocity at points (n, 3), (n, 3, 6)."""
    still = np.broadcast_to(np.eye(3), (len(points), 3, 3))
    return np.concatenate((still, -_cross_matrix(points)), axis=-1)
