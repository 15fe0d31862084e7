"""What a node runs: one family, configured by parameters and a plugin block."""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from propulsion_ros.graph.family_params import AllocatorNodeParams, FamilyNodeParams
from propulsion_ros.graph.hosting import loop_params_of
from propulsion_ros.models.common.allocation import Allocator
from propulsion_ros.models.common.family import Allocatable, Family
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import Parameter, build, parameters_of, suggestion
from propulsion_ros.urdf.block import ActuatorSpec


@dataclass(frozen=True)
class Setting:
    """The configuration of a family as a node found it.

    Attributes
    ----------
    family : str
        Its name.
    family_type : type
        The family.
    spec : ActuatorSpec or None
        Its plugin block.
    values : dict
        Flat parameters: of the node, the plugin block, or the default.
    frame : str
        Frame of wrench and geometry.
    given : collection of str
        Keys that parameters gave.
    """

    family: str
    family_type: type[Family]
    spec: ActuatorSpec | None
    values: Mapping[str, Any]
    frame: str
    given: Collection[str]

    @classmethod
    def make(
        cls,
        own: FamilyNodeParams,
        family: str,
        spec: ActuatorSpec | None,
        values: Mapping[str, Any],
        given: Collection[str],
    ) -> Setting:
        """Return the setting of a node.

        Parameters
        ----------
        own : FamilyNodeParams
            Configuration of the node.
        family, spec, values, given
            As the attributes.

        Raises
        ------
        ConfigError
            For a parameter that only the robot description may give.
        """
        if spec:
            for key in sorted(set(given) & set(spec.values)):
                if key in spec.geometry or key == 'names':
                    raise ConfigError(key, 'comes from the robot description, not from a parameter')
        frame = spec.base_link if spec else own.base_link or 'base_link'
        return cls(family, REGISTRY[family], spec, values, frame, given)

    def build(self, cls: type[Any]) -> Any:
        """Return the configuration of a class from these values.

        Raises
        ------
        ConfigError
            Naming the parameter or the XML path of what is wrong.
        """
        try:
            return build(cls, self.values)
        except ConfigError as error:
            raise self.locate(error) from None

    def build_family(self) -> Family:
        """Return the family, built from these values; raise `ConfigError` as `build` does."""
        params = self.build(self.family_type.Params)
        try:
            return self.family_type(params)
        except ConfigError as error:
            raise self.locate(error) from None

    def locate(self, error: ConfigError) -> ConfigError:
        """Return the error with the XML path of what is wrong, where it came from there."""
        return self.spec.locate(error, self.given) if self.spec else error


def block_named(specs: Sequence[ActuatorSpec], name: str) -> ActuatorSpec:
    """Return the plugin block of a name; raise `ConfigError` where there is none."""
    for spec in specs:
        if spec.name == name:
            return spec
    names = [spec.name for spec in specs]
    raise ConfigError(
        'plugin', f'no plugin block {name!r}{suggestion(name, names)}; '
        f'found: {", ".join(names) or "none"}'
    )


def family_named(given: str, spec: ActuatorSpec | None, node: str, only: str = '') -> str:
    """Return the name of the family that a node runs.

    Parameters
    ----------
    given : str
        Its parameter ``family``.
    spec : ActuatorSpec or None
        Its plugin block.
    node : str
        Its name.
    only : str
        The one family that it can run; '' for any.

    Raises
    ------
    ConfigError
        Where there is no such family, or two sources disagree.
    """
    name = given or (spec.family if spec else only or node)
    if given or spec:
        REGISTRY.require(name)
    elif name not in REGISTRY:
        raise ConfigError(
            'family', f"is required, the node's name {name!r} is none{REGISTRY.hint(name)}"
        )
    if spec and spec.family != name:
        raise ConfigError('family', f'{name!r}, but the robot description says {spec.family!r}')
    if only and name != only:
        raise ConfigError('family', f'this node runs {only!r}, got {name!r}')
    return name


def schema_of(family: str) -> list[Parameter]:
    """Return the parameters of a family and of its timing."""
    classes = (loop_params_of(family), REGISTRY[family].Params)
    return [parameter for cls in classes for parameter in parameters_of(cls)]


def allocator_of(own: AllocatorNodeParams, setting: Setting) -> tuple[Allocatable, Allocator]:
    """Return the group that an allocator commands, and what shares a wrench among it.

    Raises
    ------
    ConfigError
        For a wrong value, or a family of which no thrusts can be asked.
    """
    family = setting.build_family()
    if not isinstance(family, Allocatable):
        raise ConfigError('family', f'expected rotors or thrusters, got {setting.family!r}')
    lower, upper = family.thrust_limits
    return family, Allocator(family.allocation_matrix, lower, upper, own.method, own.weights)
