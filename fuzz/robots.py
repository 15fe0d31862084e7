# SPDX-License-Identifier: Apache-2.0
"""Nodes of the shipped settings, replayed, for whatever is to command them."""
from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np

from fuzz.target import REPOSITORY, require
from propulsion_ros.loops.decoders import msg_to_wrench
from propulsion_ros.replay.robot import Choice, Inputs, Published, Robot


def fresh_robot(name: str) -> Robot:
    """Return the nodes of a shipped file as they start."""
    robot = _robot(name)
    for _, loop in robot.stepped:
        loop.core.reset()
    return robot


@functools.cache
def _robot(name: str) -> Robot:
    choice, inputs = Choice(REPOSITORY / 'config' / name), Inputs(is_table=True, is_bare=True)
    return Robot(choice, inputs, lambda line: require(bool(line), 'a refusal without a reason'))


def require_wrenches(published: Iterable[Published]) -> None:
    """Raise `UnsoundError` for a wrench that is none."""
    for topic, _, message in published:
        if topic.endswith('/wrench'):
            wrench = msg_to_wrench(message)
            require(bool(np.isfinite(wrench).all()), f'{topic}: no wrench: {wrench}')
