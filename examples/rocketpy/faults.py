# SPDX-License-Identifier: Apache-2.0
"""Fly Calisto many times, each flight with a fault of its barometer, and draw all of them.

``python faults.py rocketpy.png`` takes some ten minutes on two cores; ``--flights 20`` flies fewer.
"""
from __future__ import annotations

import argparse
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import rocketpy
from calisto import calisto, computer, equip, site
from calisto_data import RAIL

from propulsion_ros.rocketpy import SensorFault

KINDS = (
    'none', 'glitch', 'spikes', 'step', 'ramp', 'oscillation', 'pulse', 'noisy', 'stuck',
    'blocked', 'silent', 'patchy', 'late', 'clock', 'brown-out',
)
EARLY, LATE = 5.0, 2.0
"""Upward speed [m/s] at which a drogue is premature, and time after the apogee [s] of a late one.
"""


class Flown(NamedTuple):
    """One flight."""

    kind: str
    at: float
    time: np.ndarray
    height: np.ndarray
    apogee: float
    drogue: float
    main: float
    """Times [s], NaN for what never came."""
    climb: float
    """When the drogue fired [m/s], NaN where it did not."""
    main_height: float

    @property
    def verdict(self) -> str:
        """What was wrong with the drogue."""
        if np.isnan(self.drogue):
            return 'missed'
        if self.climb > EARLY:
            return 'premature'
        return 'late' if self.drogue > self.apogee + LATE else 'in time'


def fly(seed: int) -> Flown:
    """Return the flight of a seed, with the fault that it has."""
    warnings.simplefilter('ignore')
    rng, kind = np.random.default_rng((seed, 42)), KINDS[seed % len(KINDS)]
    at = float(rng.uniform(1.0, 30.0))
    faults = {} if kind == 'none' else {'pressure': SensorFault(kind, at, seed=seed)}
    flown, rocket = computer(faults=faults), calisto()
    equip(rocket, flown, seed)
    flight = rocketpy.Flight(
        rocket=rocket, environment=site(tuple(rng.normal(0.0, 3.0, 2))), rail_length=RAIL,
        inclination=float(rng.uniform(80.0, 90.0)), heading=float(rng.uniform(0.0, 360.0)),
    )
    flown.finish()
    level = flight.env.elevation
    fired = {each.name: each.time for each in flown.deployed}
    drogue, main = (fired.get(name, np.nan) for name in ('drogue', 'main'))
    time = np.linspace(0.0, flight.t_final, 150)
    return Flown(
        kind, at, time, np.array(flight.z.get_value(time.tolist())) - level,
        float(flight.apogee_time), drogue, main,
        float(flight.vz(drogue)) if drogue == drogue else np.nan,
        float(flight.z(main)) - level if main == main else np.nan,
    )


def draw(flights: list[Flown], path: Path) -> None:
    """Draw heights over time, the delay of the drogue and the height of the main, by fault."""
    import matplotlib as mpl

    mpl.use('Agg')
    from matplotlib import pyplot as plt

    colours = {'in time': '0.6', 'late': 'tab:orange', 'premature': 'tab:red', 'missed': 'k'}
    figure, axes = plt.subplots(
        1, 3, figsize=(11.0, 4.2), layout='constrained', width_ratios=(1.5, 1.0, 1.0)
    )
    counts = Counter(each.verdict for each in flights)
    for each in sorted(flights, key=lambda flown: list(colours).index(flown.verdict)):
        colour = colours[each.verdict]
        axes[0].plot(each.time, each.height, lw=0.5, color=colour)
        row = KINDS.index(each.kind)
        axes[1].plot(each.drogue - each.apogee, row, '|', color=colour, ms=9)
        axes[2].plot(each.main_height, row, '|', color=colour, ms=9)
    for verdict, colour in colours.items():
        axes[0].plot([], [], color=colour, label=f'drogue {verdict}: {counts[verdict]}')
    axes[0].legend(title=f'{len(flights)} flights', loc='upper right')
    axes[0].set(xlabel='time [s]', ylabel='height [m]')
    axes[1].set(xlabel='drogue after the apogee [s]')
    axes[2].set(xlabel='height of the main [m]')
    for axis in axes[1:]:
        axis.set_yticks(range(len(KINDS)), KINDS if axis is axes[1] else [''] * len(KINDS))
        axis.invert_yaxis()
    for axis in axes:
        axis.grid(alpha=0.3)
    figure.savefig(path, dpi=80, metadata={'Software': None})
    plt.close(figure)


def main() -> None:
    """Fly, draw and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument('picture', type=Path)
    parser.add_argument('--flights', type=int, default=200)
    parser.add_argument('--workers', type=int, default=2)
    args = parser.parse_args()
    with ProcessPoolExecutor(args.workers) as pool:
        flights = list(pool.map(fly, range(args.flights)))
    draw(flights, args.picture)
    for seed, each in enumerate(flights):
        if each.verdict != 'in time' or not each.main_height > 0.0:
            print(
                f'flight {seed}: {each.kind} from {each.at:.1f} s on: drogue {each.verdict}, '
                f'{each.drogue - each.apogee:+.2f} s; main at {each.main_height:.0f} m'
            )
    print(dict(Counter(each.verdict for each in flights)))


if __name__ == '__main__':
    main()
