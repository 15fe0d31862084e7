# SPDX-License-Identifier: Apache-2.0
"""The command ``propulsion_ros``, as ``python -m propulsion_ros``."""
import sys

from propulsion_ros.tools.cli import main

if __name__ == '__main__':
    sys.exit(main())
