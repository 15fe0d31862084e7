# SPDX-License-Identifier: Apache-2.0
"""Run every command of an installed package once, on the files that it installs.

usage: every_command.py PREFIX
"""
from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROBOT = '{share}/examples/hexacopter/hexacopter'
# Later ones read what earlier ones wrote; what stands behind & runs beside the next one.
RUNS = (
    'check {robot}.yaml --model {robot}.urdf',
    'fly {robot}.urdf --params-file {robot}.yaml --allocate rotors --duration 4 '
    '--real-time-factor 0 --wait-for rotors_allocator/wrench_command --record flight '
    '--controller {share}/examples/hexacopter/controller.py',
    'identify flight --model {robot}.urdf --params-file {robot}.yaml --measured imu '
    '--fit body.mass',
    'replay {robot}.yaml flight again --model {robot}.urdf',
    'plot flight --output plots.png',
    'record copy --duration 12 &',
    'play flight --wait 10',
    'gazebo {share}/urdf/rov.urdf.xacro --output model',
    'demo --vehicle freeflyer --until 1',
    'apogee-trials --flights 2',
    'study {share}/studies/apogee.yaml --cases 2 --jobs 1',
    'apogee log.csv --picture apogee.png',
    # Its extra is not among those that are installed here.
    'view flight --model {robot}.urdf --html view.html',
)
REFUSED = {'view': "pip install 'meshcat"}
LOG = 'time_s,altitude_m\n' + ''.join(
    f'{0.05 * i:.2f},{max(0.0, 60 * (0.05 * i - 1) - 4.9 * (0.05 * i - 1) ** 2):.2f}\n'
    for i in range(200)
)


def main() -> None:
    """Run them all; end with 1 after the first that fails."""
    prefix = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, 'log.csv').write_text(LOG, encoding='utf-8')
        beside = []
        for line in RUNS:
            process = _started(prefix, line.removesuffix(' &'), folder)
            if line.endswith('&'):
                beside.append((line, process))
            else:
                _finish(line, process)
        for line, process in beside:
            _finish(line, process)


def _started(prefix: Path, line: str, folder: str) -> subprocess.Popen[str]:
    share = prefix / 'share' / 'propulsion_ros'
    words = line.replace('{robot}', ROBOT).replace('{share}', str(share)).split()
    environment = {
        'PATH': f'{prefix}/bin:/usr/bin:/bin', 'HOME': folder, 'PYTHONDONTWRITEBYTECODE': '1',
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
        'ROS_DOMAIN_ID': os.environ.get('ROS_DOMAIN_ID', '99'),
    }
    return subprocess.Popen(
        [prefix / 'bin' / 'propulsion_ros', *words], cwd=folder, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )


def _finish(line: str, process: subprocess.Popen[str]) -> None:
    text = process.communicate(timeout=300)[0]
    name = line.split(maxsplit=1)[0]
    remedy = REFUSED.get(name, '')
    if process.returncode != bool(remedy) or remedy not in text or 'Traceback' in text:
        came = f'exit code {process.returncode}, expected {remedy or 0}'
        sys.exit(f'propulsion_ros {line}\n{came}:\n{text}')
    print(f'propulsion_ros {name}: {remedy or "exit code 0"}', flush=True)


if __name__ == '__main__':
    main()
