# SPDX-License-Identifier: Apache-2.0
"""Layouts of robots, for tests."""
from __future__ import annotations

from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.read_layout import sources_of
from propulsion_ros.urdf.reader import actuators_from_urdf


def layout_of(text, **given):
    """Return the layout of a description, with parameters by node."""
    specs = actuators_from_urdf(text, loop_params_of)
    return sources_of(text, specs, lambda node: given.get(node, {})).layout
