# SPDX-License-Identifier: Apache-2.0
"""An actuator node inside a simulator, which has time and motion itself."""
from __future__ import annotations

from typing import Any

from propulsion_ros.loops.ports import Port
from propulsion_ros.models.common.family import Output
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.nodes.actuator_node import ActuatorNode

_OF_SIMULATOR = ('/clock', '~/odometry')
"""Topics of what the simulator passes itself."""


class SimulatedNode(ActuatorNode):
    """An actuator node that gets time and motion from its simulator, not from topics.

    Commands, outputs, parameters and services are those of `ActuatorNode`.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._time_ns = 0
        super().__init__(name, **kwargs)

    def connect(self, port: Port) -> None:
        """Subscribe, but not to what the simulator passes itself."""
        if port.topic not in _OF_SIMULATOR:
            super().connect(port)

    @property
    def is_simulated(self) -> bool:
        """Whether time is simulated: always, and without /clock."""
        return True

    def now_ns(self) -> int:
        """Return the simulator's time."""
        return self._time_ns

    def step(self, stamp_ns: int, motion: Motion) -> Output | None:
        """Run the tick at a stamp; see `ActuatorPorts.step`. Return None while not active."""
        self._time_ns = stamp_ns
        if not self.is_active or self.loop is None:
            return None
        return self.loop.step(stamp_ns, motion)

    def restart(self) -> None:
        """Return actuators and time to the start, as the world does."""
        if self.loop is not None:
            self.loop.reset()
