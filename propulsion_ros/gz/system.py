# SPDX-License-Identifier: Apache-2.0
"""A system for gz-sim's PythonSystemLoader: the actuators of a model, inside the physics loop."""
from __future__ import annotations

import re
import sys
from datetime import timedelta
from typing import Any

import numpy as np
from rclpy.logging import get_logger

from propulsion_ros.graph.share import load_robot_description, located
from propulsion_ros.gz.host import ActuatorHost
from propulsion_ros.models.common.rotation import Quaternion, rows_of, unit
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.flat import suggestion
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.timing.stepping import Ticks
from propulsion_ros.urdf.link_tree import Pose

_TAGS = ('module_name', 'urdf_file', 'params_file', 'namespace')
_MODULE = re.compile(r'gz\.sim\d*')


class ActuatorSystem:
    """Steps the actuators of the model that the plugin is in, and applies what they do.

    Its plugin has the filename ``gz-sim-python-system-loader-system``, the name
    ``gz::sim::systems::PythonSystemLoader``, and the tags <module_name>propulsion_ros.gz.system;
    <urdf_file>, a .urdf or .xacro file with plugin blocks; <params_file>, settings of the nodes,
    which may be repeated; <namespace> of the nodes. Files may be ``package://`` addresses. `host`
    has the nodes, from `configure` on.
    """

    def __init__(self) -> None:
        self.host: ActuatorHost | None = None

    def configure(self, entity: Any, sdf: Any, ecm: Any, event_mgr: Any) -> None:
        """Read the robot description and find its links in the model.

        Raises `ConfigError` for everything that is wrong.
        """
        gz = _gz_sim()
        model = gz.Model(entity)
        if not model.valid(ecm):
            raise SourceError('plugin', 'expected to be inside a <model>')
        _require_known(sdf)
        path = _text(sdf, 'urdf_file')
        if not path:
            raise SourceError('plugin/urdf_file', 'is required')
        self._host = self.host = ActuatorHost(
            load_robot_description(located(path)),
            lambda link: model.link_by_name(ecm, link) != gz.K_NULL_ENTITY,
            [located(text) for text in _texts(sdf, 'params_file')], _text(sdf, 'namespace'),
        )
        self._links = {
            name: gz.Link(model.link_by_name(ecm, name)) for name in self._host.links
        }
        self._base = self._links[self._host.base.link]
        self._check_velocities(ecm)
        # The vectors of the very gz.math that this gz.sim was built with.
        self._vector = type(self._base.world_pose(ecm).pos())
        self._ticks: Ticks | None = None

    def pre_update(self, info: Any, ecm: Any) -> None:
        """Run one step of the actuators and apply it to this step of the physics.

        Raises `ConfigError` for a step size that is no whole number of microseconds, or that has
        changed.
        """
        if info.paused:
            self._host.serve()
            return
        stamp_ns = self._begin_of_step(info)
        self._host.pass_step()
        self._apply(ecm, stamp_ns)

    def reset(self, info: Any, ecm: Any) -> None:
        """Return the actuators to the start with the world."""
        self._check_velocities(ecm)
        self._host.reset()

    def shutdown(self) -> None:
        """End the nodes; called as the world ends, also where `configure` has failed."""
        if self.host is not None:
            self.host.close()

    def _check_velocities(self, ecm: Any) -> None:
        if self._host.uses_body:
            self._base.enable_velocity_checks(ecm)

    def _begin_of_step(self, info: Any) -> int:
        """Return when the step begins [ns]; the first one starts the nodes."""
        # info has the end of the step.
        period_ns, end_ns = _nanoseconds(info.dt), _nanoseconds(info.sim_time)
        error = _fault_of_step(period_ns, end_ns, self._ticks)
        if error is not None:
            # The loader calls no more after an error, and nodes that live on would seem to act.
            self._host.close()
            raise error
        if self._ticks is None:
            self._host.start(period_ns)
            self._ticks = Ticks(period_ns)
        return self._ticks.stamp(self._ticks.first_from(end_ns) - 1)

    def _apply(self, ecm: Any, stamp_ns: int) -> None:
        host, vector = self._host, self._vector
        places = {name: link.world_pose(ecm) for name, link in self._links.items()}
        poses = {name: _pose(place) for name, place in places.items()}
        motion = None
        if host.uses_body:
            base = host.base
            motion = base.motion(
                poses[base.link], _quaternion(places[base.link]),
                _array(self._base.world_linear_velocity(ecm)),
                _array(self._base.world_angular_velocity(ecm)),
            )
        for name, wrench in host.step(stamp_ns, motion, poses).items():
            numbers = wrench.tolist()
            if any(numbers):
                self._links[name].add_world_wrench(
                    ecm, vector(*numbers[:3]), vector(*numbers[3:])
                )


class ReportedSystem:
    """A system whose wrong settings end it with one line, where the loader prints all frames.

    Parameters
    ----------
    system : ActuatorSystem
        Is called no more after its first `ConfigError`, the world goes on without it.
    """

    def __init__(self, system: ActuatorSystem) -> None:
        self._system: ActuatorSystem | None = system

    def configure(self, entity: Any, sdf: Any, ecm: Any, event_mgr: Any) -> None:
        """See `ActuatorSystem.configure`."""
        self._call('configure', entity, sdf, ecm, event_mgr)

    def pre_update(self, info: Any, ecm: Any) -> None:
        """See `ActuatorSystem.pre_update`."""
        self._call('pre_update', info, ecm)

    def reset(self, info: Any, ecm: Any) -> None:
        """See `ActuatorSystem.reset`."""
        self._call('reset', info, ecm)

    def shutdown(self) -> None:
        """See `ActuatorSystem.shutdown`."""
        self._call('shutdown')

    def _call(self, name: str, *arguments: Any) -> None:
        if self._system is None:
            return
        try:
            getattr(self._system, name)(*arguments)
        except ConfigError as error:
            get_logger('propulsion_ros').error(f'the actuators do not act: {error}')
            self._system = None


def get_system() -> ReportedSystem:
    """Return a new system; the loader calls this."""
    return ReportedSystem(ActuatorSystem())


def _gz_sim() -> Any:
    """Return gz.sim, whose name has a major version in some releases; the loader imports it."""
    for name in sorted(sys.modules):
        if _MODULE.fullmatch(name):
            return sys.modules[name]
    raise ImportError('gz.sim is not loaded: this module runs inside gz-sim')


def _fault_of_step(period_ns: int, end_ns: int, ticks: Ticks | None) -> ConfigError | None:
    """Return what is wrong with a step of the physics, after steps at some ticks."""
    period, expected = f'{period_ns // 1000} us', 'expected one size of whole microseconds'
    if period_ns <= 0:
        return ConfigError('max_step_size', f'a step of less than 1 us, {expected}')
    if ticks is not None and period_ns != ticks.span_ns:
        return ConfigError(
            'max_step_size', f'a step of {period} after steps of {ticks.span_ns // 1000} us, '
            f'{expected}'
        )
    if Ticks(period_ns).has(end_ns):
        return None
    if ticks is None:
        begin = f'{(end_ns - period_ns) * 1e-9:.6f} s'
        return ConfigError(
            'initial_sim_time', f'{begin} is no multiple of the step of {period}, expected one'
        )
    return ConfigError(
        'max_step_size', f'a step of {period} that ends at {end_ns * 1e-9:.6f} s, no multiple of '
        f'it: {expected}'
    )


def _require_known(sdf: Any) -> None:
    """Refuse a tag that is misspelt, which would be without effect."""
    element = sdf.get_first_element()
    while element is not None:
        tag = str(element.get_name())
        if tag not in _TAGS:
            raise SourceError(
                f'plugin/{tag}', f'unknown tag{suggestion(tag, _TAGS)}, known: {", ".join(_TAGS)}'
            )
        element = element.get_next_element('')


def _text(sdf: Any, tag: str) -> str:
    return str(sdf.get_string(tag)).strip() if sdf.has_element(tag) else ''


def _texts(sdf: Any, tag: str) -> list[str]:
    """Return the text of every child of a name."""
    texts, element = [], sdf.find_element(tag)
    while element is not None:
        texts.append(str(element.get_string()).strip())
        element = element.get_next_element(tag)
    return texts


def _nanoseconds(duration: timedelta) -> int:
    return duration // timedelta(microseconds=1) * 1000


def _array(vector: Any) -> FloatArray:
    return np.array([vector.x(), vector.y(), vector.z()])


def _pose(pose: Any) -> Pose:
    return Pose(np.array(rows_of(_quaternion(pose))), _array(pose.pos()))


def _quaternion(pose: Any) -> Quaternion:
    turn = pose.rot()
    return unit((turn.x(), turn.y(), turn.z(), turn.w()))
