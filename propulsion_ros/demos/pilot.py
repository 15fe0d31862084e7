# SPDX-License-Identifier: Apache-2.0
"""The pilot of a demo: a node that replies to every odometry, follows a plan, and records."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import Imu

from propulsion_ros.drawing.figure import PUBLISHED, Mark, Trace
from propulsion_ros.loops.decoders import stamp_to_ns, vector
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import set_stamp
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.settings.quantity import FloatArray


@dataclass
class Recording:
    """Series by name, each a list of rows that begin with the time [s]."""

    rows: dict[str, list[tuple[float, ...]]] = field(default_factory=dict)
    marks: list[tuple[float, str]] = field(default_factory=list)
    phases: list[tuple[float, str]] = field(default_factory=list)

    def add(self, name: str, *row: float) -> None:
        """Append a row to a series."""
        self.rows.setdefault(name, []).append(row)

    def series(self, name: str) -> FloatArray:
        """Return a series as (rows, columns)."""
        return np.array(self.rows[name])

    def between(self, name: str, begin: float, end: float) -> FloatArray:
        """Return the rows of a series from a time on to before another [s]."""
        rows = self.series(name)
        return rows[(rows[:, 0] >= begin - 1e-9) & (rows[:, 0] < end - 1e-9)]

    def gain(self, name: str, column: int, begin: float, end: float) -> float:
        """Return how much a column grows between two times [s]; NaN without rows."""
        rows = self.between(name, begin, end)
        return float(rows[-1, column] - rows[0, column]) if len(rows) else np.nan

    def line(
        self,
        label: str,
        series: str,
        column: int = 1,
        role: str = PUBLISHED,
        *,
        scale: float = 1.0,
        span: tuple[float, float] = (-np.inf, np.inf),
    ) -> Trace:
        """Return a column of a series as a line of a picture.

        Parameters
        ----------
        label, role : str
            As of a `Trace`.
        series, column : str, int
            What is shown; column 0 has the times.
        scale : float
            From the unit of the recording to that of the picture.
        span : tuple of float
            Part of the time that is shown [s].
        """
        rows = self.between(series, *span)
        return Trace(label, role, rows[:, 0], scale * rows[:, column])

    def lines(self, series: str, names: Sequence[str], first: int = 1) -> tuple[Trace, ...]:
        """Return successive columns of a series as lines with these names."""
        return tuple(
            self.line(name.replace('_', ' '), series, i) for i, name in enumerate(names, first)
        )


class _Timed(Protocol):

    @property
    def time(self) -> float: ...


TargetT = TypeVar('TargetT', bound=_Timed)


def target_at(plan: Mapping[str, TargetT], time: float) -> tuple[str, TargetT]:
    """Return the last target of a plan that begins no later than a time [s], with its name."""
    return [(name, each) for name, each in plan.items() if each.time <= time + 1e-9][-1]


def marks_of(plan: Mapping[str, TargetT]) -> list[Mark]:
    """Return when each target of a plan begins, but for the first."""
    return [Mark(target.time, name) for name, target in plan.items()][1:]


def roll_pitch_yaw(rotation: FloatArray) -> tuple[float, float, float]:
    """Return the turns about x, then y, then z of the world [rad] of a matrix (3, 3).

    By numpy, whose last bit differs from that of math, so that flights stay as they were.
    """
    r = rotation
    return (
        float(np.arctan2(r[2, 1], r[2, 2])),
        float(-np.arcsin(np.clip(r[2, 0], -1.0, 1.0))),
        float(np.arctan2(r[1, 0], r[0, 0])),
    )


def wrapped(angle: float) -> float:
    """Return an angle [rad] as the same one from -pi up to, but without, pi."""
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)


ODOMETRY, LAST_TOPIC = 'vehicle/odometry', 'vehicle/imu'
"""Where a body publishes its motion, and what is subscribed to when all else is."""


def efforts(names: Sequence[str]) -> Callable[[Any], Iterable[float]]:
    """Return what takes the efforts of some names from a JointState [N]."""
    def take(message: Any) -> Iterable[float]:
        effort = dict(zip(message.name, message.effort, strict=True))
        return [effort[name] for name in names]

    return take


def mass(message: Any) -> Iterable[float]:
    """Return the mass of an InertiaStamped [kg]."""
    return [message.inertia.m]


class Pilot(Node):
    """Replies to every odometry with commands of the same stamp, in lockstep with the vehicle.

    Commands for a step are sent once everything recorded of the step before was received, so
    that a recording is the same in every run. A subclass opens its topics, and gives `steer`,
    `status` and `is_done`.

    Parameters
    ----------
    **kwargs
        For rclpy's node.

    Attributes
    ----------
    recording : Recording
        What was received and sent.
    now : float
        Stamp of the newest odometry [s].
    steps : int
        How many steps of the vehicle were received.
    until : float
        Stamp at which the flight ends in any case [s].
    failure : str
        Why the flight cannot go on, '' while it can.
    has_ended : bool
        Whether no step is answered any more.
    """

    end = np.inf

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('pilot', **kwargs)
        self.recording = Recording()
        self.now, self.steps = 0.0, 0
        self.until = np.inf
        self.failure = ''
        self.has_ended = False
        self._newest_ns: dict[str, int] = {}
        self._step_ns = self._previous_ns = -1
        self._motion: Motion | None = None
        self._awaits_response = False
        self._sent: list[tuple[Any, Any]] = []
        self.create_subscription(Odometry, ODOMETRY, self._on_odometry, qos.LOCKSTEP)

    # What a subclass gives.

    def steer(self, motion: Motion) -> None:
        """Send the commands of the step at `now`."""
        raise NotImplementedError

    def prepare(self) -> None:
        """Do what must be done before the reply to the step at `now`; it may `call`."""

    @property
    def status(self) -> str:
        """How the flight goes, in a few words."""
        raise NotImplementedError

    @property
    def is_done(self) -> bool:
        """Whether all has been shown: the plan has ended."""
        return self.now >= self.end

    @property
    def is_ready(self) -> bool:
        """Whether the step at `now` may get its reply."""
        return True

    # What a subclass calls.

    def receive(
        self,
        kind: Any,
        topic: str,
        callback: Callable[[float, Any], None],
        profile: Any = qos.LOCKSTEP,
        each_step: bool = True,
    ) -> None:
        """Subscribe to a topic of stamped messages with ``callback(stamp [s], message)``.

        With ``each_step`` a message comes with each step, so that the next one waits for it.
        """
        def received(message: Any) -> None:
            stamp_ns = stamp_to_ns(message.header.stamp)
            if each_step:
                # The vehicle repeats a step without a reply, and some nodes repeat theirs.
                if stamp_ns <= self._newest_ns[topic]:
                    return
                self._newest_ns[topic] = stamp_ns
            callback(stamp_ns * 1e-9, message)
            self._steer_if_ready()

        if each_step:
            self._newest_ns[topic] = -1
        self.create_subscription(kind, topic, received, profile)

    def record(
        self, kind: Any, topic: str, series: str, numbers: Callable[[Any], Iterable[float]]
    ) -> None:
        """Record ``numbers(message)`` of each step of a topic as rows of a series."""
        self.receive(
            kind, topic,
            lambda stamp, message: self.recording.add(series, stamp, *numbers(message)),
        )

    def send(self, publisher: Any, message: Any) -> None:
        """Publish a command of the step at `now`."""
        set_stamp(message.header.stamp, self._step_ns)
        self._sent.append((publisher, message))
        publisher.publish(message)

    def call(self, client: Any, request: Any, refusal: Callable[[Any], str]) -> None:
        """Call a service; no step gets a reply before its response.

        ``refusal(response)`` returns why the request was refused, or ''.
        """
        def responded(future: Any) -> None:
            self._awaits_response = False
            reason = refusal(future.result())
            if reason:
                self.failure = f'{client.srv_name} refused: {reason}'
            self._steer_if_ready()

        self._awaits_response = True
        client.call_async(request).add_done_callback(responded)

    # Steps.

    def announce(self) -> None:
        """Let the vehicle know that all topics are open; it waits for this one."""
        self.create_subscription(Imu, LAST_TOPIC, lambda message: None, qos.LOCKSTEP)

    def _on_odometry(self, message: Odometry) -> None:
        stamp_ns = stamp_to_ns(message.header.stamp)
        if stamp_ns <= self._step_ns:
            for publisher, sent in self._sent:
                publisher.publish(sent)
            return
        self._previous_ns, self._step_ns = self._step_ns, stamp_ns
        self._sent = []
        pose, twist = message.pose.pose, message.twist.twist
        q = pose.orientation
        self._motion = Motion(
            vector(pose.position), np.array([q.x, q.y, q.z, q.w]),
            vector(twist.linear), vector(twist.angular),
        )
        self.now = stamp_ns * 1e-9
        self.steps += 1
        self.prepare()
        self._steer_if_ready()

    def _steer_if_ready(self) -> None:
        motion = self._motion
        if motion is None or self._awaits_response or self.failure or not self.is_ready:
            return
        if any(newest_ns < self._previous_ns for newest_ns in self._newest_ns.values()):
            return
        self._motion = None
        if self.now >= self.until or self.is_done:
            self.has_ended = True
        else:
            self.steer(motion)
