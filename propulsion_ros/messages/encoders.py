"""Publishers of wrenches and states that send the bytes of one message with new numbers in it."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from std_msgs.msg import Float64

from propulsion_ros.messages.slots import Slots, joint_state_slots, wrench_slots
from propulsion_ros.models.common.family import Family, Output
from propulsion_ros.settings.quantity import FloatArray


class WrenchOutput:
    """Publishes wrenches in one frame, about its origin.

    Parameters
    ----------
    publisher : rclpy publisher
        Of WrenchStamped.
    frame : str
        Frame of all of them.
    """

    def __init__(self, publisher: Any, frame: str) -> None:
        self.publisher = publisher
        self._slots = wrench_slots(frame)

    def publish(self, stamp_ns: int, wrench: FloatArray) -> None:
        """Publish a wrench (6,), force first."""
        self.publisher.publish(self._slots.fill(stamp_ns, (wrench,)))


class StateOutput:
    """Publishes states with the same names, NaN where a name has no such field.

    Parameters
    ----------
    publisher : rclpy publisher
        Of JointState.
    frame : str
        Frame of all of them.
    names : sequence of str
        Columns of what is published.
    """

    def __init__(self, publisher: Any, frame: str, names: Sequence[str]) -> None:
        self.publisher = publisher
        self._frame, self._names = frame, tuple(names)
        self._slots: Slots | None = None

    def publish(
        self,
        stamp_ns: int,
        position: FloatArray | None = None,
        velocity: FloatArray | None = None,
        effort: FloatArray | None = None,
    ) -> None:
        """Publish the fields that a state has; they are the same at each call."""
        fields = (position, velocity, effort)
        if self._slots is None:
            counts = tuple(0 if values is None else len(values) for values in fields)
            self._slots = joint_state_slots(self._frame, self._names, counts)
        given = [values for values in fields if values is not None and len(values)]
        self.publisher.publish(self._slots.fill(stamp_ns, given))


class NumberOutputs:
    """Publishes thrusts and positions as plain numbers, each on a topic, for what holds them.

    Parameters
    ----------
    publisher_of : callable
        Returns a publisher of Float64 for ``thrusts/<actuator>`` or ``positions/<joint>``.
    family : Family
        Whose actuators and joints they are.
    """

    def __init__(self, publisher_of: Callable[[str], Any], family: Family) -> None:
        columns = {name: i for i, name in enumerate(family.state_names)}
        self._thrusts = [publisher_of(f'thrusts/{name}') for name in family.actuator_names]
        self._positions: Mapping[int, Any] = {
            columns[name]: publisher_of(f'positions/{name}')
            for name, field in zip(family.command_names, family.command_fields, strict=True)
            if field == 'position' and name in columns
        }

    @property
    def publishers(self) -> list[Any]:
        """All of them."""
        return [*self._thrusts, *self._positions.values()]

    def publish(self, output: Output) -> None:
        """Publish what a step did: thrusts [N], positions [rad]."""
        for publisher, thrust in zip(self._thrusts, output.thrusts.tolist(), strict=True):
            publisher.publish(Float64(data=thrust))
        if output.position is not None:
            for column, publisher in self._positions.items():
                publisher.publish(Float64(data=float(output.position[column])))

    def publish_zero(self) -> None:
        """Publish that nothing pushes; joints stay where they are."""
        for publisher in self._thrusts:
            publisher.publish(Float64(data=0.0))
