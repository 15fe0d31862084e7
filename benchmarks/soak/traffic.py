# SPDX-License-Identifier: Apache-2.0
"""Commands to every node, good and hostile, and ears for all that they say."""
from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock

from benchmarks.hostile import (
    hostile_current,
    hostile_joints,
    hostile_odometry,
    hostile_wrench,
)
from benchmarks.node_peer import PERIOD_NS, Work
from benchmarks.soak.judge import EXPLAINED, UNEXPLAINED, WrenchJudge
from benchmarks.soak.ledger import Ledger
from benchmarks.soak.members import (
    ROBOT,
    SIMULATED,
    STAMPED,
    Member,
    make_commands,
    make_current,
    make_odometry,
)
from benchmarks.soak.oracle import know, wrench_of
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import set_stamp

_EARS = QoSProfile(depth=2000)
_ROUGH_EARS = QoSProfile(depth=2000, reliability=ReliabilityPolicy.BEST_EFFORT)
_BEGIN_NS = 1_700_000_000 * 1_000_000_000
_PAUSE = 100
"""Steps without a word to a node after its stamps were shifted, as when a recording starts anew."""
_EVERY = 10
"""Steps for each hostile message to a node, and for each odometry."""


@dataclass
class Line:
    """All that goes to one node and comes from it."""

    member: Member
    commands: list[Any]
    judge: WrenchJudge
    ledger: Ledger
    hostile: Callable[[], None]
    publisher: Any = None
    odometry: Any = None
    next: int = 0
    stamp_ns: int = _BEGIN_NS
    spoke_at: float = 0.0
    pause: int = 0


class Traffic(Node):
    """Sends to the fleet at each `step`, and judges what it receives.

    Parameters
    ----------
    members : sequence of Member
        The fleet.
    seed : int
        Of the commands and of what is wrong with the hostile ones.

    Attributes
    ----------
    lines : dict
        One for each node, by name.
    leaving : set of str
        Nodes that were told to stop.
    heard : int
        Messages so far.
    """

    def __init__(self, members: Sequence[Member], seed: int) -> None:
        super().__init__('soak')
        self._rng = random.Random(f'{seed} hostile')  # noqa: S311  no secret
        self._clock_pub = self.create_publisher(Clock, '/clock', qos.CLOCK)
        self._clock = Clock()
        self._sim_ns, self._steps, self._has_jumped = _BEGIN_NS, 0, False
        self.leaving: set[str] = set()
        self.heard = 0
        self.lines = {m.name: self._open(m, seed) for m in members}
        self.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, _EARS)

    def _open(self, member: Member, seed: int) -> Line:
        commands = make_commands(member, seed)
        judge = WrenchJudge(know(member, commands), member.has_grid)
        line = Line(member, commands, judge, Ledger(), lambda: None)
        kind, topic = Work(member.family).input
        spoil = hostile_wrench if kind is WrenchStamped else hostile_joints
        kinds: list[tuple[Any, str, Any, Any]] = [(kind, topic, commands[0], spoil)]
        if member.family == 'fins':
            line.odometry = self.create_publisher(
                Odometry, f'/{member.name}/odometry', qos.COMMAND
            )
            kinds += [
                (Odometry, 'odometry', make_odometry(), hostile_odometry),
                (TwistStamped, 'current', make_current(), hostile_current),
            ]
        line.hostile = self._enemy(line, kinds)
        self.create_subscription(
            WrenchStamped, f'/{member.name}/wrench',
            lambda message, line=line: self._on_wrench(line, message),
            _ROUGH_EARS if member.is_best_effort else _EARS,
        )
        return line

    def _enemy(self, line: Line, kinds: Sequence[tuple[Any, str, Any, Any]]) -> Callable[[], None]:
        """Return what sends one hostile message to a node."""
        publishers = [
            self.create_publisher(kind, f'/{line.member.name}/{topic}', qos.COMMAND)
            for kind, topic, *_ in kinds
        ]

        def send() -> None:
            i = self._rng.randrange(len(kinds))
            *_, good, spoil = kinds[i]
            set_stamp(good.header.stamp, self._now_ns(line))
            # Two wrong stamps that agree move the time of who has no clock. From the publisher of
            # the good ones, one of these always stands between them.
            through_good = i == 0 and line.member.time == STAMPED
            publisher = line.publisher if through_good else publishers[i]
            publisher.publish(spoil(self._rng, good))
            line.ledger.sent(is_hostile=True)

        return send

    # What is sent.

    def step(self) -> None:
        """Send a command to every node whose publisher is there, then publish the time."""
        self._steps += 1
        self._sim_ns += PERIOD_NS
        for turn, line in enumerate(self.lines.values()):
            line.stamp_ns += PERIOD_NS
            line.pause = max(line.pause - 1, 0)
            has_jumped = line.member.time == SIMULATED and self._has_jumped
            if line.publisher is None or line.pause or has_jumped:
                continue
            self._command(line)
            turn_of = (self._steps + turn) % _EVERY
            # To a node that knows no time yet, any stamp is right.
            if turn_of == 0 and (line.member.time != STAMPED or line.judge.is_followed):
                line.hostile()
            if turn_of == _EVERY // 2 and line.odometry is not None:
                self._tell_motion(line)
        self._has_jumped = False
        self.tell_time()

    def tell_time(self) -> None:
        """Publish the simulated time."""
        set_stamp(self._clock.clock, self._sim_ns)
        self._clock_pub.publish(self._clock)

    def _command(self, line: Line) -> None:
        message, stamp_ns = line.commands[line.next], self._now_ns(line)
        set_stamp(message.header.stamp, stamp_ns)
        line.judge.sent(line.next, stamp_ns)
        line.publisher.publish(message)
        line.ledger.sent()
        line.next = (line.next + 1) % len(line.commands)

    def _tell_motion(self, line: Line) -> None:
        message = make_odometry()
        set_stamp(message.header.stamp, self._now_ns(line))
        line.odometry.publish(message)
        line.ledger.sent()

    def _now_ns(self, line: Line) -> int:
        times = {ROBOT: time.time_ns, SIMULATED: lambda: self._sim_ns,
                 STAMPED: lambda: line.stamp_ns}
        return times[line.member.time]()

    # What happens to them.

    def come(self, name: str) -> None:
        """Open the publisher of a node's commands."""
        line = self.lines[name]
        if line.publisher is None:
            kind, topic = Work(line.member.family).input
            line.publisher = self.create_publisher(
                kind, f'/{name}/{topic}', qos.COMMAND
            )

    def leave(self, name: str) -> None:
        """Close it."""
        line = self.lines[name]
        if line.publisher is not None:
            self.destroy_publisher(line.publisher)
            line.publisher = None

    def shift_clock(self, shift: float, is_jump: bool) -> None:
        """Set the simulated time ahead or back [s], and say so before anything else."""
        self._sim_ns += round(shift * 1e9)
        self._has_jumped = True
        if is_jump:
            for line in self.lines.values():
                if line.member.time == SIMULATED:
                    line.judge.jump()
        self.tell_time()

    def shift_stamps(self, name: str, shift: float) -> None:
        """Set the time of one node's commands ahead or back [s]."""
        line = self.lines[name]
        line.stamp_ns += round(shift * 1e9)
        line.pause = _PAUSE
        line.judge.jump()

    def begin(self, name: str) -> None:
        """Note that a process of a node starts."""
        self.leaving.discard(name)
        self.lines[name].judge.begin_life()
        self.lines[name].ledger.begin()

    # What is received.

    def _on_wrench(self, line: Line, message: WrenchStamped) -> None:
        self.heard += 1
        line.spoke_at = time.monotonic()
        name, stamp_ns = line.member.name, stamp_to_ns(message.header.stamp)
        verdict = line.judge.heard(stamp_ns, wrench_of(message), name in self.leaving)
        if verdict not in EXPLAINED:
            self.get_logger().warning(
                f'{name}: the wrench of {stamp_ns * 1e-9:.9f} s is {UNEXPLAINED[verdict]}',
                throttle_duration_sec=5.0,
            )

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        self.heard += 1
        for status in message.status:
            line = self.lines.get(status.hardware_id.lstrip('/'))
            if line is not None:
                line.ledger.told({pair.key: int(pair.value) for pair in status.values})
