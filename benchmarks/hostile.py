# SPDX-License-Identifier: Apache-2.0
"""Messages that no node takes, made of good ones."""
from __future__ import annotations

import copy
import math
import random

from geometry_msgs.msg import TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.messages.fields import ns_to_stamp

BAD = (math.nan, math.inf, -math.inf)
FAR = (1, -1)
_SECOND = 1_000_000_000


def hostile_joints(rng: random.Random, good: JointState) -> JointState:
    """Return a command with something wrong that no family takes."""
    message = copy.deepcopy(good)
    field = next(f for f in ('position', 'velocity', 'effort') if len(getattr(good, f)))
    values, names = list(getattr(good, field)), list(good.name)
    i = rng.randrange(len(names))
    kind = rng.randrange(9)
    if kind == 0:
        values[i] = rng.choice(BAD[1:])
    elif kind == 1:
        values = values[:-1] if rng.random() < 0.5 else [*values, 1.0]
    elif kind == 2:
        names[i] = rng.choice(['', 'nobody', names[i] + ' ', 'a' * 1000, '\u2603'])
    elif kind == 3:
        names, values = [*names, names[i]], [*values, values[i]]
    elif kind == 4:
        names = []
    elif kind == 5:
        values = []
    elif kind == 6:
        stranger = 'velocity' if field != 'velocity' else 'effort'
        setattr(message, stranger, [1.0] * len(names))
    elif kind == 7:
        ns = stamp_to_ns(good.header.stamp) + rng.choice(FAR) * rng.randint(20, 900) * _SECOND
        message.header.stamp = ns_to_stamp(ns)
    else:
        names, values = [], [rng.choice([*BAD, 1e308])] * rng.randrange(1, 2000)
    message.name = names
    setattr(message, field, values)
    return message


def hostile_wrench(rng: random.Random, good: WrenchStamped) -> WrenchStamped:
    """Return a wrench with a value, frame or stamp that no node takes."""
    message = copy.deepcopy(good)
    kind = rng.randrange(3)
    if kind == 0:
        part = rng.choice([message.wrench.force, message.wrench.torque])
        setattr(part, rng.choice('xyz'), rng.choice(BAD))
    elif kind == 1:
        message.header.frame_id = rng.choice(['map', 'odom', ' base_link', 'x' * 1000])
    else:
        ns = stamp_to_ns(good.header.stamp) + rng.choice(FAR) * rng.randint(20, 900) * _SECOND
        message.header.stamp = ns_to_stamp(ns)
    return message


def hostile_odometry(rng: random.Random, good: Odometry) -> Odometry:
    """Return an odometry that is no motion, or of another body."""
    message = copy.deepcopy(good)
    kind = rng.randrange(4)
    if kind == 0:
        part = rng.choice([message.twist.twist.linear, message.twist.twist.angular])
        setattr(part, rng.choice('xyz'), rng.choice([*BAD, 1e30, -1e300]))
    elif kind == 1:
        setattr(message.pose.pose.orientation, rng.choice('xyzw'), rng.choice(BAD))
    elif kind == 2:
        turn = message.pose.pose.orientation
        turn.x = turn.y = turn.z = turn.w = 0.0
    else:
        message.child_frame_id = rng.choice(['map', 'nobody', 'y' * 500])
    return message


def hostile_current(rng: random.Random, good: TwistStamped) -> TwistStamped:
    """Return a current that is none."""
    message = copy.deepcopy(good)
    setattr(message.twist.linear, rng.choice('xyz'), rng.choice([*BAD, 1e30]))
    return message


def hostile_array(rng: random.Random, good: Float64MultiArray) -> Float64MultiArray:
    """Return values of another count, or not all of them numbers."""
    size = len(good.data)
    return Float64MultiArray(data=rng.choice([
        [], [1.0] * (size + rng.randrange(1, 1000)), [1.0] * (size - 1),
        [*list(good.data)[:-1], rng.choice(BAD[1:])],
    ]))
