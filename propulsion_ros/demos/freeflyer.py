# SPDX-License-Identifier: Apache-2.0
"""The free-flyer: wrenches that saturate in part, and the estimate of the applied wrench."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.transform import Rotation

from propulsion_ros.demos.demo import Demo, Row, Summary, number
from propulsion_ros.demos.pilot import Command, Pilot, Recording, efforts
from propulsion_ros.drawing.figure import (
    COMMAND,
    PUBLISHED,
    Mark,
    Page,
    Panel,
    Trace,
    spans_where,
)
from propulsion_ros.loops.decoders import msg_to_inertia, msg_to_wrench
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.models.common.family import WRENCH_NAMES
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.models.common.wrench import cross, move_wrench
from propulsion_ros.settings.quantity import BoolArray, FloatArray

START = 16.0
"""Time of the first pulse, by which the impellers have reached their speed [s]."""
_PAUSE = 0.5  # after each pulse [s]
WITHIN_LIMITS = np.diag([0.2, 0.15, 0.2, 0.02, 0.02, 0.02])
"""Force [N] and torque about the centre of mass [N m] of pulses along one axis each, (6, 6)."""
_BEYOND_LIMITS = np.array([
    [0.6, 0.0, 0.0, 0.0, 0.0, 0.0],
    [0.0, 0.4, 0.4, 0.0, 0.0, 0.0],
    [0.0, 0.0, 0.0, 0.06, 0.05, 0.0],
    [0.25, 0.0, 0.1, 0.0, 0.0, 0.06],
])
"""The same of more than the nozzles can give."""
WRENCHES = np.vstack([WITHIN_LIMITS, _BEYOND_LIMITS])
_DURATIONS = np.repeat([1.0, 1.5], [len(WITHIN_LIMITS), len(_BEYOND_LIMITS)])
"""The wrench of each pulse, and its duration [s]; the opposite one acts as long after it."""
BEGINNINGS = START + np.cumsum([0.0, *(2.0 * _DURATIONS + _PAUSE)])
"""Times at which the pulses begin, and last the end of the sequence [s]."""
END = float(BEGINNINGS[-1])


def wrench_at(time: float) -> FloatArray:
    """Return the wrench to demand at a time [s], (6,)."""
    for begin, wrench, duration in zip(BEGINNINGS, WRENCHES, _DURATIONS, strict=False):
        part = np.floor((time - begin) / duration + 1e-9)
        if part in (0.0, 1.0):
            return np.asarray(wrench * (1.0 - 2.0 * part))
    return np.zeros(6)


_BEYOND = float(BEGINNINGS[len(WITHIN_LIMITS)])
"""Time from which on the demand is more than the nozzles can give [s]."""
_REVERSAL = _BEYOND + float(_DURATIONS[-1])  # of the first such pulse [s]
_PERIOD = 0.016  # step of the vehicle and its actuators [s]
_UNMET = np.array([0.01] * 3 + [0.002] * 3)
"""Missing part of a demand that is more than the resolution of the servos [N], [N m]."""
_COMMAND = 'fam/wrench_command'
_NOZZLES = tuple(f'nozzle_{i}' for i in range(1, 13))


class FreeflyerPilot(Pilot):
    """Commands the sequence to fam."""

    commands: ClassVar = {_COMMAND: Kind.WRENCH}
    end = END

    def __init__(self) -> None:
        super().__init__()
        self._com: FloatArray = np.zeros(3)
        self.receive(Kind.INERTIA, 'vehicle/inertia', self._on_inertia)
        self.record(Kind.WRENCH, 'propulsion_modules/wrench', 'true', self._about_com)
        self.record(Kind.WRENCH, 'inverse_fam/wrench', 'estimate', self._about_com)
        self.record(Kind.JOINTS, 'propulsion_modules/state', 'thrust', efforts(_NOZZLES))

    def steer(self, time: float, motion: Motion) -> Mapping[str, Command]:
        """Return the wrench."""
        self.recording.add('motion', time, *motion_numbers(motion))
        wrench = wrench_at(time)
        self.recording.add('demand', time, *wrench.tolist())
        return {_COMMAND: wrench}

    def status(self, time: float, motion: Motion) -> str:
        """Return the present demand."""
        if time < START:
            return 'the impellers spin up'
        demand = ' '.join(
            f'{name} {value:+.2f}'
            for name, value in zip(WRENCH_NAMES, wrench_at(time), strict=True) if value
        )
        return f'demands {demand or "nothing":<33}'

    def _about_com(self, message: Any) -> list[float]:
        """Return a wrench about the centre of mass."""
        wrench: list[float] = move_wrench(msg_to_wrench(message), -self._com).tolist()
        return wrench

    def _on_inertia(self, stamp: float, message: Any) -> None:
        _, self._com, _ = msg_to_inertia(message)
        self.recording.add('mass', stamp, *mass_numbers(message))


def _summarise(recording: Recording) -> Summary:
    """Return the numbers of a flight, six for those of a wrench about the centre of mass."""
    demand, true, estimate = (
        recording.between(name, START, END)
        for name in ('demand', 'true', 'estimate')
    )
    # Errors are judged at the end of each pulse, when the servos have settled.
    ends = np.flatnonzero(np.diff(demand[:, 1:], axis=0).any(axis=1))
    ends = ends[demand[ends, 1:].any(axis=1)]
    last = np.flatnonzero(true[:, 0] < _REVERSAL - 1e-9)[-1:]
    is_reached = bool(len(true)) and true[-1, 0] >= _REVERSAL - _PERIOD
    # Force along x of the largest pulse at its end: demanded, true and estimated.
    largest = {
        f'largest_{name}': float(rows[last[0], 1]) if is_reached else np.nan
        for name, rows in (('asked', demand), ('given', true), ('estimated', estimate))
    }
    momentum, angular = momenta(recording)
    return {
        'error': _parts(estimate - true, _rms),
        'settled_error': _parts(
            (estimate - true)[ends], lambda values: np.abs(values).max(axis=0)
        ),
        'missing': _parts(demand - true, _rms),
        **largest,
        'unmet_time': float(_PERIOD * np.count_nonzero(_is_unmet(demand, estimate))),
        'momentum': momentum[0],
        'angular_momentum': angular[0],
        'momentum_error': momentum[1],
        'angular_momentum_error': angular[1],
    }


def _table(s: Summary, recording: Recording) -> list[Row]:
    return [
        number('largest force', s['largest_given'], '.3f', 'N',
               f'of {s["largest_asked"]:.3f} N demanded; estimated {s["largest_estimated"]:.3f} N'),
        *(
            number(f'estimate of the {part}', scale * max(s['settled_error'][cut]), '.2f', unit,
                   'off at most, once the servos stand still; '
                   f'{scale * max(s["error"][cut]):.2f} rms with their moves')
            for part, cut, scale, unit in (
                ('force', slice(3), 1e3, 'mN'), ('torque', slice(3, 6), 1e3, 'mN m'),
            )
        ),
        number('demand not met', s['unmet_time'], '.2f', 's', 'as the estimate found'),
        number('momentum', s['momentum'], '.4f', 'N s', _off(s['momentum_error'], 'force')),
        number('angular momentum', s['angular_momentum'], '.5f', 'N m s',
               _off(s['angular_momentum_error'], 'torque')),
    ]


def _page(summary: Summary, recording: Recording) -> Page:
    demand, true, estimate, thrust = map(
        recording.series, ('demand', 'true', 'estimate', 'thrust')
    )
    known = [
        ('given', PUBLISHED, true), ('estimated', PUBLISHED, estimate),
        ('demanded', COMMAND, demand),
    ]
    sizes = [
        Panel(f'{part}: as demanded, until that is too much (grey)', tuple(
            Trace(name, role, rows[:, 0], np.linalg.norm(rows[:, cut], axis=1))
            for name, role, rows in (known[0], known[2])
        ), scale=f'size of the {part.lower()} [{unit}]')
        for part, cut, unit in (('Force', slice(1, 4), 'N'), ('Torque', slice(4, 7), 'N m'))
    ]
    return recording.page(
        'A free-flyer pushes itself by twelve air nozzles', (
            *sizes,
            Panel('Each pulse reverses: nozzles swing, unseen by the estimate', tuple(
                # Each value holds for a step.
                Trace(name, role, np.repeat(rows[:, 0], 2)[1:], np.repeat(rows[:, 1], 2)[:-1])
                for name, role, rows in known
            ), (_REVERSAL - 0.1, _REVERSAL + 0.4), 'force along x [N]'),
            Panel('Thrust of all twelve nozzles', (
                Trace('all twelve', PUBLISHED, thrust[:, 0], thrust[:, 1:].sum(axis=1)),
            ), scale='thrust [N]'),
        ), begin=START - 1.0,
        phases=spans_where(_is_unmet(demand, estimate), demand[:, 0], ''),
        marks=[Mark(START, 'within its power'), Mark(_BEYOND, 'too much')],
    )


def _is_unmet(demand: FloatArray, estimate: FloatArray) -> BoolArray:
    """Return at which rows a part of the demand is missing by the estimate, (n,)."""
    return np.asarray((np.abs(demand - estimate)[:, 1:] > _UNMET).any(axis=1))


def _off(error: float, cause: str) -> str:
    return (
        f'differs from the {cause} summed over time by {error:.0e} of it' if np.isfinite(error)
        else ''
    )


def motion_numbers(motion: Motion) -> list[float]:
    """Return a row of the series 'motion' of `momenta`."""
    parts = motion.quaternion, motion.velocity, motion.angular_velocity
    return [float(value) for part in parts for value in part]


def mass_numbers(message: Any) -> list[float]:
    """Return a row of the series 'mass' of `momenta`, from an InertiaStamped."""
    mass, com, inertia = msg_to_inertia(message)
    return [mass, *com.tolist(), *inertia.ravel().tolist()]


def momenta(recording: Recording) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the largest momentum and its error, linear and angular, in the world.

    The error is the largest difference between the change of the momentum and the integral of the
    true wrench, over the largest momentum; NaN if nothing moved.
    """
    motion = recording.series('motion')
    if len(motion) < 2:
        return (0.0, np.nan), (0.0, np.nan)
    true = recording.series('true')[:, 1:]
    # The mass before the first step is not that of the tanks yet.
    weighed = recording.series('mass')[:2][-1]
    mass, com, inertia = weighed[1], weighed[2:5], weighed[5:].reshape(3, 3)
    attitude = Rotation.from_quat(motion[:, 1:5])
    velocity, rate = motion[:, 5:8], motion[:, 8:]
    through = velocity + cross(rate, np.broadcast_to(com, rate.shape))
    # A wrench is constant in the axes of the body, which turn while it acts.
    half = Rotation.from_rotvec(0.5 * (attitude[:-1].inv() * attitude[1:]).as_rotvec())
    middle = attitude[:-1] * half
    step = np.diff(motion[:, 0])[:, None]
    results = []
    for held, pushed in (
        (mass * through, true[: len(step), :3]), (rate @ inertia, true[: len(step), 3:])
    ):
        state = attitude.apply(held)
        gained = np.cumsum(step * middle.apply(pushed), axis=0)
        largest = float(np.linalg.norm(state, axis=1).max())
        off = float(np.linalg.norm(state[1:] - state[0] - gained, axis=1).max())
        results.append((largest, off / largest if largest else np.nan))
    return results[0], results[1]


def _parts(rows: FloatArray, judge: Callable[[FloatArray], FloatArray]) -> tuple[float, ...]:
    """Return a function of the columns after the time's; NaN without rows."""
    return tuple(judge(rows[:, 1:]).tolist()) if len(rows) else (np.nan,) * 6


def _rms(values: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))


DEMO = Demo(FreeflyerPilot, _summarise, _table, _page)
"""A sequence of wrenches along each axis, then some that saturate."""
