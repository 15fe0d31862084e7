# SPDX-License-Identifier: Apache-2.0
"""What happens when: drawn from a seed before anything runs."""
from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.soak.members import SIMULATED, STAMPED, Member

KILL, STOP, LEAVE, CLOCK, STAMPS = 'kill', 'stop', 'leave', 'clock', 'stamps'
CLOCK_SHIFTS = (-200.0, -30.0, -3.0, -0.4037, 3.0, 30.0, 300.0)
"""Of /clock [s]: -0.4037 and 3 are still the same time to a node, the others are jumps."""
STAMP_SHIFTS = (-200.0, -30.0, 30.0, 300.0)
"""Of the stamps of a node that has no clock [s]; all of them are jumps."""
_APART = 15.0
"""Between two ends of a node [s], so that it is up in between."""
_CALM = 15.0
"""Before the end of the run [s], so that the last lives are seen too."""


@dataclass(frozen=True, order=True)
class Event:
    """Something that happens to a node.

    Attributes
    ----------
    time : float
        Since the start of the run [s].
    action : str
        KILL and STOP end its process by SIGKILL and SIGTERM, LEAVE takes the publisher of its
        commands away, CLOCK and STAMPS shift the time of /clock and of its commands.
    member : str
        Name of the node, '' for CLOCK.
    amount : float
        How long it is down, how long its publisher is away, how far its time is shifted [s].
    """

    time: float
    action: str
    member: str
    amount: float


def draw_plan(
    members: Sequence[Member], seconds: float, seed: int, kill_every: float = 6.0
) -> list[Event]:
    """Return what will happen, in order.

    Parameters
    ----------
    members : sequence of Member
        The fleet.
    seconds : float
        Length of the run.
    seed : int
        Equal seeds give equal plans.
    kill_every : float
        Mean time between two ends of processes [s].
    """
    rng = random.Random(seed)  # noqa: S311  no secret
    end = seconds - min(_CALM, seconds / 3.0)

    def times(every: float) -> list[float]:
        time, drawn = 0.0, []
        while (time := time + rng.uniform(0.5, 1.5) * every) < end:
            drawn.append(time)
        return drawn

    events = []
    mortal = [m.name for m in members if not m.is_spared]
    free_at = dict.fromkeys(mortal, 0.0)
    for time in times(kill_every):
        ready = [name for name in mortal if free_at[name] <= time]
        if ready:
            action, name = rng.choice((KILL, KILL, KILL, STOP)), rng.choice(ready)
            down = rng.uniform(0.2, 3.0)
            free_at[name] = time + down + _APART
            events.append(Event(time, action, name, down))
    for time in times(4.0):
        events.append(Event(time, LEAVE, rng.choice(members).name, rng.uniform(0.2, 3.0)))
    if any(m.time == SIMULATED for m in members):
        events += [Event(time, CLOCK, '', rng.choice(CLOCK_SHIFTS)) for time in times(12.0)]
    stamped = [m.name for m in members if m.time == STAMPED]
    if stamped:
        events += [
            Event(time, STAMPS, rng.choice(stamped), rng.choice(STAMP_SHIFTS))
            for time in times(12.0)
        ]
    return sorted(events)


def is_jump(shift: float) -> bool:
    """Return whether nodes take a shift of /clock for another time."""
    return not -1.0 <= shift <= 10.0
