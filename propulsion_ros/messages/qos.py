# SPDX-License-Identifier: Apache-2.0
"""Quality of service of every endpoint, in one place.

Publishers are reliable, since a reliable publisher serves both kinds of subscription. No
subscription requests a deadline: it would refuse every publisher that does not offer one.
"""
from __future__ import annotations

from rclpy.duration import Infinite
from rclpy.qos import (
    DurabilityPolicy,
    LivelinessPolicy,
    QoSCompatibility,
    QoSProfile,
    ReliabilityPolicy,
    qos_check_compatible,
)
from rclpy.qos_overriding_options import QoSOverridingOptions

COMMAND = QoSProfile(depth=100)
STATE = QoSProfile(depth=10)
DIAGNOSTICS = QoSProfile(depth=10)
CLOCK = QoSProfile(depth=10)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
LATCHED_HISTORY = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SENSOR = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
GLANCE = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""For observers such as pictures: the newest message only, and no publisher waits for them."""
PICTURE = QoSProfile(depth=1)
TF = QoSProfile(depth=100)
LOCKSTEP = QoSProfile(depth=10_000)
"""For topics that may lose no message: simulation in lockstep, and replay at any rate."""
LOCKSTEP_COMMAND = QoSProfile(depth=10_000, reliability=ReliabilityPolicy.BEST_EFFORT)
"""For observers of commands of any controller, whose publisher may offer best effort."""
OVERRIDABLE = QoSOverridingOptions.with_default_policies()
"""For endpoints whose history, depth and reliability a parameter file may change."""
_LATCHED_DEEP = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""For subscriptions that are slow for a moment, which would miss messages in a queue of one."""

_CLASSES = {
    'command': COMMAND, 'sensor': SENSOR, 'state': STATE, 'result': STATE, 'lockstep': LOCKSTEP,
    'latched': LATCHED, 'latched_history': LATCHED_HISTORY, 'clock': CLOCK, 'tf': TF,
    'glance': GLANCE, 'picture': PICTURE,
}
_LOSSLESS = {
    'command': LOCKSTEP, 'sensor': LOCKSTEP, 'result': LOCKSTEP, 'latched': _LATCHED_DEEP,
    'clock': LOCKSTEP, 'state': LOCKSTEP,
}


def profile(name: str, lossless: bool = False) -> QoSProfile:
    """Return the profile of a class of quality of service; see `loops.ports`.

    Parameters
    ----------
    name : str
        'command', 'sensor', 'state', 'result', 'lockstep', 'latched', 'latched_history', 'clock',
        'tf', 'glance' or 'picture'.
    lossless : bool
        True for a deep queue, so that no message is lost.
    """
    return _LOSSLESS.get(name, _CLASSES[name]) if lossless else _CLASSES[name]


def profile_of(depth: int, is_reliable: bool, is_latched: bool) -> QoSProfile:
    """Return a profile with a depth of queue, reliable or best effort, latched or volatile."""
    return QoSProfile(
        depth=depth,
        reliability=(
            ReliabilityPolicy.RELIABLE if is_reliable else ReliabilityPolicy.BEST_EFFORT),
        durability=(
            DurabilityPolicy.TRANSIENT_LOCAL if is_latched else DurabilityPolicy.VOLATILE),
    )


def can_match(publisher: QoSProfile, subscription: QoSProfile) -> bool:
    """Return whether a subscription can receive what a publisher publishes."""
    # Policies that are not set are infinite, as the graph reports those of the subscription.
    offered = QoSProfile(
        depth=1, reliability=publisher.reliability, durability=publisher.durability,
        deadline=Infinite, liveliness=LivelinessPolicy.AUTOMATIC,
        liveliness_lease_duration=Infinite,
    )
    return bool(qos_check_compatible(offered, subscription)[0] != QoSCompatibility.ERROR)
