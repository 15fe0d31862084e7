"""Where the files that come with the package are, and robot descriptions made from them."""
from __future__ import annotations

from pathlib import Path

from propulsion_ros.settings.errors import SourceError

PACKAGE = 'propulsion_ros'


def share_directory() -> Path:
    """Return the folder that holds launch/, config/ and urdf/.

    A source tree has them itself; an installed package is found in the ament index, or under the
    prefix that its modules are installed in.

    Raises
    ------
    SourceError
        Where there is none.
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


def _indexed() -> Path | None:
    """Return the share folder of the ament index, None where there is no index or no entry."""
    try:
        from ament_index_python.packages import get_package_share_directory

        return Path(get_package_share_directory(PACKAGE))
    except (ImportError, LookupError, OSError):
        # Without AMENT_PREFIX_PATH, as beside the wheels of ROS 2, it raises OSError.
        return None


def load_robot_description(path: str | Path) -> str:
    """Return the URDF text of a .urdf or .xacro file.

    Raises
    ------
    SourceError
        Naming the file, where it cannot be read or expanded.
    """
    file = Path(path)
    try:
        if file.suffix != '.xacro':
            return file.read_text(encoding='utf-8')
        # Only the command line and launch need xacro, nodes get the finished text.
        import xacro

        return str(xacro.process_file(str(file)).toxml())
    except OSError as error:
        raise SourceError(str(file), f'cannot be read: {error.strerror}') from error
    except Exception as error:
        reason = ' '.join(str(error).split()) or type(error).__name__
        raise SourceError(str(file), reason) from error
