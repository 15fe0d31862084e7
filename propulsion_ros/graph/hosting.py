"""How each family is run, where that differs from most."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from propulsion_ros.graph.family_params import ActuatorNodeParams, FamilyNodeParams
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.loops.estimate_loop import EstimateParams


@dataclass(frozen=True)
class Host:
    """What runs a family.

    Attributes
    ----------
    executable : str
        Its node.
    loop_params : type
        Configuration class of its timing.
    node_params : type
        Configuration class of the node itself.
    pushes : bool
        Whether its wrench acts on the robot; else it is a statement about what others do.
    """

    executable: str = 'actuator_node'
    loop_params: type[Any] = LoopParams
    node_params: type[FamilyNodeParams] = ActuatorNodeParams
    pushes: bool = True


_HOSTS = {
    'fam': Host(pushes=False),
    'inverse_fam': Host('inverse_fam_node', EstimateParams, FamilyNodeParams, pushes=False),
}


def host_of(family: str) -> Host:
    """Return what runs a family."""
    return _HOSTS.get(family, Host())


def loop_params_of(family: str) -> type[Any]:
    """Return the configuration class of a family's timing."""
    return host_of(family).loop_params
