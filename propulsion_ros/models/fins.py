"""Fins in a flow: deflection with dynamics and limits, and the lift and drag it makes.

After the UUV simulator's fin plugin and PyFlyt's lifting surfaces. The force belongs to the
deflection at the end of the step; the originals use the one before it.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from propulsion_ros.errors import ConfigError
from propulsion_ros.models import placement
from propulsion_ros.models.allocation import allocation_matrix
from propulsion_ros.models.family import BodyState, Command, Output
from propulsion_ros.models.lag import Lag
from propulsion_ros.models.lift_drag import (
    Loads,
    Quadratic,
    QuadraticParams,
    TwoLines,
    TwoLinesParams,
)
from propulsion_ros.models.lifting_surface import LiftingSurface, LiftingSurfaceParams
from propulsion_ros.models.thruster_dynamics import DynamicsParams, RotorDynamics
from propulsion_ros.models.wrench import cross, in_link_axes, unit_rows
from propulsion_ros.quantity import FloatArray, IntArray, group, names, quantity


@dataclass(frozen=True, kw_only=True, eq=False)
class FinsParams(DynamicsParams):
    """Configuration of n fins; each is listed under one of the lift models."""

    names: tuple[str, ...] = names('fin names, the order of all arrays')
    min_deflection: FloatArray = quantity(
        -np.pi / 2, 'rad', doc='lowest deflection', lo=-np.pi, hi=np.pi, shape=('n',)
    )
    max_deflection: FloatArray = quantity(
        np.pi / 2, 'rad', doc='highest deflection', lo=-np.pi, hi=np.pi, shape=('n',)
    )
    dynamics: tuple[str, ...] = quantity(
        'first_order', doc='how the deflection follows its command', kind=str, shape=('n',),
        choices=('zero_order', 'first_order', 'yoerger', 'bessa'),
    )
    time_constant: FloatArray = quantity(
        0.0, 's', doc='first_order: lag of the deflection; 0 follows at once', lo=0.0,
        shape=('n',),
    )
    rate_limit: FloatArray = quantity(
        0.0, 'rad/s', doc='largest rate of the deflection; 0 means no limit', lo=0.0,
        shape=('n',),
    )
    integrator: str = quantity(
        'exact', doc='exact, or the explicit step of the originals', kind=str,
        choices=('exact', 'euler'),
    )
    compat: str = quantity(
        'none', doc='original whose errors are wanted back: uuv for two_lines, pyflyt for '
        'lifting_surface', kind=str, choices=('none', 'uuv', 'pyflyt'),
    )
    position: FloatArray = placement.position('where the force acts')
    chord: FloatArray = placement.direction(
        'direction of the leading edge at deflection 0, in the link of the fin; its part along '
        'the span has no effect', (1.0, 0.0, 0.0),
    )
    span: FloatArray = placement.direction(
        'axis of the deflection, in the link of the fin', (0.0, 0.0, 1.0)
    )
    link: tuple[str, ...] = placement.link('force')
    rotation: FloatArray = placement.rotation()
    quadratic: QuadraticParams = group(QuadraticParams, element='quadratic')
    two_lines: TwoLinesParams = group(TwoLinesParams, element='two_lines')
    lifting_surface: LiftingSurfaceParams = group(
        LiftingSurfaceParams, element='lifting_surface'
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for i in np.flatnonzero(self.min_deflection > self.max_deflection).tolist():
            raise ConfigError(
                'min_deflection',
                f'{self.min_deflection[i]:g} is above max_deflection '
                f'{self.max_deflection[i]:g} rad', i,
            )
        self._check_models()
        largest = np.maximum(np.abs(self.min_deflection), np.abs(self.max_deflection))
        for fin in self.lifting_surface.fin:
            i = self.names.index(fin)
            if largest[i] > np.pi / 2:
                raise ConfigError(
                    'max_deflection',
                    f'a flap turns by at most {np.pi / 2:g} rad, got {largest[i]:g}', i,
                )

    def _check_models(self) -> None:
        """Raise unless every fin is under exactly one lift model."""
        model_of: dict[str, str] = {}
        for key in ('quadratic', 'two_lines', 'lifting_surface'):
            for i, fin in enumerate(getattr(self, key).fin):
                if fin not in self.names:
                    known = ', '.join(self.names)
                    raise ConfigError(f'{key}.fin', f'unknown fin {fin!r}, known: {known}', i)
                if fin in model_of:
                    raise ConfigError(f'{key}.fin', f'{fin!r} is also in {model_of[fin]}', i)
                model_of[fin] = key
        for i, fin in enumerate(self.names):
            if fin not in model_of:
                raise ConfigError(
                    'names',
                    f'{fin!r} has no lift model, expected it in quadratic.fin, two_lines.fin or '
                    'lifting_surface.fin', i,
                )


class LiftModel(Protocol):
    """What turns a flow into loads; see `Quadratic.loads`."""

    def loads(self, velocity: FloatArray, deflection: FloatArray) -> Loads: ...  # noqa: D102


class Fins:
    """n fins, each all-moving (`Quadratic`, `TwoLines`) or with a flap (`LiftingSurface`).

    Commands are deflections [rad] (position), clamped to the limits; 0 is safe. A positive
    deflection turns the chord right-handed about the span, so that a fin in forward motion
    pushes towards its normal, span x chord. Flow along the span makes no force. Without a
    velocity of the body there is no force at all.

    Parameters
    ----------
    params : FinsParams
        Validated configuration.
    batch : tuple of int
        Leading batch shape of the state.

    Attributes
    ----------
    deflection : FloatArray
        [rad], (..., n).
    """

    Params: ClassVar[type] = FinsParams

    def __init__(self, params: FinsParams, batch: tuple[int, ...] = ()) -> None:
        n = len(params.names)
        self._n, self._batch, self._rotation = n, batch, params.rotation
        self._lower, self._upper = params.min_deflection, params.max_deflection
        self._rate_limit = params.rate_limit
        kinds = np.array(params.dynamics)
        tau = np.where(kinds == 'first_order', params.time_constant, 0.0)
        self._lag = Lag(tau, params.rate_limit, params.integrator)
        self._driven = (kinds == 'yoerger') | (kinds == 'bessa')
        reach = np.maximum(np.abs(self._lower), np.abs(self._upper))
        self._drives = RotorDynamics(params, reach) if np.any(self._driven) else None

        self._span = unit_rows('span', params.span)
        # A fin has no axis of its own to push along: its row of axes is its force.
        self._once = np.ones(n)
        self._plane = _planes(unit_rows('chord', params.chord), self._span)
        points = np.repeat(params.position, 2, axis=0)
        # Its transpose turns the twist of the body into the flow at each fin (virtual work).
        self._matrix = allocation_matrix(points, self._plane.reshape(-1, 3))
        self._models: list[tuple[IntArray, LiftModel]] = [
            (np.array([params.names.index(fin) for fin in fins], dtype=np.int64), model)
            for fins, model in (
                (params.quadratic.fin, Quadratic(params.quadratic)),
                (params.two_lines.fin, TwoLines(params.two_lines, params.compat)),
                (params.lifting_surface.fin, LiftingSurface(params.lifting_surface, params.compat)),
            )
            if fins
        ]
        self._turns = np.array([fin not in params.lifting_surface.fin for fin in params.names])

        self.command_names = self.actuator_names = self.state_names = params.names
        self.command_fields = ('position',) * n
        self.safe_command = np.clip(np.zeros(n), self._lower, self._upper)
        self.nan_is_safe = (False,) * n
        self.uses_body = True
        self._safe = np.broadcast_to(self.safe_command, (*batch, n))
        self.actuator_frames = params.link
        self.tank_names: tuple[str, ...] = ()
        self.reset()

    def reset(self) -> None:
        """Return to the safe deflection."""
        self.deflection: FloatArray = np.broadcast_to(
            self.safe_command, (*self._batch, self._n)
        ).copy()
        self._moment: FloatArray = np.zeros_like(self.deflection)

    def rest(self) -> None:
        """Return to the safe deflection."""
        self.reset()

    def check_command(self, command: Command) -> None:
        """Accept every number: what is beyond the limits is clamped."""

    def step(self, command: Command, body: BodyState, dt: float, tick: int) -> Output:
        """Advance by ``dt`` [s]; see `Family.step`."""
        wanted = self._safe
        if command.position is not None:
            wanted = np.where(np.isnan(command.position), wanted, command.position)
        demand = self._limited(wanted)
        # Not every model settles at its command; the stops of the joint hold.
        self.deflection = self._limited(self._moved(demand, dt))

        loads = self._loads(body)
        self._moment = loads.moment
        turned = _turned(loads.force[..., :2], np.where(self._turns, self.deflection, 0.0))
        wrench = turned.reshape(*turned.shape[:-2], -1) @ self._matrix.T
        wrench[..., 3:] += loads.moment @ self._span
        return Output(
            wrench=wrench,
            thrusts=self._once,
            axes=(turned[..., None, :] @ self._plane)[..., 0, :],
            position=self.deflection,
            effort=loads.force[..., 1],
            computed=wanted,
            applied=demand,
            flags={'saturated': demand != wanted, 'stalled': loads.stalled},
        )

    def _limited(self, deflection: FloatArray) -> FloatArray:
        """Return deflections between the stops."""
        return np.minimum(np.maximum(deflection, self._lower), self._upper)

    def link_wrenches(self, output: Output) -> FloatArray:
        """Return the wrench of each fin in its link; see `Family.link_wrenches`."""
        # The link turns with the fin, and so has seen less of the deflection than base_link.
        planar = np.einsum('...nj,nij->...ni', output.forces, self._plane)
        force = np.einsum('...ni,nij->...nj', _turned(planar, -self.deflection), self._plane)
        return in_link_axes(self._rotation, force, self._moment[..., None] * self._span)

    def _moved(self, demand: FloatArray, dt: float) -> FloatArray:
        """Return the deflections after ``dt`` [s] without the stops of the joints, (..., n)."""
        moved = self._lag.step(self.deflection, demand, dt)
        if self._drives is None:
            return moved
        travel = np.where(self._rate_limit > 0.0, self._rate_limit * dt, np.inf)
        change = self._drives.step(self.deflection, demand, dt) - self.deflection
        return np.where(
            self._driven, self.deflection + np.clip(change, -travel, travel), moved
        )

    def _loads(self, body: BodyState) -> Loads:
        """Return the loads on all fins, in the axes of each as it is turned."""
        shape = self.deflection.shape
        if body.velocity is None:
            return Loads(np.zeros((*shape, 3)), np.zeros(shape), np.zeros(shape, bool))
        flow = body.velocity @ self._matrix[:3]
        if body.angular_velocity is not None:
            flow = flow + body.angular_velocity @ self._matrix[3:]
        planar = flow.reshape(*flow.shape[:-1], self._n, 2)
        velocity = np.zeros((*np.broadcast_shapes(planar.shape[:-1], shape), 3))
        velocity[..., :2] = _turned(planar, np.where(self._turns, -self.deflection, 0.0))
        force, moment = np.zeros_like(velocity), np.zeros(velocity.shape[:-1])
        stalled = np.zeros(moment.shape, bool)
        for at, model in self._models:
            part = model.loads(velocity[..., at, :], self.deflection[..., at])
            force[..., at, :], moment[..., at], stalled[..., at] = (
                part.force, part.moment, part.stalled,
            )
        return Loads(force, moment, stalled)


def _planes(chord: FloatArray, span: FloatArray) -> FloatArray:
    """Return chord and normal of each fin, perpendicular to its span, (n, 2, 3)."""
    normal = cross(span, chord)
    for i in np.flatnonzero(np.linalg.norm(normal, axis=-1) < 1e-6).tolist():
        raise ConfigError('chord', f'{chord[i].tolist()} is parallel to the span', i)
    normal = unit_rows('chord', normal)
    return np.stack((cross(normal, span), normal), axis=1)


def _turned(planar: FloatArray, angle: FloatArray) -> FloatArray:
    """Return vectors (..., n, 2) turned by angles (..., n)."""
    cos, sin = np.cos(angle), np.sin(angle)
    x, y = planar[..., 0], planar[..., 1]
    return np.stack((cos * x - sin * y, sin * x + cos * y), axis=-1)
