# SPDX-License-Identifier: Apache-2.0
"""Fly the rocket's demo and keep what a replay needs and what the nodes said: demo_bag.

python test/data/make_demo_bag.py
"""
from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from propulsion_ros.graph.share import share_directory
from propulsion_ros.replay.bags import BagReader, BagWriter

HERE = Path(__file__).resolve().parent
BAG = HERE / 'demo_bag'


def main() -> None:
    """Write the bag anew."""
    kept = yaml.safe_load((share_directory() / 'qos' / 'record.yaml').read_text())
    with tempfile.TemporaryDirectory() as folder:
        flown = Path(folder) / 'flown'
        subprocess.run(
            [sys.executable, '-m', 'propulsion_ros.tools.cli', 'demo', '--output', folder,
             '--params-file', str(HERE / 'demo.yaml'), '--record', str(flown), '--until', '54'],
            check=True,
        )
        shutil.rmtree(BAG, ignore_errors=True)
        with BagReader(flown) as reader, BagWriter(BAG) as writer:
            for message in reader.messages(kept):
                writer.write(message)


if __name__ == '__main__':
    main()
