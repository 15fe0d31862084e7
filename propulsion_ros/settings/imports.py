# SPDX-License-Identifier: Apache-2.0
"""Lazy imports, and how to install packages that only some commands need."""
from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import Any

_OWN = __name__.split('.')[0]
_ROS_SUFFIXES = ('_msgs', '_srvs', '_interfaces')
_PIP = {'collada': 'pycollada', 'rclpy': 'ros-rclpy[fastrtps]'}
_APT = {
    'matplotlib': 'python3-matplotlib', 'distributed': 'python3-distributed',
    'xacro': 'ros-$ROS_DISTRO-xacro', 'rclpy': 'ros-$ROS_DISTRO-rclpy',
}
"""Names of packages of pip that differ from those of the modules, and names of those of apt."""


def how_to_get(*modules: str) -> str:
    """Return the command that installs some packages, by pip and, if it has all, by apt."""
    if modules == ('px4_msgs',):
        # Neither has this package, as it depends on the firmware.
        return 'build the branch of github.com/PX4/px4_msgs that matches the firmware'
    pip, apt = zip(*map(_names, modules), strict=True)
    return f'pip install {" ".join(pip)}' + f', or apt install {" ".join(apt)}' * all(apt)


def _names(module: str) -> tuple[str, str]:
    """Return the package of a module for pip and for apt, '' if apt does not have it."""
    package = module.partition('.')[0]
    if package.endswith(_ROS_SUFFIXES):
        dashed = package.replace('_', '-')
        return f'ros-{dashed}', f'ros-$ROS_DISTRO-{dashed}'
    # Not an extra of this package: if it is installed from a clone or a file, no index has it.
    return _required(_PIP.get(package, package)), _APT.get(package, '')


def _required(name: str) -> str:
    """Return a requirement with the versions that the metadata of this package have for it."""
    # Imported here, as it takes as long as all other imports of this file, which all programs use.
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = requires(_OWN) or ()
    except PackageNotFoundError:
        lines = ()
    found = (line.partition(';')[0].strip() for line in lines)
    matching = (line for line in found if re.fullmatch(rf'{re.escape(name)}[<>=!~, .\d]*', line))
    requirement = next(matching, name)
    return requirement if requirement.isidentifier() else f"'{requirement}'"


def late(
    package: str, places: Mapping[str, str], packages: Collection[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and the ``__dir__`` of a package.

    Parameters
    ----------
    places : mapping of str to str
        Names, separated by blanks, by the module in the package that defines them.
    packages : collection of str
        Subpackages that are also names of the package.
    """
    place_of = {name: place for place, names in places.items() for name in names.split()}

    def look_up(name: str) -> Any:
        if name in packages:
            return import_module(f'{package}.{name}')
        if name not in place_of:
            raise AttributeError(f'module {package!r} has no attribute {name!r}')
        return getattr(import_module(f'{package}.{place_of[name]}'), name)

    return look_up, lambda: [*vars(sys.modules[package]), *place_of, *packages]
