# SPDX-License-Identifier: Apache-2.0
"""The free-flyer: wrenches that saturate in part, and the estimate of what is really applied."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState

from propulsion_ros.demos import ink
from propulsion_ros.demos.demo import Row, number
from propulsion_ros.demos.freeflyer_guidance import WITHIN_LIMITS, WrenchSequence
from propulsion_ros.demos.pilot import Pilot
from propulsion_ros.demos.recording import Recording
from propulsion_ros.loops.decoders import msg_to_inertia, msg_to_wrench
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import wrench_to_msg
from propulsion_ros.models.common.family import WRENCH_NAMES
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.models.common.wrench import cross, move_wrench
from propulsion_ros.settings.quantity import FloatArray

_SEQUENCE = WrenchSequence()
_BEYOND = _SEQUENCE.beginnings[len(WITHIN_LIMITS)]
"""From here on the demand is more than the nozzles can give [s]."""
_PERIOD = 0.016
"""Step of the vehicle and its actuators [s]."""
_UNMET = np.array([0.01] * 3 + [0.002] * 3)
"""A part of the demand that is missing beyond it is no servo count [N], [N m]."""
_NOZZLES = tuple(f'nozzle_{i}' for i in range(1, 13))
_MODULES = {'starboard': range(6), 'port': range(6, 12)}
"""Which of the nozzles are whose."""


@dataclass(frozen=True)
class FreeflyerSummary:
    """The numbers of a flight; six of each for the parts of a wrench about the centre of mass.

    Attributes
    ----------
    error : tuple of float
        Root mean square of the estimate less the true wrench, during the sequence.
    settled_error : tuple of float
        Largest difference of the two at the ends of all pulses, when the servos have settled.
    missing : tuple of float
        Root mean square of the demand less the true wrench, during the sequence.
    largest_asked, largest_given, largest_estimated : float
        Force along x of the pulse that asks for most, and what there was of it at its end [N].
    unmet_time : float
        How long the estimate says that a part of the demand is missing [s].
    momentum, angular_momentum : float
        Largest of the flight, in the world, about the centre of mass [N s], [N m s].
    momentum_error, angular_momentum_error : float
        Largest difference to the integral of the true wrench, as a part of these.
    """

    error: tuple[float, ...]
    settled_error: tuple[float, ...]
    missing: tuple[float, ...]
    largest_asked: float
    largest_given: float
    largest_estimated: float
    unmet_time: float
    momentum: float
    angular_momentum: float
    momentum_error: float
    angular_momentum_error: float


class FreeflyerPilot(Pilot):
    """Asks fam for the sequence."""

    def __init__(self) -> None:
        super().__init__()
        self._command = self.create_publisher(
            WrenchStamped, 'fam/wrench_command', qos.COMMAND
        )
        self._com: FloatArray = np.zeros(3)
        self.hear(InertiaStamped, 'vehicle/inertia', self._on_inertia)
        self.hear(WrenchStamped, 'propulsion_modules/wrench', self._recorder('true'))
        self.hear(WrenchStamped, 'inverse_fam/wrench', self._recorder('estimate'))
        self.hear(JointState, 'propulsion_modules/state', self._on_state)

    def steer(self, motion: Motion) -> None:
        """Send the wrench."""
        self.recording.add(
            'motion', self.now, *motion.quaternion.tolist(), *motion.velocity.tolist(),
            *motion.angular_velocity.tolist(),
        )
        wrench = _SEQUENCE.wrench(self.now)
        self.recording.add('demand', self.now, *wrench.tolist())
        self.send(self._command, wrench_to_msg(0, 'body', wrench))

    @property
    def is_done(self) -> bool:
        """Whether the sequence has ended."""
        return self.now >= _SEQUENCE.end

    @property
    def status(self) -> str:
        """What is asked."""
        if self.now < _SEQUENCE.start:
            return 'the impellers spin up'
        wrench = _SEQUENCE.wrench(self.now)
        asked = ' '.join(
            f'{name} {value:+.2f}' for name, value in zip(WRENCH_NAMES, wrench, strict=True)
            if value
        )
        return f'demands {asked or "nothing":<33}'

    def _recorder(self, name: str) -> Any:
        """Return a callback that records wrenches about the centre of mass."""
        def record(stamp: float, message: WrenchStamped) -> None:
            wrench = move_wrench(msg_to_wrench(message), -self._com)
            self.recording.add(name, stamp, *wrench.tolist())
        return record

    def _on_inertia(self, stamp: float, message: InertiaStamped) -> None:
        mass, self._com, inertia = msg_to_inertia(message)
        self.recording.add('mass', stamp, mass, *self._com.tolist(), *inertia.ravel().tolist())

    def _on_state(self, stamp: float, message: JointState) -> None:
        effort = dict(zip(message.name, message.effort, strict=True))
        self.recording.add('thrust', stamp, *(effort[name] for name in _NOZZLES))


class FreeflyerDemo:
    """A sequence of wrenches along each axis, then some that saturate."""

    title = 'Free-flyer demo: fam, propulsion modules, inverse_fam and vehicle over ROS 2'
    layout: Sequence[Sequence[str]] = (
        ('force.x', 'torque.x'), ('force.y', 'torque.y'), ('force.z', 'torque.z'),
        ('force error', 'torque error'), ('starboard', 'port'),
    )
    heights: Sequence[float] = (1.8, 1.8, 1.8, 2.1, 2.3)

    def make_pilot(self) -> FreeflyerPilot:
        """Return the node that flies."""
        return FreeflyerPilot()

    def summarise(self, recording: Recording) -> FreeflyerSummary:
        """Return the numbers of a flight."""
        demand, true, estimate = (
            recording.between(name, _SEQUENCE.start, _SEQUENCE.end)
            for name in ('demand', 'true', 'estimate')
        )
        ends = np.flatnonzero(np.diff(demand[:, 1:], axis=0).any(axis=1))
        ends = ends[demand[ends, 1:].any(axis=1)]
        first_end = _BEYOND + _SEQUENCE.pulses[len(WITHIN_LIMITS)].duration
        last = np.flatnonzero(true[:, 0] < first_end - 1e-9)[-1:]
        is_reached = bool(len(true)) and true[-1, 0] >= first_end - _PERIOD
        asked, given, estimated = (
            float(rows[last[0], 1]) if is_reached else np.nan for rows in (demand, true, estimate)
        )
        momentum, angular = momenta(recording)
        return FreeflyerSummary(
            error=_rms(estimate - true),
            settled_error=_largest((estimate - true)[ends]),
            missing=_rms(demand - true),
            largest_asked=asked,
            largest_given=given,
            largest_estimated=estimated,
            unmet_time=float(_PERIOD * np.count_nonzero(_is_unmet(demand, estimate))),
            momentum=momentum[0],
            angular_momentum=angular[0],
            momentum_error=momentum[1],
            angular_momentum_error=angular[1],
        )

    def table(self, summary: FreeflyerSummary, recording: Recording) -> list[Row]:
        """Return these numbers for a reader."""
        s = summary
        return [
            *(
                number(
                    f'{name}, estimated', 1000.0 * s.error[i], '.2f', unit,
                    f'rms error, {1000.0 * s.settled_error[i]:.2f} once settled; '
                    f'demand minus true {1000.0 * s.missing[i]:.1f}',
                )
                for i, (name, unit) in enumerate(
                    zip(WRENCH_NAMES, ['mN'] * 3 + ['mN m'] * 3, strict=True)
                )
            ),
            number('largest force demanded', s.largest_asked, '.3f', 'N',
                   f'given {s.largest_given:.3f} N, estimated {s.largest_estimated:.3f} N'),
            number('demand beyond limits', s.unmet_time, '.2f', 's', 'by the estimate'),
            number('momentum', s.momentum, '.4f', 'N s', _off(s.momentum_error)),
            number('angular momentum', s.angular_momentum, '.5f', 'N m s',
                   _off(s.angular_momentum_error)),
        ]

    def draw(
        self, axes: Mapping[str, Any], recording: Recording, summary: FreeflyerSummary
    ) -> None:
        """Draw demand, true wrench and estimate of each axis, its error, and all thrusts."""
        begin, end = _SEQUENCE.start - 1.0, float(recording.series('motion')[-1, 0])
        demand, true, estimate, thrust = (
            recording.series(name) for name in ('demand', 'true', 'estimate', 'thrust')
        )
        for column, name in enumerate(WRENCH_NAMES, start=1):
            axis = axes[name]
            axis.plot(
                demand[:, 0], demand[:, column], color=ink.GREY, linewidth=1.0, linestyle='--',
                drawstyle='steps-post', label='commanded',
            )
            axis.plot(
                true[:, 0], true[:, column], color=ink.BLUE, alpha=0.55, linewidth=2.6,
                label='true',
            )
            axis.plot(
                estimate[:, 0], estimate[:, column], color=ink.RED, linewidth=0.9,
                label='estimated',
            )
            unit = 'N' if column <= 3 else 'N m'
            ink.over_time(axis, f'{name.replace(".", " ")} [{unit}]', begin, end)
        self._draw_errors(axes, true, estimate)
        for name, columns in _MODULES.items():
            ink.draw_alike(
                axes[name], thrust[:, [0, *(column + 1 for column in columns)]],
                [str(column + 1) for column in columns],
            )
            ink.over_time(axes[name], f'{name} nozzles [N]', begin, end)
            ink.legend_above(axes[name])
        spans = _spans(demand[:, 0], _is_unmet(demand, estimate))
        for axis in axes.values():
            axis.set_xlim(begin, max(end, begin + 1e-3))
            for k, span in enumerate(spans):
                has_label = k == 0 and axis is axes['torque.x']
                axis.axvspan(
                    *span, color='#f6e3b4', alpha=0.6, linewidth=0.0, zorder=0.0,
                    label='demand beyond the limits' if has_label else None,
                )
        for name in ('force.x', 'torque.x'):
            ink.legend_above(axes[name])

    def _draw_errors(self, axes: Mapping[str, Any], true: FloatArray, estimate: FloatArray) -> None:
        """Draw the estimate less the truth, linear near 0 and logarithmic beyond."""
        for name, first, unit, linear in (
            ('force error', 1, 'mN', 2.0), ('torque error', 4, 'mN m', 0.1)
        ):
            axis = axes[name]
            for i, colour in enumerate((ink.BLUE, ink.GOLD, ink.GREEN)):
                error = 1000.0 * (estimate - true)[:, first + i]
                axis.plot(true[:, 0], error, color=colour, linewidth=0.9, label='xyz'[i])
            ink.over_time(axis, f'{name} [{unit}]', 0.0, 1.0)
            axis.set_yscale('symlog', linthresh=linear, linscale=1.0)
            ticks = linear * np.array([-100.0, -10.0, -1.0, 0.0, 1.0, 10.0, 100.0])
            axis.set_yticks(ticks, [f'{tick:g}' for tick in ticks])
            axis.set_ylim(-400.0 * linear, 400.0 * linear)
            ink.legend_above(axis)


def _is_unmet(demand: FloatArray, estimate: FloatArray) -> FloatArray:
    """Return at which rows the estimate says that a part of the demand is missing, (n,)."""
    return np.asarray((np.abs(demand - estimate)[:, 1:] > _UNMET).any(axis=1))


def _spans(time: FloatArray, is_in: FloatArray) -> list[tuple[float, float]]:
    """Return the parts of the time [s] in which something holds."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], is_in, [False])).astype(int)))
    ends = np.append(time, time[-1])
    return [(float(time[i]), float(ends[j])) for i, j in edges.reshape(-1, 2)]


def _off(error: float) -> str:
    return (
        f'relative error to the integral of the wrench {error:.0e}' if np.isfinite(error) else ''
    )


def momenta(recording: Recording) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the largest momentum and the error of it, linear and angular, in the world.

    The error is the largest difference between the change of the momentum and the integral of the
    true wrench, as a part of the largest momentum; NaN where nothing moved.
    """
    motion = recording.series('motion')
    if len(motion) < 2:
        return (0.0, np.nan), (0.0, np.nan)
    true = recording.series('true')[:, 1:]
    mass, com = recording.series('mass')[0, 1], recording.series('mass')[0, 2:5]
    inertia = recording.series('mass')[0, 5:].reshape(3, 3)
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


def _rms(rows: FloatArray) -> tuple[float, ...]:
    """Return the root mean square of each column after the time's; NaN without rows."""
    if not len(rows):
        return (np.nan,) * 6
    return tuple(np.sqrt(np.mean(rows[:, 1:] ** 2, axis=0)).tolist())


def _largest(rows: FloatArray) -> tuple[float, ...]:
    """Return the largest absolute value of each column after the time's; NaN without rows."""
    if not len(rows):
        return (np.nan,) * 6
    return tuple(np.abs(rows[:, 1:]).max(axis=0).tolist())
