"""Print what a step of each family costs beside its original: ``python -m benchmarks``."""
from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks import astrobee, cases
from benchmarks.timing import cpu_medians
from propulsion_ros.flight.estimator_state import Stage

TUNED = {'MALLOC_MMAP_THRESHOLD_': '268435456', 'MALLOC_TRIM_THRESHOLD_': '1073741824'}
"""Settings of glibc's allocator that keep freed memory instead of returning it."""

_ROTORS: list[Callable[[], cases.Case]] = [
    lambda batch=batch: cases.rotors(batch) for batch in (1, 4096, 65536)  # type: ignore[misc]
]
_OTHERS: list[Callable[[], cases.Case]] = [
    lambda: cases.boosters(1), lambda: cases.boosters(4), lambda: cases.boosters(16),
    cases.gimballed_booster, cases.thrusters, lambda: cases.fins(4), lambda: cases.fins(16),
    lambda: astrobee.allocation(1), lambda: astrobee.allocation(10_000),
    lambda: cases.estimator(Stage.PAD), lambda: cases.estimator(Stage.BOOST),
]
_WITHOUT_ORIGINAL = {
    'thrusters n=8': 'the original is a plugin of a simulator, in C++',
    'fam and inverse': 'the original is C++ inside a flight stack, 0.5 us',
    'estimator, pad': 'at most 60 us are wanted',
    'estimator, boost': 'at most 60 us are wanted',
    'fam and inverse, batch of 10000': 'one sample of the batch',
}


def main() -> int:
    """Run the script."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks', description=__doc__)
    parser.add_argument('--json', metavar='FILE', help='write the numbers here')
    parser.add_argument('--rotors-only', action='store_true', help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.rotors_only:
        Path(args.json).write_text(json.dumps(_measured(_ROTORS)), encoding='utf-8')
        return 0

    machine = _machine()
    print('\n'.join(f'{key}: {value}' for key, value in machine.items()))
    _warn_of_missing_peers()
    print('\nMedian CPU time of one step [us]: ours, the original, and how many times ours it is.')
    others, rotors, tuned = _measured(_OTHERS), _measured(_ROTORS), _tuned_rotors()
    _print('Allocator as installed', [*others, *rotors])
    _print(f'Allocator tuned ({" ".join("=".join(item) for item in TUNED.items())})', tuned)
    if args.json:
        numbers = {'machine': machine, 'as_installed': [*others, *rotors], 'tuned': tuned}
        Path(args.json).write_text(json.dumps(numbers, indent=2) + '\n', encoding='utf-8')
    return 0


def _measured(makers: list[Callable[[], cases.Case]]) -> list[dict[str, Any]]:
    """Return the numbers of cases, each built, measured and dropped before the next."""
    return [_numbers(make()) for make in makers]


def _numbers(case: cases.Case) -> dict[str, Any]:
    rows = []
    for name, ours in case.ours.items():
        if not case.peers:
            seconds = cpu_medians({'ours': ours})['ours'] / case.per_step
            rows.append({'ours': name, 'seconds': seconds})
        for original, theirs in case.peers.items():
            times = cpu_medians({'ours': ours, 'original': theirs})
            rows.append({
                'ours': name, 'seconds': times['ours'],
                'original': original, 'original_seconds': times['original'],
                'ratio': times['original'] / times['ours'],
            })
    return {'name': case.name, 'difference': case.difference, 'rows': rows}


def _tuned_rotors() -> list[dict[str, Any]]:
    """Return the rotors' numbers from a process that starts with the allocator tuned."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / 'numbers.json'
        subprocess.run(  # noqa: S603  this very script
            [sys.executable, '-m', 'benchmarks', '--rotors-only', '--json', str(file)],
            env={**os.environ, **TUNED}, check=True,
        )
        numbers: list[dict[str, Any]] = json.loads(file.read_text(encoding='utf-8'))
        return numbers


def _print(title: str, numbers: list[dict[str, Any]]) -> None:
    print(f'\n{title}')
    for case in numbers:
        difference = case['difference']
        agree = '' if difference is None else f'  (apart by {difference:.1e} in the same mode)'
        print(f'  {case["name"]}{agree}')
        for row in case['rows']:
            beside = _why_alone(case['name'])
            if 'original' in row:
                theirs = row['original_seconds'] * 1e6
                beside = f'{row["original"]:24s}{theirs:9.1f}  {row["ratio"]:6.2f} x'
            print(f'    {row["ours"]:30s}{row["seconds"] * 1e6:9.1f}  {beside}')


def _why_alone(name: str) -> str:
    return _WITHOUT_ORIGINAL.get(name, 'NOT COMPARED, the original is not installed')


def _warn_of_missing_peers() -> None:
    for module, install in (('pyflyt', 'PyFlyt pybullet'), ('isaaclab', 'torch==2.13.0')):
        if cases.optional(module) is None:
            print(f'NOT COMPARED with {module}: pip install {install}')


def _machine() -> dict[str, str]:
    versions = []
    for package in ('numpy', 'scipy', 'torch', 'PyFlyt', 'pybullet', 'numba'):
        try:
            versions.append(f'{package} {metadata.version(package)}')
        except metadata.PackageNotFoundError:
            continue
    return {
        'machine': f'{_processor()}, {os.cpu_count()} cores',
        'system': f'{platform.system()} {platform.release()}, {" ".join(platform.libc_ver())}',
        'versions': f'Python {platform.python_version()}, {", ".join(versions)}',
        'load': ' '.join(f'{load:.1f}' for load in os.getloadavg()),
    }


def _processor() -> str:
    information = Path('/proc/cpuinfo')
    if information.exists():
        for line in information.read_text(encoding='utf-8').splitlines():
            if line.startswith('model name'):
                return line.partition(':')[2].strip()
    return platform.processor() or platform.machine()


if __name__ == '__main__':
    raise SystemExit(main())
