# SPDX-License-Identifier: Apache-2.0
"""Common part of loops whose messages take effect at their stamps."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from propulsion_ros.loops.actuator_loop import CLOCK, COM, COMMAND
from propulsion_ros.loops.decoders import checked_clock, checked_stamp, msg_to_com
from propulsion_ros.loops.measured import CentreOfMass
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.loops.ports import ERROR, OK, WARN, Host, Port, Request, Timer
from propulsion_ros.loops.step_record import (
    BEGIN,
    END,
    LAG_NS,
    RESET,
    SET,
    StepRecord,
    StepRequest,
)
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.timing.stamped_inputs import Ordering, StampedInputs
from propulsion_ros.timing.stepping import FOREVER, Agenda, Place

_BEGINNING_NS = 10_000_000  # before this simulated time a stamp of 0 means 0, not now [ns]
_OTHER_TIME_NS = 10**15
"""Difference from which /clock and stamps are of different clocks: no recording is so long."""
OTHER_CLOCK = 'was it stamped by another clock? Set use_sim_time alike, or stamp 0 for now'
"""Remedy for a stamp of another time."""

_COUNTED = ('taken', 'refused', 'other_time', 'not_finite', 'late', 'stray', 'overflow', 'jump')


class Core(Protocol):
    """A loop that takes stamped inputs: `ActuatorLoop` or `EstimateLoop`."""

    @property
    def inputs(self) -> StampedInputs: ...  # noqa: D102

    def reset(self) -> None: ...  # noqa: D102

    @property
    def com(self) -> CentreOfMass: ...  # noqa: D102

    @property
    def agenda(self) -> Agenda: ...  # noqa: D102

    @property
    def place(self) -> Place | None: ...  # noqa: D102

    def begin(self, stamp_ns: int, first: Mapping[str, int], is_new: bool) -> None: ...  # noqa: D102


class StampedPorts:
    """Passes messages and the host's time to a core, which reads no clock itself.

    Parameters
    ----------
    replay : bool
        Whether the inputs, and the requests that determine the steps, come from a recording.

    Attributes
    ----------
    tune : callable
        ``tune(keys, values)`` takes the keys that changed, and all values that were changed so far.
    """

    def __init__(
        self, core: Core, frame: str, host: Host, lossless: bool, replay: bool
    ) -> None:
        self.frame = frame
        self.core, self._host, self._lossless = core, host, lossless
        self.record = StepRecord(host, self._adopt, self._schedule, replay)
        self.tune: Callable[[Mapping[str, Any], Mapping[str, Any]], None]
        self._changed: dict[str, Any] = {}
        self._unsent: dict[str, Any] = {}
        self._is_new = True
        self._at_ns: int | None = None
        self._is_beginning = self._has_ended = False
        self._ordering: Ordering | None = None
        self._first: Mapping[str, int] = {}
        self._expected: dict[str, int] = {}
        self._source_of: dict[str, str] = {}
        self._hold_back_ns = 0
        self._is_compared = False
        self._has_clock = False
        self._misstamped: set[tuple[str, str]] = set()
        self.ports: list[Port] = []
        self.timers: list[Timer] = []
        self.requests: list[Request] = [Request('~/reset', 'std_srvs/srv/Trigger', self._reset)]

    @property
    def inputs(self) -> StampedInputs:
        """The inputs, in the order of their stamps."""
        return self.core.inputs

    # Called while the loop is made.

    def _add(
        self, topic: str, kind: str, source: str, read: Callable[[Any], Any], qos: str = 'command'
    ) -> None:
        """Add a port for stamped messages of a source, which ``read`` converts to payloads."""
        self._open(topic, kind, source, lambda message: (
            self._take(source, message.header.stamp, message, read)
        ), qos)

    def _add_com(self) -> None:
        """Add a port for the centre of mass; it is latched, so it counts before activation too."""
        self._open(
            '~/inertia', Kind.INERTIA, COM, self._take_com, self.record.latched,
            while_inactive=True,
        )

    def _open(
        self, topic: str, kind: str, source: str, take: Callable[[Any], Any],
        qos: str = 'command', while_inactive: bool = False,
    ) -> None:
        """Add a port that passes the messages of a source to ``take``."""
        self.ports.append(Port(
            topic, kind, self.record.guard(take), qos, self._lossless, while_inactive
        ))
        self._source_of[topic] = source

    def _keep_time(self, rate: float, hold_back: float = 0.0) -> None:
        """Pass time to the core, ``hold_back`` [s] late: of /clock, or of a timer at ``rate``."""
        self._hold_back_ns, self._has_clock = round(hold_back * 1e9), True
        if self._host.is_simulated:
            self.ports.append(Port(
                '/clock', Kind.CLOCK, self.record.guard(self._take_clock), 'clock',
                self._lossless, overridable=False,
            ))
        elif not self.record.is_replay:
            self.timers.append(Timer(1.0 / rate, lambda: self._pass_time(self._host.now_ns())))

    # Inputs.

    def _take(self, source: str, stamp: Any, content: Any, read: Callable[[Any], Any]) -> bool:
        """Give an input to the core and return True, or complain; stamp 0 or None means now.

        ``read`` turns the content into the core's payload, or raises `CommandError`.
        """
        host = self._host
        try:
            payload = read(content)
            stamp_ns = checked_stamp(stamp) if stamp is not None else 0
        except CommandError as error:
            host.complain('refused', f'{source} refused: {error}')
            return False
        if self._is_far_ahead(source, stamp_ns, payload):
            return False
        if not (stamp_ns or self._is_at_zero(source)):
            arrival_ns = self._arrival_ns()
            # When simulated time has just begun, 0 may be the true stamp.
            stamp_ns = 0 if stamp is not None and arrival_ns < _BEGINNING_NS else arrival_ns
        if self.inputs.push(source, stamp_ns, payload):
            self._compare_clock(stamp_ns)
            if self._expected:
                self._compare_start(source, stamp_ns)
            counts = host.counts
            counts['taken'] += 1
            counts[source] += 1
            return True
        newest_ns = self.inputs.newest_ns or 0
        # Without a clock two inputs that agree make a new time, and both are applied.
        is_final = self.inputs.clock_ns is not None
        what = 'not taken' if is_final else 'held until the next one confirms its time'
        self._complain_of_stamp('other_time', source, (
            f'{source} {what}: stamped {stamp_ns * 1e-9:.3f} s, '
            f'but the time is {newest_ns * 1e-9:.3f} s; {OTHER_CLOCK}'
        ))
        return False

    def _complain_of_stamp(self, key: str, source: str, line: str) -> None:
        """Count a refused stamp, and log the first of a source: each line would differ."""
        if (key, source) in self._misstamped:
            self._host.counts[key] += 1
        else:
            self._misstamped.add((key, source))
            self._host.complain(key, line)

    def _is_at_zero(self, source: str) -> bool:
        """Return whether the recorded node took stamp 0 of the next input as 0, not as now."""
        if self._first.get(source) == 0:
            return True
        return source == COM and self._ordering is not None and COM not in self.inputs.newest_of

    def _compare_start(self, source: str, stamp_ns: int) -> None:
        """Complain, once for each source, if a recording is played from the middle on."""
        expected_ns = self._expected.pop(source, stamp_ns)
        if stamp_ns > expected_ns:
            self._host.complain('missed', (
                f'{source} begins in mid-stream: from {expected_ns * 1e-9:.3f} s until '
                f'{stamp_ns * 1e-9:.3f} s it is missing, so this is not what the recorded node did'
            ))

    def _compare_clock(self, stamp_ns: int) -> None:
        """Complain once if /clock shows another time than the stamps of a recording."""
        if self._has_clock or self._is_compared or not self._host.is_simulated:
            return
        now_ns = self._host.now_ns()
        self._is_compared = now_ns > 0
        if now_ns and abs(now_ns - stamp_ns) > _OTHER_TIME_NS:
            self._host.complain('other_clock', (
                f'/clock shows {now_ns * 1e-9:.3f} s, but the inputs are stamped '
                f'{stamp_ns * 1e-9:.3f} s; the stamps count, so play the recording without --clock'
            ))

    def _is_far_ahead(self, source: str, stamp_ns: int, payload: Any) -> bool:
        """Return whether an input is refused, with a complaint, for a stamp in the future."""
        return False

    def _arrival_ns(self) -> int:
        """Return the stamp of an input that takes effect at once: at the next tick to run."""
        clock_ns, last_ns = self.inputs.clock_ns, self.inputs.last_stamp_ns
        if clock_ns is None:
            # The stamps of a recording need not be of the clock's time.
            is_recorded = self._lossless and not self._has_clock and self._host.is_simulated
            return self.inputs.newest_ns or 0 if is_recorded else self._host.now_ns()
        return clock_ns if last_ns is None or last_ns < clock_ns else clock_ns + 1

    def _take_com(self, message: Any) -> None:
        if self._host.is_active:
            self._take(COM, message.header.stamp, message, self._read_com)
            return
        try:
            self.core.com.set(self._read_com(message))
        except CommandError as error:
            self._host.complain('refused', f'{COM} refused: {error}')

    def _read_com(self, message: Any) -> FloatArray:
        return msg_to_com(message, self.frame)

    def _take_clock(self, message: Any) -> None:
        if not self._has_clock:
            return
        try:
            now_ns = checked_clock(message.clock)
        except CommandError as error:
            self._host.complain('refused', f'{CLOCK} refused: {error}')
        else:
            self._pass_time(now_ns)

    def _pass_time(self, now_ns: int) -> None:
        passed_ns = now_ns - self._hold_back_ns
        # Simulated time begins at 0, and no stamp lies before it.
        if passed_ns >= 0:
            self.inputs.push(CLOCK, passed_ns)

    def _reset(self, data: bool) -> tuple[bool, str]:
        place, values = self.core.place, {'first': self._next_first()}
        self.core.reset()
        self._is_new = self._is_new or not self._host.is_active
        self.record.note(RESET, place, values)
        return True, 'reset'

    # Requests, which determine the steps beside the inputs.

    def _timing(self) -> Mapping[str, Any]:
        """Return the settings that determine the steps."""
        raise NotImplementedError

    def _wait_as(self, begin: StepRequest) -> Ordering:
        """Take the settings of a recorded node, and return which inputs it waited for."""
        raise NotImplementedError

    def _note(self, name: str, values: Mapping[str, Any] | None = None) -> None:
        """Publish a request that acts from now on."""
        self.record.note(name, self.core.place, values or {})

    def _next_first(self) -> Mapping[str, int]:
        """Return the stamp from which on future inputs of each source count."""
        return {source: stamp_ns + 1 for source, stamp_ns in self.inputs.newest_of.items()}

    def _note_begin(self, stamp_ns: int) -> None:
        """Publish the settings of the steps, at the first one."""
        self.record.note(BEGIN, Place(stamp_ns), {
            **self._timing(), 'is_simulated': self._host.is_simulated,
            'first': dict(self.inputs.first_of), 'is_new': self._is_new,
            'set': self._changed if self._is_new else self._unsent,
        })
        self._is_new, self._unsent = False, {}

    def _note_set(self, changed: Mapping[str, Any]) -> None:
        """Publish which parameters have changed."""
        if not self.record.is_replay:
            self._changed.update(changed)
            if self._host.is_active:
                self._note(SET, changed)
            else:
                self._unsent.update(changed)

    def _adopt(self, begin: StepRequest) -> None:
        """Step as a recorded node did, and wait for every other input that the recording has."""
        self._ordering = ordering = self._wait_as(begin)
        self._first = begin.values['first']
        self._expected = {source: ns for source, ns in self._first.items() if source != CLOCK}
        self.inputs.follow_recording(begin.place.stamp_ns, dict(self._expected))
        recorded = [
            source for topic, source in self._source_of.items()
            if source not in ordering.wait_for and self._host.publishers_of(topic)
        ]
        if recorded or ordering.max_lag_ns is not None:
            self.inputs.wait_as(replace(
                ordering, wait_for=(*ordering.wait_for, *dict.fromkeys(recorded)),
                max_lag_ns=LAG_NS,
            ))

    def _schedule(self, request: StepRequest) -> None:
        """Schedule a recorded request at its place; a beginning comes before its first input."""
        place = request.place
        if request.name == BEGIN:
            place = Place(min([place.stamp_ns, *request.values['first'].values()]) - 1)
        self.core.agenda.add(place, lambda: self._act(request))

    def _note_jump(self, from_ns: int, to_ns: int, effect: str) -> None:
        """Complain, and schedule the requests again if time has jumped back, as in a looped bag."""
        seconds = (to_ns - from_ns) * 1e-9
        self._host.complain('jumps', f'time jumped by {seconds:.3f} s, {effect}')
        self.core.agenda.clear()
        if to_ns < from_ns:
            self.record.again()

    def _act(self, request: StepRequest) -> None:
        self._at_ns = request.place.stamp_ns
        self._follow(request)
        self._at_ns = None

    def _follow(self, request: StepRequest) -> None:
        """Carry out a recorded request."""
        values = request.values
        self._has_ended = request.name == END
        if request.name == SET:
            self._changed.update(values)
            self.tune(values, self._changed)
        elif request.name == BEGIN:
            changed = dict(values['set'])
            if values['is_new']:
                changed, self._changed = {**self._changed, **changed}, {}
            self._changed.update(values['set'])
            if changed:
                self._is_beginning = True
                self.tune(changed, self._changed)
                self._is_beginning = False
            self.core.begin(request.place.stamp_ns, values['first'], values['is_new'])
        elif request.name == RESET:
            self.core.begin(FOREVER, values['first'], True)
        elif request.name == END:
            self.core.begin(FOREVER, values['first'], False)
            self._publish_zero(values['last'])

    def stop(self) -> None:
        """Publish one zero wrench."""
        self.flush()
        if self._has_ended:
            # The zero wrench of the recorded end has been published.
            return
        last_ns = self._last_ns()
        self._publish_zero(last_ns)
        self._note(END, {'last': last_ns, 'first': self._next_first()})

    @property
    def takes_clock(self) -> bool:
        """Whether the core steps by /clock."""
        return self._has_clock and self._host.is_simulated

    def flush(self) -> None:
        """Run what is due at the end of a recording, after which no input comes."""
        self.record.finish()
        if self._ordering is not None:
            self.inputs.wait_as(self._ordering)
            self.core.agenda.pass_to(FOREVER)

    # Outputs.

    def _publish_zero(self, stamp_ns: int) -> None:
        """Publish a zero wrench."""
        raise NotImplementedError

    def _last_ns(self) -> int:
        """Return the stamp of a last message: the last one of the core, else now."""
        if self._at_ns is not None:
            return self._at_ns
        last_ns = self.inputs.last_stamp_ns
        return self._host.now_ns() if last_ns is None else last_ns

    def _judge_inputs(self) -> tuple[dict[str, Any], str, str]:
        """Return the counts of taken and refused inputs, and level and text of a diagnosis."""
        inputs, own = self.inputs, self._host.counts
        counts = own + inputs.counts
        values = {key: counts[key] for key in _COUNTED}
        if counts['not_finite']:
            return values, ERROR, 'the wrench was not finite'
        if counts['overflow']:
            return values, ERROR, 'commands were lost'
        if counts['other_time']:
            return values, WARN, 'inputs of another time were not taken'
        if self._has_clock and inputs.clock_ns is None and inputs.waiting:
            if not self._host.publishers_of('/clock'):
                self._host.complain('no_clock', (
                    'inputs wait for time: /clock has no publisher; start the simulation, or set '
                    'use_sim_time false'
                ))
            return values, WARN, 'inputs wait for a clock that has not come yet'
        if not counts[COMMAND]:
            ports = [port for port in self.ports if self._source_of.get(port.topic) == COMMAND]
            return values, *self._host.absence(ports, 'command')
        return values, OK, 'ok'
