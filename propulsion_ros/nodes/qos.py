"""Quality of service of every endpoint, in one place.

Publishers are reliable, since a reliable publisher serves both kinds of subscription. No
subscription requests a deadline: it would refuse every publisher that does not offer one.
"""
from __future__ import annotations

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions

COMMAND = QoSProfile(depth=100)
STATE = QoSProfile(depth=10)
DIAGNOSTICS = QoSProfile(depth=10)
CLOCK = QoSProfile(depth=10)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
LATCHED_HISTORY = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SENSOR = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
GLANCE = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
"""For who looks on: the newest alone, and the publisher never waits for it."""
PICTURE = QoSProfile(depth=1)
TF = QoSProfile(depth=100)
LOCKSTEP = QoSProfile(depth=10_000)
"""For what of which nothing may be lost: simulation in lockstep, and replay at any rate."""
_LATCHED_DEEP = QoSProfile(depth=1000, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def commands(lose_none: bool) -> QoSProfile:
    """Return how commands are heard."""
    return LOCKSTEP if lose_none else COMMAND


def sensors(lose_none: bool) -> QoSProfile:
    """Return how sensors are heard."""
    return LOCKSTEP if lose_none else SENSOR


def results(lose_none: bool) -> QoSProfile:
    """Return how wrenches and states are published; a slow listener loses none of a deep queue."""
    return LOCKSTEP if lose_none else STATE


def latched(lose_none: bool) -> QoSProfile:
    """Return how what holds until further notice is published.

    Of a queue of one a listener that is slow for a moment misses what came between.
    """
    return _LATCHED_DEEP if lose_none else LATCHED


def overridable() -> QoSOverridingOptions:
    """Return options that let a parameter file change history, depth and reliability."""
    return QoSOverridingOptions.with_default_policies()
