# SPDX-License-Identifier: Apache-2.0
"""Astrobee's propulsion modules: what flap angles and impeller speeds do over time.

After Astrobee's simulator: servos with dead time and backlash, impellers that ramp up, and the
pressure that the openings leave. It judges an estimate of the wrench without a robot.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from propulsion_ros.models.common.efficiency import Degrading, live_factor
from propulsion_ros.models.common.facts import FamilyFacts
from propulsion_ros.models.common.family import BodyState, Command, Output, restart
from propulsion_ros.models.common.start import Start, State
from propulsion_ros.models.common.wrench import cross, product, unit_rows
from propulsion_ros.models.fam import constants as astrobee
from propulsion_ros.models.fam.curve import PolynomialCurve, sampled_curve
from propulsion_ros.models.fam.module_motors import Drives
from propulsion_ros.models.fam.nozzle_family import CommandedNozzles, Plenums
from propulsion_ros.models.fam.params import ModulesParams, NozzlesParams
from propulsion_ros.settings.quantity import FloatArray, group, quantity

_GYROSCOPIC_SENSES = {'newton': -1.0, 'original': 1.0, 'none': 0.0}
_INSTANT = 1e-9


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

    Parameters
    ----------
    params : PropulsionModulesParams
        Validated configuration.
    batch : tuple of int
        Leading batch shape of the state.

    Attributes
    ----------
    thrust : FloatArray
        Of each nozzle at present [N], (..., n).
    """

    Params: ClassVar[type] = PropulsionModulesParams
    facts: ClassVar[FamilyFacts] = FamilyFacts(commanded_by='fam')
    start_states: ClassVar[tuple[str, ...]] = ('angle', 'impeller_speed')
    thrust: FloatArray

    def __init__(self, params: PropulsionModulesParams, batch: tuple[int, ...] = ()) -> None:
        super().__init__(params)
        self._params, self._batch, impellers = params, batch, params.impellers
        n, m = self._n, self._m
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
        start = Start(indices, self._batch, state, self.start_states)
        shape = (*self._batch, self._n)
        angle = start.of('angle', np.broadcast_to(self._shut, shape), self._shut, self._open)
        still = np.zeros((*self._batch, self._m))
        speed = start.of('impeller_speed', still, self._still, self._fastest)
        if indices is None:
            self._drives = Drives(
                self._travel, self._params.battery_voltage, self._n, self._m, self._batch
            )
            self._left = 0.0
        self._drives.reset(indices, self._batch, angle - self._shut, speed)
        thrust = self._thrust_now() if state else np.zeros(shape)
        restart(self, indices, self._batch, thrust=thrust)

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

    def step(self, command: Command, body: BodyState, dt: float, tick: int) -> Output:
        """Advance by ``dt`` [s]; see `Family.step`."""
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
        torque, time = np.zeros((*self._batch, 3)), 0.0
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
