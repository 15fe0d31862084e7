# SPDX-License-Identifier: Apache-2.0
"""An actuator group with its topics, as a node, a replay and Gazebo run it."""
from __future__ import annotations

import functools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from propulsion_ros.loops.actuator_loop import (
    CLOCK,
    COMMAND,
    CURRENT,
    JOINTS,
    ODOMETRY,
    ActuatorLoop,
    LoopParams,
    Report,
    Run,
    actuators_off,
    names_off,
)
from propulsion_ros.loops.autopilot import Autopilot, AutopilotParams
from propulsion_ros.loops.command_audit import CommandAudit
from propulsion_ros.loops.command_hold import CommandLoss
from propulsion_ros.loops.command_reader import CommandReader, CommandRows
from propulsion_ros.loops.decoders import LATEST_NS, demand_of, msg_to_current, msg_to_motion
from propulsion_ros.loops.measured import JointReader
from propulsion_ros.loops.payloads import BatteryRow, JointRow, Kind, MassRow
from propulsion_ros.loops.ports import ERROR, WARN, Health, Host, Outlet, Port, Request
from propulsion_ros.loops.stamped_ports import OTHER_CLOCK, StampedPorts
from propulsion_ros.loops.step_record import BEGIN, DISABLE, ENABLE, StepRequest
from propulsion_ros.models.common.facts import LIFT
from propulsion_ros.models.common.family import (
    WRENCH_NAMES,
    AboutCom,
    Degradable,
    Family,
    Output,
    Powered,
    battery_names,
    effectiveness_of,
    is_allocatable,
)
from propulsion_ros.models.common.motion import MatrixMotion
from propulsion_ros.models.steering.steered import SteeredFamily, measured_joints
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build, parameters_of
from propulsion_ros.settings.names import as_word, is_name
from propulsion_ros.timing.stamped_inputs import Ordering

_TIMING = tuple(each.key for each in parameters_of(LoopParams) if not each.spec.live)
MOST_AHEAD_NS = 100_000_000
"""Largest lead of a command's stamp over the clock of a robot [ns]."""


ADAPTERS: Mapping[str, str] = {
    'float64_multi_array': Kind.ARRAY, 'actuators': Kind.ACTUATORS,
    'px4_motors': Kind.PX4_MOTORS, 'px4_servos': Kind.PX4_SERVOS, 'mavros_rc_out': Kind.RC_OUT,
}
"""Message type of each additional form of commands."""
OF_AUTOPILOTS = frozenset({'px4_motors', 'px4_servos', 'mavros_rc_out'})


def several_publishers(count: int, topic: str, what: str = 'command') -> str:
    """Return the line on several publishers of what one alone should send."""
    return (f'{count} publishers of {topic}: each {what} holds until that of another one; stop '
            'all but one')


class ActuatorPorts(StampedPorts):
    """Takes commands for a family and publishes the wrench that it really applies.

    Raises `ConfigError` for settings that do not go together.

    Parameters
    ----------
    publish_each, publish_numbers : bool
        Whether the wrench of each actuator, and thrusts and positions as numbers, are published.
    publish_joint_states : bool
        Whether the state is also published with all fields of each name.
    adapters : collection of str
        Additional forms of commands, of `ADAPTERS`.
    autopilot : AutopilotParams
        Channels and limits for the forms of autopilots.
    """

    core: ActuatorLoop

    def __init__(
        self,
        family: Family,
        params: LoopParams,
        frame: str,
        host: Host,
        *,
        publish_each: bool = False,
        publish_numbers: bool = False,
        publish_joint_states: bool = False,
        adapters: Collection[str] = (),
        autopilot: AutopilotParams | None = None,
        lossless: bool = False,
        replay: bool = False,
    ) -> None:
        self.family, self._params = family, params
        self._make_core = functools.partial(
            ActuatorLoop, family, emit=self._publish, on_jump=self._on_jump,
            with_links=publish_each, on_begin=self._note_begin,
        )
        super().__init__(self._make_core(params), frame, host, lossless, replay)
        # A replay steps on stamps, so it is no robot.
        self._is_robot = params.step_on != 'stamp' and not host.is_simulated
        self._report: Report | None = None
        self._watch_commands()
        self._off = actuators_off(params, family)
        self._world_frame = ''
        self._started_ns: int | None = None
        self._joint_publishers = 0
        self._several = set[str]()
        # Others push at rest too.
        self._is_lift = family.facts.force == LIFT
        self._is_complete = publish_joint_states
        self._open_outlets(publish_each, publish_numbers)
        self.requests.append(
            Request('~/set_enabled', 'std_srvs/srv/SetBool', self._set_enabled)
        )
        self._open_ports(params, adapters)
        if autopilot and OF_AUTOPILOTS.intersection(adapters):
            self._open_autopilot(Autopilot(autopilot, family), adapters)
        self.ports += self.record.ports

    def _watch_commands(self) -> None:
        """Follow the commands that the core holds."""
        self._audit = CommandAudit(self.family, self.core.hold)
        self._loss = CommandLoss(self.core.hold, self.family.command_names, self._host)

    def _open_outlets(self, publish_each: bool, publish_numbers: bool) -> None:
        family = self.family
        outlet = functools.partial(
            Outlet, qos='result', frame=self.frame, lossless=self._lossless
        )
        fixed = functools.partial(outlet, overridable=False)
        self._wrench = outlet('~/wrench', Kind.WRENCH)
        self._state = outlet('~/state', Kind.JOINTS, names=tuple(family.state_names))
        self._joint_states = fixed(
            '~/joint_states', Kind.JOINTS, names=tuple(family.state_names)
        )
        self._effectiveness = fixed(
            '~/effectiveness', Kind.JOINTS, qos='latched',
            names=tuple(family.actuator_names),
        )
        # Only an allocator reads the effectiveness.
        followed = [self._effectiveness] if is_allocatable(type(family)) else []
        self._tanks = [
            fixed(f'~/tanks/{name}', Kind.INERTIA, qos='latched')
            for name in _topics('tanks.names', family.tank_names)
        ]
        self._open_batteries()
        if publish_each and not all(family.actuator_frames):
            raise ConfigError('publish_each', 'expected a link for each actuator, from a URDF')
        each = _topics('names', family.actuator_names if publish_each else ())
        self._links = [
            fixed(f'~/wrenches/{name}', Kind.WRENCH, frame=link)
            for name, link in zip(each, family.actuator_frames, strict=False)
        ]
        self._open_numbers(publish_numbers)
        self.outlets = [
            self._wrench, self._state, *self._tanks, *self._batteries, *self._links,
            *self._thrusts, *self._positions.values(), *followed,
            *([self._joint_states] if self._is_complete else []), *self.record.outlets,
        ]

    def _open_batteries(self) -> None:
        """Add the state of each battery; the topic has the battery's name if there are several."""
        names = _topics('batteries.names', battery_names(self.family))
        topics = [f'~/battery_state/{name}' for name in names]
        if len(names) == 1:
            topics = ['~/battery_state']
        self._batteries = [
            Outlet(topic, Kind.BATTERY, 'result', lossless=self._lossless, overridable=False)
            for topic in topics
        ]

    def _battery_rows(self, output: Output) -> list[BatteryRow]:
        """Return the state of each battery, to be published."""
        family, state = self.family, output.batteries
        if state is None or not isinstance(family, Powered):
            return []
        return [
            BatteryRow(*row) for row in zip(
                family.battery_names, family.battery_capacity, *state, strict=True
            )
        ]

    def _open_numbers(self, publish_numbers: bool) -> None:
        """Add thrusts and positions as plain numbers, each on a topic, for drives of joints."""
        family = self.family
        number = functools.partial(
            Outlet, kind=Kind.FLOAT, qos='result', lossless=self._lossless, overridable=False
        )
        self._thrusts: list[Outlet] = []
        self._positions: dict[int, Outlet] = {}
        if publish_numbers:
            _topics('names', (*family.actuator_names, *family.command_names))
            columns = {name: i for i, name in enumerate(family.state_names)}
            self._thrusts = [number(f'~/thrusts/{name}') for name in family.actuator_names]
            self._positions = {
                columns[name]: number(f'~/positions/{name}')
                for name, field in zip(family.command_names, family.command_fields, strict=True)
                if field == 'position' and name in columns
            }

    def _open_ports(self, params: LoopParams, adapters: Collection[str]) -> None:
        family = self.family
        reader = self._reader = CommandReader(family)
        if family.command_names == WRENCH_NAMES:
            self._add('~/wrench_command', Kind.WRENCH, COMMAND, lambda message: (
                demand_of(message, self.frame)
            ))
        else:
            self._add('~/command', Kind.JOINTS, COMMAND, reader.read)
        if 'float64_multi_array' in adapters:
            self._open('~/command_array', Kind.ARRAY, COMMAND, lambda message: (
                self._take(COMMAND, None, message.data, reader.read_array)
            ))
        if 'actuators' in adapters:
            field = _one_field(family)
            self._add('~/command_actuators', Kind.ACTUATORS, COMMAND, lambda message: (
                reader.read_array(getattr(message, field))
            ))
        if isinstance(family, AboutCom):
            self._add_com()
        if family.uses_body:
            self._open('~/odometry', Kind.ODOMETRY, ODOMETRY, self._take_odometry, 'sensor')
            self._add('~/current', Kind.TWIST, CURRENT, lambda message: (
                msg_to_current(message, self._world_frame)
            ), 'sensor')
        # A host that follows links knows the joint angles without a message.
        if self._host.follows_links:
            self.core.joints = None
        elif isinstance(family, SteeredFamily) and family.is_measured.any():
            self._joint_reader = JointReader(family, measured_joints(family))
            self._open(JOINTS, Kind.JOINTS, JOINTS, self._take_joints, 'sensor')
        if params.step_on == 'clock' or self.record.is_replay:
            self._keep_time(params.update_rate, params.hold_back)
            self._has_clock = params.step_on == 'clock'

    def _open_autopilot(self, autopilot: Autopilot, adapters: Collection[str]) -> None:
        """Add a port for the commands of an autopilot, which publishes with best effort."""
        forms = sorted(OF_AUTOPILOTS.intersection(adapters))
        if len(forms) > 1:
            raise ConfigError(
                'adapters', f'expected one form of an autopilot, whose channels autopilot.names '
                f'has, got {", ".join(forms)}; give the others a block of their own'
            )
        kind = ADAPTERS[forms[0]]
        named = autopilot.reads[kind]
        self._open(f'~/command_{forms[0]}', kind, COMMAND, lambda message: self._take(
            COMMAND, autopilot.stamp(message), message, lambda each: self._reader.read(named(each))
        ), 'sensor')

    # Inputs.

    def _is_far_ahead(self, source: str, stamp_ns: int, payload: Any) -> bool:
        """Refuse a command from the future on a robot; others cancel those that are due later."""
        if source != COMMAND or not self._is_robot:
            return False
        now_ns = self._host.now_ns()
        ahead_ns = stamp_ns - now_ns
        if ahead_ns > MOST_AHEAD_NS:
            self._complain_of_stamp('refused', source, (
                f'command refused: stamped {ahead_ns * 1e-9:.3f} s ahead of this clock, expected '
                f'at most {MOST_AHEAD_NS * 1e-9:g} s; {OTHER_CLOCK}'
            ))
            return True
        if self.inputs.waiting:
            self.inputs.revise(COMMAND, max(stamp_ns, now_ns), lambda earlier: (
                earlier.without(payload.columns)
            ))
        return False

    def _take_odometry(self, message: Any) -> None:
        stamp = message.header.stamp
        if self._take(ODOMETRY, stamp, message, lambda each: msg_to_motion(each, self.frame)):
            self._world_frame = message.header.frame_id

    def _take_joints(self, message: Any) -> None:
        # Other nodes publish the states of other joints on the same topic.
        if self._joint_reader.names(message):
            self._take(JOINTS, message.header.stamp, message, self._joint_reader.read)

    # Runs of commands.

    @property
    def run_port(self) -> Port | None:
        """The port whose messages `take_run` may take, None if each must be taken alone."""
        extras = (self._links, self._thrusts, self._positions, self._batteries)
        takes_names = self.ports[0].kind == Kind.JOINTS
        return None if self._is_robot or any(extras) or not takes_names else self.ports[0]

    def take_run(self, rows: CommandRows, is_timed: bool) -> Run | None:
        """Take messages of `run_port`, the first of which was taken and was the newest input.

        Nothing is published; see `payloads` and `publish_tick`. Return None, with nothing done, if
        each message must be taken alone. ``is_timed`` is whether a clock, if there is one, passes
        each stamp.
        """
        stamps, host = rows.stamps, self._host
        # Before /clock has come, there is nothing to compare with the stamps.
        is_compared = self._is_compared or not (host.is_simulated and host.now_ns())
        has_time = is_timed and not self._hold_back_ns if self._has_clock else is_compared
        # A loss of commands is followed tick by tick.
        if self._loss.is_lost:
            return None
        if not (has_time and host.is_active and 0 < stamps[0] <= stamps[-1] <= LATEST_NS):
            return None
        values = self._reader.read_rows(rows)
        if values is None:
            return None
        run = self.core.run(stamps, values, CLOCK if self._has_clock else '')
        if run:
            host.counts.update({'taken': run.count, COMMAND: run.count})
            self._audit.take_run(values[:run.count], run.steps.effort)
        return run

    def payloads(self, run: Run) -> list[tuple[Outlet, Any]] | None:
        """Return what a run publishes, in the order of a tick; None if ticks differ in that.

        Payloads are those of `publish`, with arrays that have all ticks, (t, ...).
        """
        wrench, position, velocity, effort, tanks = run.steps
        if not np.isfinite(wrench).all():
            return None
        given: list[tuple[Outlet, Any]] = []
        if tanks is not None:
            given += [
                # Each number of the payload is an array over the ticks here.
                (outlet, MassRow(*cast('Any', [part[:, i] for part in tanks])))
                for i, outlet in enumerate(self._tanks)
            ]
        state = JointRow(position, velocity, effort)
        given.append((self._state, state))
        if self._is_complete:
            given.append((self._joint_states, self._complete(state, len(wrench))))
        return [*given, (self._wrench, wrench)]

    def publish_tick(self, run: Run, i: int) -> None:
        """Publish the output of one tick of a run."""
        output = run.steps.output(i)
        stamp_ns = int(run.stamps[i])
        self._publish(Report(stamp_ns, output.wrench, output))

    def _on_jump(self, from_ns: int, to_ns: int) -> None:
        effect = 'actuators keep their state'
        if not self._is_robot and to_ns < from_ns:
            self.core.reset_family()
            effect = 'actuators reset'
        self._note_jump(from_ns, to_ns, effect)

    def check(self, params: LoopParams, family_params: Any) -> None:
        """Raise `ConfigError` if a live setting has a name that the family does not have."""
        names_off(params, self.family.command_names)

    def retune(
        self, changed: Mapping[str, Any], params: LoopParams, family_params: Any
    ) -> None:
        """Take the live values of checked configurations, and publish the changes."""
        self._note_set(changed)
        self.core.retune(changed, params, family_params)
        self._off = actuators_off(params, self.family)
        if self._host.is_active and not self._is_beginning:
            self._publish_effectiveness(self._last_ns())

    def _timing(self) -> Mapping[str, Any]:
        started_ns, self._started_ns = self._started_ns, None
        return {
            **{key: getattr(self._params, key) for key in _TIMING},
            'enabled': self.core.enabled, 'started': started_ns,
        }

    def _wait_as(self, begin: StepRequest) -> Ordering:
        timing = begin.values
        params = build(LoopParams, {**vars(self._params), **timing})
        has_clock = timing['is_simulated'] and self._host.publishers_of('/clock') > 0
        if params.step_on == 'clock' and not has_clock:
            params = replace(params, step_on='stamp')
        self._has_clock = params.step_on == 'clock'
        self.core = self._make_core(params)
        self._watch_commands()
        self.core.enable(timing['enabled'])
        return params.grid

    def _follow(self, request: StepRequest) -> None:
        super()._follow(request)
        if request.name == BEGIN:
            self.core.enable(request.values['enabled'])
            if not self.record.is_first(request):
                self._publish_effectiveness(request.values['started'])
        elif request.name in (ENABLE, DISABLE):
            self.core.enable(request.name == ENABLE)
            self.core.ignore(request.values['first'])
            if request.name == DISABLE:
                self._publish_zero(self._last_ns())

    def _set_enabled(self, data: bool) -> tuple[bool, str]:
        first = {source: ns for source, ns in self._next_first().items() if source == COMMAND}
        self._note(ENABLE if data else DISABLE, {'first': first})
        self.core.enabled = data
        if not data and self._host.is_active:
            self._publish_zero(self._last_ns())
        return True, 'enabled' if data else 'disabled'

    def step(self, stamp_ns: int, motion: MatrixMotion | None) -> Output | None:
        """Run the tick at a stamp and return its output, None if it did not run.

        For a host that knows time and motion itself: the stamp is a multiple of the period of
        ``update_rate``, the motion that of base_link, None only if the family does not need it.
        """
        core = self.core
        if motion is not None and self.family.uses_body:
            core.move(stamp_ns, motion)
        core.inputs.push(CLOCK, stamp_ns)
        return core.output if core.inputs.last_stamp_ns == stamp_ns else None

    def jump(self, from_ns: int, to_ns: int, timing: Mapping[str, Any]) -> None:
        """Continue at another time, and with other timing, for a host that calls `step`.

        The last step has ended at ``from_ns``, the next one begins at ``to_ns``; ``timing`` has
        settings of `LoopParams`.
        """
        self._params = replace(self._params, **timing)
        self.core.regrid(self._params, is_jump=to_ns != from_ns)
        if to_ns != from_ns:
            self._on_jump(from_ns, to_ns)
        else:
            self._host.log('info', f'steps of {1e6 / self._params.update_rate:g} us from now on')

    def reset(self) -> None:
        """Return actuators, tanks and time grid to the start."""
        self.core.reset()

    # Outputs.

    def start(self) -> None:
        """Begin at rest and without any earlier command; propellant stays as it was."""
        self.core.rest()
        self._loss.reset()
        names = ', '.join(self.family.command_names)
        self._host.log('info', f'active, takes commands for {names}')
        self._started_ns = self._last_ns()
        self._publish_effectiveness(self._started_ns)

    def _publish_effectiveness(self, stamp_ns: int | None) -> None:
        """Publish which share of its command each actuator achieves, for the allocator."""
        if self._effectiveness not in self.outlets or stamp_ns is None:
            return
        part = np.where(self._off, 0.0, effectiveness_of(self.family))
        self._host.publish(self._effectiveness, stamp_ns, JointRow(position=part))

    def _publish_zero(self, stamp_ns: int) -> None:
        for outlet in (self._wrench, *self._links):
            self._host.publish(outlet, stamp_ns, np.zeros(6))
        for outlet in self._thrusts:
            self._host.publish(outlet, stamp_ns, 0.0)

    def _publish(self, report: Report) -> None:
        self._report = report
        self._loss.follow(report.stamp_ns)
        if self.core.joints:
            self.core.joints.follow(report.stamp_ns, self._host)
        publish, output, stamp_ns = self._host.publish, report.output, report.stamp_ns
        if line := self._audit.take(stamp_ns, output):
            self._host.log('warn', line)
        tanks = output.tanks
        if tanks is not None:
            for outlet, *row in zip(
                self._tanks, tanks.mass, tanks.com, tanks.inertia, strict=True
            ):
                publish(outlet, stamp_ns, MassRow(*row))
        if self._batteries:
            rows = self._battery_rows(output)
            for outlet, battery in zip(self._batteries, rows, strict=True):
                publish(outlet, stamp_ns, battery)
        state = JointRow(output.position, output.velocity, output.effort)
        publish(self._state, stamp_ns, state)
        if self._is_complete:
            publish(self._joint_states, stamp_ns, self._complete(state))
        wrench = report.wrench
        # Faster than numpy for six numbers.
        if not all(map(math.isfinite, wrench.tolist())):
            self._host.complain(
                'not_finite', f'wrench {wrench.tolist()} is not finite, 0 in its place'
            )
            self._publish_zero(stamp_ns)
            return
        if report.links is not None:
            for outlet, link_wrench in zip(self._links, report.links, strict=True):
                publish(outlet, stamp_ns, link_wrench)
        if self._thrusts:
            for outlet, thrust in zip(self._thrusts, output.thrusts.tolist(), strict=True):
                publish(outlet, stamp_ns, thrust)
        if output.position is not None:
            for column, outlet in self._positions.items():
                publish(outlet, stamp_ns, output.position[column])
        publish(self._wrench, stamp_ns, wrench)

    def _complete(self, state: JointRow, *ticks: int) -> JointRow:
        """Return a state with a value in every field, which some readers need."""
        absent = np.full((*ticks, len(self.family.state_names)), np.nan)
        position, velocity, effort = (
            absent if field is None else field
            for field in (state.position, state.velocity, state.effort)
        )
        return JointRow(position, velocity, effort)

    @property
    def mistake(self) -> str:
        """Description of commands that probably have a wrong unit or sign, or did not push."""
        return self._audit.mistake

    def conclude(self) -> None:
        """Log why nothing pushed at the end of a replay."""
        lacks = 'no odometry, body.velocity of a table, so no force' * (
            self.core.lacks_motion and self._is_lift
        )
        if text := lacks or self._audit.small_commands():
            self._host.log('warn', text)

    @property
    def uncommanded(self) -> Sequence[str] | None:
        """Names that have had no command, None if no name has had one."""
        commanded = self.core.hold.commanded.tolist()
        names = zip(self.family.command_names, commanded, strict=True)
        silent = [name for name, is_commanded in names if not is_commanded]
        return silent if any(commanded) or not commanded else None

    def look_for_publishers(self, others: int = 0) -> None:
        """Report once several publishers of commands of all actuators, without allocators.

        ``others`` do not publish by ROS.
        """
        host, topic = self._host, self.ports[0].topic
        for port in () if host.follows_links else self.ports[1:]:
            source = self._source_of.get(port.topic)
            if source in (ODOMETRY, CURRENT) and (count := host.publishers_of(port.topic)) > 1 and (
                    port.topic not in self._several):
                self._several.add(port.topic)
                name = host.resolve_topic_name(port.topic)
                host.log('warn', several_publishers(count, name, 'message'))
        # An allocator, which is idle beside other commands, subscribes to the effectiveness.
        idle = host.subscriptions_to(self._effectiveness) if (
            self._effectiveness in self.outlets) else 0
        # A flight computer commands boosters only while it has an engine lit.
        count = host.publishers_of(topic, unless='engines') - idle + others
        # What others publish is for all actuators.
        if count > 1 and (others or self._reader.is_whole) and topic not in self._several:
            self._several.add(topic)
            host.log('warn', several_publishers(count, host.resolve_topic_name(topic)))

    def health(self) -> Iterator[Health]:
        """Yield the state of the actuators: stale commands, limits met, refused inputs."""
        core, family = self.core, self.family
        values, level, text = self._judge_inputs()
        flags = {} if self._report is None else self._report.output.flags
        met = {flag: int(np.count_nonzero(mask)) for flag, mask in flags.items()}
        stale = int(np.count_nonzero(core.hold.stale))
        off = int(np.count_nonzero(core.hold.off))
        degraded = np.count_nonzero(family.degraded) if isinstance(family, Degradable) else 0
        batteries = [] if self._report is None else self._battery_rows(self._report.output)
        for row in batteries:
            values[f'{row.name}/voltage'] = round(float(row.voltage), 3)
            values[f'{row.name}/percentage'] = round(float(row.charge), 4)
        values.update(met, stale=stale, switched_off=off, degraded=int(degraded))
        if core.joints:
            values['lost_joints'] = self._host.counts['lost_joints']
            publishers = self._host.publishers_of(JOINTS)
            if publishers > 1 and publishers != self._joint_publishers:
                self._host.log('warn', (
                    f'{publishers} publishers of {self._host.resolve_topic_name(JOINTS)}: '
                    'an angle that several publish holds until that of another one'
                ))
            self._joint_publishers = publishers
        # Gazebo counts those of gz-transport too.
        if not self._host.follows_links:
            self.look_for_publishers()
        if level != ERROR:
            warnings = [
                *(flag for flag, count in met.items() if count),
                *(
                    f'battery {row.name} is empty'
                    for row, is_empty in zip(batteries, flags.get('empty', ()), strict=False)
                    if is_empty
                ),
                *(['disabled'] if not core.enabled else []),
                *(['actuators are degraded'] if degraded else []),
                *(['actuators are switched off'] if off else []),
                *(['command is stale'] if stale else []),
                *(['joint states are lost'] if core.joints and core.joints.lost.any() else []),
                *(['no odometry yet, so no force' if self._is_lift else
                   'no odometry yet, so as at rest'] if core.lacks_motion else []),
            ]
            if warnings:
                level, text = WARN, warnings[-1]
        yield 'actuators', level, text, values


def _topics(key: str, names: Sequence[str]) -> Sequence[str]:
    """Return names that can be part of a topic name; raise `ConfigError` for others."""
    for i, name in enumerate(names):
        if not is_name(name):
            raise ConfigError(key, (
                f'{name!r} cannot be part of a topic name; write {as_word(name)!r}'
            ), i)
    return names


def _one_field(family: Family) -> str:
    """Return the field of Actuators from which a family takes its commands."""
    fields = set(family.command_fields)
    if fields not in ({'velocity'}, {'position'}):
        taken = ' and '.join(sorted(fields))
        raise ConfigError('adapters', f'actuators carry velocity or position, not {taken}')
    return str(fields.pop())
