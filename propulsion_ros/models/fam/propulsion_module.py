# SPDX-License-Identifier: Apache-2.0
"""Astrobee's propulsion modules: what flap angles and impeller speeds do over time.

After Astrobee's simulator: servos with dead time and backlash, impellers that ramp up, and the
pressure that the openings leave. It judges an estimate of the wrench without a robot.

Servos and impellers follow the difference equations of that simulator (gnc/pmc/src/pmc_sim.cc):
states are advanced by the values of the step before, which is where the servos' dead time comes
from. Both are motors under the same kind of control, so both are columns of the same arrays.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from propulsion_ros.models.common.efficiency import Degrading, live_factor
from propulsion_ros.models.common.facts import FamilyFacts
from propulsion_ros.models.common.family import BodyState, Command, Output, restart
from propulsion_ros.models.common.start import Start, State
from propulsion_ros.models.common.wrench import cross, product, unit_rows
from propulsion_ros.models.fam import constants as astrobee
from propulsion_ros.models.fam.curve import PolynomialCurve, sampled_curve
from propulsion_ros.models.fam.nozzle_family import CommandedNozzles, Plenums
from propulsion_ros.models.fam.params import ModulesParams, NozzlesParams
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.settings.quantity import FloatArray, group, quantity

_PERIOD = astrobee.CONTROL_PERIOD
_FLAP_PER_MOTOR = astrobee.SERVO_GEAR_RATIO / astrobee.NOZZLE_GEAR_RATIO
_HALF_PLAY = 0.5 * astrobee.BACKLASH * _FLAP_PER_MOTOR
"""Half of the play of the gearbox, as flap angle [rad]."""

_RAMP_STEP = astrobee.MAX_IMPELLER_ACCELERATION * _PERIOD
_GYROSCOPIC_SENSES = {'newton': -1.0, 'original': 1.0, 'none': 0.0}
_INSTANT = 1e-9
_LONGEST = 60.0
"""What no step is longer than, whose periods of the control are run one by one [s]."""


class Motor(NamedTuple):
    """Constants of a motor under proportional, integral and filtered derivative control."""

    gains: FloatArray
    """Proportional, integral and derivative gain, from the error to a voltage [V], (3,)."""
    max_voltage: float
    """Largest voltage to either side [V]; it does not stop the integral."""
    torque_constant: float
    """Torque over current [N m/A]."""
    back_voltage: float
    """Back voltage over the speed [V s]."""
    resistance: float
    """Resistance of the winding [ohm]."""
    friction: float
    """Torque over the speed [N m s]."""
    inertia: float
    """Moment of inertia at the motor [kg m^2]."""


SERVO = Motor(
    # Their error is one of the servo's angle, ours of the flap's.
    np.array(astrobee.SERVO_GAINS) * astrobee.NOZZLE_GEAR_RATIO, astrobee.SERVO_MAX_VOLTAGE,
    astrobee.SERVO_TORQUE_CONSTANT, astrobee.SERVO_TORQUE_CONSTANT, astrobee.SERVO_RESISTANCE,
    astrobee.SERVO_FRICTION, astrobee.SERVO_INERTIA,
)
IMPELLER = Motor(
    np.array(astrobee.IMPELLER_GAINS), astrobee.IMPELLER_MAX_VOLTAGE,
    astrobee.IMPELLER_TORQUE_CONSTANT, 1.0 / astrobee.IMPELLER_SPEED_CONSTANT,
    astrobee.IMPELLER_RESISTANCE, astrobee.IMPELLER_FRICTION, astrobee.IMPELLER_INERTIA,
)


class Motors:
    """Speeds of k motors under control.

    Attributes
    ----------
    speed : FloatArray
        [rad/s], (..., k).
    torque : FloatArray
        That accelerates each motor over the step [N m], (..., k).
    """

    def __init__(self, motors: list[Motor], batch: tuple[int, ...]) -> None:
        shape = (*batch, len(motors))
        gains, *constants = (np.array(column) for column in zip(*motors, strict=True))
        limit, torque_constant, back_voltage, resistance, friction, inertia = constants
        self._proportional, integral, self._derivative = gains.T.copy()
        self._integrating = _PERIOD * integral
        # A row, because numpy is slower with a number beside a few columns.
        self._filtering = np.full(len(motors), _PERIOD)
        self._lowest, self._highest = -limit, limit
        self._stall = torque_constant / resistance
        self._loss = self._stall * back_voltage + friction
        self._gain = _PERIOD / inertia
        # What both parts of the control with a memory add to the voltage.
        self._integral, self._filtered = np.zeros(shape), np.zeros(shape)
        self.speed: FloatArray = np.zeros(shape)
        self.torque: FloatArray = np.zeros(shape)

    def reset(self, indices: Any, batch: tuple[int, ...], speed: FloatArray) -> None:
        """Let the motors of some environments turn steadily [rad/s], (..., k); see `restart`."""
        none = np.zeros_like(self.speed)
        steady = speed * (self._loss / self._stall)
        restart(
            self, indices, batch, _integral=steady, _filtered=none, speed=speed, torque=none
        )

    def step(self, error: FloatArray) -> None:
        """Advance one control period under an error of what is controlled, (..., k)."""
        change = self._derivative * error - self._filtered
        voltage = self._proportional * error + self._integral + change
        self._filtered += self._filtering * change
        self._integral += self._integrating * error
        voltage = np.minimum(np.maximum(voltage, self._lowest), self._highest)
        self.torque = self._stall * voltage - self._loss * self.speed
        self.speed = self.speed + self._gain * self.torque


class Drives:
    """n flaps behind a gearbox with backlash and m impellers, each with its motor.

    ``travel`` is that of a flap from stop to stop [rad].

    Attributes
    ----------
    opening : FloatArray
        Flap angle from the closed stop [rad], (..., n).
    """

    def __init__(
        self, travel: float, battery_voltage: float, n: int, m: int, batch: tuple[int, ...]
    ) -> None:
        limit = min(battery_voltage, IMPELLER.max_voltage)
        self._motors = Motors([SERVO] * n + [IMPELLER._replace(max_voltage=limit)] * m, batch)
        self._n = n
        self._half_play, self._ramp_step = np.full(n, _HALF_PLAY), np.full(m, _RAMP_STEP)
        self._shut, self._open = np.zeros(n), np.full(n, travel)
        self._flap_per_speed = np.full(n, _FLAP_PER_MOTOR * _PERIOD)
        # Where the motor drives the flap, which stays while that moves inside the play.
        self._driven = np.zeros((*batch, n))
        self._ramp = np.zeros((*batch, m))
        self.opening: FloatArray = np.zeros((*batch, n))

    def reset(
        self, indices: Any, batch: tuple[int, ...], opening: FloatArray, speed: FloatArray
    ) -> None:
        """Return the drives of some environments to angles and speeds; see `restart`.

        They are as in `step`; the motors of the flaps stand.
        """
        speeds = np.concatenate((np.zeros_like(opening), speed), axis=-1)
        self._motors.reset(indices, batch, speeds)
        restart(self, indices, batch, _driven=opening, opening=opening, _ramp=speed)

    @property
    def impeller_speed(self) -> FloatArray:
        """Speed of each impeller [rad/s], (..., m)."""
        return self._motors.speed[..., self._n:]

    @property
    def impeller_torque(self) -> FloatArray:
        """Torque that accelerates each impeller over the step [N m], (..., m)."""
        return self._motors.torque[..., self._n:]

    def step(self, opening: FloatArray, speed: FloatArray) -> None:
        """Advance one control period.

        Parameters
        ----------
        opening : FloatArray
            Commanded flap angles from the closed stop [rad], (..., n).
        speed : FloatArray
            Commanded speeds of the impellers [rad/s], (..., m).
        """
        n = self._n
        self.opening = _within(self.opening, self._driven, self._half_play)
        self._ramp = _within(speed, self._ramp, self._ramp_step)
        error = np.empty(self._motors.speed.shape)
        np.subtract(opening, self.opening, out=error[..., :n])
        np.subtract(self._ramp, self.impeller_speed, out=error[..., n:])
        driven = self._driven + self._flap_per_speed * self._motors.speed[..., :n]
        self._driven = np.minimum(np.maximum(driven, self._shut), self._open)
        self._motors.step(error)


def _within(value: FloatArray, middle: FloatArray, reach: FloatArray) -> FloatArray:
    """Return values no further than ``reach`` from ``middle``."""
    return np.minimum(np.maximum(value, middle - reach), middle + reach)


@dataclass(frozen=True, kw_only=True, eq=False)
class BlockableNozzlesParams(NozzlesParams):
    """Configuration of n nozzles that something may block."""

    efficiency: FloatArray = live_factor(
        'part of the opening that is free; what is blocked raises the pressure for the others'
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class PropulsionModulesParams(ModulesParams):
    """Configuration of simulated propulsion modules."""

    nozzles: BlockableNozzlesParams = group(BlockableNozzlesParams, element='nozzle')
    curve: str = quantity(
        'polynomial', kind=str, choices=('polynomial', 'table'),
        doc='the measured polynomial, or the table of it that the original interpolates',
    )
    battery_voltage: float = quantity(
        astrobee.BATTERY_VOLTAGE, 'V', doc='limit of the impeller motors', lo=0.0
    )
    gyroscopic_torque: str = quantity(
        'newton', kind=str, choices=tuple(_GYROSCOPIC_SENSES),
        doc="of the impellers on a turning body; the original's has the wrong sign",
    )


class PropulsionModules(CommandedNozzles, Degrading):
    """n nozzles and m impellers, driven like Astrobee's.

    Commands are the flap angle of each nozzle (position) and the speed of each impeller
    (velocity), clamped to what the hardware can do; NaN is shut and standing still.

    The modules run in steps of their own control, whatever ``dt`` the host has; between two of
    these the wrench stays, and that of `Output` is the mean over ``dt``.

    Attributes
    ----------
    thrust : FloatArray
        Of each nozzle at present [N], (..., n).
    """

    Params: ClassVar[type] = PropulsionModulesParams
    params: PropulsionModulesParams
    facts: ClassVar[FamilyFacts] = FamilyFacts(commanded_by='fam')
    start_states: ClassVar[tuple[str, ...]] = ('angle', 'impeller_speed')
    thrust: FloatArray

    def __init__(self, params: PropulsionModulesParams, batch: tuple[int, ...] = ()) -> None:
        super().__init__(params)
        n, m = self._n, self._m
        impellers = params.impellers
        leakage = impellers.zero_thrust_area
        self._plenums = Plenums(
            params, PolynomialCurve(leakage) if params.curve == 'polynomial'
            else sampled_curve(leakage),
        )
        self._wrench_from = params.allocation_matrix.T.copy()
        impeller_axes = unit_rows('impellers.axis', impellers.axis)
        self._torque_from = -impeller_axes
        sense = _GYROSCOPIC_SENSES[params.gyroscopic_torque]
        self._gyroscopic_from = sense * astrobee.IMPELLER_INERTIA * impeller_axes
        self._travel = params.max_angle - params.min_angle
        # Limits as rows: numpy is slower with a number beside a few columns.
        self._shut, self._open = np.full(n, params.min_angle), np.full(n, params.max_angle)
        self._still, self._fastest = (
            np.zeros(m), np.full(m, astrobee.COUNTS / astrobee.COUNTS_PER_SPEED)
        )

        self.uses_body = sense != 0.0
        self.retune(params)
        self.reset()

    def reset(self, indices: Any = None, state: State | None = None) -> None:
        """Shut the nozzles and stop the impellers, or begin otherwise; see `Restartable.reset`.

        A state may have the ``angle`` of each flap and the ``impeller_speed``, which then hold
        themselves. The control period goes on where only some environments are reset.
        """
        start = Start(indices, self.batch, state, self.start_states)
        shape = (*self.batch, self._n)
        angle = start.of('angle', np.broadcast_to(self._shut, shape), self._shut, self._open)
        still = np.zeros((*self.batch, self._m))
        speed = start.of('impeller_speed', still, self._still, self._fastest)
        if indices is None:
            self._drives = Drives(
                self._travel, self.params.battery_voltage, self._n, self._m, self.batch
            )
            self._left = 0.0
        self._drives.reset(indices, self.batch, angle - self._shut, speed)
        thrust = self._thrust_now() if state else np.zeros(shape)
        restart(self, indices, self.batch, thrust=thrust)

    def rest(self) -> None:
        """Shut the nozzles and stop the impellers."""
        self.reset()

    def retune(self, params: PropulsionModulesParams) -> None:
        """Take the `efficiency` of the nozzles, from the next step of the control on."""
        super().retune(params.nozzles)

    @property
    def angle(self) -> FloatArray:
        """Flap angle of each nozzle [rad], (..., n)."""
        return self._shut + self._drives.opening

    @property
    def impeller_speed(self) -> FloatArray:
        """Speed of each impeller [rad/s], (..., m)."""
        return self._drives.impeller_speed

    def check_step(self, dt: float) -> None:
        """Raise `CommandError` for a step of too many periods of the control [s]."""
        if dt > _LONGEST:
            raise CommandError(f'dt: expected at most {_LONGEST:g} s, got {dt:g}')

    def step(self, command: Command, body: BodyState, dt: float, tick: int) -> Output:
        """Advance by ``dt`` [s]; see `Family.step`."""
        self.check_step(dt)
        angle, speed = self._given(command)
        # fmax takes the other where one is NaN.
        angle = np.minimum(np.fmax(angle, self._shut), self._open)
        speed = np.minimum(np.fmax(speed, self._still), self._fastest)
        thrust, torque = self._advance(angle - self._shut, speed, body, dt)
        wrench = product(thrust, self._wrench_from)
        wrench[..., 3:] += torque
        return self._output(wrench, thrust, self.angle, self.impeller_speed)

    def _advance(
        self, opening: FloatArray, speed: FloatArray, body: BodyState, dt: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return thrusts (..., n) and the impellers' torque on the body (..., 3), mean over dt."""
        thrust: FloatArray | None = None
        torque, time = np.zeros((*self.batch, 3)), 0.0
        while dt - time > _INSTANT:
            if self._left <= _INSTANT:
                self._run_control(opening, speed)
                self._left = astrobee.CONTROL_PERIOD
            part = min(self._left, dt - time)
            self._left -= part
            time += part
            # Nothing to average where one period of the control covers the step.
            if part == dt:
                return self.thrust, self._impeller_torque(body)
            given = part / dt * self.thrust
            thrust = given if thrust is None else thrust + given
            torque += part / dt * self._impeller_torque(body)
        if thrust is None:
            return self.thrust, self._impeller_torque(body)
        return thrust, torque

    def _run_control(self, opening: FloatArray, speed: FloatArray) -> None:
        self._drives.step(opening, speed)
        self.thrust = self._thrust_now()

    def _thrust_now(self) -> FloatArray:
        """Return the thrust of each nozzle as flaps and impellers are [N], (..., n)."""
        area = self._degrade(self._plenums.area(self.angle))
        return self._plenums.thrust(
            area, self._plenums.pressure(area, self._drives.impeller_speed)
        )

    def _impeller_torque(self, body: BodyState) -> FloatArray:
        """Return what the impellers do to the body, (..., 3): against their own acceleration."""
        torque = product(self._drives.impeller_torque, self._torque_from)
        if self.uses_body and body.angular_velocity is not None:
            momentum = product(self._drives.impeller_speed, self._gyroscopic_from)
            torque = torque + cross(body.angular_velocity, momentum)
        return torque
