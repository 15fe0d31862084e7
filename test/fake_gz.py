# SPDX-License-Identifier: Apache-2.0
"""A FAKE of the parts of gz-sim's Python interface that this package uses.

Written from the signatures that gz-sim's bindings declare (python/src/gz/sim/*.cc of gz-sim 8 to
10, sdformat's pyElement.cc, gz-math's python/); no simulator is behind it. `World` moves no body:
a test says where it is, and reads what was applied to it.
"""
from __future__ import annotations

import sys
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from types import ModuleType, SimpleNamespace
from xml.etree import ElementTree

import numpy as np
from scipy.spatial.transform import Rotation

K_NULL_ENTITY = 0


class Vector3d:
    """gz.math.Vector3d."""

    def __init__(self, x=0.0, y=0.0, z=0.0):
        self._xyz = float(x), float(y), float(z)

    def x(self):
        return self._xyz[0]

    def y(self):
        return self._xyz[1]

    def z(self):
        return self._xyz[2]


class Quaterniond:
    """gz.math.Quaterniond: w first."""

    def __init__(self, w, x, y, z):
        self._wxyz = w, x, y, z

    def w(self):
        return self._wxyz[0]

    def x(self):
        return self._wxyz[1]

    def y(self):
        return self._wxyz[2]

    def z(self):
        return self._wxyz[3]


class Pose3d:
    """gz.math.Pose3d."""

    def __init__(self, position, rotation):
        self._position, self._rotation = position, rotation

    def pos(self):
        return Vector3d(*self._position)

    def rot(self):
        x, y, z, w = Rotation.from_matrix(self._rotation).as_quat()
        return Quaterniond(w, x, y, z)


@dataclass
class Body:
    """One link of the world: where it is, how it moves, and what was applied in each step."""

    name: str
    position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))
    velocity: np.ndarray = field(default_factory=lambda: np.zeros(3))
    angular_velocity: np.ndarray = field(default_factory=lambda: np.zeros(3))
    reports_velocity: bool = False
    wrenches: list = field(default_factory=list)


class Link:
    """gz.sim.Link."""

    def __init__(self, entity):
        self._entity = entity

    def name(self, ecm):
        return ecm.bodies[self._entity].name.rpartition('::')[2]

    def sensors(self, ecm):
        return ecm.sensors if self._entity == next(iter(ecm.bodies)) else []

    def enable_velocity_checks(self, ecm, enable=True):
        ecm.bodies[self._entity].reports_velocity = enable

    def world_pose(self, ecm):
        body = ecm.bodies[self._entity]
        return Pose3d(body.position, body.rotation)

    def world_linear_velocity(self, ecm):
        body = ecm.bodies[self._entity]
        return Vector3d(*body.velocity) if body.reports_velocity else None

    def world_angular_velocity(self, ecm):
        body = ecm.bodies[self._entity]
        return Vector3d(*body.angular_velocity) if body.reports_velocity else None

    def add_world_wrench(self, ecm, force, torque):
        assert isinstance(force, Vector3d)
        assert isinstance(torque, Vector3d)
        ecm.applied[self._entity] += [
            force.x(), force.y(), force.z(), torque.x(), torque.y(), torque.z(),
        ]


class Sensor:
    """gz.sim.Sensor: name and topic, which its system gives it."""

    def __init__(self, entity):
        self._name, self._topic = entity

    def name(self, ecm):
        return self._name

    def topic(self, ecm):
        return self._topic


@dataclass
class Hinge:
    """One joint of a world."""

    name: str
    kind: str
    parent: str
    child: str
    axis: tuple = (1.0, 0.0, 0.0)
    limits: tuple = (-1e16, 1e16)
    position: float = 0.0
    velocity: float = 0.0
    checked: set = field(default_factory=set)
    commanded: list = field(default_factory=list)


class Joint:
    """gz.sim.Joint, and sdf.JointAxis and sdf.JointType of it."""

    def __init__(self, entity):
        self._hinge = entity

    def name(self, ecm):
        return self._hinge.name

    def parent_link_name(self, ecm):
        return self._hinge.parent

    def child_link_name(self, ecm):
        return self._hinge.child

    def type(self, ecm):
        return SimpleNamespace(name=self._hinge.kind)

    def pose(self, ecm):
        return Pose3d(np.zeros(3), np.eye(3))

    def enable_position_check(self, ecm, enable=True):
        self._hinge.checked.add('position')

    def enable_velocity_check(self, ecm, enable=True):
        self._hinge.checked.add('velocity')

    def position(self, ecm):
        return [self._hinge.position] if 'position' in self._hinge.checked else None

    def velocity(self, ecm):
        return [self._hinge.velocity] if 'velocity' in self._hinge.checked else None

    def set_velocity(self, ecm, velocities):
        self._hinge.commanded.append(velocities)

    def axis(self, ecm):
        hinge = self._hinge
        return [SimpleNamespace(
            xyz=lambda: Vector3d(*hinge.axis), lower=lambda: hinge.limits[0],
            upper=lambda: hinge.limits[1],
        )]


class Model:
    """gz.sim.Model; a nested one has the prefix of its links as its entity."""

    def __init__(self, entity):
        self._entity = entity

    def valid(self, ecm):
        return self._entity == World.MODEL

    def name(self, ecm):
        return 'lander' if self._entity == World.MODEL else self._entity.removesuffix('::')

    def static(self, ecm):
        return ecm.is_static

    def source_file_path(self, ecm):
        return ecm.file

    def _prefix(self):
        return '' if self._entity == World.MODEL else self._entity

    def links(self, ecm):
        prefix = self._prefix()
        return [e for e, body in ecm.bodies.items()
                if body.name.rpartition('::')[0] == prefix.removesuffix('::')]

    def joints(self, ecm):
        return ecm.hinges if self._entity == World.MODEL else []

    def models(self, ecm):
        names = dict.fromkeys(
            body.name.partition('::')[0] + '::' for body in ecm.bodies.values()
            if '::' in body.name
        )
        return list(names) if self._entity == World.MODEL else []

    def canonical_link(self, ecm):
        return next(iter(ecm.bodies), K_NULL_ENTITY)


class Element:
    """sdf.Element of a plugin."""

    def __init__(self, siblings, place):
        self._siblings, self._place = siblings, place

    @classmethod
    def plugin(cls, **tags):
        """Return a <plugin> with tags; a list makes as many of them, an element is one."""
        root = ElementTree.Element('plugin')
        for tag, value in tags.items():
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, ElementTree.Element):
                    root.append(each)
                else:
                    ElementTree.SubElement(root, tag).text = str(each)
        return cls([root], 0)

    @property
    def _own(self):
        return self._siblings[self._place]

    def get_name(self):
        return self._own.tag

    def get_attributes(self):
        return [
            SimpleNamespace(get_key=lambda key=key: key, get_as_string=lambda value=value: value)
            for key, value in self._own.items()
        ]

    def get_value(self):
        text = self._own.text
        return None if text is None else SimpleNamespace(get_as_string=lambda: text)

    def file_path(self):
        return self._own.get('in_file', '')

    def line_number(self):
        return None

    def get_first_element(self):
        children = list(self._own)
        return Element(children, 0) if children else None

    def get_next_element(self, name):
        further = range(self._place + 1, len(self._siblings))
        return next((Element(self._siblings, i) for i in further
                     if name in ('', self._siblings[i].tag)), None)


@dataclass
class UpdateInfo:
    """gz.sim.UpdateInfo; pybind11 makes timedelta of C++ durations, whole microseconds."""

    sim_time: timedelta
    dt: timedelta
    paused: bool
    iterations: int


class World:
    """Steps one system as gz-sim's SimulationRunner does; it is the ecm of the fakes too."""

    MODEL = 7

    def __init__(self, system, links, plugin, step=1e-3, hinges=(), file='', is_static=False):
        self.system, self.step_size = system, step
        self.file, self.is_static = file, is_static
        places = links if isinstance(links, dict) else dict.fromkeys(links, (0.0, 0.0, 0.0))
        self.bodies = {
            entity: Body(name, np.array(place, float))
            for entity, (name, place) in enumerate(places.items(), start=10)
        }
        self.hinges = list(hinges)
        self.sensors = []
        self.iterations = 0
        self.time = 0.0
        self.applied = defaultdict(lambda: np.zeros(6))
        try:
            system.configure(self.MODEL, plugin, self, None)
        except Exception:
            # What it has for itself is free again.
            system.shutdown()
            raise

    def __getitem__(self, name):
        return next(body for body in self.bodies.values() if body.name == name)

    def info(self, paused=False):
        return UpdateInfo(
            timedelta(seconds=self.time),
            timedelta(seconds=0.0 if paused else self.step_size), paused, self.iterations,
        )

    def step(self, count=1):
        """Run steps; what is applied in each goes to the bodies' wrenches."""
        for _ in range(count):
            self.iterations += 1
            self.time += self.step_size
            self.applied.clear()
            self.system.pre_update(self.info(), self)
            for entity, body in self.bodies.items():
                body.wrenches.append(self.applied[entity].copy())

    def pause(self):
        """Run one update while paused."""
        self.system.pre_update(self.info(paused=True), self)

    def seek(self, time):
        """Go to a time, as gz-sim does: in one step, which has no number."""
        jump, self.time, self.iterations = time - self.time, time, 0
        self.applied.clear()
        self.system.pre_update(UpdateInfo(
            timedelta(seconds=time), timedelta(seconds=jump), False, 0
        ), self)
        assert not self.applied

    def reset(self):
        """Rewind to the start, as gz-sim does: Reset, then the first step again."""
        self.iterations, self.time = 0, 0.0
        self.system.reset(self.info(paused=True), self)


def install(monkeypatch, name='gz.sim'):
    """Put the fake in the place of gz.sim, under the name that it has in a release."""
    module = ModuleType(name)
    module.Model, module.Link, module.Joint, module.Sensor = Model, Link, Joint, Sensor
    module.K_NULL_ENTITY = K_NULL_ENTITY
    monkeypatch.setitem(sys.modules, name, module)


@contextmanager
def worlds(monkeypatch, make_system):
    """Yield what makes worlds as `World` does, each with a system that ends with the context."""
    install(monkeypatch, 'gz.sim8')
    made = []

    def make(*arguments, **options):
        made.append(World(make_system(), *arguments, **options))
        return made[-1]
    yield make
    for world in made:
        world.system.shutdown()
