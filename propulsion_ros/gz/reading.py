# SPDX-License-Identifier: Apache-2.0
"""What gz-sim's Python gives of a model, a plugin and a world, as plain values and lines."""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from propulsion_ros.gz.simulated_model import SimulatedModel
from propulsion_ros.models.common.rotation import rows_of, unit
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.urdf.link_tree import IDENTITY, Joint, Pose

_WORLD = 'world'
_KINDS = {'FIXED': 'fixed', 'CONTINUOUS': 'continuous', 'REVOLUTE': 'revolute'}
_OTHER = 'prismatic'
"""What joints of other kinds are here: they move a link, and turn it about no one axis."""
_UNLIMITED = 1e15
_ACROSS = np.array([1.0, 0.0, 0.0])
_SENSORS = {
    'imu': ('imu', 'Imu'), 'air_pressure': ('air-pressure', 'AirPressure'),
    'magnetometer': ('magnetometer', 'Magnetometer'), 'navsat': ('navsat', 'NavSat'),
    'altimeter': ('altimeter', 'Altimeter'),
}
"""Systems of gz-sim for the sensors that flight software reads, by a part of the sensor's name."""


def array_of(vector: Any) -> FloatArray:
    """Return a vector of gz.math."""
    return np.array([vector.x(), vector.y(), vector.z()])


def pose_of(pose: Any) -> Pose:
    """Return a pose of gz.math."""
    turn = pose.rot()
    rows = rows_of(unit((turn.x(), turn.y(), turn.z(), turn.w())))
    return Pose(np.array(rows), array_of(pose.pos()))


def read_model(
    gz: Any, model: Any, ecm: Any
) -> tuple[SimulatedModel, dict[str, int], dict[str, int]]:
    """Return a model with those nested in it, and the entities of links and joints by their names.

    What is nested is named as in SDF: ``arm::tip``.

    Parameters
    ----------
    gz : module
        gz.sim.
    model : gz.sim.Model
        The model.
    ecm : gz.sim.EntityComponentManager
        What it is in.
    """
    entities: dict[str, int] = {}
    joints: list[tuple[str, Any]] = []
    turning: dict[str, int] = {}
    level = [('', model)]
    while level:
        prefix, each = level.pop(0)
        for entity in each.links(ecm):
            entities[prefix + str(gz.Link(entity).name(ecm))] = entity
        for entity in each.joints(ecm):
            joints.append((prefix, gz.Joint(entity)))
            turning[prefix + str(joints[-1][1].name(ecm))] = entity
        level += [
            (f'{prefix}{nested.name(ecm)}::', nested)
            for nested in map(gz.Model, each.models(ecm))
        ]
    poses = {name: pose_of(gz.Link(entity).world_pose(ecm)) for name, entity in entities.items()}
    ends = [
        joint for prefix, given in joints for joint in _joint(prefix, given, ecm)
        if joint.parent in poses and joint.child in poses
    ]
    root = next((name for name, entity in entities.items() if entity == model.canonical_link(ecm)),
                '')
    return SimulatedModel(str(model.name(ecm)), poses, ends, root), entities, turning


def _joint(prefix: str, joint: Any, ecm: Any) -> Iterator[Joint]:
    parent, child = str(joint.parent_link_name(ecm)), str(joint.child_link_name(ecm))
    if _WORLD in (parent, child):
        return
    axis, limits = _ACROSS, None
    kind = _KINDS.get(getattr(joint.type(ecm), 'name', ''), _OTHER)
    if kind != 'fixed' and (axes := joint.axis(ecm)):
        turn = pose_of(joint.pose(ecm)).rotation
        axis = turn @ array_of(axes[0].xyz())
        limits = float(axes[0].lower()), float(axes[0].upper())
    if kind == 'revolute' and (limits is None or max(map(abs, limits)) > _UNLIMITED):
        kind, limits = 'continuous', None
    if kind != 'revolute' or limits is None or not all(map(math.isfinite, limits)):
        limits = None
    # Where it is follows from its links.
    yield Joint(
        prefix + str(joint.name(ecm)), kind, prefix + parent, prefix + child, IDENTITY, axis, limits
    )


def element_of(sdf: Any) -> Element:
    """Return an sdf.Element as one of Python."""
    element = Element(str(sdf.get_name()))
    _fill(element, sdf)
    return element


def _fill(element: Element, sdf: Any) -> None:
    for attribute in sdf.get_attributes():
        element.set(str(attribute.get_key()), str(attribute.get_as_string()))
    value = sdf.get_value()
    element.text = str(value.get_as_string()) if value is not None else ''
    child = sdf.get_first_element()
    while child is not None:
        _fill(SubElement(element, str(child.get_name())), child)
        child = child.get_next_element('')


def place_of(sdf: Any) -> tuple[str, str]:
    """Return the file that a plugin stands in, '' where it is none, and ``:LINE`` or ''."""
    # gz-sim makes the element of the plugin itself anew.
    child = sdf.get_first_element()
    if child is None:
        return '', ''
    file, line = str(child.file_path()), child.line_number()
    return ('', '') if not file or file.startswith('<') else (file, f':{line}' if line else '')


class Rest:
    """Whether a model that is pushed never moves."""

    def __init__(self) -> None:
        self._first: list[FloatArray] = []
        self._left_ns = 1_000_000_000

    def lasts(self, poses: Iterable[Pose], pushed_ns: int) -> str:
        """Return, once, the line that it was pushed for a second and none of its links moved."""
        if self._left_ns <= 0:
            return ''
        now = [each for pose in poses for each in (pose.position, pose.rotation)]
        self._first = self._first or now
        if not all(map(np.array_equal, self._first, now)):
            self._left_ns = 0
            return ''
        self._left_ns -= pushed_ns
        return '' if self._left_ns > 0 else (
            'has not moved in the first second in which it was pushed; where it neither rests on '
            'something nor is joined to the world, the world has no '
            f'{_plugin("physics", "Physics")}, add it'
        )


def silent_sensors(gz: Any, links: Iterable[int], ecm: Any) -> Iterator[str]:
    """Yield a line for each sensor whose system the world lacks.

    Parameters
    ----------
    gz : module
        gz.sim.
    links : iterable of int
        Entities of the links that may have sensors. gz-sim's Python gives no type of a sensor, so
        its name has to contain it.
    ecm : gz.sim.EntityComponentManager
        After some steps: the system of a sensor gives it its topic in the first one.
    """
    for link in map(gz.Link, links):
        for sensor in map(gz.Sensor, link.sensors(ecm)):
            name = str(sensor.name(ecm))
            system = next((system for kind, system in _SENSORS.items() if kind in name), None)
            if system is not None and sensor.topic(ecm) is None:
                yield (
                    f'sensor {name!r} of link {str(link.name(ecm))!r} publishes nothing, because '
                    f'the world has no {_plugin(*system)}, add it'
                )


def _plugin(library: str, name: str) -> str:
    """Return the line of a world for a system."""
    return f'<plugin filename="gz-sim-{library}-system" name="gz::sim::systems::{name}"/>'
