# SPDX-License-Identifier: Apache-2.0
"""An estimator of applied wrenches with its topics."""
from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from propulsion_ros.loops.actuator_loop import COMMAND
from propulsion_ros.loops.command_hold import CommandUpdate
from propulsion_ros.loops.command_reader import CommandReader
from propulsion_ros.loops.decoders import WrenchReader
from propulsion_ros.loops.estimate_loop import DEMAND, SPEED, Applied, EstimateLoop, EstimateParams
from propulsion_ros.loops.payloads import JointRow, Kind
from propulsion_ros.loops.ports import ERROR, WARN, Health, Host, Outlet
from propulsion_ros.loops.stamped_ports import StampedPorts
from propulsion_ros.loops.step_record import END, StepRequest
from propulsion_ros.models.common.family import WRENCH_NAMES, Estimator
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.settings.flat import build
from propulsion_ros.timing.stamped_inputs import Ordering

_WATCH_RATE = 50.0
"""How often silence is looked for on the system's clock [Hz]."""
COVARIANCE_NAMES = tuple(f'{row}*{column}' for row in WRENCH_NAMES for column in WRENCH_NAMES)
"""Names of the covariance's elements, row by row."""


class EstimatePorts(StampedPorts):
    """Publishes the wrench that actuators apply, at the stamp of each command to them.

    Parameters
    ----------
    inverse : Estimator
        The estimator.
    params : EstimateParams
        When it estimates.
    frame : str
        Of geometry and wrenches.
    host : Host
        What connects the ports.
    lossless : bool
        Whether no message may be lost; then no clock is waited for, as a replay may have none.

    Attributes
    ----------
    family : Estimator
        The estimator.
    core : EstimateLoop
        What runs it.
    outlets : list of Outlet
        What is published.
    """

    def __init__(
        self,
        inverse: Estimator,
        params: EstimateParams,
        frame: str,
        host: Host,
        *,
        lossless: bool = False,
        replay: bool = False,
    ) -> None:
        self.family, self._params = inverse, params
        self.core = self._make_core(params, lossless)
        super().__init__(self.core, frame, host, lossless, replay)
        self._reader = CommandReader(inverse)
        self._rows = np.full((3, len(inverse.state_names)), np.nan)
        self._open_outlets()
        self._add_command('~/command', Kind.JOINTS, COMMAND, self._reader.read)
        demand = self._taking(DEMAND, WrenchReader(frame).read)
        self._add('~/wrench_command', Kind.WRENCH, demand, source=DEMAND)
        measured = self._taking(SPEED, self._read_measured)
        self._add('~/measured', Kind.JOINTS, measured, source=SPEED)
        self._add_com()
        self._keep_time(_WATCH_RATE)
        self.ports += self.record.ports

    def _make_core(self, params: EstimateParams, lossless: bool) -> EstimateLoop:
        return EstimateLoop(
            self.family, params, self._publish, self._on_jump, heeds_clock=not lossless,
            on_begin=self._note_begin,
        )

    def _open_outlets(self) -> None:
        outlet = functools.partial(
            Outlet, qos='result', frame=self.frame, lossless=self._lossless
        )
        self._wrench = outlet('~/wrench', Kind.WRENCH)
        self._state = outlet('~/state', Kind.JOINTS, names=tuple(self.family.state_names))
        self._residual = outlet('~/residual', Kind.WRENCH, overridable=False)
        self._covariance = outlet(
            '~/covariance', Kind.JOINTS, names=COVARIANCE_NAMES, overridable=False
        )
        self.outlets = [
            self._wrench, self._state, self._residual, self._covariance, *self.record.outlets,
        ]

    # Inputs.

    def _read_measured(self, message: Any) -> CommandUpdate:
        update = self._reader.read(message)
        nozzles = len(self.family.actuator_names)
        if (update.columns < nozzles).any():
            raise CommandError('expected impellers only, got a nozzle')
        return CommandUpdate(update.columns - nozzles, update.values)

    def _timing(self) -> Mapping[str, Any]:
        return vars(self._params)

    def _wait_as(self, begin: StepRequest) -> Ordering:
        params = build(EstimateParams, begin.values)
        self.core = self._core = self._make_core(params, self._lossless)
        # Its commands may come from a node that is slower than a clock that is played.
        self._has_clock = False
        return Ordering(wait_for=params.wait_for)

    def _follow(self, request: StepRequest) -> None:
        if request.name == END:
            self.core.watch(request.values['last'])
        super()._follow(request)

    def _on_jump(self, from_ns: int, to_ns: int) -> None:
        seconds = (to_ns - from_ns) * 1e-9
        self._host.complain('jumps', f'time jumped by {seconds:.3f} s, commands are forgotten')
        self._repeat(from_ns, to_ns)

    def retune(self, changed: Mapping[str, Any], params: EstimateParams, inverse: Any) -> None:
        """Take the live values of checked configurations."""
        self._note_set(changed)
        self.core.retune(changed, inverse)

    # Outputs.

    def start(self) -> None:
        """Begin without any earlier command."""
        self.core.reset()
        self._host.log('info', 'active')

    def _publish_zero(self, stamp_ns: int) -> None:
        """Publish a zero wrench, since nothing is known from now on."""
        self._host.publish(self._wrench, stamp_ns, np.zeros(6))

    def _publish(self, applied: Applied) -> None:
        publish, stamp_ns = self._host.publish, applied.stamp_ns
        n = len(applied.thrust)
        position, velocity, effort = self._rows
        position[:n], effort[:n], velocity[n:] = applied.angle, applied.thrust, applied.speed
        publish(self._state, stamp_ns, JointRow(position, velocity, effort))
        if self.family.knows_errors:
            publish(self._covariance, stamp_ns, JointRow(effort=applied.covariance.ravel()))
        if applied.residual is not None:
            publish(self._residual, stamp_ns, applied.residual)
        publish(self._wrench, stamp_ns, applied.wrench)

    def health(self) -> Iterator[Health]:
        """Yield silent modules, and what was refused."""
        values, level, text = self._judge_inputs()
        stale = int(np.count_nonzero(self.core.hold.stale))
        values['stale'] = stale
        if stale and level != ERROR:
            level, text = WARN, 'a module is silent and counts as without thrust'
        yield 'modules', level, text, values
