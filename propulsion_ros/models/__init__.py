"""Actuator physics: numpy only, no ROS, no clock, no files."""
from __future__ import annotations

from collections.abc import Mapping

from propulsion_ros.models.boosters import Boosters
from propulsion_ros.models.fam import Fam
from propulsion_ros.models.family import Family
from propulsion_ros.models.fins import Fins
from propulsion_ros.models.inverse_fam import InverseFam
from propulsion_ros.models.propulsion_module import PropulsionModules
from propulsion_ros.models.rotors import Rotors
from propulsion_ros.models.thrusters import Thrusters

FAMILIES: Mapping[str, type[Family]] = {
    'boosters': Boosters,
    'rotors': Rotors,
    'thrusters': Thrusters,
    'fins': Fins,
    'fam': Fam,
    'inverse_fam': InverseFam,
    'propulsion_modules': PropulsionModules,
}
"""The actuator families of this package; `propulsion_ros.families` knows those of others too."""
