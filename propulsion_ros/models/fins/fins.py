# SPDX-License-Identifier: Apache-2.0
"""Fins in a flow: deflection with dynamics and limits, and the lift and drag it makes.

After the UUV simulator's fin plugin and PyFlyt's lifting surfaces. The force belongs to the
mean deflection over the step, or that at its end; the originals use the one before it.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from propulsion_ros.models.common import placement
from propulsion_ros.models.common.allocation import allocation_matrix
from propulsion_ros.models.common.efficiency import Degrading, live_factor
from propulsion_ros.models.common.facts import LIFT, FamilyFacts
from propulsion_ros.models.common.family import (
    BodyState,
    Command,
    Output,
    given_or_safe,
    restart,
)
from propulsion_ros.models.common.lag import Lag, step_value
from propulsion_ros.models.common.layout import ThrustLayout
from propulsion_ros.models.common.placed import PlacedActuators
from propulsion_ros.models.common.servo import Servo, ServoParams, check_servos
from propulsion_ros.models.common.start import Start, State
from propulsion_ros.models.common.wrench import cross, in_link_axes, product, unit_rows
from propulsion_ros.models.fins.lift_drag import (
    Coefficients,
    Quadratic,
    QuadraticParams,
    TwoLines,
    TwoLinesParams,
)
from propulsion_ros.models.fins.lifting_surface import LiftingSurface, LiftingSurfaceParams
from propulsion_ros.models.thrusters.dynamics import DYNAMICS, DynamicsParams, RotorDynamics
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import (
    BoolArray,
    ComplexArray,
    FloatArray,
    IntArray,
    check_known,
    check_order,
    group,
    names,
    per_row,
    quantity,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class FinsParams(DynamicsParams, ServoParams):
    """Configuration of n fins; each is listed under one of the lift models."""

    names: tuple[str, ...] = names('fin names, the order of all arrays')
    min_deflection: FloatArray = per_row(
        -np.pi / 2, 'rad', doc='lowest deflection', lo=-np.pi, hi=np.pi
    )
    max_deflection: FloatArray = per_row(
        np.pi / 2, 'rad', doc='highest deflection', lo=-np.pi, hi=np.pi
    )
    dynamics: tuple[str, ...] = per_row(
        'first_order', doc='how the deflection follows its command', kind=str,
        choices=tuple(DYNAMICS),
    )
    time_constant: FloatArray = per_row(
        0.0, 's', doc='first_order: lag of the deflection; 0 follows at once', lo=0.0
    )
    rate_limit: FloatArray = per_row(
        0.0, 'rad/s', doc='largest rate of the deflection; 0 means no limit', lo=0.0
    )
    efficiency: FloatArray = live_factor(
        'factor on lift, drag and moment at the same deflection, as if surface was lost'
    )
    integrator: str = quantity(
        'exact', doc='exact, or the explicit step of the originals', kind=str,
        choices=('exact', 'euler'),
    )
    step_value: str = step_value()
    compat: str = quantity(
        'none', doc='original whose errors are reproduced: uuv for two_lines, pyflyt for '
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
        check_servos(self)
        for key, kinds in (
            ('natural_frequency', ('first_order',)), ('backlash', ('first_order', 'zero_order'))
        ):
            for i, kind in enumerate(self.dynamics):
                if getattr(self, key)[i] > 0.0 and kind not in kinds:
                    raise ConfigError(
                        key, f'expected 0 with dynamics {kind}, got {getattr(self, key)[i]:g}', i
                    )
        check_order(self, 'min_deflection', 'max_deflection', 'rad')
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
        """Raise unless every fin has exactly one lift model."""
        model_of: dict[str, str] = {}
        for key in ('quadratic', 'two_lines', 'lifting_surface'):
            fins = getattr(self, key).fin
            check_known(f'{key}.fin', fins, 'fin', self.names)
            for i, fin in enumerate(fins):
                if fin in model_of:
                    raise ConfigError(f'{key}.fin', f'{fin!r} is also in {model_of[fin]}', i)
                model_of[fin] = key
        for i, fin in enumerate(self.names):
            if fin not in model_of:
                raise ConfigError(
                    'names',
                    f'{fin!r} has no lift model, expected it in quadratic.fin, two_lines.fin or '
                    'lifting_surface.fin, in a URDF <quadratic>, <two_lines> or <lifting_surface>',
                    i,
                )


__all__ = ['Fins', 'FinsParams']


_LEAST = np.finfo(float).tiny
"""No force is smaller, but for none [N]; so that none can be divided by its size."""


LiftModel: TypeAlias = Quadratic | TwoLines | LiftingSurface
"""What a flow does to fins; see `LiftingSurface.coefficients`."""


class Fins(PlacedActuators, Degrading):
    """n fins, each all-moving (`Quadratic`, `TwoLines`) or with a flap (`LiftingSurface`).

    Commands are deflections [rad] (position), clamped to the limits; 0 is safe. A positive
    deflection turns the chord right-handed about the span, so that a fin in forward motion
    pushes towards its normal, span x chord. Flow along the span makes no force. Without a
    velocity of the body there is no force at all.

    Attributes
    ----------
    deflection : FloatArray
        [rad], (..., n).
    """

    Params: ClassVar[type] = FinsParams
    params: FinsParams
    uses_body = True
    facts: ClassVar[FamilyFacts] = FamilyFacts(
        tag='fin', force=LIFT, meets_each=True, joint_axis='span',
        joint_limits=('min_deflection', 'max_deflection'),
    )
    start_states: ClassVar[tuple[str, ...]] = ('deflection',)
    deflection: FloatArray

    def __init__(self, params: FinsParams, batch: tuple[int, ...] = ()) -> None:
        n = len(params.names)
        super().__init__(params, 'position')
        self._n = n
        self._lower, self._upper = params.min_deflection, params.max_deflection
        self._rate_limit = params.rate_limit
        kinds = np.array(params.dynamics)
        tau = np.where(kinds == 'first_order', params.time_constant, 0.0)
        # The originals know the end of a step alone.
        value = params.step_value if params.compat == 'none' else 'end'
        lag = Lag(tau, params.rate_limit, params.integrator, value)
        needs = params.natural_frequency.any() or params.backlash.any()
        self._servo = Servo(
            params, lag, self._lower, self._upper, batch, value
        ) if needs else None
        self._follower = self._servo or lag
        self._takes_mean = value == 'mean' and params.integrator == 'exact'
        self._driven = (kinds == 'yoerger') | (kinds == 'bessa')
        reach = np.maximum(np.abs(self._lower), np.abs(self._upper))
        self._drives = RotorDynamics(params, reach) if np.any(self._driven) else None

        self._span = unit_rows('span', params.span)
        plane = _planes(unit_rows('chord', params.chord), self._span)
        # The real part of chord + i normal times this is the vector in base_link.
        self._frame = plane[:, 0] - 1j * plane[:, 1]
        points = np.repeat(params.position, 2, axis=0)
        matrix = allocation_matrix(points, plane.reshape(-1, 3))
        # Forces make a wrench as a twist of the body makes flow at the fins (virtual work).
        self._flow_from, self._wrench_from = matrix, matrix.T.copy()
        self._models: list[tuple[IntArray, LiftModel]] = [
            (np.array([params.names.index(fin) for fin in fins], dtype=np.int64), model)
            for fins, model in (
                (params.quadratic.fin, Quadratic(params.quadratic)),
                (params.two_lines.fin, TwoLines(params.two_lines, params.compat)),
                (params.lifting_surface.fin, LiftingSurface(params.lifting_surface, params.compat)),
            )
            if fins
        ]
        self._for_all = next(
            (model for at, model in self._models if np.array_equal(at, np.arange(n))), None
        )
        flapped = params.lifting_surface.fin
        self._has_moment = bool(flapped)
        self._wrench_from_moment = np.concatenate((np.zeros((n, 3)), self._span), axis=-1)
        turns = np.array([fin not in flapped for fin in params.names])
        self._turning = 1j * turns if np.any(turns) else None

        self.safe_command = np.clip(np.zeros(n), self._lower, self._upper)
        self._safe = np.broadcast_to(self.safe_command, (*batch, n))
        self.retune(params)
        self.reset()

    def reset(self, indices: Any = None, state: State | None = None) -> None:
        """Return to the safe deflection, or to that of a state; see `Restartable.reset`."""
        start = Start(indices, self.batch, state, self.start_states)
        deflection = start.of('deflection', self._safe, self._lower, self._upper)
        restart(self, indices, self.batch, deflection=deflection)
        if self._servo:
            self._servo.reset(indices, deflection)
        self._force: ComplexArray = np.zeros(self.deflection.shape, complex)
        self._moment: FloatArray = np.zeros_like(self.deflection)

    def thrust_layout(self) -> ThrustLayout:
        """Return where and which way the fins push; see `Drawable`."""
        params = self.params
        unknown = np.full(self._n, np.nan)
        return FinLayout(
            names=params.names, links=params.link, position=params.position,
            axis=unit_rows('chord', cross(self._span, params.chord)), rotation=params.rotation,
            lowest=unknown, highest=unknown, angle_names=params.names, span=self._span,
            all_moving=np.array(
                [float(name not in params.lifting_surface.fin) for name in params.names]
            ),
            min_deflection=params.min_deflection, max_deflection=params.max_deflection,
        )

    def step(self, command: Command, body: BodyState, dt: float, tick: int) -> Output:
        """Advance by ``dt`` [s]; see `Family.step`."""
        wanted = self._safe
        if command.position is not None:
            wanted = given_or_safe(command.position, self.safe_command)
        demand = self._limited(wanted)
        # Not every model settles at its command; the stops of the joint hold.
        moved, applied = self._moved(demand, dt)
        self.deflection = self._limited(moved)
        applied = self.deflection if applied is moved else self._limited(applied)

        pose = None if self._turning is None else np.exp(self._turning * applied)
        force, self._moment, stalled = self._loads(body, applied, pose)
        self._force = force if pose is None else force * pose
        wrench = product(_parts(self._force), self._wrench_from)
        if self._has_moment:
            wrench = wrench + product(self._moment, self._wrench_from_moment)
        planes: Any = (self._force, self._frame)
        return _FinOutput(
            wrench=wrench,
            thrusts=np.abs(self._force),
            axes=planes,
            position=self.deflection,
            effort=force.imag,
            computed=wanted,
            applied=demand,
            flags={'saturated': demand != wanted, 'stalled': stalled},
        )

    def _limited(self, deflection: FloatArray) -> FloatArray:
        """Return deflections between the stops."""
        return np.minimum(np.maximum(deflection, self._lower), self._upper)

    def link_wrenches(self, output: Output) -> FloatArray:
        """Return the wrench of each fin in its link; see `Family.link_wrenches`."""
        # The link turns with the fin, and so has seen less of the deflection than base_link.
        force = _in_base_link(self._force * np.exp(-1j * self.deflection), self._frame)
        return in_link_axes(self._rotation, force, self._moment[..., None] * self._span)

    def _moved(self, demand: FloatArray, dt: float) -> tuple[FloatArray, FloatArray]:
        """Return the deflections after ``dt`` [s] and those that make the forces of the step.

        They are without the stops of the joints, (..., n).
        """
        moved, applied = self._follower.advance(self.deflection, demand, dt)
        if self._drives is None:
            return moved, applied
        travel = np.where(self._rate_limit > 0.0, self._rate_limit * dt, np.inf)
        change = self._drives.step(self.deflection, demand, dt) - self.deflection
        change = np.clip(change, -travel, travel)
        driven = np.where(self._driven, self.deflection + change, moved)
        if not self._takes_mean:
            return driven, driven
        return driven, np.where(self._driven, self.deflection + 0.5 * change, applied)

    def _loads(
        self, body: BodyState, deflection: FloatArray, pose: ComplexArray | None
    ) -> tuple[ComplexArray, FloatArray, BoolArray]:
        """Return force and moment on each fin, (..., n), in its axes as turned, and stall.

        ``pose`` turns the plane of each fin at deflection 0 to where it is.
        """
        twist = body.twist
        if twist is None:
            shape = self.deflection.shape
            return np.zeros(shape, complex), np.zeros(shape), np.zeros(shape, bool)
        flow = body.met(twist, self._flow_from, by_row=True).view(complex)
        if flow.ndim < self.deflection.ndim:
            flow = np.broadcast_to(flow, self.deflection.shape)
        if pose is not None:
            flow = flow * pose.conj()
        made = self._coefficients(flow, deflection)
        force, moment = made.loads(flow)
        return self._degrade(force), self._degrade(moment), made.stalled

    def _coefficients(self, flow: ComplexArray, deflection: FloatArray) -> Coefficients:
        """Return the coefficients of all fins in their flow, (..., n)."""
        if self._for_all is not None:
            return self._for_all.coefficients(flow, deflection)
        shape = flow.shape
        made = Coefficients(np.empty(shape, complex), np.empty(shape), np.empty(shape, bool))
        for at, model in self._models:
            part = model.coefficients(flow[..., at], deflection[..., at])
            for whole, some in zip(made, part, strict=True):
                whole[..., at] = some
        return made


class _FinOutput(Output):
    """What a step did, with a pair in place of the axes: forces in their planes, and the planes."""

    __slots__ = ()

    @property
    def axes(self) -> FloatArray:
        """Direction of the force of each fin, which has no axis of its own to push along."""
        # Made where it is read, which is seldom, since it takes a sixth of the time of a step.
        planar, frame = self[2]
        return np.asarray(
            _in_base_link(planar, frame) / np.maximum(self.thrusts, _LEAST)[..., None]
        )


def _in_base_link(planar: ComplexArray, frame: ComplexArray) -> FloatArray:
    """Return vectors (..., n) of the planes at deflection 0 in base_link, (..., n, 3)."""
    return np.asarray((planar[..., None] * frame).real)


def _parts(planar: ComplexArray) -> FloatArray:
    """Return (..., n) along chord + i normal as numbers (..., 2 n)."""
    return np.ascontiguousarray(planar).view(float)


def _planes(chord: FloatArray, span: FloatArray) -> FloatArray:
    """Return chord and normal of each fin, perpendicular to its span, (n, 2, 3)."""
    normal = cross(span, chord)
    for i in np.flatnonzero(np.linalg.norm(normal, axis=-1) < 1e-6).tolist():
        raise ConfigError('chord', f'{chord[i].tolist()} is parallel to the span', 3 * i)
    normal = unit_rows('chord', normal)
    return np.stack((cross(normal, span), normal), axis=1)


@dataclass(frozen=True, kw_only=True, eq=False)
class FinLayout(ThrustLayout):
    """Fins, whose lift is across their chord; the deflection is what has limits."""

    span: FloatArray
    """Unit axes of the deflection in base_link, (n, 3)."""
    all_moving: FloatArray
    """1 where the whole fin turns with its deflection, 0 where only a flap does, (n,)."""
    min_deflection: FloatArray
    max_deflection: FloatArray
    """Stops of the deflection [rad], (n,)."""

    def in_base(self, angles: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return positions and axes in base_link; see `ThrustLayout.in_base`."""
        return self.position, self._turned(self.all_moving * angles)

    def in_links(self, angles: FloatArray) -> FloatArray:
        """Return the axes in each fin's link; see `ThrustLayout.in_links`."""
        # The link turns with the deflection, whatever of the fin does.
        seen = self._turned((self.all_moving - 1.0) * angles)
        return np.asarray(np.einsum('ni,nij->nj', seen, self.rotation))

    def load(self, thrust: FloatArray, angles: FloatArray) -> FloatArray:
        """Return how near each deflection is to its stop; see `ThrustLayout.load`."""
        stop = np.where(angles < 0.0, -self.min_deflection, self.max_deflection)
        at_once = np.where(angles == 0.0, 0.0, 1.0)
        share = np.abs(angles) / np.where(stop <= 0.0, 1.0, stop)
        return np.asarray(np.where(stop <= 0.0, at_once, share))

    def _turned(self, angles: FloatArray) -> FloatArray:
        """Return the axes turned right-handed about the spans, which are perpendicular to them."""
        cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
        return np.asarray(cos * self.axis + sin * cross(self.span, self.axis))
