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
from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common.family import BodyState, Output
from propulsion_ros.models.common.wrench import cross, in_link_axes, product, skew, unit_rows
from propulsion_ros.models.rotors.params import RotorsParams
from propulsion_ros.settings.quantity import FloatArray

_NEAREST = 2.0
"""Least distance to the ground over a quarter of the radius: below, none was measured."""
_SMALLEST = 1e-300


@dataclass(eq=False)
class Turning:
    """Rotors and their body in a step; what only some effects need is computed where one does."""

    thrust: FloatArray
    """At rest in the air, with limits and faults [N], (..., n)."""
    at_start: Callable[[], FloatArray]
    """Returns the rotor speeds at the start of the step [rad/s], (..., n)."""
    after: FloatArray
    """Those at its end."""
    efficiency: FloatArray | None
    """Factor on what the air does, (n,); None where all are healthy."""
    body: BodyState
    dt: float
    takes_mean: bool
    """Whether the mean of the speeds stands for the step, or the one at its end."""

    @functools.cached_property
    def _before(self) -> FloatArray:
        return self.at_start()

    @property
    def speed(self) -> FloatArray:
        """What stands for the step [rad/s], (..., n)."""
        return 0.5 * (self._before + self.after) if self.takes_mean else self.after

    @property
    def pushing(self) -> FloatArray:
        """The same times the efficiency [rad/s], (..., n)."""
        return self.speed if self.efficiency is None else self.speed * self.efficiency

    @property
    def gained(self) -> FloatArray:
        """Change of the speed in the step [rad/s], (..., n)."""
        return self.after - self._before

    @functools.cached_property
    def twist(self) -> FloatArray | None:
        """As of `BodyState.twist`."""
        return self.body.twist


class RotorAir:
    """The effects that are configured; false where there are none.

    Those along the axes add to the thrusts [N], (..., n). The others are wrenches in base_link
    axes: of each rotor about its hub, (..., n, 6), or of all about the origin, (..., 6). Either is
    None where the motion of the body is not known.
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
        wrench = _sum([effect.wrench(turning, at_hubs=False) for effect in self._beside])
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
        beside = _sum([effect.wrench(turning, at_hubs=True) for effect in self._beside])
        if beside is not None:
            wrenches = wrenches + in_link_axes(self._rotation, beside[..., :3], beside[..., 3:])
        return wrenches


def _sum(parts: Sequence[FloatArray | None]) -> FloatArray | None:
    """Return the sum of those that are there, None of none."""
    whole: FloatArray | None = None
    for part in parts:
        if part is not None:
            whole = part if whole is None else whole + part
    return whole


def _times(speed: FloatArray, rows: FloatArray, at_hubs: bool) -> FloatArray:
    """Return speeds (..., n) times wrenches for a speed of 1, (..., n, 6), or their sum."""
    if at_hubs:
        return np.asarray(speed[..., None] * rows)
    if rows.ndim == 2:
        return product(speed, rows)
    return np.asarray((speed[..., None, :] @ rows)[..., 0, :])


def _along(
    params: RotorsParams, axis: FloatArray
) -> Iterator[_Inflow | _TranslationalLift | _Ground]:
    if params.inflow_coefficient.any():
        yield _Inflow(params, axis)
    if params.translational_lift_coefficient.any():
        yield _TranslationalLift(params, axis)
    if params.rotor_radius.any():
        yield _Ground(params, axis)


def _beside(params: RotorsParams, axis: FloatArray) -> Iterator[_SideStream | _Inertia]:
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
        return None if twist is None else turning.body.met(twist, self._loss) * turning.pushing


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
        square = np.square(turning.body.met(turning.twist, self._across))
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
        place, n = turning.body.met(up, self._place), self._n
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
        turn = turn + params.flapping_moment_coefficient[:, None, None] * skew(axis)
        plane = _plane(axis)
        stream = np.swapaxes(plane, -1, -2) @ plane @ _local_velocity(params.position)
        moved = turn + skew(params.position) @ drag
        self._base, self._hubs = (
            _Table(np.concatenate((drag, torque), axis=1) @ stream) for torque in (moved, turn)
        )

    def wrench(self, turning: Turning, at_hubs: bool) -> FloatArray | None:
        if turning.twist is None:
            return None
        table = self._hubs if at_hubs else self._base
        return _times(turning.pushing, table.of(turning.twist, turning.body), at_hubs)


class _Inertia:
    """What speeds up pushes back, and what spins resists a turn of its axis: -L' - rate x L."""

    def __init__(self, params: RotorsParams, axis: FloatArray) -> None:
        momentum = (params.rotor_inertia * params.direction)[:, None] * axis
        self._braking = np.concatenate((np.zeros_like(momentum), -momentum), axis=-1)
        turn = skew(momentum)
        self._turning = _Table(np.concatenate((np.zeros_like(turn), turn), axis=1))

    def wrench(self, turning: Turning, at_hubs: bool) -> FloatArray:
        # A torque is the same anywhere.
        gained, rate = turning.gained, turning.body.angular_velocity
        per_second = gained / turning.dt if turning.dt > 0.0 else np.zeros_like(gained)
        slowing = _times(per_second, self._braking, at_hubs)
        return slowing if rate is None else (
            slowing + _times(turning.speed, self._turning.of(rate, turning.body), at_hubs)
        )


class _Table:
    """Wrenches of n rotors that are linear in a motion, for a speed of 1 rad/s each."""

    def __init__(self, matrices: FloatArray) -> None:
        self._shape = matrices.shape[:2]
        self._flat = matrices.reshape(-1, matrices.shape[-1]).T.copy()

    def of(self, motion: FloatArray, body: BodyState) -> FloatArray:
        """Return the wrenches for a motion of the body, (..., n, 6)."""
        each = body.met(motion, self._flat, True)
        return each.reshape(*each.shape[:-1], *self._shape)


def _plane(axis: FloatArray) -> FloatArray:
    """Return two directions across each axis (n, 3) and each other, of length 1, (n, 2, 3)."""
    # The first is across the coordinate from which the axis is farthest.
    other = np.eye(3)[np.argmin(np.abs(axis), axis=-1)]
    first = unit_rows('axis', cross(axis, other))
    return np.stack((first, cross(axis, first)), axis=-2)


def _local_velocity(points: FloatArray) -> FloatArray:
    """Return matrices that turn a twist into the velocity at points (n, 3), (n, 3, 6)."""
    still = np.broadcast_to(np.eye(3), (len(points), 3, 3))
    return np.concatenate((still, -skew(points)), axis=-1)
