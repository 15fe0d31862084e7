# SPDX-License-Identifier: Apache-2.0
"""Configuration of a node that runs a family, by parameters and a plugin block."""
from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from propulsion_ros.graph.family_params import (
    ActuatorNodeParams,
    AllocatorNodeParams,
    OwnT,
    allocator_named,
    group_of,
    is_allocator,
    loop_params_of,
    node_kind_of,
)
from propulsion_ros.loops.actuator_loop import LoopParams, actuators_off, names_off
from propulsion_ros.loops.ports import GivenParameters, Parameters
from propulsion_ros.loops.vehicle_params import VehicleParams
from propulsion_ros.models.common.allocation import VECTORED, Allocator
from propulsion_ros.models.common.family import Allocatable, Family, Idling, is_allocatable
from propulsion_ros.models.registry import FAMILIES, REGISTRY
from propulsion_ros.models.steering.steered import made_family
from propulsion_ros.models.steering.vectored import Vectoring
from propulsion_ros.settings.errors import FIRST, ConfigError, Faults, SourceError
from propulsion_ros.settings.flat import (
    Parameter,
    all_faults,
    build,
    known_hint,
    meant,
    nearest_key,
    parameters_of,
    suggestion,
)
from propulsion_ros.settings.quantity import flatten
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.urdf.block import ActuatorSpec

OTHER_NODES = ('flight_state', 'vehicle', 'visualizer')
"""Nodes of a robot that run no family."""
_OF_A_FIT = 'identify'
"""Section of parameter files that is for no node."""
_BRIEF = 100  # characters of each value in a line about two


@dataclass(frozen=True)
class Setting:
    """The configuration of a family by its node and plugin block."""

    family: str
    """Name of the family."""
    family_type: type[Family]
    """Class of the family."""
    spec: ActuatorSpec | None
    """Its plugin block."""
    values: Mapping[str, Any]
    """Flat parameters: of the node, else of the plugin block, else the defaults."""
    frame: str
    """Frame of wrench and geometry."""
    given: Collection[str]
    """Keys of the parameters that the node has."""

    def build(self, cls: type[Any]) -> Any:
        """Return the configuration of a class from these values.

        Raises `ConfigError` that names the wrong parameter or its XML path.
        """
        try:
            return build(cls, self.values)
        except ConfigError as error:
            raise self.locate(error) from None

    def build_family(self, batch: tuple[int, ...] = ()) -> Family:
        """Return the family, built from these values; raise `ConfigError` as `build` does."""
        params = self.build(self.family_type.Params)
        try:
            return made_family(self.family_type, params, self.values, batch)
        except ConfigError as error:
            raise self.locate(error) from None

    def check(self, loop_params: type[Any], faults: Faults) -> None:
        """Find all faults in the values of the family and of its timing."""
        if not self.has_faults(faults, loop_params):
            with faults.kept():
                family, timing = self.build_family(), self.build(loop_params)
                if isinstance(timing, LoopParams):
                    names_off(timing, family.command_names)

    def has_faults(self, faults: Faults, *others: type[Any]) -> bool:
        """Return whether a value is wrong, here or in the block; ``faults`` takes each."""
        known = self._misspelt(*others)
        if self.spec:
            known |= self.spec.faulty - set(self.given)
        found = [
            error for cls in (self.family_type.Params, *others)
            for error in all_faults(cls, self.values, known)
        ]
        for error in found:
            faults.add(self.locate(error))
        return bool(found or known)

    def _misspelt(self, *others: type[Any]) -> set[str]:
        """Return the keys that are nearest to unknown ones, so that they are not called missing."""
        classes = (self.family_type.Params, *others, ActuatorNodeParams, AllocatorNodeParams)
        known = {parameter.key for cls in classes for parameter in parameters_of(cls)}
        return {nearest_key(key, known) for key in self.given if key not in known} - {''}

    def locate(self, error: ConfigError) -> ConfigError:
        """Return the error with an XML path if the wrong value came from the plugin block."""
        return self.spec.locate(error, self.given) if self.spec else error


def block_named(specs: Sequence[ActuatorSpec], name: str) -> ActuatorSpec:
    """Return the plugin block of a name; raise `ConfigError` if there is none."""
    for spec in specs:
        if spec.name == name:
            return spec
    hint = known_hint(name, [spec.name for spec in specs], 'found')
    raise ConfigError('plugin', f'no plugin block {name!r}{hint}')


def won_over(given: Mapping[str, Any], block: ActuatorSpec) -> Iterator[tuple[ConfigError, bool]]:
    """Yield parameters that win over a block, and whether one value replaces several unlike ones.

    In that case some of the values were probably meant to stay.
    """
    other = dict(REGISTRY[block.family].facts.stands_for)
    for key in sorted(given):
        taken = key if key in block.values else other.get(key, '')
        old, new = flatten(block.values.get(taken)), flatten(given[key])
        is_one_for_several = len(new) == 1 < len(set(old))
        if new != old and (is_one_for_several or taken == key):
            whose = '' if taken == key else f'{taken} '
            yield ConfigError(key, (
                f"{_brief(given[key])} wins over the robot description's "
                f'{whose}{_brief(block.values[taken])}'
                + is_one_for_several * '; to keep some, give a list'
            )), is_one_for_several


def _brief(value: Any) -> str:
    return textwrap.shorten(str(value), _BRIEF, placeholder=' ...')


def refuse_unknown_node(
    name: str, values: Mapping[str, Any], specs: Sequence[ActuatorSpec]
) -> None:
    """Raise `ConfigError` for a name in a parameter file that no node of a robot has.

    Parameters
    ----------
    values : mapping
        Flat parameters of that name in the file.
    specs : sequence of ActuatorSpec
        Plugin blocks of the robot, none if it is not known.
    """
    if name in (*OTHER_NODES, _OF_A_FIT) or 'family' in values or block_of(values, specs, name):
        return
    if is_allocator(name):
        if specs:
            block_named(specs, group_of(name))
        return
    # Without a block a node runs if the file alone has all that its family requires.
    if name in REGISTRY and not (specs and any(
        each.required and each.key not in values for each in parameters_of(REGISTRY[name].Params)
    )):
        return
    known = [*(spec.name for spec in specs), *OTHER_NODES]
    near = suggestion(name, known if specs else [*known, *REGISTRY])
    alike = [spec.name for spec in specs if spec.family == name]
    raise SourceError(name, f'not a node that this knows{near or meant(*alike[:1])}; ' + (
        f'the robot has {", ".join(known)}' if specs else 'give its family, or its robot by --model'
    ))


def unread_sections(
    file: ParameterFile, specs: Sequence[ActuatorSpec]
) -> Iterator[tuple[str, str]]:
    """Yield each node of a file that neither `fly` nor a launch file starts, and what to write.

    Only a section that names one of the robot's plugin blocks, or has only parameters of its body
    or of its groups, counts: the same file may have sections for nodes of other packages.
    """
    own = {spec.name: spec.family for spec in specs}
    started = {*own, *map(allocator_named, own), *OTHER_NODES, _OF_A_FIT, *REGISTRY}
    of_body = {parameter.key for parameter in parameters_of(VehicleParams)}
    of_groups = {each.key for family in own.values() for each in schema_of(family)}
    for node in file.nodes if own else ():
        values = file.of(node)
        plugin = values.get('plugin')
        if node in started:
            continue
        if plugin in own:
            meant_node = allocator_named(plugin) if is_allocator(node) else plugin
        elif values and of_body.issuperset(values) and any('.' in key for key in values):
            meant_node = 'vehicle'
        elif values and of_groups.issuperset(values):
            meant_node = ' or '.join(own)
        else:
            continue
        yield node, (
            f'`fly` and launch files start no node of this name, so nothing reads it; write '
            f'{meant_node}'
        )


def family_named(given: str, spec: ActuatorSpec | None, node: str, loop: str = '') -> str:
    """Return the name of the family that a node runs.

    Raises `ConfigError` if there is no such family, or two sources disagree.
    """
    own = [name for name, family in FAMILIES.items() if family.facts.loop == loop] if loop else []
    name = given or (spec.family if spec else own[0] if len(own) == 1 else node)
    if given or spec:
        REGISTRY.require(name)
    elif name not in REGISTRY:
        raise ConfigError(
            'family', f"is required, the node's name {name!r} is none{REGISTRY.hint(name)}"
        )
    if spec and spec.family != name:
        raise ConfigError(
            'family', f'{name!r}, but the robot description has {spec.family!r}; remove it'
        )
    if loop and REGISTRY[name].facts.loop != loop:
        runs = ' or '.join(map(repr, own))
        raise ConfigError('family', f'this node runs {runs}, got {name!r}')
    return name


def schema_of(family: str) -> list[Parameter]:
    """Return the parameters of a family and of its timing."""
    classes = (loop_params_of(family), REGISTRY[family].Params)
    return [parameter for cls in classes for parameter in parameters_of(cls)]


def taken_from_group(
    file: ParameterFile, node: str, group: str, family: str, namespace: str = '/'
) -> dict[str, Any]:
    """Return the settings of a group for a node that has the configuration of the group too.

    They win over the robot description, and settings of the node itself win over them.
    """
    own, known = file.of(node, namespace, group), {each.key for each in schema_of(family)}
    return {
        key: value for key, value in file.of(group, namespace).items()
        if key in known and key not in own
    }


def allocator_of(
    own: AllocatorNodeParams, setting: Setting
) -> tuple[Allocatable, Allocator | Vectoring]:
    """Return the group that an allocator commands, and the allocator's algorithm.

    Raises `ConfigError` for a wrong value, or a family that allocates no thrusts.
    """
    family = setting.build_family()
    if not isinstance(family, Allocatable):
        known = ' or '.join(name for name, each in FAMILIES.items() if is_allocatable(each))
        raise ConfigError('family', f'expected {known}, got {setting.family!r}')
    lower, upper = family.thrust_limits
    least = family.least_thrust if isinstance(family, Idling) else 0.0
    if own.method == VECTORED:
        return family, Vectoring(family, lower, upper, own.weights, least)
    return family, Allocator(
        family.allocation_matrix, lower, upper, own.method, own.weights, least
    )


def block_of(
    values: Mapping[str, Any], specs: Sequence[ActuatorSpec], node: str
) -> ActuatorSpec | None:
    """Return the plugin block of a node among these, None if there is none.

    Raises `ConfigError` if the node names a block that is not there.
    """
    if values.get('plugin') and specs:
        return block_named(specs, str(values['plugin']))
    found = {spec.name: spec for spec in specs}
    return found.get(node) or found.get(group_of(node))


def family_of(values: Mapping[str, Any], spec: ActuatorSpec | None, node: str) -> str:
    """Return the family that a node runs, '' if it runs none; raise `ConfigError` if wrong."""
    given = str(values.get('family', ''))
    if is_allocator(node) and not (spec and spec.name == node):
        return ''
    if not (given or spec or node in REGISTRY):
        return ''
    return family_named(given, spec, node)


def read_setting(
    parameters: Parameters,
    node_params: type[OwnT],
    find_block: Callable[[OwnT], ActuatorSpec | None],
    loop: str = '',
    faults: Faults = FIRST,
) -> tuple[OwnT, Setting]:
    """Return the configuration of a node and that of its family.

    Raises `ConfigError` for any fault.

    Parameters
    ----------
    find_block : callable
        Returns the node's plugin block, None if it has none.
    loop : str
        The loop that the node runs, as families declare it; '' for any.
    faults : Faults
        Takes faults in the values of the node itself.
    """
    values = parameters.declare(parameters_of(node_params), more=True)
    found = list(all_faults(node_params, values))
    for error in found:
        faults.add(error)
    own = build(node_params, {} if found else values)
    spec = find_block(own)
    family = family_named(own.family, spec, parameters.node_name, loop)
    block = spec.values if spec else {}
    values = parameters.declare(schema_of(family), block)
    given = frozenset(parameters.given)
    if spec:
        for key in sorted(given & set(spec.values)):
            is_described = key in spec.geometry or key == 'names'
            # A file that `ros2 param dump` wrote of such a node has the geometry too.
            if is_described and flatten(parameters.given[key]) != flatten(spec.values[key]):
                faults.add(ConfigError(
                    key, 'comes from the robot description, not from a parameter; remove it'
                ))
    frame = spec.base_link if spec else own.base_link or 'base_link'
    return own, Setting(family, REGISTRY[family], spec, values, frame, given)


def _read_given(
    node: str, node_params: type[OwnT], given: Mapping[str, Any], spec: ActuatorSpec | None,
    faults: Faults = FIRST,
) -> tuple[OwnT, Setting]:
    """Return both configurations from flat parameters; see `read_setting`."""
    parameters = GivenParameters(node, given, faults=faults)
    return read_setting(parameters, node_params, lambda own: spec, faults=faults)


def check_family(
    name: str, given: Mapping[str, Any], spec: ActuatorSpec | None, faults: Faults
) -> None:
    """Find all faults with which a node of a family would not start.

    Parameters
    ----------
    given : mapping
        Flat parameters of the node.
    faults : Faults
        Takes the faults, by parameter or XML path.
    """
    kind = node_kind_of(name)
    _, setting = _read_given(name, kind.node_params, given, spec, faults)
    setting.check(kind.loop_params, faults)


def check_allocator(
    node: str, given: Mapping[str, Any], spec: ActuatorSpec | None, faults: Faults
) -> None:
    """Find all faults with which an allocator would not start; see `check_family`."""
    own, setting = _read_given(node, AllocatorNodeParams, given, spec, faults)
    if not setting.has_faults(faults):
        with faults.kept():
            family, _ = allocator_of(own, setting)
            actuators_off(setting.build(LoopParams), family)


def build_family(
    name: str, given: Mapping[str, Any], spec: ActuatorSpec | None, batch: tuple[int, ...] = (),
) -> tuple[Family, Any]:
    """Return a family and the configuration of its timing, as its node would make them.

    Raises `ConfigError` that names the wrong parameter or its XML path.

    Parameters
    ----------
    batch : tuple of int
        Leading batch shape of its state.
    """
    kind = node_kind_of(name)
    _, setting = _read_given(name, kind.node_params, given, spec)
    loop_params = setting.build(kind.loop_params)
    return setting.build_family(batch), loop_params
