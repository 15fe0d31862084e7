"""An actuator node inside a simulator, which tells it time and motion."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from propulsion_ros.loops.actuator_loop import CLOCK, ODOMETRY, Motion
from propulsion_ros.models.common.family import Output
from propulsion_ros.nodes.actuator_node import ActuatorNode


class SimulatedNode(ActuatorNode):
    """An actuator node that hears of time and motion from its simulator, not from topics.

    Commands, outputs, parameters and services are those of `ActuatorNode`.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._time_ns = 0
        super().__init__(name, **kwargs)

    @property
    def uses_sim_time(self) -> bool:
        """Whether time is simulated: always, and without /clock."""
        return True

    def now_ns(self) -> int:
        """Return the simulator's time."""
        return self._time_ns

    def keep_time(self, rate: float, hold_back: float = 0.0) -> None:
        """Do nothing: the simulator calls `step`."""

    def subscribe(
        self, kind: Any, topic: str, callback: Callable[[Any], None], profile: Any
    ) -> None:
        """Subscribe, but not to the motion, which the simulator knows best."""
        if topic != '~/odometry':
            super().subscribe(kind, topic, callback, profile)

    def step(self, stamp_ns: int, motion: Motion) -> Output | None:
        """Run the tick at a stamp, and return what it did; None while not active.

        Parameters
        ----------
        stamp_ns : int
            A multiple of the period that ``update_rate`` gives.
        motion : Motion
            Of base_link.
        """
        self._time_ns = stamp_ns
        if not self.is_active:
            return None
        actuators = self._actuators
        if self._family.uses_body:
            actuators.push(ODOMETRY, stamp_ns, motion)
        actuators.push(CLOCK, stamp_ns)
        return actuators.output if actuators.inputs.last_stamp_ns == stamp_ns else None

    def restart(self) -> None:
        """Return actuators and time to the start, as the world does."""
        if self.loop is not None:
            self.loop.reset()
