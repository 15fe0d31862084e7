# SPDX-License-Identifier: Apache-2.0
"""Physics of actuators and bodies: numpy and scipy, no ROS, no clock, no files.

A family has a room, `common` holds what families share, `registry` lists the families. What
takes ``params`` takes a validated configuration; ``batch`` is the leading shape of a state.
"""
from __future__ import annotations

from propulsion_ros.settings.imports import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from propulsion_ros.models.body.bodies import Bodies
    from propulsion_ros.models.body.mass import MassProperties
    from propulsion_ros.models.body.rigid_body import BodyParams
    from propulsion_ros.models.body.vehicles import Vehicles
    from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
    from propulsion_ros.models.common.allocation import Allocation, Allocator, allocation_matrix
    from propulsion_ros.models.common.family import (
        Allocatable,
        BatteryState,
        BodyState,
        Command,
        Family,
        Output,
        TankState,
    )
    from propulsion_ros.models.common.model import Model
    from propulsion_ros.models.fam.fam import Fam, FamParams
    from propulsion_ros.models.fam.inverse_fam import InverseFam, InverseFamParams
    from propulsion_ros.models.fam.propulsion_module import (
        PropulsionModules,
        PropulsionModulesParams,
    )
    from propulsion_ros.models.fins.fins import Fins, FinsParams
    from propulsion_ros.models.jets.jets import Jets, JetsParams
    from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
    from propulsion_ros.models.supply.batteries import BatteriesParams
    from propulsion_ros.models.supply.tanks import TanksParams
    from propulsion_ros.models.thrusters.thrusters import Thrusters, ThrustersParams

__all__ = [
    'Allocatable', 'Allocation', 'Allocator', 'BatteriesParams', 'BatteryState', 'Bodies',
    'BodyParams', 'BodyState', 'Boosters', 'BoostersParams', 'Command', 'Fam', 'FamParams',
    'Family', 'Fins', 'FinsParams', 'InverseFam', 'InverseFamParams', 'Jets', 'JetsParams',
    'MassProperties', 'Model', 'Output', 'PropulsionModules', 'PropulsionModulesParams', 'Rotors',
    'RotorsParams', 'TankState', 'TanksParams', 'Thrusters', 'ThrustersParams', 'Vehicles',
    'allocation_matrix',
]

__getattr__, __dir__ = late(__name__, {
    'body.bodies': 'Bodies',
    'body.mass': 'MassProperties',
    'body.rigid_body': 'BodyParams',
    'body.vehicles': 'Vehicles',
    'boosters.boosters': 'Boosters BoostersParams',
    'common.allocation': 'Allocation Allocator allocation_matrix',
    'common.family': 'Allocatable BatteryState BodyState Command Family Output TankState',
    'common.model': 'Model',
    'fam.fam': 'Fam FamParams',
    'fam.inverse_fam': 'InverseFam InverseFamParams',
    'fam.propulsion_module': 'PropulsionModules PropulsionModulesParams',
    'fins.fins': 'Fins FinsParams',
    'jets.jets': 'Jets JetsParams',
    'rotors.rotors': 'Rotors RotorsParams',
    'supply.batteries': 'BatteriesParams',
    'supply.tanks': 'TanksParams',
    'thrusters.thrusters': 'Thrusters ThrustersParams',
})
