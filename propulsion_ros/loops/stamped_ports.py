# SPDX-License-Identifier: Apache-2.0
"""What loops have in common whose messages take effect at their stamps."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from propulsion_ros.loops.actuator_loop import CLOCK, COM, COMMAND
from propulsion_ros.loops.centre_of_mass import CentreOfMass
from propulsion_ros.loops.decoders import checked_clock, checked_stamp, msg_to_com
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.loops.ports import ERROR, OK, WARN, Host, Port, Request, Timer
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.timing.stamped_inputs import StampedInputs

_BEGINNING_NS = 10_000_000  # so much older than it is may a command be taken for, no more
_OTHER_TIME_NS = 10**15
"""No recording is so long that its clock and its stamps differ by more [ns]."""
OTHER_CLOCK = 'was it stamped by another clock? Set use_sim_time alike, or stamp 0 for now'
"""What to do about a stamp of another time."""

_COUNTED = ('taken', 'refused', 'other_time', 'not_finite', 'late', 'stray', 'overflow', 'jump')


class Core(Protocol):
    """What takes stamped inputs: `ActuatorLoop` or `EstimateLoop`."""

    @property
    def inputs(self) -> StampedInputs: ...  # noqa: D102

    def push(self, source: str, stamp_ns: int, payload: Any = None) -> bool: ...  # noqa: D102

    def reset(self) -> None: ...  # noqa: D102

    @property
    def com(self) -> CentreOfMass: ...  # noqa: D102


class StampedPorts:
    """The inputs of a core that reads no clock: messages, and the time of its host.

    ``frame`` is that of geometry and wrenches; with ``lossless`` no message may be lost.
    """

    def __init__(self, core: Core, frame: str, host: Host, lossless: bool) -> None:
        self.frame = frame
        self._core, self._host, self._lossless = core, host, lossless
        self._hold_back_ns = 0
        self._is_compared = False
        self._has_clock = False
        self._command_ports: list[Port] = []
        self.ports: list[Port] = []
        self.timers: list[Timer] = []
        self.requests: list[Request] = [Request('~/reset', 'std_srvs/srv/Trigger', self._reset)]

    @property
    def inputs(self) -> StampedInputs:
        """What came, in the order of the stamps."""
        return self._core.inputs

    # Called while the loop is made.

    def _add_command(
        self, topic: str, kind: str, source: str, read: Callable[[Any], Any]
    ) -> None:
        """Take commands from a topic."""
        self._add(topic, kind, self._taking(source, read))
        self._command_ports.append(self.ports[-1])

    def _add(
        self, topic: str, kind: str, take: Callable[[Any], Any], qos: str = 'command'
    ) -> None:
        self.ports.append(Port(topic, kind, take, qos, self._lossless))

    def _add_com(self) -> None:
        """Take the centre of mass; it is latched, so it counts before activation too."""
        self.ports.append(
            Port('~/inertia', Kind.INERTIA, self._take_com, 'latched', while_inactive=True)
        )

    def _keep_time(self, rate: float, hold_back: float = 0.0) -> None:
        """Give the core the time ``hold_back`` [s] late: of /clock, or ``rate`` times a second."""
        self._hold_back_ns, self._has_clock = round(hold_back * 1e9), True
        if self._host.is_simulated:
            self.ports.append(Port(
                '/clock', Kind.CLOCK, self._take_clock, 'clock', overridable=False
            ))
        else:
            self.timers.append(Timer(1.0 / rate, lambda: self._pass_time(self._host.now_ns())))

    # Inputs.

    def _taking(self, source: str, read: Callable[[Any], Any]) -> Callable[[Any], None]:
        """Return what takes the messages of a source, which ``read`` turns into payloads."""
        def take(message: Any) -> None:
            self._take(source, message.header.stamp, message, read)

        return take

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
        if not stamp_ns:
            arrival_ns = self._arrival_ns()
            # Where simulated time has just begun, 0 is a stamp as good as any.
            stamp_ns = 0 if stamp is not None and arrival_ns < _BEGINNING_NS else arrival_ns
        if self._core.push(source, stamp_ns, payload):
            self._compare_clock(stamp_ns)
            counts = host.counts
            counts['taken'] += 1
            counts[source] += 1
            return True
        newest_ns = self.inputs.newest_ns or 0
        # Without a clock two inputs that agree make a new time, and both are applied.
        is_final = self.inputs.clock_ns is not None
        what = 'not taken' if is_final else 'held until the next one confirms its time'
        host.complain(
            'other_time',
            f'{source} {what}: stamped {stamp_ns * 1e-9:.3f} s, '
            f'but the time is {newest_ns * 1e-9:.3f} s; {OTHER_CLOCK}',
        )
        return False

    def _compare_clock(self, stamp_ns: int) -> None:
        """Complain once where the clock beside a recording shows another time than it has."""
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
        """Return the stamp of what takes effect at once: in the first tick that has not run."""
        clock_ns, last_ns = self.inputs.clock_ns, self.inputs.last_stamp_ns
        if clock_ns is None:
            # A recording need not be of the time that the clock shows.
            is_recorded = self._lossless and not self._has_clock and self._host.is_simulated
            return self.inputs.newest_ns or 0 if is_recorded else self._host.now_ns()
        return clock_ns if last_ns is None or last_ns < clock_ns else clock_ns + 1

    def _take_com(self, message: Any) -> None:
        if self._host.is_active:
            self._take(COM, message.header.stamp, message, self._read_com)
            return
        try:
            self._core.com.set(self._read_com(message))
        except CommandError as error:
            self._host.complain('refused', f'{COM} refused: {error}')

    def _read_com(self, message: Any) -> FloatArray:
        return msg_to_com(message, self.frame)

    def _take_clock(self, message: Any) -> None:
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
            self._core.push(CLOCK, passed_ns)

    def _reset(self, data: bool) -> tuple[bool, str]:
        self._core.reset()
        return True, 'reset'

    # Outputs.

    def _last_ns(self) -> int:
        """Return the stamp of what is published last: where the core stands, else now."""
        last_ns = self.inputs.last_stamp_ns
        return self._host.now_ns() if last_ns is None else last_ns

    def _judge_inputs(self) -> tuple[dict[str, Any], str, str]:
        """Return the counts of what came and what was not taken, and how bad that is."""
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
            return values, WARN, 'inputs wait for a clock that has not come yet'
        if not counts[COMMAND]:
            return values, *self._host.absence(self._command_ports, 'command')
        return values, OK, 'ok'
