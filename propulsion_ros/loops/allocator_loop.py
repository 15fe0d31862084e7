# SPDX-License-Identifier: Apache-2.0
"""Allocates a demanded wrench to the actuators of a group, without ROS."""
from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, cast

import numpy as np

from propulsion_ros.loops.actuator_loop import LoopParams, actuators_off
from propulsion_ros.loops.decoders import checked_stamp, checked_wrench, msg_to_parts
from propulsion_ros.loops.measured import JointReader
from propulsion_ros.loops.payloads import JointRow, Kind
from propulsion_ros.loops.ports import OK, WARN, Health, Host, Outlet, Port, Request, Timer
from propulsion_ros.models.common.allocation import Allocation, Allocator, cost_doubt
from propulsion_ros.models.common.family import (
    WRENCH_NAMES,
    Allocatable,
    Retunable,
    effectiveness_of,
)
from propulsion_ros.models.steering.steered import SteeredFamily
from propulsion_ros.models.steering.vectored import (
    VectoredAllocation,
    VectoredAllocator,
    Vectoring,
)
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.settings.quantity import FloatArray


class AllocatorLoop:
    """Shares each demanded wrench among the actuators of one group, within their limits.

    Faults are taken into account: the newest effectiveness of the actuators counts, published by
    the group or configured here, and an actuator that is switched off here gets no thrust. If
    joints turn the actuators, the angles of the newest state of the group count.

    Parameters
    ----------
    frame : str
        Frame of the demand.
    params : LoopParams
        Settings of the group, with the names that are switched off.
    """

    def __init__(
        self,
        family: Allocatable,
        allocator: Allocator | Vectoring,
        frame: str,
        host: Host,
        *,
        params: LoopParams | None = None,
        lossless: bool = False,
    ) -> None:
        self._family, self._frame, self._host = family, frame, host
        names = tuple(family.actuator_names)
        self._names = names
        fields = dict(zip(family.command_names, family.command_fields, strict=True))
        self._field = fields[names[0]] if names else ''
        self._newest: Allocation | None = None
        self._missed, self._misses = '', 0
        self._steers = allocator if isinstance(allocator, Vectoring) else None
        joints = self._steers.names if self._steers else ()
        self._command = Outlet(
            '~/command', Kind.JOINTS, 'result', frame, (*names, *joints), lossless
        )
        self._residual = Outlet(
            '~/residual', Kind.WRENCH, 'result', frame, (), lossless, overridable=False
        )
        self.outlets = (self._command, self._residual)
        self._demand = Port('~/wrench_command', Kind.WRENCH, self._take, 'command', lossless)
        # Effectiveness first: if both messages have come, the demand is shared with these faults.
        self.ports: tuple[Port, ...] = (Port(
            '~/effectiveness', Kind.JOINTS, self._take_effectiveness, 'latched', lossless,
            while_inactive=True, overridable=False,
        ), self._demand)
        self._at_rest, self._angles = allocator, getattr(family, 'angles', np.zeros(0))
        self._healthy = allocator.allocator(self._angles) if isinstance(
            allocator, Vectoring
        ) else allocator
        self._last_ns: int | None = None
        self._period = 1.0 / (params or LoopParams()).update_rate
        if isinstance(family, SteeredFamily):
            self._joints = JointReader(family, family.joint_names)
            self.ports = (Port(
                '~/state', Kind.JOINTS, self._take_state, 'sensor', lossless,
            ), *self.ports)
        self.requests: Sequence[Request] = ()
        self.timers: Sequence[Timer] = ()
        self._off = actuators_off(params or LoopParams(), family)
        self._configured = self._effectiveness = effectiveness_of(family)
        self._use_faults()

    def _use_faults(self) -> None:
        """Use the known faults from now on."""
        part = np.where(self._off, 0.0, self._effectiveness)
        self._faulty = int(np.count_nonzero(part < 1.0))
        self._allocator: Allocator | VectoredAllocator = (
            self._healthy.weakened(part) if self._faulty else self._healthy
        )

    def check(self, params: LoopParams, family_params: Any) -> None:
        """Raise `ConfigError` if a live setting has a name that the group does not have."""
        actuators_off(params, self._family)

    def retune(self, changed: Collection[str], params: LoopParams, family_params: Any) -> None:
        """Take the live values of checked configurations, from the next demand on."""
        if isinstance(self._family, Retunable):
            self._family.retune(family_params)
        self._off = actuators_off(params, self._family)
        configured = effectiveness_of(self._family)
        if not np.array_equal(configured, self._configured):
            self._configured = self._effectiveness = configured
        self._use_faults()

    def _take_effectiveness(self, message: Any) -> None:
        try:
            given = msg_to_parts(message, self._names)
        except CommandError as error:
            self._host.complain('refused', f'effectiveness refused: {error}')
            return
        self._effectiveness = np.where(np.isnan(given), self._effectiveness, given)
        self._use_faults()

    def _take_state(self, message: Any) -> None:
        """Use the measured angles of the group's joints from now on."""
        try:
            update = self._joints.read(message)
        except CommandError as error:
            self._host.complain('refused', f'state refused: {error}')
            return
        angles = self._angles.copy()
        angles[update.columns] = update.angles
        before, self._angles = self._angles, angles
        allocator, family = self._at_rest, cast(Any, self._family)
        if isinstance(allocator, Vectoring):
            # Only for other joints: those that the allocator turns are where it has sent them.
            if np.any(angles[allocator.others] != before[allocator.others]):
                self._healthy = allocator.allocator(angles)
                self._use_faults()
        elif not np.array_equal(angles, before):
            self._healthy = allocator.turned(family.allocation_at(angles))
            self._use_faults()

    def _take(self, message: Any) -> None:
        try:
            demand = checked_wrench(message, self._frame)
            stamp_ns = checked_stamp(message.header.stamp)
        except CommandError as error:
            self._host.complain('refused', f'wrench_command refused: {error}')
            return
        allocation, angles = self._share(demand, stamp_ns or self._host.now_ns())
        values: dict[str, Any] = {self._field: self._family.command_for(allocation.effort)}
        if len(angles):
            row = np.full((2, len(self._names) + len(angles)), np.nan)
            row[0, :len(self._names)], row[1, len(self._names):] = values[self._field], angles
            values = {self._field: row[0], 'position': row[1]}
            if self._field == 'position':
                values = {'position': np.where(np.isnan(row[0]), row[1], row[0])}
        self._newest = allocation
        self._judge(demand, allocation)
        self._host.publish(self._command, stamp_ns, JointRow(**values))
        # The group takes a stamp of 0 as now; readers of the residual need the time itself.
        self._host.publish(self._residual, stamp_ns or self._host.now_ns(), allocation.residual)

    def _share(self, demand: FloatArray, stamp_ns: int) -> tuple[Allocation, FloatArray]:
        """Return the allocation of a demand, and the angles to command to joints, (k,)."""
        if self._steers is None or not isinstance(self._allocator, VectoredAllocator):
            return self._allocator.allocate(demand), np.zeros(0)  # type: ignore[call-arg]
        last, self._last_ns = self._last_ns, stamp_ns
        effort, angle, dt = np.zeros(len(self._names)), np.zeros(len(self._names)), self._period
        if last is None or not isinstance(self._newest, VectoredAllocation):
            angle = self._steers.of_actuators(self._angles)
        else:
            effort, angle = self._newest.effort, self._newest.angle
            dt = min(max((stamp_ns - last) * 1e-9, 0.0), _PAUSE)
        found = self._allocator.allocate(demand, effort, angle, dt)
        return found, self._steers.of_joints(found.angle)

    def _judge(self, demand: FloatArray, allocation: Allocation) -> None:
        """Count a demand that is out of reach, and log the first of several in a row."""
        missed = self._allocator.out_of_reach(demand, allocation)
        before, self._missed = self._missed, ''
        if not missed.any():
            return
        self._misses += 1
        made = demand - allocation.residual
        self._missed = '; '.join(
            f'{WRENCH_NAMES[i]}: {_number(demand[i], unit)} wanted, '
            f'{_number(made[i], unit)} allocated'
            for i, unit in zip(np.flatnonzero(missed), _UNITS[missed], strict=True)
        )
        # A component that no actuator makes shows no unit.
        reach = self._allocator.reach
        if np.any(missed & (np.abs(demand) > _FAR * reach) & (reach > _TINY)):
            self._missed += '; is it in N and N m?'
        zeros = missed & (demand == 0.0)
        if zeros.any() and not zeros[missed].all():
            names = ' and '.join(np.array(WRENCH_NAMES)[zeros])
            self._missed += f'; 0 of {names} is at the cost of the rest: give it a weight of 0?'
        if not before:
            self._host.complain('out_of_reach', f'wrench_command is out of reach: {self._missed}')

    def start(self) -> None:
        """Begin; only faults are remembered."""
        self._newest, self._missed, self._last_ns = None, '', None
        self._host.log('info', f'active, shares a wrench among {", ".join(self._names)}')
        if isinstance(own := self._healthy, Allocator):
            counted = own.matrix * (own.weights > 0.0)[:, None]
            if doubt := cost_doubt(counted):
                self._host.log('warn', doubt)

    def stop(self) -> None:
        """Publish nothing more: a group without commands becomes safe by itself."""

    def health(self) -> Iterator[Health]:
        """Yield how much of the demand is out of reach, actuators at limits, refused inputs."""
        saturated = 0 if self._newest is None else int(np.count_nonzero(self._newest.saturated))
        level, text = (WARN, 'saturated') if saturated else (OK, 'ok')
        if self._missed:
            level, text = WARN, self._missed
        if self._newest is None:
            has_other = self._host.publishers_of(self._command.topic) > 1
            level, text = (OK, 'idle, another node commands the group') if has_other else (
                self._host.absence((self._demand,), 'command')
            )
        yield 'allocation', level, text, {
            'saturated': saturated, 'refused': self._host.counts['refused'],
            'out_of_reach': self._misses, 'faulty': self._faulty,
        }


_PAUSE = 0.5
"""Joints are assumed to turn for no longer between two demands [s]."""
_FAR = 5.0  # a demand of more than so many times what can be made is in another unit
_TINY = 1e-9  # a smaller wrench is 0 [N or N m]
_UNITS = np.array(['N'] * 3 + ['N m'] * 3)


def _number(value: float, unit: str) -> str:
    # A rounding error of 0 is printed as 0, without a sign.
    return f'{round(float(value), 9) + 0.0:.4g} {unit}'
