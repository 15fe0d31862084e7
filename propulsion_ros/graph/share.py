# SPDX-License-Identifier: Apache-2.0
"""Finds the files that come with the package, and reads robot descriptions."""
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path

from propulsion_ros.graph.expand_xacro import SECONDS, places_from
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import ABSENT, FILE, check_file, kind_of, printable, read_text
from propulsion_ros.settings.flat import suggestion
from propulsion_ros.urdf.xml import SIZE_LIMIT, Description

PACKAGE = 'propulsion_ros'
_ADDRESS, _MODEL = 'package://', 'model://'
_EXPAND = (
    'import sys; sys.path[:] = sys.argv[4:]; from propulsion_ros.graph.expand_xacro import main; '
    'main(sys.argv[1], int(sys.argv[2]), sys.argv[3])'
)
_WAIT = 60.0
"""Timeout of an expansion in wall time [s]: a network disk may not reply."""


def share_directory() -> Path:
    """Return the folder with launch/, config/ and urdf/; raise `SourceError` if there is none.

    A source tree has them itself; an installed package is found in the ament index, or under the
    prefix in which its modules are installed.
    """
    here = Path(__file__).resolve()
    source = here.parents[2]
    if (source / 'package.xml').is_file():
        return source
    indexed = _indexed()
    if indexed is not None:
        return indexed
    for prefix in here.parents[3:]:
        installed = prefix / 'share' / PACKAGE
        if (installed / 'package.xml').is_file():
            return installed
    raise SourceError(
        f'share/{PACKAGE}', f'found neither in the ament index nor in a folder above {source}'
    )


def located(path: str | Path, beside: str | Path = '') -> Path:
    """Return a path; a relative one is relative to the folder ``beside``.

    ``package://NAME/FILE`` is in the share folder of a ROS package, and ``model://NAME/FILE`` in a
    folder of GZ_SIM_RESOURCE_PATH or SDF_PATH, as for Gazebo. Raises `SourceError` if there is no
    such package or file.
    """
    text = str(path)
    if text.startswith(_MODEL):
        paths = [os.environ.get(key, '') for key in ('GZ_SIM_RESOURCE_PATH', 'SDF_PATH')]
        folders = [folder for each in paths for folder in each.split(os.pathsep) if folder]
        found = [Path(folder, text.removeprefix(_MODEL)) for folder in folders]
        for each in found:
            if kind_of(each) != ABSENT:
                return each
        raise SourceError(text, (
            f'is in no folder of GZ_SIM_RESOURCE_PATH: {", ".join(folders) or "it is empty"}'
        ))
    if not text.startswith(_ADDRESS):
        return Path(beside, path)
    name, _, rest = text.removeprefix(_ADDRESS).partition('/')
    folder = share_directory() if name == PACKAGE else _indexed(name)
    if folder is None:
        raise SourceError(text, f'package {name!r} is not installed')
    return folder / rest


def _indexed(package: str = PACKAGE) -> Path | None:
    """Return a share folder of the ament index, None if there is no index or no entry."""
    try:
        from ament_index_python.packages import get_package_share_directory

        return Path(get_package_share_directory(package))
    except (ImportError, LookupError, OSError, ValueError):
        # It raises OSError without AMENT_PREFIX_PATH, as with the wheels of ROS 2, and ValueError
        # for an invalid name.
        return None


def robot_files(robot: str) -> tuple[Path, list[Path]]:
    """Return the description of a robot, and the parameter files that come with it.

    Raises `SourceError` if there is no such package, or no such vehicle for a name without suffix.

    Parameters
    ----------
    robot : str
        A .urdf or .xacro file, ``package://NAME/FILE``, or the name of a vehicle of the package.
    """
    if robot in VEHICLES:
        share = share_directory()
        return share / 'urdf' / f'{robot}.urdf.xacro', [share / 'config' / f'{robot}.yaml']
    path = located(robot)
    if not path.suffix and kind_of(path) == ABSENT:
        near = suggestion(robot, VEHICLES) or f'; vehicles are {", ".join(VEHICLES)}'
        raise SourceError(printable(robot), f'is neither a file nor a vehicle{near}')
    return path, []


def read_description(path: str | Path) -> Description:
    """Return a .urdf or .xacro file with the places of its elements.

    Raises `SourceError` that names the file if it cannot be read or expanded.
    """
    if Path(path).suffix == '.xacro':
        check_file(path)
        return _expanded(path)
    return Description(printable(path), read_text(path, SIZE_LIMIT))


def _expanded(path: str | Path) -> Description:
    """Return an expanded xacro file; a process with limits expands it, see `expand_xacro`."""
    folders = [str(Path(__file__).resolve().parents[2]), *sys.path]
    share, name = '', printable(path)
    with suppress(SourceError):
        share = str(share_directory())
    command = [_python(), '-I', '-S', '-c', _EXPAND, str(path), str(SIZE_LIMIT), share, *folders]
    try:
        done = subprocess.run(  # noqa: S603  a list of words, no shell
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=_WAIT, check=False,
            # Ctrl-C must reach only this process, which ends the other one.
            start_new_session=True,
        )
    except subprocess.TimeoutExpired:
        raise SourceError(name, f'takes more than {_WAIT} s to expand') from None
    except (OSError, ValueError) as error:
        raise SourceError(name, f'cannot be expanded: {error}') from error
    head, _, text = done.stdout.decode().partition('\n')
    if done.returncode == 1 and text:
        raise SourceError(head or name, text)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise SourceError(name, f'takes more than {SECONDS} s of CPU time to expand')
    if done.returncode:
        raise SourceError(name, f'cannot be expanded: ended with code {done.returncode}')
    return Description(name, text, places_from(head))


def _python() -> str:
    """Return the Python to start: inside a simulator ``sys.executable`` may be another program."""
    name = 'python{}.{}'.format(*sys.version_info[:2])
    for folder in (sys.base_prefix + '/bin', sysconfig.get_config_var('BINDIR') or ''):
        if kind_of(Path(folder, name)) == FILE:
            return str(Path(folder, name))
    return sys.executable or shutil.which('python3') or name
