# SPDX-License-Identifier: Apache-2.0
"""Astrobee's force allocation module: from a wrench to flap angles of the nozzles.

The wrench is shared among the nozzles by the pseudoinverse, thrusts below 0 are lifted along the
lines on which equal thrusts cancel, and a plenum's pressure follows from all of its thrusts; then
each nozzle gets the area, flap angle and servo count that makes its own.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, NamedTuple

import numpy as np

from propulsion_ros.models.common.facts import FamilyFacts
from propulsion_ros.models.common.family import (
    WRENCH_NAMES,
    BodyState,
    Command,
    Output,
    given_or_safe,
)
from propulsion_ros.models.common.start import Start, State
from propulsion_ros.models.common.wrench import product
from propulsion_ros.models.fam import constants as astrobee
from propulsion_ros.models.fam.curve import LoadCurve, PolynomialCurve, TableCurve
from propulsion_ros.models.fam.nozzle_family import NozzleFamily, Plenums
from propulsion_ros.models.fam.params import (
    WrenchParams,
    angle_from_count,
    count_from_speed,
    speed_from_count,
    torque_shift,
)
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import BoolArray, FloatArray, IntArray, quantity

_LARGEST = 1e6
"""A wrench beyond it is cut, long after every nozzle is open [N, N m]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FamParams(WrenchParams):
    """Configuration of the force allocation."""

    curve: str = quantity(
        'table', kind=str, choices=('table', 'polynomial'),
        doc='pressure from the thrust: the table of the original, or the measured polynomial with '
        'the leakage of each plenum',
    )
    flight_mode: str = quantity(
        'nominal', doc='chooses the speed of the impellers', kind=str,
        choices=tuple(astrobee.FLIGHT_MODES), live=True,
    )
    impeller_speeds: FloatArray = quantity(
        astrobee.IMPELLER_SPEEDS, 'rad/s', lo=1.0, hi=1e6, shape=(3,),
        doc='in the modes quiet, nominal, and difficult or precision',
    )
    quantise: bool = quantity(
        True, kind=bool, doc='send what the servo counts and motor counts of the original mean'
    )
    largest_count: int = quantity(
        astrobee.LARGEST_COUNT, kind=int, lo=1, hi=astrobee.COUNTS,
        doc="servo count at the open stop; the original's single precision never reaches 255",
    )
    close_when_off: bool = quantity(
        False, kind=bool,
        doc='close all nozzles in the mode off, where the original opens them all',
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for line in self.lines:
            if np.abs(self.allocation_matrix[:, line].sum(axis=1)).max() > 1e-6:
                members = ', '.join(self.nozzles.names[i] for i in line)
                raise ConfigError(
                    'nozzles.position', f'equal thrusts of {members} along one line do not cancel'
                )
        rank = int(np.linalg.matrix_rank(self.allocation_matrix))
        if rank < 6:
            raise ConfigError(
                'nozzles.position', f'the nozzles reach {rank} of the 6 parts of a wrench'
            )


class Allocation(NamedTuple):
    """What the allocation decided; rows (..., n) for nozzles, (..., m) for plenums."""

    thrust: FloatArray
    """Wanted thrust of each nozzle [N], at least 0."""
    pressure: FloatArray
    """Rise of pressure that is expected in each plenum [Pa]."""
    cosine: FloatArray
    """Cosine of the flap angle that makes the thrust, before its stops; below -1 no angle does."""
    angle: FloatArray
    """Flap angle between the stops [rad]."""
    servo_count: IntArray
    """Servo command, 0..255."""
    speed: FloatArray
    """Speed of each impeller [rad/s], (m,)."""
    motor_count: IntArray
    """Motor command, 0..255, (m,)."""


class Fam(NozzleFamily):
    """Turns wrenches into flap angles and impeller speeds.

    Commands are the six parts of a wrench (effort); NaN counts as 0. The state is the flap angle
    of each nozzle (position) and the speed of each impeller (velocity), as they are sent; the
    wrench of `Output` is what they will give by the same equations, saturation included, about
    the origin of base_link.

    There is no state; a batch is accepted as in other families.
    """

    Params: ClassVar[type] = FamParams
    params: FamParams
    facts: ClassVar[FamilyFacts] = FamilyFacts(pushes=False)
    start_states: ClassVar[tuple[str, ...]] = ()

    def __init__(self, params: FamParams, batch: tuple[int, ...] = ()) -> None:
        super().__init__(params)
        self._tuned = params
        nozzles = params.nozzles
        self._curve: LoadCurve = (
            TableCurve() if params.curve == 'table'
            else PolynomialCurve(params.impellers.zero_thrust_area)
        )
        self._plenums = Plenums(params, self._curve)
        self._matrix = params.allocation_matrix
        self._mixing = Mixing(self._matrix, params.lines)

        plenums = self._plenums
        per_thrust = 1.0 / (params.thrust_scale * nozzles.discharge_coefficient)
        self._load_per_thrust = per_thrust[:, None] * plenums.members / plenums.pressure_scale
        self._cosine_per_area = 1.0 / (plenums.thrust_per_area * plenums.area_per_cosine)
        # Beyond the largest load the curves stay; the margin separates rounding from a lower load.
        self._lowest_pressure = plenums.pressure_scale * (1.0 + 1e-12) * self._curve.from_load(
            np.full(len(params.impellers.names), _LARGEST)
        )
        self._cosine_closed = plenums.area_closed / plenums.area_per_cosine
        # Limits as rows: numpy is slower with a number beside a few columns.
        n = len(nozzles.names)
        self._lowest = np.full(n, np.cos(params.max_angle))
        self._highest = np.full(n, np.cos(params.min_angle))
        self._min_angle = np.full(n, params.min_angle)
        self._largest_count = np.full(n, float(params.largest_count))
        self._counts_per_angle = np.full(
            n, astrobee.COUNTS / (params.max_angle - params.min_angle)
        )
        self._angle_of_count = angle_from_count(np.arange(astrobee.COUNTS + 1), params)
        self._largest_wrench = np.full(6, _LARGEST)
        self._smallest_wrench = -self._largest_wrench
        self._wrench_from = self._matrix.T.copy()

        self.command_names = WRENCH_NAMES
        self.command_fields = ('effort',) * 6
        self.safe_command = np.zeros(6)
        self.nan_is_safe = (False,) * 6
        self.reset()

    def reset(self, indices: Any = None, state: State | None = None) -> None:
        """Return to the configured flight mode and centre of mass; see `Restartable.reset`.

        Both are alike in all environments, so a reset of some of them changes nothing.
        """
        Start(indices, self.batch, state, self.start_states)
        if indices is None:
            self.retune(self._tuned)

    def retune(self, params: FamParams) -> None:
        """Take flight mode and centre of mass of a configuration."""
        self._tuned = params
        speed = (0.0, *self.params.impeller_speeds)[astrobee.FLIGHT_MODES[params.flight_mode]]
        self._is_on = speed > 0.0
        self._speed = np.full(self._m, speed)
        self._motor_count = count_from_speed(self._speed).astype(np.int64)
        self._sent_speed = speed_from_count(self._motor_count)
        square = np.square(self._speed)
        # The largest pressure of an overloaded plenum; below all where it is off.
        self._overload = self._lowest_pressure * square if self._is_on else -np.ones(self._m)
        self._pressure_from = self._plenums.pressure_scale * square
        with np.errstate(divide='ignore', invalid='ignore'):
            self._load_from = self._load_per_thrust / square
        self.set_com(params.com)

    def set_com(self, com: FloatArray) -> None:
        """Take the centre of mass [m], (3,), in base_link, that commanded torques are about."""
        self._mixing.set_com(self.params.torque_point(com))

    def step(self, command: Command, body: BodyState, dt: float, tick: int) -> Output:
        """Allocate the commanded wrench; ``body``, ``dt`` and ``tick`` have no influence."""
        given = self.safe_command if command.effort is None else command.effort
        wrench = given_or_safe(given, self.safe_command)
        wanted = self.allocate(
            np.minimum(np.maximum(wrench, self._smallest_wrench), self._largest_wrench)
        )
        angle, speed = self.sent(wanted)
        area = self._plenums.area(angle)
        thrust = self._plenums.thrust(area, self._plenums.pressure(area, wanted.speed))
        n = len(self.actuator_names)
        position, velocity = self._blank(2, angle.shape[:-1])
        position[..., :n], velocity[..., n:] = angle, speed
        return Output(
            wrench=product(thrust, self._wrench_from),
            thrusts=thrust,
            axes=self._axes,
            position=position,
            velocity=velocity,
            computed=wanted.thrust,
            applied=thrust,
            flags={
                'saturated': self.is_saturated(wanted), 'overloaded': self.is_overloaded(wanted)
            },
        )

    def allocate(self, wrench: FloatArray) -> Allocation:
        """Share a wrench among the nozzles: force [N] and torque [N m], (..., 6), finite."""
        thrust = self._mixing.share(wrench)
        if self._is_on:
            pressure = self._curve.from_load(product(thrust, self._load_from)) * self._pressure_from
            cosine = thrust * self._cosine_per_area
            cosine /= pressure.take(self._plenums.plenum_of, axis=-1)
            np.subtract(self._cosine_closed, cosine, out=cosine)
        else:
            pressure = np.zeros((*thrust.shape[:-1], self._m))
            # Below -1 no angle makes the thrust, which opens the nozzle.
            cosine = np.full_like(thrust, 1.0 if self.params.close_when_off else -np.inf)
        # fmax takes the other where one is NaN, so that no angle is the open stop.
        angle = np.fmax(cosine, self._lowest)
        np.minimum(angle, self._highest, out=angle)
        np.arccos(angle, out=angle)
        count = angle - self._min_angle
        count *= self._counts_per_angle
        np.minimum(count, self._largest_count, out=count)
        return Allocation(
            thrust, pressure, cosine, angle, count.astype(np.int64), self._speed,
            self._motor_count,
        )

    def sent(self, allocation: Allocation) -> tuple[FloatArray, FloatArray]:
        """Return the flap angles [rad], (..., n), and speeds [rad/s], (m,), that are sent.

        The allocation is one in the present flight mode.
        """
        if not self.params.quantise:
            return allocation.angle, allocation.speed
        return self._angle_of_count.take(allocation.servo_count), self._sent_speed

    def is_saturated(self, allocation: Allocation) -> BoolArray:
        """Return which nozzles are at the open stop, (..., n)."""
        return np.asarray(allocation.cosine < self._lowest)

    def is_overloaded(self, allocation: Allocation) -> BoolArray:
        """Return which plenums have less thrust than is wanted at any opening, (..., m).

        The pressure is then a guess, and so is what their nozzles give.
        """
        return np.asarray(allocation.pressure <= self._overload)


class Mixing:
    """The smallest thrusts that make a wrench, increased until none is below 0.

    Equal thrusts of all nozzles on one line cancel. So if the lowest thrust of a line is below 0,
    it is subtracted from all thrusts of the line, which does not change the wrench. This is
    equation 1 of Ekal (2023), with the signs and the lines of Astrobee's code.

    Parameters
    ----------
    matrix : FloatArray
        Wrench about the origin per thrust, (6, n).
    lines : sequence of IntArray
        Nozzles that push along the same direction.
    """

    def __init__(self, matrix: FloatArray, lines: Sequence[IntArray]) -> None:
        self._inverse = np.linalg.pinv(matrix)
        width = max(len(line) for line in lines)
        # Lines are the rows of one array; shorter lines repeat their last nozzle.
        self._lines = np.array(
            [np.pad(line, (0, width - len(line)), mode='edge') for line in lines]
        )
        self._slot = np.empty(matrix.shape[1], int)
        self._slot[self._lines.ravel()] = np.arange(self._lines.size)
        self.set_com(np.zeros(3))

    def set_com(self, com: FloatArray) -> None:
        """Set the point [m], (3,), about which the torques of the demanded wrenches are.

        The smallest thrusts do not depend on the point that describes a wrench. So a wrench is
        moved to the origin, and one pseudoinverse is enough for all points.
        """
        thrust_from = self._inverse @ torque_shift(-np.asarray(com, dtype=float))
        self._line_from = np.ascontiguousarray(thrust_from[self._lines].reshape(-1, 6).T)

    def share(self, wrench: FloatArray) -> FloatArray:
        """Return thrusts [N], (..., n), at least 0, for wrenches (..., 6)."""
        flat = product(wrench, self._line_from)
        lines = flat.reshape(*wrench.shape[:-1], *self._lines.shape)
        lowest: FloatArray
        if flat.ndim == 1:
            lowest = np.minimum.reduce(lines, axis=-1, initial=0.0)
        else:
            # Column by column: several times faster in batches than a minimum over a short axis.
            lowest = np.minimum(reduce(np.minimum, lines.T).T, 0.0)
        lines -= lowest[..., None]
        return np.asarray(flat.take(self._slot, axis=-1))
