# SPDX-License-Identifier: Apache-2.0
"""A rigid body in a fluid: six degrees of freedom, mass that changes, a floor to stand on."""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from propulsion_ros.models.body.hulls import Hulls, HullsParams, check_hulls
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.common.atmosphere import (
    GAS_CONSTANT_AIR,
    HEAT_RATIO_AIR,
    STANDARD_GRAVITY,
    density,
    temperature_and_pressure,
)
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.models.common.points import numbers_of, pairs_of
from propulsion_ros.models.common.rotation import (
    matrix_of,
    matrix_of_rpy,
    quaternion_of_rpy,
    rows_of,
    unit,
)
from propulsion_ros.models.common.start import Start, State
from propulsion_ros.models.common.wrench import cross, unit_rows
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import FloatArray, group, quantity, validate

LIQUID = 100.0
"""A fluid of a larger density is a liquid [kg/m^3]."""
_MOST = 1e3
_MOST_MACH = 50.0  # what comes back from other planets has 40


def drag_table(text: str) -> tuple[FloatArray, FloatArray]:
    """Return Mach numbers, which rise, and factors on the drag, (k,) each; raise `ConfigError`."""
    key = 'drag_over_mach'
    mach, factor = pairs_of(key, numbers_of(key, text), 'Mach number and factor', least=1)
    if np.any(np.diff(mach) <= 0.0) or mach[0] < 0.0:
        raise ConfigError(key, 'expected Mach numbers that rise, from 0 or above')
    if mach[-1] > _MOST_MACH:
        raise ConfigError(key, f'expected Mach numbers up to {_MOST_MACH:g}, got {mach[-1]:g}; a '
                          'speed in m/s is divided by that of sound, about 340 m/s')
    if np.any(factor < 0.0) or np.any(factor > _MOST):
        raise ConfigError(key, f'expected factors from 0 to {_MOST:g}')
    return mach, factor


class Air:
    """Air of a day, and what its speed of sound does to the drag.

    Parameters
    ----------
    warmer : float
        What it is warmer than the standard, at every height [K].
    drag_over_mach : str
        See `drag_table`; empty: drag does not depend on it.
    """

    def __init__(self, warmer: float, drag_over_mach: str) -> None:
        self._warmer = warmer
        self._table = drag_table(drag_over_mach) if drag_over_mach else None

    @property
    def most(self) -> float:
        """The largest factor on the drag."""
        return 1.0 if self._table is None else float(self._table[1].max())

    def at(self, altitude: float) -> tuple[float, float]:
        """Return density [kg/m^3] and speed of sound [m/s] at an altitude above sea level [m]."""
        temperature, pressure = temperature_and_pressure(altitude, self._warmer)
        gas = GAS_CONSTANT_AIR * float(temperature)
        return float(pressure) / gas, float(np.sqrt(HEAT_RATIO_AIR * gas))

    def factor(self, mach: float) -> float:
        """Return the factor on the drag; beyond its ends the table stays."""
        return 1.0 if self._table is None else float(np.interp(mach, *self._table))


_LEVEL = -1e-9


class Rail:
    """A straight rail from where a body begins, which bears what acts across it.

    Parameters
    ----------
    foot : FloatArray
        Origin of the body at the lower end, in the world [m], (3,).
    direction : FloatArray
        Upwards along the rail, in the world, of length 1, (3,).
    length : float
        Way of the body to the upper end [m].
    """

    def __init__(self, foot: FloatArray, direction: FloatArray, length: float) -> None:
        self.foot, self.direction, self._length = foot, direction, length

    def holds(self, position: FloatArray) -> bool:
        """Return whether a body is not past the upper end."""
        return self._way(position) < self._length

    def stops(self, position: FloatArray, velocity: FloatArray) -> bool:
        """Return whether a body has slid down to the lower end."""
        return self._way(position) < 0.0 and float(velocity @ self.direction) < 0.0

    def along(self, vector: FloatArray) -> FloatArray:
        """Return the part of a vector of the world that the rail permits."""
        return np.asarray((vector @ self.direction) * self.direction)

    def _way(self, position: FloatArray) -> float:
        return float((position - self.foot) @ self.direction)


def unit_axis(axis: FloatArray) -> FloatArray:
    """Return ``rail_axis`` (3,) with length 1; raise `ConfigError` for one of length 0."""
    return np.asarray(unit_rows('rail_axis', axis[None])[0])


def check_rail(params: Any) -> None:
    """Raise `ConfigError` where a body cannot begin on the rail of its settings."""
    if (matrix_of_rpy(params.start_rpy) @ unit_axis(params.rail_axis))[2] < _LEVEL:
        is_own = np.array_equal(params.rail_axis, (0.0, 0.0, 1.0))
        raise ConfigError(
            'start_rpy' if is_own else 'rail_axis',
            'expected a rail that does not point down at the start; start_rpy is in rad',
        )
    for key in ('start_velocity', 'start_angular_velocity'):
        if np.any(getattr(params, key)):
            raise ConfigError(key, 'expected 0 for a body that begins on a rail')


_MOST_SUBSTEPS = 1000
_FARTHEST, _FASTEST = 1e7, 1e5
"""Where a body may begin [m], and how fast it may move and turn then [m/s], [rad/s]."""
_TURNS = 4.0 * np.pi
"""No roll, pitch or yaw at the start is larger, but in degrees [rad]."""
_OVER_GROUND = '; it is x, y, z, and the ground, where there is one, at z = 0'
"""How the message for a refused position ends."""
_LARGEST_KICK = 1e5
"""No step changes the speed of a body by more [m/s], whatever its fluid."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BodyParams:
    """Fluid, gravity and start of a rigid body."""

    gravity: float = quantity(
        STANDARD_GRAVITY, 'm/s^2', doc='acceleration of gravity, along -z of the world', lo=0.0,
        usual=(0.1, 30.0),
    )
    fluid_density: float = quantity(
        0.0, 'kg/m^3', doc='density of the fluid; 0: standard air at the altitude', lo=0.0
    )
    site_altitude: float = quantity(
        0.0, 'm', doc='height of the world origin above sea level', lo=-1000.0, hi=86000.0
    )
    drag_area: FloatArray = quantity(
        0.0, 'm^2', doc='drag coefficient times area along each body axis', lo=0.0, shape=(3,),
        usual=(0.0, 1e3),  # Of ships; `drag` holds it against the robot.
    )
    drag_over_mach: str = quantity(
        '', kind=str,
        doc="factor on drag_area over the Mach number, 'm0 c0 m1 c1 ...', linear between the "
        'points and constant beyond them; empty: 1',
    )
    temperature_offset: float = quantity(
        0.0, 'K', lo=-150.0, hi=150.0, usual=(0.0, 65.0),
        doc='what the air is warmer than the standard at every height',
    )
    rail_length: float = quantity(
        0.0, 'm', lo=0.0, hi=1e4, usual=(0.5, 200.0),
        doc='way along a launch rail, on which the body does not turn; 0: no rail',
    )
    rail_axis: FloatArray = quantity(
        (0.0, 0.0, 1.0), doc='direction of the rail upwards, in base_link at the start',
        shape=(3,), lo=-1e6, hi=1e6,
    )
    centre_of_pressure: FloatArray = quantity(
        0.0, 'm', doc='where the drag acts, in base_link', shape=(3,)
    )
    angular_drag: FloatArray = quantity(
        0.0, 'm^5', doc='torque about each body axis over density and rate squared', lo=0.0,
        shape=(3,),
    )
    angular_damping: FloatArray = quantity(
        0.0, 'N m s/rad', lo=0.0, shape=(3,),
        doc='torque about each body axis over the rate, such as of the waves that a hull makes',
    )
    displaced_volume: float = quantity(
        0.0, 'm^3', doc='volume of fluid that the body displaces', lo=0.0
    )
    centre_of_buoyancy: FloatArray = quantity(
        0.0, 'm', doc='where the buoyancy acts, in base_link', shape=(3,)
    )
    hulls: HullsParams = group(HullsParams, element='hull')
    water_level: float = quantity(
        0.0, 'm', lo=-_FARTHEST, hi=_FARTHEST,
        doc='height of the surface in the world, with hulls; what is above it has no drag',
    )
    ground: bool = quantity(
        True, doc='whether the body stands on the plane z = 0 of the world', kind=bool
    )
    start_position: FloatArray = quantity(
        0.0, 'm', doc='position of base_link in the world at the start', shape=(3,),
        lo=-_FARTHEST, hi=_FARTHEST,
    )
    start_rpy: FloatArray = quantity(
        0.0, 'rad', doc='roll, pitch, yaw of base_link in the world at the start', shape=(3,),
        lo=-_TURNS, hi=_TURNS,
    )
    start_velocity: FloatArray = quantity(
        0.0, 'm/s', doc='velocity of base_link in the axes of the world at the start', shape=(3,),
        lo=-1e5, hi=1e5,
    )
    start_angular_velocity: FloatArray = quantity(
        0.0, 'rad/s', doc='rate of turn about the axes of base_link at the start', shape=(3,),
        lo=-1e3, hi=1e3, usual=(0.0, 65.0),
    )
    current: FloatArray = quantity(
        0.0, 'm/s', doc='velocity of the fluid in the axes of the world: wind, or a current',
        shape=(3,), lo=-1e3, hi=1e3, usual=(0.0, 25.0),
    )

    def __post_init__(self) -> None:
        validate(self)
        height = self.start_position[2]
        if self.ground and height < 0.0:
            raise ConfigError(
                'start_position',
                f'{height:g} m is below the ground; expected at least 0 m, or ground false', 2,
            )
        if self.drag_over_mach:
            drag_table(self.drag_over_mach)
        if self.rail_length:
            check_rail(self)
        if self.hulls.names:
            check_hulls(self)
        if not self.starts_on_ground:
            return
        for key in ('start_velocity', 'start_angular_velocity'):
            if np.any(getattr(self, key)):
                raise ConfigError(
                    key, 'expected 0 for a body that stands on the ground at the start, or an '
                    'upward velocity'
                )

    @property
    def starts_on_ground(self) -> bool:
        """Whether the body stands on the ground at the start."""
        is_low = bool(self.start_position[2] <= 0.0)
        return self.ground and is_low and bool(self.start_velocity[2] <= 0.0)

    def starts(self, start: Start, batch: tuple[int, ...] = ()) -> Iterator[FloatArray]:
        """Yield position, rpy, velocity and angular velocity that bodies begin with, (..., 3)."""
        lowest = np.array([-_FARTHEST, -_FARTHEST, 0.0 if self.ground else -_FARTHEST])
        limits: dict[str, tuple[Any, float, str]] = {
            'position': (lowest, _FARTHEST, _OVER_GROUND), 'rpy': (-_TURNS, _TURNS, '; in rad'),
            'velocity': (-_FASTEST, _FASTEST, ''), 'angular_velocity': (-_FASTEST, _FASTEST, ''),
        }
        for name, (low, high, note) in limits.items():
            usual = np.broadcast_to(getattr(self, f'start_{name}'), (*batch, 3))
            yield start.of(name, usual, low, high, note, is_vector=True)


class RigidBody:
    """Newton and Euler about the moving centre of mass, by Runge-Kutta's fourth-order step.

    The velocity of the material is continuous while propellant leaves: thrust carries all of its
    momentum. What the change of inertia does to the spin (jet damping) is left out.

    Attributes
    ----------
    velocity : FloatArray
        Velocity of the origin of base_link in the world [m/s], (3,).
    specific_force : FloatArray
        What an accelerometer at the origin of base_link reads, in base_link axes [m/s^2], (3,).
    on_ground : bool
        Whether the body stands on the ground.
    touchdown : FloatArray or None
        Velocity at which it came to the ground in the last step [m/s]; None: it did not.
    """

    start_states: ClassVar[tuple[str, ...]] = ('position', 'rpy', 'velocity', 'angular_velocity')

    def __init__(self, params: BodyParams) -> None:
        self._params = params
        self._gravity = np.array([0.0, 0.0, -params.gravity])
        changed = params.drag_over_mach or params.temperature_offset
        self._air = Air(params.temperature_offset, params.drag_over_mach) if changed else None
        self._steepest = self._air.most if self._air else 1.0
        self._sound = 0.0
        self._angular_drag = params.angular_drag.tolist()
        self._damping = params.angular_damping.tolist()
        self._drag_area = params.drag_area.tolist()
        self._largest_drag = (
            self._steepest * float(params.drag_area.max()), params.centre_of_pressure
        )
        self._ground_density, _ = self._medium(0.0)
        self._hulls = Hulls(params.hulls) if params.hulls.names else None
        self.reset()

    def reset(self, indices: Any = None, state: State | None = None) -> None:
        """Return to the start; see `Restartable.reset`.

        A state may have the ``position`` [m] of base_link in the world and its ``rpy`` [rad], its
        ``velocity`` in the world [m/s], and the ``angular_velocity`` in base_link axes [rad/s].
        There is one body, so no batch to have indices of.
        """
        p = self._params
        position, rpy, velocity, rate = p.starts(Start(indices, (), state, self.start_states))
        up = matrix_of_rpy(rpy).T @ -self._gravity
        rests = not np.any(velocity)
        on_rail = bool(p.rail_length) and rests and not np.any(rate)
        on_ground = on_rail or (p.ground and position[2] <= 0.0 and rests)
        self._position: FloatArray = position.copy()
        self._quaternion = quaternion_of_rpy(rpy)
        self.velocity: FloatArray = velocity.copy()
        self._rate: FloatArray = rate.copy()
        self.specific_force: FloatArray = up if on_ground else np.zeros(3)
        self.on_ground: bool = on_ground
        self.touchdown: FloatArray | None = None
        self._rail = Rail(
            self._position, matrix_of_rpy(rpy) @ unit_axis(p.rail_axis), p.rail_length
        ) if on_rail else None

    @property
    def motion(self) -> Motion:
        """Pose and velocities of the body now."""
        velocity = matrix_of(self._quaternion).T @ self.velocity
        return Motion(self._position, self._quaternion, velocity, self._rate)

    @property
    def on_rail(self) -> bool:
        """Whether the rail still holds the body."""
        return self._rail is not None and self._rail.holds(self._position)

    def step(
        self,
        wrench: FloatArray,
        before: MassProperties,
        after: MassProperties,
        dt: float,
        extra_drag: tuple[float, FloatArray] | None = None,
    ) -> None:
        """Advance by ``dt`` [s] under a wrench that is constant in base_link axes.

        Parameters
        ----------
        wrench : FloatArray
            [N] and [N m] about the origin of base_link, (6,).
        before, after : MassProperties
            At both ends of the step; their mean acts, which is exact to second order.
        dt : float
            [s].
        extra_drag : tuple of float and FloatArray, optional
            Drag area [m^2] without direction, and the point in base_link [m] that it acts at and
            by whose velocity.

        Raises
        ------
        FloatingPointError
            Where the step is too long for the forces and the motion overflows; the
            state stays as it was.
        """
        middle = after if before is after else MassProperties(
            0.5 * (before.mass + after.mass),
            0.5 * (before.com + after.com),
            0.5 * (before.inertia + after.inertia),
        )
        start = self._position, self._quaternion, self.velocity, self._rate, self.on_ground
        rho, self._sound = self._medium(float(self._position[2]))
        if self._rail and not self._rail.holds(self._position):
            self._rail = None
        count = self._substeps(middle, rho, dt, extra_drag)
        self.touchdown = None
        try:
            for _ in range(count):
                self._advance(wrench, middle, rho, dt / count, extra_drag)
        except FloatingPointError:
            self._position, self._quaternion, self.velocity, self._rate, self.on_ground = start
            raise
        if not self.on_ground:
            rotation = matrix_of(self._quaternion)
            acceleration = (self.velocity - start[2]) / dt
            self.specific_force = rotation.T @ (acceleration - self._gravity)

    def _medium(self, height: float) -> tuple[float, float]:
        """Return density [kg/m^3] and speed of sound [m/s], 0 where that does not matter."""
        p = self._params
        if self._air is None:
            return p.fluid_density or float(density(p.site_altitude + height)), 0.0
        rho, sound = self._air.at(p.site_altitude + height)
        return p.fluid_density or rho, sound

    def _substeps(
        self,
        mass: MassProperties,
        rho: float,
        dt: float,
        extra_drag: tuple[float, FloatArray] | None,
    ) -> int:
        """Return into how many substeps a step must be divided to follow the fastest motion.

        Quadratic drag damps a speed v at the rate rho * area * v / mass, and through its lever
        also the rotation. A Runge-Kutta step is stable for rate * dt below 2.8, accurate below 1.
        """
        speed = _norm(self.velocity - self._params.current)
        fastest = self._fastest(mass, rho, speed, self._rate.tolist(), extra_drag)
        return max(1, math.ceil(min(fastest * dt, _MOST_SUBSTEPS)))

    def can_follow(self, wrench: FloatArray, mass: MassProperties, dt: float) -> bool:
        """Return whether steps of ``dt`` [s] can follow the motion after one under a wrench.

        The wrench is as in `step`. Motion that is too fast already is not due to the wrench.
        """
        force, torque = wrench[:3], wrench[3:] - cross(mass.com, wrench[:3])
        kick = _norm(force) / mass.mass * dt
        if not kick <= _LARGEST_KICK:
            return False
        rho, most = self._ground_density, _MOST_SUBSTEPS / dt
        speed, rate = _norm(self.velocity - self._params.current), np.abs(self._rate)
        if mass.least_moment > 0.0:
            # No part of the spin is larger, and that is all that most wrenches need.
            spin = _norm(torque) / mass.least_moment * dt
            if self._fastest(mass, rho, speed + kick, (rate + spin).tolist(), None) <= most:
                return True
        turned = rate + np.abs(np.linalg.solve(mass.inertia, torque)) * dt
        after = self._fastest(mass, rho, speed + kick, turned.tolist(), None)
        before = self._fastest(mass, rho, speed, rate.tolist(), None)
        return after <= max(most, 2.0 * before)

    def _fastest(
        self, mass: MassProperties, rho: float, speed: float, rate: Sequence[float],
        extra_drag: tuple[float, FloatArray] | None,
    ) -> float:
        """Return the rate of the fastest motion at a speed and rates of turn [1/s]."""
        areas = [self._largest_drag, *([extra_drag] if extra_drag is not None else [])]
        (p, q, r), (x, y, z) = rate, mass.moments
        a, b, c = self._angular_drag
        spin = math.sqrt(p * p + q * q + r * r)
        fastest: float = spin
        fastest += 2.0 * rho * max(a * abs(p) / x, b * abs(q) / y, c * abs(r) / z)
        fastest += max(each / moment for each, moment in zip(self._damping, (x, y, z), strict=True))
        # The drag of the body goes by its centre of mass, a canopy by where it is tied.
        for (area, at), turn in zip(areas, (0.0, spin), strict=False):
            i, j, k = (at - mass.com).tolist()
            i, j, k = i * i, j * j, k * k
            turning = max((j + k) / x, (i + k) / y, (i + j) / z)
            local = speed + turn * math.sqrt(i + j + k)
            fastest += rho * local * area * (1.0 / mass.mass + turning)
        if self._hulls:
            reach = self._hulls.reach + _norm(mass.com)
            bob = rho * self._params.gravity * self._hulls.stiffest
            fastest += math.sqrt(bob * (1.0 / mass.mass + reach * reach / min(x, y, z)))
        return fastest

    def _advance(
        self,
        wrench: FloatArray,
        mass: MassProperties,
        rho: float,
        dt: float,
        extra_drag: tuple[float, FloatArray] | None,
    ) -> None:
        """Advance by one Runge-Kutta step."""
        com, inertia, inverse = mass.com, mass.inertia, mass.inverse
        force, torque = wrench[:3], wrench[3:] - cross(com, wrench[:3])

        def derivative(state: FloatArray) -> FloatArray:
            self._check_finite(state)
            _, _, _, x, y, z, w, *velocity, p, q, r = state.tolist()
            rotation = np.array(rows_of(unit((x, y, z, w))))
            fluid_force, fluid_torque = self._fluid(
                rho, rotation, state[7:10], (p, q, r), com, extra_drag, state[2]
            )
            acceleration = self._gravity + rotation @ (force + fluid_force) / mass.mass
            i, j, k = (inertia @ state[10:]).tolist()
            gyroscopic = np.array((q * k - r * j, r * i - p * k, p * j - q * i))
            spin = inverse @ (torque + fluid_torque - gyroscopic)
            if self._rail:
                acceleration, spin = self._rail.along(acceleration), 0.0 * spin
            p, q, r = 0.5 * p, 0.5 * q, 0.5 * r
            return np.array((
                *velocity,
                w * p + y * r - z * q,
                w * q + z * p - x * r,
                w * r + x * q - y * p,
                -x * p - y * q - z * r,
                *acceleration.tolist(), *spin.tolist(),
            ))

        # The integrated point is the centre of mass; base_link follows from it rigidly.
        rotation = matrix_of(self._quaternion)
        state = np.concatenate((
            self._position + rotation @ com,
            self._quaternion,
            self.velocity + rotation @ cross(self._rate, com),
            self._rate,
        ))
        k1 = derivative(state)
        if self.on_ground and (k1[7:10] @ self._rail.direction if self._rail else k1[9]) <= 0.0:
            self._stand(rotation)
            return
        k2 = derivative(state + 0.5 * dt * k1)
        k3 = derivative(state + 0.5 * dt * k2)
        k4 = derivative(state + dt * k3)
        state = state + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        self._check_finite(state)

        position, quaternion, velocity, rate = state[:3], state[3:7], state[7:10], state[10:]
        self._quaternion = quaternion / _norm(quaternion)
        rotation = matrix_of(self._quaternion)
        self._rate = rate
        self.velocity = velocity - rotation @ cross(rate, com)
        self._position = position - rotation @ com
        self.on_ground = False
        if self._rail:
            if self._rail.stops(self._position, self.velocity):
                self._position = self._rail.foot
                self._stand(rotation)
        elif self._params.ground and self._position[2] < 0.0 and self.velocity[2] < 0.0:
            self._position[2] = 0.0
            self.touchdown = self.velocity
            self._stand(rotation)

    def _check_finite(self, state: FloatArray) -> None:
        if not all(map(math.isfinite, state.tolist())):
            raise FloatingPointError(
                f'the body left the numbers: rate {self._rate} rad/s, '
                f'velocity {self.velocity} m/s'
            )

    def _stand(self, rotation: FloatArray) -> None:
        self.velocity = np.zeros(3)
        self._rate = np.zeros(3)
        self.specific_force = rotation.T @ -self._gravity
        self.on_ground = True

    def _fluid(
        self,
        rho: float,
        rotation: FloatArray,
        velocity: FloatArray,
        rate: tuple[float, float, float],
        com: FloatArray,
        extra_drag: tuple[float, FloatArray] | None,
        height: float,
    ) -> tuple[FloatArray, FloatArray]:
        """Return drag and buoyancy: force and torque about the centre of mass, body axes.

        Velocity [m/s] and height [m] are those of the centre of mass in the world.
        """
        p = self._params
        relative = velocity - p.current
        speed = _norm(relative)
        through = rotation.T @ relative
        share = 1.0
        if self._hulls:
            up = rotation[2]
            volume, moment = self._hulls.immersed(up, p.water_level - height + up @ com)
            share = float(volume) / self._hulls.volume
        wet = rho * share
        # Plain floats take a fraction of the time of arrays of three.
        scale, (i, j, k), (u, v, w) = -0.5 * wet * speed, self._drag_area, through.tolist()
        i, j, k = scale * i * u, scale * j * v, scale * k * w
        if self._air:
            factor = self._air.factor(speed / self._sound)
            i, j, k = factor * i, factor * j, factor * k
        x, y, z = (p.centre_of_pressure - com).tolist()
        (a, b, c), (d, e, f), (u, v, w) = self._angular_drag, self._damping, rate
        torque = np.array((
            y * k - z * j - (wet * a * abs(u) + share * d) * u,
            z * i - x * k - (wet * b * abs(v) + share * e) * v,
            x * j - y * i - (wet * c * abs(w) + share * f) * w,
        ))
        force = np.array((i, j, k))
        if extra_drag is not None:
            area, at = extra_drag
            # A light canopy follows the point that its lines are tied to, which damps a swing.
            arm = at - com
            local = through + cross(np.array(rate), arm)
            pull = -0.5 * rho * _norm(local) * area * local
            force = force + pull
            torque = torque + cross(arm, pull)
        if p.displaced_volume:
            lift = -rho * p.displaced_volume * (rotation.T @ self._gravity)
            force = force + lift
            torque = torque + cross(p.centre_of_buoyancy - com, lift)
        if self._hulls:
            weight = rho * p.gravity
            force = force + weight * volume * up
            torque = torque + weight * cross(moment - volume * com, up)
        return force, torque


def _norm(vector: FloatArray) -> float:
    return math.sqrt(vector @ vector)
