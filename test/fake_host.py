# SPDX-License-Identifier: Apache-2.0
"""A host without ROS: it keeps what a loop publishes, and has a clock that tests set."""
from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

MS = 1_000_000


class FakeHost:
    """Connects one loop, which `run` takes; nothing happens but what a test calls."""

    def __init__(self):
        self.counts = Counter()
        self.is_simulated = False
        self.is_active = self.has_failed = False
        self.published = []
        self.lines = []
        self.publishers = Counter()
        self.subscriptions = Counter({'~/deployers': 1})
        self.unrecorded = []
        self.now = self.steady = 0

    def run(self, loop):
        """Connect and start a loop."""
        self.loop = loop
        self._due = [self.steady + self._period(timer) for timer in loop.timers]
        self.is_active = True
        loop.start()
        return loop

    # What a loop calls.

    def publish(self, outlet, stamp_ns, payload):
        self.published.append((outlet.topic, stamp_ns, payload))

    def complain(self, key, line):
        self.counts[key] += 1
        self.lines.append(('warn', line))

    def log(self, level, line):
        self.lines.append((level, line))

    def now_ns(self):
        return self.now

    def steady_ns(self):
        return self.steady

    def absence(self, ports, what):
        return 'warn', f'no {what}'

    def resolve_topic_name(self, topic):
        return topic

    def publishers_of(self, topic):
        return self.publishers[topic]

    def subscriptions_to(self, outlet):
        return self.subscriptions[outlet.topic]

    def topics_without(self, node):
        return self.unrecorded

    def deactivate(self):
        self.has_failed = True
        self.finish()

    def finish(self):
        self.loop.stop()
        self.is_active = False

    # What a test calls.

    def deliver(self, topic, message):
        """Give a message to every port of a topic."""
        for port in self.loop.ports:
            if port.topic == topic and (self.is_active or port.while_inactive):
                port.take(message)

    def wait(self, seconds):
        """Let the steady clock run, and call each timer when it is due."""
        end = self.steady + round(seconds * 1e9)
        while self.is_active and min(self._due, default=end) <= end:
            first = min(range(len(self._due)), key=self._due.__getitem__)
            timer = self.loop.timers[first]
            self.steady = self._due[first]
            self._due[first] += self._period(timer)
            timer.call()
        self.steady = end

    def of(self, topic):
        """Return stamp [ns] and payload of all that was published on a topic."""
        return [(stamp_ns, payload) for own, stamp_ns, payload in self.published if own == topic]

    def said(self, level):
        """Return the lines of a level."""
        return [line for own, line in self.lines if own == level]

    @staticmethod
    def _period(timer):
        return round(timer.period * 1e9)


def message(stamp_ns=0, frame='', **fields):
    """Return what looks like a stamped message; a mapping becomes an object with attributes."""
    sec, nanosec = divmod(stamp_ns, 1_000_000_000)
    stamp = SimpleNamespace(sec=sec, nanosec=nanosec)
    header = SimpleNamespace(stamp=stamp, frame_id=frame)
    return SimpleNamespace(header=header, **{key: _plain(value) for key, value in fields.items()})


def wrench_message(stamp_ns, wrench, frame='base_link'):
    """Return what looks like a WrenchStamped."""
    fx, fy, fz, tx, ty, tz = map(float, wrench)
    return message(stamp_ns, frame, wrench={
        'force': {'x': fx, 'y': fy, 'z': fz}, 'torque': {'x': tx, 'y': ty, 'z': tz},
    })


def _plain(value):
    if not isinstance(value, dict):
        return value
    return SimpleNamespace(**{key: _plain(item) for key, item in value.items()})
