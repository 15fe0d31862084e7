"""What a flight state node moves: deployers, engines, and the boosters that engines are."""
from __future__ import annotations

import time
from collections.abc import Iterable

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from sensor_msgs.msg import JointState

from propulsion_ros.flight.events.controllers import ControlOutput
from propulsion_ros.flight.events.events import EventFired
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.flight.pyros.actuators import Actuators
from propulsion_ros.flight.pyros.deployers import PERIOD_NS
from propulsion_ros.flight.pyros.engines import EngineRow
from propulsion_ros.nodes import qos
from propulsion_ros.nodes.base import PropulsionNode
from propulsion_ros.nodes.conversions import doubles, ns_to_stamp
from propulsion_ros.nodes.flight_outputs import is_due
from propulsion_ros.rml.config import FlightConfig
from propulsion_ros.settings.errors import CommandError

_TICK = 0.02
"""How finely on-times end on the steady clock [s]."""


class FlightActuation:
    """Carries out actions and publishes them: at once, at 10 Hz, and as off while off.

    On a robot on-times are counted on the steady clock and messages are stamped with the node's
    own time; in simulation and replay both are those of the samples.

    Parameters
    ----------
    node : PropulsionNode
        Gets publishers and timer.
    config : FlightConfig
        Deployers, engines and controllers.
    on_stamps : bool
        Whether on-times are counted on stamps.

    Attributes
    ----------
    is_waiting : bool
        Whether a flight of before a restart may have to be resumed: engines are left alone.
    """

    def __init__(self, node: PropulsionNode, config: FlightConfig, on_stamps: bool) -> None:
        self._node, self._config, self._on_stamps = node, config, on_stamps
        publish = node.create_lifecycle_publisher
        self.deployers = publish(JointState, '~/deployers', qos.COMMAND)
        self.engines = publish(JointState, '~/engines', qos.COMMAND)
        self._boosters = publish(JointState, '~/booster_command', qos.COMMAND)
        self._controllers = publish(JointState, '~/controllers', qos.STATE)
        node.entities += [self.deployers, self.engines, self._boosters, self._controllers]
        if not on_stamps and (config.deployers or config.engines):
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            node.entities.append(node.create_timer(_TICK, self._on_timer, clock=steady))
        self.reset()

    def reset(self) -> None:
        """Begin disarmed."""
        self.is_waiting = False
        self.actuators = Actuators(self._config.deployers, self._config.engines)
        self._stamp_ns = 0
        self._published_ns = 0
        self._rows: list[EngineRow] = []
        self._thrusts: dict[str, float] = {}

    @property
    def now_ns(self) -> int:
        """Now, on the clock of the on-times."""
        return self._stamp_ns if self._on_stamps else time.monotonic_ns()

    @property
    def pulses(self) -> tuple[tuple[int, int], ...]:
        """Deployers that are on, and the rest of each on-time [ns]."""
        return self.actuators.deployers.pending(self.now_ns)

    def follow(self, phase: Phase, *, may_deploy: bool) -> None:
        """Arm, disarm and shut down with the phase, and as the flight state permits."""
        self.actuators.enter(phase, self.now_ns, may_deploy=may_deploy)

    def act(
        self, stamp_ns: int, events: Iterable[EventFired], controls: Iterable[ControlOutput]
    ) -> None:
        """Carry out what fired at a sample, and publish what is due."""
        previous_ns, self._stamp_ns = self._stamp_ns, stamp_ns
        now_ns = self.now_ns
        for event in events:
            for action in event.actions:
                try:
                    self.actuators.act(action, now_ns)
                except CommandError as error:
                    self._node.complain('refused', str(error))
        self._control(stamp_ns, tuple(controls))
        is_beat = self._on_stamps and is_due(stamp_ns, previous_ns)
        self.publish(is_beat=is_beat)

    def resume(self, pulses: Iterable[tuple[int, int]]) -> None:
        """Go on in a flight, with the rest of on-times that the restart cut off."""
        self.actuators.resume(self.now_ns)
        try:
            self.actuators.complete(pulses, self.now_ns)
        except CommandError as error:
            self._node.complain('refused', str(error))

    def last_word(self) -> None:
        """Turn everything off and say so."""
        self.follow(Phase.SETUP, may_deploy=False)
        self.publish(is_beat=True)

    def publish(self, *, is_beat: bool) -> None:
        """Publish what changed, and everything on a beat."""
        now_ns = self.now_ns
        efforts = self.actuators.deployers.due(now_ns)
        if self._config.deployers and (is_beat or efforts is not None):
            self._publish_deployers(now_ns)
        if not self._config.engines or self.is_waiting:
            return
        rows = self.actuators.engines.rows(now_ns)
        # Compared as text, since NaN does not equal NaN.
        if is_beat or repr(rows) != repr(self._rows):
            self._rows = rows
            self._publish_rows(rows)
        thrusts = self.actuators.engines.thrusts()
        is_lit = any(thrusts.values())
        if thrusts != self._thrusts or (is_beat and is_lit):
            was_lit, self._thrusts = any(self._thrusts.values()), thrusts
            # Not while unlit, so that others may command the same boosters.
            if is_lit or was_lit:
                self._publish_thrusts(thrusts)

    def _on_timer(self) -> None:
        if not self._node.is_active:
            return
        now_ns = self.now_ns
        is_beat = now_ns - self._published_ns >= PERIOD_NS
        if is_beat:
            self._published_ns = now_ns
        self.publish(is_beat=is_beat)

    def _message(self, names: Iterable[str]) -> JointState:
        message = JointState()
        if self._on_stamps:
            message.header.stamp = ns_to_stamp(self._stamp_ns)
        else:
            message.header.stamp = self._node.get_clock().now().to_msg()
        message.name = list(names)
        return message

    def _publish_deployers(self, now_ns: int) -> None:
        bank = self.actuators.deployers
        message = self._message(bank.names)
        message.effort = doubles(bank.efforts(now_ns))
        message.position = doubles(bank.positions())
        self.deployers.publish(message)

    def _publish_rows(self, rows: list[EngineRow]) -> None:
        message = self._message(row.name for row in rows)
        message.position = doubles([row.position for row in rows])
        message.effort = doubles([row.effort for row in rows])
        self.engines.publish(message)

    def _publish_thrusts(self, thrusts: dict[str, float]) -> None:
        message = self._message(thrusts)
        message.effort = doubles(list(thrusts.values()))
        self._boosters.publish(message)

    def _control(self, stamp_ns: int, controls: tuple[ControlOutput, ...]) -> None:
        if not controls:
            return
        self.actuators.control(controls)
        names = [controller.name for controller in self._config.controllers]
        message = JointState()
        message.header.stamp = ns_to_stamp(stamp_ns)
        message.name = [names[control.id] for control in controls]
        message.position = doubles([control.measured for control in controls])
        message.effort = doubles([control.output for control in controls])
        self._controllers.publish(message)
