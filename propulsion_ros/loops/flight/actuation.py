"""What a flight computer moves: deployers, engines, and the boosters that engines are."""
from __future__ import annotations

from collections.abc import Iterable

from propulsion_ros.flight.events.controllers import ControlOutput
from propulsion_ros.flight.events.events import EventFired
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.flight.pyros.actuators import Actuators
from propulsion_ros.flight.pyros.deployers import PERIOD_NS
from propulsion_ros.flight.pyros.engines import EngineRow
from propulsion_ros.loops.flight.outputs import is_due
from propulsion_ros.loops.payloads import JointRow
from propulsion_ros.loops.ports import Host, Outlet, Timer
from propulsion_ros.rml.config import FlightConfig
from propulsion_ros.settings.errors import CommandError

_TICK = 0.02
"""How finely on-times end on the steady clock [s]."""


def _outlet(topic: str, qos: str = 'command', names: tuple[str, ...] = ()) -> Outlet:
    return Outlet(topic, 'sensor_msgs/msg/JointState', qos, names=names, overridable=False)


class FlightActuation:
    """Carries out actions and publishes them: at once, at 10 Hz, and as off while off.

    On a robot on-times are counted on the steady clock and messages are stamped with the host's
    own time; in simulation and replay both are those of the samples.

    Parameters
    ----------
    host : Host
        Publishes, and has the clocks.
    config : FlightConfig
        Deployers, engines and controllers.
    on_stamps : bool
        Whether on-times are counted on stamps.

    Attributes
    ----------
    outlets, timers : tuple
        Of the loop.
    is_waiting : bool
        Whether a flight of before a restart may have to be resumed: engines are left alone.
    """

    def __init__(self, host: Host, config: FlightConfig, on_stamps: bool) -> None:
        self._host, self._config, self._on_stamps = host, config, on_stamps
        names = tuple(deployer.name for deployer in config.deployers)
        self._deployers = _outlet('~/deployers', names=names)
        self._engines, self._boosters = _outlet('~/engines'), _outlet('~/booster_command')
        self._controllers = _outlet('~/controllers', 'state')
        self.outlets = (self._deployers, self._engines, self._boosters, self._controllers)
        has_timer = not on_stamps and bool(config.deployers or config.engines)
        self.timers = (Timer(_TICK, self._on_timer),) if has_timer else ()
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
        return self._stamp_ns if self._on_stamps else self._host.steady_ns()

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
                    self._host.complain('refused', str(error))
        self._control(stamp_ns, tuple(controls))
        self.publish(is_beat=self._on_stamps and is_due(stamp_ns, previous_ns))

    def resume(self, pulses: Iterable[tuple[int, int]]) -> None:
        """Go on in a flight, with the rest of on-times that the restart cut off."""
        self.actuators.resume(self.now_ns)
        try:
            self.actuators.complete(pulses, self.now_ns)
        except CommandError as error:
            self._host.complain('refused', str(error))

    def turn_off(self) -> None:
        """Turn everything off, leave the valves safe, and publish that."""
        self.follow(Phase.SETUP, may_deploy=False)
        self.publish(is_beat=True)

    def publish(self, *, is_beat: bool) -> None:
        """Publish what changed, and everything on a beat."""
        now_ns = self.now_ns
        efforts = self.actuators.deployers.due(now_ns)
        if self._config.deployers and (is_beat or efforts is not None):
            self._publish_deployers(now_ns)
        if self._config.engines and not self.is_waiting:
            self._publish_engines(now_ns, is_beat=is_beat)

    def _on_timer(self) -> None:
        now_ns = self.now_ns
        is_beat = now_ns - self._published_ns >= PERIOD_NS
        if is_beat:
            self._published_ns = now_ns
        self.publish(is_beat=is_beat)

    def _send(self, outlet: Outlet, row: JointRow) -> None:
        stamp_ns = self._stamp_ns if self._on_stamps else self._host.now_ns()
        self._host.publish(outlet, stamp_ns, row)

    def _publish_deployers(self, now_ns: int) -> None:
        bank = self.actuators.deployers
        angles = bank.positions()
        self._send(self._deployers, JointRow(
            position=angles if len(angles) else None, effort=bank.efforts(now_ns)
        ))

    def _publish_engines(self, now_ns: int, *, is_beat: bool) -> None:
        rows = self.actuators.engines.rows(now_ns)
        # Compared as text, since NaN does not equal NaN.
        if is_beat or repr(rows) != repr(self._rows):
            self._rows = rows
            self._send(self._engines, JointRow(
                position=[row.position for row in rows], effort=[row.effort for row in rows],
                names=[row.name for row in rows],
            ))
        self._publish_thrusts(is_beat=is_beat)

    def _publish_thrusts(self, *, is_beat: bool) -> None:
        thrusts = self.actuators.engines.thrusts()
        is_lit = any(thrusts.values())
        if thrusts != self._thrusts or (is_beat and is_lit):
            was_lit, self._thrusts = any(self._thrusts.values()), thrusts
            # Not while unlit, so that others may command the same boosters.
            if is_lit or was_lit:
                self._send(self._boosters, JointRow(
                    effort=list(thrusts.values()), names=list(thrusts)
                ))

    def _control(self, stamp_ns: int, controls: tuple[ControlOutput, ...]) -> None:
        if not controls:
            return
        self.actuators.control(controls)
        names = [controller.name for controller in self._config.controllers]
        self._host.publish(self._controllers, stamp_ns, JointRow(
            position=[control.measured for control in controls],
            effort=[control.output for control in controls],
            names=[names[control.id] for control in controls],
        ))
