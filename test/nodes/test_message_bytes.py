"""Bytes with other numbers in them are those of the message with these numbers."""
from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from hypothesis import given
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from propulsion_ros.errors import CommandError
from propulsion_ros.nodes.conversions import doubles, ns_to_stamp, wrench_to_msg
from propulsion_ros.nodes.message_bytes import JointStateReader
from propulsion_ros.nodes.outputs import StateOutput, WrenchOutput

FIELDS = ('position', 'velocity', 'effort')
FLOATS = st.floats(width=64)
STAMPS = st.integers(0, (2**31 - 1) * 10**9)


class Publisher:
    """Keeps what is published."""

    def __init__(self, kind):
        self.kind, self.messages = kind, []

    def publish(self, data):
        self.messages.append(deserialize_message(data, self.kind))


def joint_state(names=('a', 'bb'), stamp_ns=0, frame='base_link', **fields):
    message = JointState(name=list(names))
    message.header.stamp, message.header.frame_id = ns_to_stamp(stamp_ns), frame
    for field, values in fields.items():
        setattr(message, field, doubles(values))
    return message


def text(message):
    """Return a message as text, in which NaN equals NaN."""
    return repr(message)


@given(STAMPS, st.lists(FLOATS, min_size=6, max_size=6), st.text('abc/_', max_size=9))
def test_wrench_is_the_one_of_a_message(stamp_ns, values, frame):
    publisher = Publisher(WrenchStamped)
    output = WrenchOutput(publisher, frame)
    for wrench in (np.ones(6), np.array(values)):
        output.publish(stamp_ns, wrench)
    assert text(publisher.messages[-1]) == text(wrench_to_msg(stamp_ns, frame, np.array(values)))


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
        assert text(publisher.messages[-1]) == text(joint_state(names, stamp_ns, **values))


@given(st.lists(st.tuples(
    st.sampled_from([(), ('a',), ('a', 'bb'), ('bb', 'a'), ('a', 'bb', 'ccc')]),
    st.sets(st.sampled_from(FIELDS), max_size=2), st.integers(0, 3),
    st.sampled_from(['', 'base_link']), STAMPS, FLOATS,
), min_size=1, max_size=8))
def test_messages_of_any_shape_in_any_order_are_read_as_they_are(messages):
    reader = JointStateReader()
    for names, fields, count, frame, stamp_ns, value in messages:
        sent = joint_state(
            names, stamp_ns, frame, **{field: [value] * count for field in fields}
        )
        assert text(reader.read(bytes(serialize_message(sent)))) == text(sent)


@pytest.mark.parametrize('values', [[0.0, 0.0], [nan, 1.0], [inf, -0.0]])
@pytest.mark.parametrize('field', FIELDS)
def test_message_like_the_last_is_written_into_it(field, values):
    reader = JointStateReader()
    first = reader.read(serialize_message(joint_state(stamp_ns=5, **{field: [1.0, 2.0]})))
    sent = joint_state(stamp_ns=7_000_000_009, **{field: values})
    read = reader.read(serialize_message(sent))
    assert read is first
    assert text(read) == text(sent)


@pytest.mark.parametrize('field', FIELDS)
@pytest.mark.parametrize('end', [0, 3, 12, 40, -40, -9])
def test_bytes_that_are_no_message_are_refused_and_the_next_one_is_read(field, end):
    sent = joint_state(('a', 'bb', 'ccc'), **{field: [1.0, 2.0, 3.0]})
    data = bytes(serialize_message(sent))
    reader = JointStateReader()
    reader.read(data)
    with pytest.raises(CommandError, match='bytes are no joint state'):
        reader.read(data[:end])
    assert text(reader.read(data)) == text(sent)


def test_message_of_the_other_byte_order_is_read():
    little = bytes(serialize_message(JointState()))
    # Empty strings and sequences: only counts, of which one string has its end.
    big = b'\x00\x00\x00\x00' + b'\x00\x00\x00\x07\x00\x00\x00\x09' + b'\x00\x00\x00\x01\x00'
    big += bytes(len(little) - len(big))
    reader = JointStateReader()
    for _ in range(2):
        assert reader.read(big).header.stamp.nanosec == 9
        assert reader.read(little).header.stamp.nanosec == 0
