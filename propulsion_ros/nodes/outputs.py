"""Publishers of wrenches and states that send the bytes of one message with new numbers in it."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

from propulsion_ros.command_hold import FIELDS
from propulsion_ros.models.family import Family, Output
from propulsion_ros.nodes.conversions import doubles, set_wrench
from propulsion_ros.nodes.message_bytes import Slots, marks
from propulsion_ros.quantity import FloatArray


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
        message, marked = WrenchStamped(), marks((6,))
        message.header.frame_id = frame
        set_wrench(message.wrench, marked)
        self._slots = Slots(message, [marked])

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
        self._frame, self._names = frame, list(names)
        self._slots: Slots | None = None

    def publish(
        self,
        stamp_ns: int,
        position: FloatArray | None = None,
        velocity: FloatArray | None = None,
        effort: FloatArray | None = None,
    ) -> None:
        """Publish the fields that a state has; they are the same at each call."""
        given = [values for values in (position, velocity, effort) if values is not None]
        if self._slots is None:
            fields = [
                field for field, values in zip(FIELDS, (position, velocity, effort), strict=True)
                if values is not None
            ]
            self._slots = self._make_slots(fields, len(given[0]) if given else 0)
        self.publisher.publish(self._slots.fill(stamp_ns, given))

    def _make_slots(self, fields: Sequence[str], count: int) -> Slots:
        message, marked = JointState(name=self._names), marks((len(fields), count))
        message.header.frame_id = self._frame
        for field, values in zip(fields, marked, strict=True):
            setattr(message, field, doubles(values))
        return Slots(message, list(marked))


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
