# SPDX-License-Identifier: Apache-2.0
"""A system for gz-sim's PythonSystemLoader: the actuators of a model, inside the physics loop."""
from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import partial, partialmethod
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from rclpy.logging import get_logger

from propulsion_ros.graph.share import located, read_description
from propulsion_ros.gz.host import ActuatorHost
from propulsion_ros.gz.simulated_model import (
    Rest,
    array_of,
    element_of,
    place_of,
    pose_of,
    read_model,
    silent_sensors,
)
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.flat import suggestion
from propulsion_ros.urdf.xml import path_step

_TAGS = ('module_name', 'urdf_file', 'params_file', 'namespace', 'actuators', 'command_topic')
_ONCE = ('module_name', 'urdf_file', 'namespace')
_OF_URDF = re.compile(r'(robot|gazebo|link|sdf)\b')
"""Paths of errors in a robot description."""
_STEPS_TO_SENSORS = 10
"""Number of steps after which the systems of sensors have found them."""
_MICROSECOND = timedelta(microseconds=1)
_MODULE = re.compile(r'gz\.sim\d*')
_claims: dict[object, str] = {}
"""Claims of each system of this process: entities of models, and names of nodes."""


class ActuatorSystem:
    """Steps the actuators of the model that contains the plugin, and applies their forces.

    Its plugin has the filename ``gz-sim-python-system-loader-system``, the name
    ``gz::sim::systems::PythonSystemLoader``, and the tags <module_name>propulsion_ros.gz.system;
    <actuators name="...">, each a plugin block; <urdf_file>, a .urdf or .xacro file with such
    blocks; <params_file>, settings of the nodes, which may be repeated; <namespace> of the nodes;
    <command_topic of="...">, a topic of gz-transport with commands, see `command_topics`.
    At least one <actuators> or <urdf_file> is required. Files may be ``package://`` or
    ``model://`` addresses, and are relative to the file of the plugin. After `configure`, `host`
    has the nodes, and `place` is the name of the model with its file.
    """

    def __init__(self) -> None:
        self.host: ActuatorHost
        self.place = ''
        self._end = ExitStack()
        # gz-sim passes the same object to each call; keep it alive, as its id is part of a claim.
        self._ecm: Any = None

    def configure(self, entity: Any, sdf: Any, ecm: Any, event_mgr: Any) -> None:
        """Read the plugin and the model, and find the links of its actuators.

        Raises `ConfigError` for any fault.
        """
        gz = _gz_sim()
        model = gz.Model(entity)
        self._ecm = ecm
        file, line = place_of(sdf)
        if not model.valid(ecm):
            self.place = file + line
            raise SourceError('plugin', 'expected to be inside a <model>')
        file = file or str(model.source_file_path(ecm))
        self.place = f'model {model.name(ecm)!r}' + (f' in {file}{line}' if file else '')
        plugin = element_of(sdf)
        _require_known(plugin)
        if model.static(ecm):
            raise SourceError('model', 'is static, so that no force moves it; remove <static>')
        self._claim((id(ecm), entity), 'plugin', 'the model has a second one, remove one')
        path, blocks = (plugin.findtext('urdf_file') or '').strip(), plugin.findall('actuators')
        if not (path or blocks):
            raise SourceError('plugin', (
                'expected <actuators name="FAMILY"> with actuators, or a <urdf_file> that has such'
            ))
        beside = Path(file).parent
        simulated, links, joints = read_model(gz, model, ecm)
        namespace = (plugin.findtext('namespace') or '').strip()
        files = [
            located((each.text or '').strip(), beside) for each in plugin.findall('params_file')
        ]
        urdf = located(path, beside) if path else None
        with _placed_errors(blocks, urdf):
            self.host = ActuatorHost(
                simulated, read_description(urdf).text if urdf else '', files, namespace, plugin
            )
        self._end.callback(self.host.close)
        for name in self.host.names:
            node = f'node {namespace}/{name}'
            self._claim(node, node, 'another model has one of this name; give each a <namespace>')
        self._warn(self.host.warnings)
        self._links = {name: gz.Link(links[name]) for name in self.host.links}
        self._joints = {name: gz.Joint(joints[name]) for name in self.host.joints}
        self._base = self._links[self.host.base.link]
        self._check_velocities(ecm)
        # The class of vectors in the gz.math with which this gz.sim was built.
        self._vector = type(self._base.world_pose(ecm).pos())
        self._period_ns, self._end_ns = 0, 0
        self._is_first = True
        self._rest = Rest()
        self._sensors = partial(silent_sensors, gz, list(links.values()))
        self._steps_to_check = _STEPS_TO_SENSORS

    def _claim(self, key: object, path: str, problem: str) -> None:
        """Claim a key for this system; raise `ConfigError` if another system has it."""
        if key in _claims:
            raise SourceError(path, f'{problem}: {_claims[key]}')
        _claims[key] = self.place
        self._end.callback(_claims.pop, key)

    def pre_update(self, info: Any, ecm: Any) -> None:
        """Run one step of the actuators and apply it to this step of the physics.

        Raises `ConfigError` for a step size that is no whole number of microseconds.
        """
        # A seek is one step in gz-sim, as long as the jump or negative, with 0 iterations.
        if info.paused or not info.iterations:
            self.host.serve()
            return
        stamp_ns = self._begin_of_step(info)
        self.host.pass_step()
        self._apply(ecm, stamp_ns)
        self._steps_to_check -= 1
        if not self._steps_to_check:
            self._warn(self._sensors(ecm))

    def reset(self, info: Any, ecm: Any) -> None:
        """Return the actuators to the start with the world."""
        self._check_velocities(ecm)
        self._is_first = True
        self.host.reset()

    def shutdown(self) -> None:
        """End the nodes; called as the world ends, also where `configure` has failed."""
        self._end.close()

    def _check_velocities(self, ecm: Any) -> None:
        if self.host.uses_body:
            self._base.enable_velocity_checks(ecm)
        for joint in self._joints.values():
            joint.enable_position_check(ecm)
            joint.enable_velocity_check(ecm)

    def _begin_of_step(self, info: Any) -> int:
        """Return the tick at which the step begins [ns]; the first one starts the nodes.

        Ticks are multiples of the step: a step that begins between two has the earlier stamp.
        """
        # The time in ``info`` is the end of the step.
        period_ns, end_ns = _nanoseconds(info.dt), _nanoseconds(info.sim_time)
        begin_ns = end_ns - period_ns
        is_new, self._is_first = self._is_first, False
        is_same = period_ns == self._period_ns
        off_ns = 0 if is_new else begin_ns - self._end_ns
        if period_ns <= 0 or (is_same and 0 < abs(off_ns) < period_ns):
            # After an error the loader calls no more, but nodes that live on would seem to act.
            self.host.close()
            raise _fault_of_step(period_ns, end_ns)
        stamp_ns = begin_ns // period_ns * period_ns
        if not self._period_ns:
            self.host.start(period_ns)
        elif off_ns or not is_same:
            self.host.jump(stamp_ns - off_ns, stamp_ns, period_ns)
        self._period_ns, self._end_ns = period_ns, end_ns
        return stamp_ns

    def _apply(self, ecm: Any, stamp_ns: int) -> None:
        host, vector = self.host, self._vector
        poses = {name: pose_of(link.world_pose(ecm)) for name, link in self._links.items()}
        motion = None
        if host.uses_body:
            motion = host.base.motion(
                poses[host.base.link], array_of(self._base.world_linear_velocity(ecm)),
                array_of(self._base.world_angular_velocity(ecm)),
            )
        turns = {name: _turn_of(joint, ecm) for name, joint in self._joints.items()}
        is_pushed = False
        for name, wrench in host.step(stamp_ns, motion, poses, turns).items():
            numbers = wrench.tolist()
            if any(numbers):
                is_pushed = True
                self._links[name].add_world_wrench(
                    ecm, vector(*numbers[:3]), vector(*numbers[3:])
                )
        for name, rate in host.drives.items():
            self._joints[name].set_velocity(ecm, [rate])
        if line := self._rest.lasts(poses.values(), self._period_ns if is_pushed else 0):
            self._warn([line])

    def _warn(self, lines: Iterable[str]) -> None:
        for line in lines:
            get_logger('propulsion_ros').warning(f'{self.place}: {line}')


class ReportedSystem:
    """Ends a system with wrong settings by one line, where the loader would print a traceback.

    Parameters
    ----------
    system : ActuatorSystem
        Is not called after its first `ConfigError`; the world continues without it.
    """

    def __init__(self, system: ActuatorSystem) -> None:
        self._system: ActuatorSystem | None = system

    def _call(self, name: str, *arguments: Any) -> None:
        """Call a method of the system."""
        if self._system is None:
            return
        try:
            getattr(self._system, name)(*arguments)
        except ConfigError as error:
            place = f'{self._system.place}: ' if self._system.place else ''
            get_logger('propulsion_ros').error(f'{place}the actuators do not act: {error}')
            # This also releases the claims of the system.
            self._system.shutdown()
            self._system = None

    configure = partialmethod(_call, 'configure')
    pre_update = partialmethod(_call, 'pre_update')
    reset = partialmethod(_call, 'reset')
    shutdown = partialmethod(_call, 'shutdown')


def get_system() -> ReportedSystem:
    """Return a new system; the loader calls this."""
    return ReportedSystem(ActuatorSystem())


def _gz_sim() -> Any:
    """Return gz.sim, whose name has a major version in some releases; the loader imports it."""
    for name in sorted(sys.modules):
        if _MODULE.fullmatch(name):
            return sys.modules[name]
    raise ImportError('gz.sim is not loaded: this module runs inside gz-sim')


def _turn_of(joint: Any, ecm: Any) -> tuple[float, float]:
    """Return position and velocity of a joint, 0 before the physics has any [rad], [rad/s]."""
    position, velocity = joint.position(ecm), joint.velocity(ecm)
    return float(position[0]) if position else 0.0, float(velocity[0]) if velocity else 0.0


def _fault_of_step(period_ns: int, end_ns: int) -> ConfigError:
    """Return the error of a wrong step size of the physics."""
    period, expected = f'{period_ns // 1000} us', 'expected one size of whole microseconds'
    if period_ns <= 0:
        return ConfigError('max_step_size', f'a step of less than 1 us, {expected}')
    return ConfigError(
        'max_step_size', f'a step of {period} that ends at {end_ns * 1e-9:.6f} s, no multiple of '
        f'it: {expected}'
    )


def _require_known(plugin: Element) -> None:
    """Refuse a tag that is misspelt, and so without effect, or given twice."""
    seen, names = set(), set()
    for child in plugin:
        tag = child.tag
        if tag not in _TAGS:
            raise SourceError(
                f'plugin/{tag}', f'unknown tag{suggestion(tag, _TAGS)}, known: {", ".join(_TAGS)}'
            )
        if tag in _ONCE and tag in seen:
            raise SourceError(f'plugin/{tag}', 'is given twice, remove one')
        seen.add(tag)
        name = child.get('name')
        if tag == 'actuators':
            if name in names:
                raise SourceError(
                    f'plugin/{path_step(tag, name)}', 'is named twice, rename one'
                )
            names.add(name or '')


@contextmanager
def _placed_errors(blocks: Collection[Element], urdf: Path | None) -> Iterator[None]:
    """Name the path in the plugin in errors of its blocks, and the description in others."""
    own = tuple(f'gazebo/{path_step("plugin", block.get("name"))}' for block in blocks)
    try:
        yield
    except SourceError as error:
        key = error.key
        if key.startswith(own):
            key = key.replace('gazebo/plugin', 'plugin/actuators', 1)
        elif urdf and _OF_URDF.match(key):
            key = f'{urdf}: {key}'
        raise SourceError(key, error.problem) from error


def _nanoseconds(duration: timedelta) -> int:
    return duration // _MICROSECOND * 1000
