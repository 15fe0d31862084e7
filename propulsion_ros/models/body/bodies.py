# SPDX-License-Identifier: Apache-2.0
"""Many rigid bodies at once: the equations of `RigidBody` for all environments of a batch."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from propulsion_ros.models.body.hulls import Hulls
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams, RigidBody
from propulsion_ros.models.common.atmosphere import density
from propulsion_ros.models.common.family import (
    BodyState,
    TankState,
    numbers_of,
    read_only,
    require_counts,
)
from propulsion_ros.models.common.model import seconds_of
from propulsion_ros.models.common.rotation import quaternion_of_rpy, rows_of
from propulsion_ros.models.common.start import Start, State
from propulsion_ros.settings.errors import CommandError, ConfigError
from propulsion_ros.settings.quantity import BoolArray, FloatArray

_CHUNK = 2048
"""Environments that are advanced together: their numbers stay in the cache of a core."""
_SINGLE = ('rail_length', 'drag_over_mach', 'temperature_offset')
"""Settings of a body that a batch of bodies does not have."""

Row: TypeAlias = 'FloatArray | float'
Rows: TypeAlias = 'tuple[Row, Row, Row]'
"""A vector: one row for each component, each (n,), or a number for all."""


class MassRows(NamedTuple):
    """Mass of n bodies and how it lies; a number where it is the same for all."""

    mass: Row
    """Mass of each body [kg]."""
    com: Rows
    """Centre of mass from the origin of base_link [m]."""
    inertia: tuple[Row, ...]
    """Entries xx, yy, zz, xy, xz, yz of the inertia about the centre of mass [kg m^2]."""

    @classmethod
    def of(cls, body: MassProperties) -> MassRows:
        """Return the mass of n bodies alike."""
        i = body.inertia.tolist()
        x, y, z = body.com.tolist()
        moments = i[0][0], i[1][1], i[2][2], i[0][1], i[0][2], i[1][2]
        return cls(float(body.mass), (x, y, z), moments)

    def with_tanks(self, tanks: Sequence[TankState]) -> MassRows:
        """Return these bodies with what is in their tanks (parallel axis theorem)."""
        parts = [self, *(part for state in tanks for part in _tanks_of(state))]
        mass = sum(part.mass for part in parts)
        com = tuple(
            sum(part.mass * part.com[axis] for part in parts) / mass for axis in range(3)
        )
        inertia: list[Row] = [0.0] * 6
        for part in parts:
            x, y, z = (at - centre for at, centre in zip(part.com, com, strict=True))
            m = part.mass
            moved = (
                m * (y * y + z * z), m * (x * x + z * z), m * (x * x + y * y),
                -m * x * y, -m * x * z, -m * y * z,
            )
            inertia = [a + b + c for a, b, c in zip(inertia, part.inertia, moved, strict=True)]
        return MassRows(mass, (com[0], com[1], com[2]), tuple(inertia))

    def mean(self, other: MassRows) -> MassRows:
        """Return the mean of two, which acts over a step between them."""
        (x, y, z), inertia = (
            [0.5 * (a + b) for a, b in zip(own, others, strict=True)]
            for own, others in ((self.com, other.com), (self.inertia, other.inertia))
        )
        return MassRows(0.5 * (self.mass + other.mass), (x, y, z), tuple(inertia))

    def replaced(self, where: BoolArray, other: MassRows) -> MassRows:
        """Return these with some of the bodies taken from another one."""
        mass, *rows = (
            np.where(where, new, old) for old, new in zip(self._flat(), other._flat(), strict=True)
        )
        return MassRows(mass, (rows[0], rows[1], rows[2]), tuple(rows[3:]))

    def part(self, at: slice) -> MassRows:
        """Return some of the bodies."""
        mass, *rows = (row if np.ndim(row) == 0 else row[at] for row in self._flat())  # type: ignore[index]
        return MassRows(mass, (rows[0], rows[1], rows[2]), tuple(rows[3:]))

    def _flat(self) -> tuple[Row, ...]:
        return (self.mass, *self.com, *self.inertia)


class Bodies:
    """n bodies, each as `RigidBody` moves one, without rail, and drag without Mach number.

    A step is not divided: dt must be short enough for the fastest motion. A body whose numbers
    overflow stays as it was, and is ``lost`` until it is reset.

    What is read is a copy of now: a later step does not change it, and it is read-only, as only
    `reset` moves a body.
    """

    start_states: ClassVar[tuple[str, ...]] = RigidBody.start_states

    def __init__(self, params: BodyParams, count: int) -> None:
        for key in _SINGLE:
            if getattr(params, key):
                raise ConfigError(key, 'is known to nodes and studies only, not to a batch')
        require_counts('count', '64', count, (count,))
        self._params, self.count = params, count
        self._hulls = Hulls(params.hulls) if params.hulls.names else None
        self._state: FloatArray = np.zeros((13, count))
        self._acceleration: FloatArray = np.zeros((3, count))
        self._on_ground: BoolArray = np.zeros(count, bool)
        self._lost: BoolArray = np.zeros(count, bool)
        self._touchdown: FloatArray = np.full((count, 3), np.nan)
        self.reset()

    def reset(self, indices: Any = None, state: State | None = None) -> None:
        """Return some or all bodies to the start, or to a state; see `RigidBody.reset`."""
        p, n = self._params, self.count
        start = Start(indices, (n,), state, self.start_states)
        at = slice(None) if indices is None else indices
        position, rpy, velocity, rate = (values[at] for values in p.starts(start, (n,)))
        rows = np.concatenate((position, quaternion_of_rpy(rpy), velocity, rate), axis=-1)
        self._state.T[at] = rows
        self._acceleration.T[at] = 0.0
        rests = ~np.any(velocity, axis=-1)
        self._on_ground[at] = p.ground & (position[..., 2] <= 0.0) & rests
        # Free in the air it measures no force before its first step.
        falling = ~self._on_ground[at]
        self._acceleration.T[at] = falling[..., None] * [0.0, 0.0, -p.gravity]
        self._lost[at] = False
        self._touchdown[at] = np.nan

    @property
    def on_ground(self) -> BoolArray:
        """Which bodies stand on the ground, (n,)."""
        return read_only(self._on_ground.copy())

    @property
    def lost(self) -> BoolArray:
        """Which bodies left the numbers, (n,)."""
        return read_only(self._lost.copy())

    @property
    def touchdown(self) -> FloatArray:
        """Velocity in the world at which each came to the ground in the last step, (n, 3).

        [m/s]; NaN where it did not.
        """
        return read_only(self._touchdown.copy())

    @property
    def position(self) -> FloatArray:
        """Position of the origin of base_link in the world [m], (n, 3)."""
        return read_only(np.array(self._state[:3].T))

    @property
    def quaternion(self) -> FloatArray:
        """x, y, z, w from base_link to the world, (n, 4)."""
        return read_only(np.array(self._state[3:7].T))

    @property
    def velocity(self) -> FloatArray:
        """Velocity of the origin of base_link in the world [m/s], (n, 3)."""
        return read_only(np.array(self._state[7:10].T))

    @property
    def angular_velocity(self) -> FloatArray:
        """In base_link axes [rad/s], (n, 3)."""
        return read_only(np.array(self._state[10:].T))

    @property
    def rotation(self) -> FloatArray:
        """Matrix from base_link to the world, (n, 3, 3)."""
        return read_only(np.moveaxis(np.array(self._rotation()), -1, 0))

    @property
    def specific_force(self) -> FloatArray:
        """What accelerometers at the origin of base_link read [m/s^2], (n, 3)."""
        x, y, z = self._acceleration
        force = _back(self._rotation(), (x, y, z + self._params.gravity))
        return read_only(np.stack(force, axis=-1))

    @property
    def through_fluid(self) -> BodyState:
        """Motion through the fluid in base_link axes, as families take it."""
        rotation = self._rotation()
        relative = self._state[7:10] - self._params.current[:, None]
        return BodyState(
            velocity=np.array(_back(rotation, _rows(relative))).T,
            angular_velocity=self.angular_velocity, height=self._state[2].copy(),
            up=np.array(rotation[2]).T,
        )

    def _rotation(self) -> tuple[Rows, Rows, Rows]:
        return _rotation_of(self._state)

    def step(self, wrench: ArrayLike, mass: MassRows | MassProperties, dt: float) -> None:
        """Advance by ``dt`` [s] under wrenches that are constant in base_link axes.

        Parameters
        ----------
        wrench : array_like
            [N] and [N m] about the origin of base_link, (n, 6) or (6,).
        mass : MassProperties, or what `Vehicles.mass` is
            That acts in the step: the mean of both ends.
        dt : float
            [s].

        Raises
        ------
        CommandError
            For a wrench of another shape, and a time that is none.
        """
        dt = seconds_of(dt)
        wrench = numbers_of(wrench, lambda problem: CommandError(f'wrench: {problem}'))
        if wrench.shape not in ((6,), (self.count, 6)):
            raise CommandError(f'wrench: expected shape {(self.count, 6)}, got {wrench.shape}')
        if isinstance(mass, MassProperties):
            mass.require_solid('mass')
            mass = MassRows.of(mass)
        wrenches = np.ascontiguousarray(np.broadcast_to(wrench, (self.count, 6)).T)
        self._touchdown[:] = np.nan
        with np.errstate(over='ignore', invalid='ignore', divide='ignore'):
            for first in range(0, self.count, _CHUNK):
                at = slice(first, first + _CHUNK)
                self._advance(at, wrenches[:, at], mass.part(at), dt)

    def _advance(self, at: slice, wrench: FloatArray, mass: MassRows, dt: float) -> None:
        """Advance some bodies by one Runge-Kutta step of their centres of mass."""
        before = self._state[:, at]
        com = mass.com
        push = _Push(self._params, self._hulls, wrench, mass, before[2])
        rotation = _rotation_of(before)
        state = before.copy()
        state[:3] += _turned(rotation, com)
        state[7:10] += _turned(rotation, _cross(_rows(before[10:]), com))
        k1 = push.derivative(state)
        stands = self._on_ground[at] & (k1[9] <= 0.0)
        k2 = push.derivative(state + 0.5 * dt * k1)
        k3 = push.derivative(state + 0.5 * dt * k2)
        k4 = push.derivative(state + dt * k3)
        k2 += k3
        k2 *= 2.0
        k2 += k1
        k2 += k4
        k2 *= dt / 6.0
        state += k2

        state[3:7] /= np.sqrt((state[3:7] ** 2).sum(axis=0))
        rotation = _rotation_of(state)
        state[:3] -= _turned(rotation, com)
        state[7:10] -= _turned(rotation, _cross(_rows(state[10:]), com))
        self._take(at, before, state, stands, dt)

    def _take(
        self, at: slice, before: FloatArray, state: FloatArray, stands: BoolArray, dt: float
    ) -> None:
        """Let some bodies be where a step has brought them, or the ground stops them."""
        sound = np.isfinite(state).all(axis=0)
        self._lost[at] |= ~sound & ~stands
        lands: BoolArray = np.zeros(stands.shape, bool)
        if self._params.ground:
            lands = (state[2] < 0.0) & (state[9] < 0.0) & ~stands & ~self._lost[at]
            if lands.any():
                self._touchdown[at][lands] = state[7:10, lands].T
                state[2, lands] = 0.0
        stays = stands | self._lost[at]
        if stays.any():
            state[:, stays] = before[:, stays]
        self._acceleration[:, at] = (state[7:10] - before[7:10]) / dt
        rests = stands | lands
        if rests.any():
            state[7:, rests] = 0.0
            self._acceleration[:, at][:, rests] = 0.0
        self._on_ground[at] = rests
        self._state[:, at] = state


class _Push:
    """What moves some bodies in one step."""

    def __init__(
        self, params: BodyParams, hulls: Hulls | None, wrench: FloatArray, mass: MassRows,
        height: FloatArray,
    ) -> None:
        self._params, self._hulls, self._mass = params, hulls, mass
        self._force = _rows(wrench[:3])
        self._torque = _minus(_rows(wrench[3:]), _cross(mass.com, self._force))
        self._inverse = _inverse(mass.inertia)
        self._drags = any(
            np.any(part) for part in (params.drag_area, params.angular_drag, params.angular_damping)
        )
        self._rho: Row = params.fluid_density
        if not self._rho and (self._drags or params.displaced_volume):
            self._rho = density(params.site_altitude + height)

    def derivative(self, state: FloatArray) -> FloatArray:
        """Return the rates of change of a state, (13, n)."""
        x, y, z, w = state[3:7]
        scale = 1.0 / np.sqrt(x * x + y * y + z * z + w * w)
        rotation = rows_of((x * scale, y * scale, z * scale, w * scale))
        rate = _rows(state[10:])
        force, torque = self._with_fluid(rotation, state, rate)
        change = np.empty_like(state)
        change[:3] = state[7:10]
        p, q, r = 0.5 * state[10:]
        change[3] = w * p + y * r - z * q
        change[4] = w * q + z * p - x * r
        change[5] = w * r + x * q - y * p
        change[6] = -x * p - y * q - z * r
        change[7:10] = _turned(rotation, force)
        change[7:10] /= self._mass.mass
        change[9] -= self._params.gravity
        gyroscopic = _cross(rate, _symmetric(self._mass.inertia, rate))
        change[10:] = _symmetric(self._inverse, _minus(torque, gyroscopic))
        return change

    def _with_fluid(
        self, rotation: tuple[Rows, Rows, Rows], state: FloatArray, rate: Rows
    ) -> tuple[Rows, Rows]:
        """Return force and torque about the centre of mass with drag and buoyancy, body axes."""
        p, force, torque, rho = self._params, self._force, self._torque, self._rho
        share: Row = 1.0
        if self._hulls:
            up, com = np.stack(rotation[2], axis=-1), self._mass.com
            along = up[:, 0] * com[0] + up[:, 1] * com[1] + up[:, 2] * com[2]
            volume, moment = self._hulls.immersed(up, p.water_level - state[2] + along)
            share = volume / self._hulls.volume
            push, weight = rho * p.gravity * volume, rho * p.gravity
            x, y, z = rotation[2]
            force = _plus(force, (push * x, push * y, push * z))
            mx, my, mz = moment.T
            arm = mx - volume * com[0], my - volume * com[1], mz - volume * com[2]
            torque = _plus(torque, _cross(arm, (weight * x, weight * y, weight * z)))
        if self._drags:
            wet = rho * share
            relative = _minus(_rows(state[7:10]), _constant(p.current))
            u, v, w = _back(rotation, relative)
            pull = -0.5 * wet * np.sqrt(u * u + v * v + w * w)
            a, b, c = p.drag_area.tolist()
            drag = pull * a * u, pull * b * v, pull * c * w
            damped = tuple(
                (wet * area * np.abs(spin) + share * damping) * spin
                for area, damping, spin in zip(
                    p.angular_drag.tolist(), p.angular_damping.tolist(), rate, strict=True
                )
            )
            lever = _minus(_constant(p.centre_of_pressure), self._mass.com)
            force = _plus(force, drag)
            torque = _minus(_plus(torque, _cross(lever, drag)), (damped[0], damped[1], damped[2]))
        if p.displaced_volume:
            weight = rho * p.displaced_volume * p.gravity
            x, y, z = rotation[2]
            lift = weight * x, weight * y, weight * z
            lever = _minus(_constant(p.centre_of_buoyancy), self._mass.com)
            force, torque = _plus(force, lift), _plus(torque, _cross(lever, lift))
        return force, torque


def _tanks_of(state: TankState) -> Iterator[MassRows]:
    for column in range(state.mass.shape[-1]):
        x, y, z = np.moveaxis(state.com[..., column, :], -1, 0)
        i = state.inertia[..., column, :, :]
        yield MassRows(state.mass[..., column], (x, y, z), (
            i[..., 0, 0], i[..., 1, 1], i[..., 2, 2], i[..., 0, 1], i[..., 0, 2], i[..., 1, 2],
        ))


def fluid_wrench(
    params: BodyParams, body: MassProperties, height: FloatArray, quaternion: FloatArray,
    velocity: FloatArray, rate: FloatArray,
) -> FloatArray:
    """Return drag and buoyancy of n bodies in base_link axes about the mass [N], [N m], (n, 6).

    Parameters
    ----------
    params : BodyParams
        The fluid.
    body : MassProperties
        Mass of each.
    height, quaternion : FloatArray
        Of base_link in the world [m], (n,), and x, y, z, w from it to the world, (n, 4).
    velocity, rate : FloatArray
        Of base_link through the fluid [m/s], and how it turns [rad/s], in its axes, (n, 3) each.
    """
    state = np.zeros((13, len(height)))
    state[2], state[3:7], state[10:] = height, quaternion.T, rate.T
    rotation, com, turn = _rotation_of(state), _constant(body.com), _rows(state[10:])
    of_mass = _plus(_rows(velocity.T), _cross(turn, com))
    state[:3] += np.array(_turned(rotation, com))
    state[7:10] = np.array(_turned(rotation, of_mass)) + params.current[:, None]
    hulls = Hulls(params.hulls) if params.hulls.names else None
    push = _Push(params, hulls, np.zeros(state.shape)[:6], MassRows.of(body), height)
    force, torque = push._with_fluid(rotation, state, turn)
    return np.stack(np.broadcast_arrays(*force, *torque), axis=-1)


def _rotation_of(state: FloatArray) -> tuple[Rows, Rows, Rows]:
    x, y, z, w = state[3:7]
    return rows_of((x, y, z, w))


def _rows(values: FloatArray) -> Rows:
    return values[0], values[1], values[2]


def _constant(vector: FloatArray) -> Rows:
    x, y, z = vector.tolist()
    return x, y, z


def _plus(a: Rows, b: Rows) -> Rows:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def _minus(a: Rows, b: Rows) -> Rows:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _cross(a: Rows, b: Rows) -> Rows:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _turned(rotation: tuple[Rows, Rows, Rows], v: Rows) -> Rows:
    """Return a vector of base_link in the world."""
    (a, b, c), (d, e, f), (g, h, i) = rotation
    x, y, z = v
    return a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z


def _back(rotation: tuple[Rows, Rows, Rows], v: Rows) -> Rows:
    """Return a vector of the world in base_link axes."""
    (a, b, c), (d, e, f), (g, h, i) = rotation
    x, y, z = v
    return a * x + d * y + g * z, b * x + e * y + h * z, c * x + f * y + i * z


def _symmetric(matrix: tuple[Row, ...], v: Rows) -> Rows:
    """Return symmetric matrices, by their six entries, times vectors."""
    xx, yy, zz, xy, xz, yz = matrix
    x, y, z = v
    return xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z


def _inverse(matrix: tuple[Row, ...]) -> tuple[Row, ...]:
    """Return the inverse of symmetric matrices, by their six entries."""
    xx, yy, zz, xy, xz, yz = matrix
    a, b, c = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    scale = 1.0 / (xx * a + xy * b + xz * c)
    return (
        a * scale, (xx * zz - xz * xz) * scale, (xx * yy - xy * xy) * scale,
        b * scale, c * scale, (xy * xz - xx * yz) * scale,
    )
