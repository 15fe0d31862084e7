# SPDX-License-Identifier: Apache-2.0
"""Read package.xml and CHANGELOG.rst as bloom does; needs catkin_pkg."""
from __future__ import annotations

import sys
from pathlib import Path

from catkin_pkg.changelog import get_changelog_from_path
from catkin_pkg.package import parse_package

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """End with 1 and the faults."""
    warnings: list[str] = []
    package = parse_package(str(ROOT / 'package.xml'), warnings=warnings)
    package.validate(warnings=warnings)
    changelog = get_changelog_from_path(str(ROOT / 'CHANGELOG.rst'))
    if package.version not in [version for version, _, _ in changelog.foreach_version()]:
        warnings.append(f'CHANGELOG.rst: expected a section {package.version}, as package.xml has')
    sys.exit('\n'.join(warnings) or 0)


if __name__ == '__main__':
    main()
