# SPDX-License-Identifier: Apache-2.0
"""What a step of each family costs beside its original, where that is installed."""
from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks import cases
from benchmarks.cases import Case, missing
from benchmarks.rows import Row
from benchmarks.timing import cpu_medians

_MAKERS: tuple[Callable[[], Case], ...] = (
    lambda: cases.boosters(1), lambda: cases.boosters(4), lambda: cases.boosters(16),
    cases.gimballed_booster, lambda: cases.fins(4), lambda: cases.fins(16), cases.thrusters,
    lambda: cases.rotors(1), lambda: cases.rotors(4096), lambda: cases.rotors(65536),
)


def measure() -> Iterator[Row]:
    """Yield the rows, each case built, measured and dropped before the next."""
    yield from missing('pyflyt', 'isaaclab')
    for make in _MAKERS:
        yield from rows_of(make())


def rows_of(case: Case) -> Iterator[Row]:
    """Yield what the work of a case costs, in turns with each original."""
    if case.difference is not None:
        print(f'{case.name}: apart by {case.difference:.1e} with the settings of the original')
    for name, ours in case.ours.items():
        work = f'{case.name}: {name}'
        for original, theirs in case.peers.items():
            times = cpu_medians({'ours': ours, 'theirs': theirs})
            yield Row(work, times['ours'] * 1e6, 'us', original, times['theirs'] * 1e6)
        if not case.peers:
            seconds = cpu_medians({'ours': ours})['ours'] / case.per_step
            limit = case.limits.get(name)
            yield Row(work, seconds * 1e6, 'us', 'limit' if limit else '', limit and limit * 1e6)
