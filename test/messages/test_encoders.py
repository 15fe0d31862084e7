"""Bytes with other numbers in them are those of the message with these numbers."""
from __future__ import annotations

import numpy as np
from geometry_msgs.msg import WrenchStamped
from hypothesis import given
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from propulsion_ros.messages.encoders import StateOutput, WrenchOutput
from propulsion_ros.messages.fields import doubles, ns_to_stamp, wrench_to_msg

FIELDS = ('position', 'velocity', 'effort')
FLOATS = st.floats(width=64)
STAMPS = st.integers(0, (2**31 - 1) * 10**9)


class Publisher:
    """Keeps what is published."""

    def __init__(self, kind):
        self.kind, self.messages = kind, []

    def publish(self, data):
        self.messages.append(deserialize_message(data, self.kind))


def joint_state(names, stamp_ns, **fields):
    message = JointState(name=list(names))
    message.header.stamp, message.header.frame_id = ns_to_stamp(stamp_ns), 'base_link'
    for field, values in fields.items():
        setattr(message, field, doubles(values))
    return message


@given(STAMPS, st.lists(FLOATS, min_size=6, max_size=6), st.text('abc/_', max_size=9))
def test_wrench_is_the_one_of_a_message(stamp_ns, values, frame):
    publisher = Publisher(WrenchStamped)
    output = WrenchOutput(publisher, frame)
    for wrench in (np.ones(6), np.array(values)):
        output.publish(stamp_ns, wrench)
    # As text NaN equals NaN.
    assert repr(publisher.messages[-1]) == repr(wrench_to_msg(stamp_ns, frame, np.array(values)))


@given(st.data(), STAMPS, st.sets(st.sampled_from(FIELDS)), st.integers(0, 5))
def test_state_is_the_one_of_a_message(data, stamp_ns, fields, count):
    names = data.draw(st.lists(st.text('ab/_', max_size=9), min_size=count, max_size=count))
    publisher = Publisher(JointState)
    output = StateOutput(publisher, 'base_link', names)
    for _ in range(2):
        values = {
            field: np.array(data.draw(st.lists(FLOATS, min_size=count, max_size=count)))
            for field in sorted(fields)
        }
        output.publish(stamp_ns, **values)
        assert repr(publisher.messages[-1]) == repr(joint_state(names, stamp_ns, **values))
