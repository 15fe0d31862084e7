# SPDX-License-Identifier: Apache-2.0
"""A host of one loop without ROS, whose clocks the user sets, and messages for it."""
from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from propulsion_ros.loops.ports import Loop, Outlet, Port, Timer, WithoutGraph


class BenchHost(WithoutGraph):
    """Connects one loop, which `run` starts; time and messages come by its methods only."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.is_simulated = False
        self.lines: list[tuple[str, str]] = []
        self.now = self.steady = 0

    def run(self, loop: Loop) -> Any:
        """Connect and start a loop, and return it."""
        self.loop = loop
        self._due = [self.steady + self._period(timer) for timer in loop.timers]
        self.is_active = True
        loop.start()
        return loop

    # Called by a loop.

    def publish(self, outlet: Outlet, stamp_ns: int, payload: Any) -> None:
        """Take a published payload."""
        raise NotImplementedError

    def complain(self, key: str, line: str) -> None:
        """Count and keep a complaint."""
        self.counts[key] += 1
        self.log('warn', line)

    def log(self, level: str, line: str) -> None:
        """Keep a line."""
        self.lines.append((level, line))

    def now_ns(self) -> int:
        """Return the time of messages [ns]."""
        return self.now

    def steady_ns(self) -> int:
        """Return the time of the steady clock [ns]."""
        return self.steady

    def absence(self, ports: Sequence[Port], what: str) -> tuple[str, str]:
        """Return the warning that no message has come."""
        return 'warn', f'no {what}'

    def resolve_topic_name(self, topic: str) -> str:
        """Return the topic unchanged."""
        return topic

    def receivers_of(self, outlet: Outlet) -> Sequence[str]:
        """Return the driver of charges and engines."""
        return ('/driver',) if outlet.topic in ('~/deployers', '~/engines') else ()

    # Called by the user.

    def deliver(self, topic: str, message: Any) -> None:
        """Give a message to every port of a topic."""
        for port in self.loop.ports:
            if port.topic == topic and (self.is_active or port.while_inactive):
                port.take(message)

    def request(self, name: str) -> tuple[bool, str]:
        """Call a service, and return whether it succeeded, and its text."""
        (request,) = [each for each in self.loop.requests if each.topic == f'~/{name}']
        done, text = request.serve(True)
        return bool(done), text

    def wait(self, seconds: float) -> None:
        """Let the steady clock run, and call each timer when it is due, as ROS 2 does.

        A timer that was due several times while the clock was set ahead is called once.
        """
        end = self.steady + round(seconds * 1e9)
        while self.is_active and min(self._due, default=end) <= end:
            first = min(range(len(self._due)), key=self._due.__getitem__)
            timer = self.loop.timers[first]
            missed, period = max(self.steady - self._due[first], 0), self._period(timer)
            self.steady = max(self.steady, self._due[first])
            self._due[first] += period * (1 + missed // period)
            timer.call()
        self.steady = end

    @staticmethod
    def _period(timer: Timer) -> int:
        return round(timer.period * 1e9)


def message(stamp_ns: int = 0, frame: str = '', **fields: Any) -> SimpleNamespace:
    """Return a stand-in for a stamped message; a mapping becomes an object with attributes."""
    sec, nanosec = divmod(stamp_ns, 1_000_000_000)
    stamp = SimpleNamespace(sec=sec, nanosec=nanosec)
    header = SimpleNamespace(stamp=stamp, frame_id=frame)
    return SimpleNamespace(header=header, **{key: _plain(value) for key, value in fields.items()})


def xyz(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> dict[str, float]:
    """Return a vector for `message`."""
    return {'x': x, 'y': y, 'z': z}


def odometry(
    stamp_ns: int, height: float, climb: float = 0.0, east: float = 0.0
) -> SimpleNamespace:
    """Return a stand-in for an Odometry of an upright vehicle."""
    pose = {'position': xyz(east, 0.0, height), 'orientation': {**xyz(), 'w': 1.0}}
    twist = {'linear': xyz(z=climb), 'angular': xyz()}
    return message(
        stamp_ns, pose={'pose': pose}, twist={'twist': twist}, child_frame_id='base_link'
    )


def _plain(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return SimpleNamespace(**{key: _plain(item) for key, item in value.items()})
