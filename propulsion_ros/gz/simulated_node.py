# SPDX-License-Identifier: Apache-2.0
"""An actuator node inside a simulator, which has time and motion itself."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from propulsion_ros.loops.ports import Outlet, Port
from propulsion_ros.models.common.family import Output
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.nodes.actuator_node import ActuatorNode

_OF_SIMULATOR = ('/clock', '~/odometry')
"""Topics of what the simulator passes itself."""
TIMING = ('update_rate', 'publish_rate', 'step_on', 'wait_for', 'max_lag', 'hold_back')
"""Parameters that the simulator decides."""
_LATCHED = 'latched'
_KEPT_NS = 1_000_000_000
"""How often a latched topic without subscriptions is published."""


class SimulatedNode(ActuatorNode):
    """An actuator node that gets time and motion from its simulator, not from topics.

    Commands, outputs, parameters and services are those of `ActuatorNode`. A topic that has no
    subscription is not published, a latched one once a second, for those that come later.

    Attributes
    ----------
    received : int
        How many messages came.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._time_ns = 0
        self.received = 0
        self._is_stepping = False
        self._kept_ns: dict[Outlet, int] = {}
        super().__init__(name, **kwargs)

    def connect(self, port: Port) -> None:
        """Subscribe, but not to what the simulator passes itself."""
        if port.topic not in _OF_SIMULATOR:
            super().connect(port)

    def _receiver(self, port: Port, kind: Any) -> Callable[[Any], None]:
        """Return what counts messages, and gives them to a port."""
        receive = super()._receiver(port, kind)

        def on_message(message: Any) -> None:
            self.received += 1
            receive(message)

        return on_message

    def publish(self, outlet: Outlet, stamp_ns: int, payload: Any) -> None:
        """Publish a payload, where any subscription takes it."""
        if self.subscriptions_to(outlet) or self._is_kept(outlet, stamp_ns):
            super().publish(outlet, stamp_ns, payload)

    def _is_kept(self, outlet: Outlet, stamp_ns: int) -> bool:
        """Return whether a message is for those that will subscribe to a latched topic."""
        if outlet.qos != _LATCHED:
            return False
        if not self._is_stepping:
            # Only what steps publish comes again.
            return True
        last_ns = self._kept_ns.get(outlet)
        is_due = last_ns is None or not 0 < stamp_ns - last_ns < _KEPT_NS
        if is_due:
            self._kept_ns[outlet] = stamp_ns
        return is_due

    @property
    def given(self) -> Mapping[str, Any]:
        """What files and launch give, but for the timing, which is the simulator's."""
        return {key: value for key, value in super().given.items() if key not in TIMING}

    @property
    def is_simulated(self) -> bool:
        """Whether time is simulated: always, and without /clock."""
        return True

    def now_ns(self) -> int:
        """Return the simulator's time."""
        return self._time_ns

    def step(self, stamp_ns: int, motion: Motion | None) -> Output | None:
        """Run the tick at a stamp; see `ActuatorPorts.step`. Return None while not active."""
        self._time_ns = stamp_ns
        if not self.is_active or self.loop is None:
            return None
        self._is_stepping = True
        try:
            return self.loop.step(stamp_ns, motion)
        finally:
            self._is_stepping = False

    def restart(self) -> None:
        """Return actuators and time to the start, as the world does."""
        if self.loop is not None:
            self.loop.reset()
