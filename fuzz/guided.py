# SPDX-License-Identifier: Apache-2.0
"""One target under coverage guidance: ``python -m fuzz.guided NAME [libFuzzer option or FILE]...``.

With a FILE it runs that input alone, which shows a crash again.
"""
from __future__ import annotations

import sys

import atheris

INSTRUMENTED = ['propulsion_ros', 'rosbags', 'xacro', 'yaml', 'json5', 'defusedxml']

with atheris.instrument_imports(include=INSTRUMENTED):
    # What the package imports late, so that it is instrumented too.
    import json5  # noqa: F401
    import rosbags.rosbag2  # noqa: F401
    import xacro  # noqa: F401

    from fuzz.target import outcome
    from fuzz.targets import TARGETS


def main() -> None:
    """Run until something is found or the time is over."""
    target = TARGETS[sys.argv[1]]

    def run(data: bytes) -> None:
        outcome(target, data)

    atheris.Setup([sys.argv[0], *sys.argv[2:]], run)
    atheris.Fuzz()


if __name__ == '__main__':
    main()
