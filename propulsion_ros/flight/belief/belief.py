# SPDX-License-Identifier: Apache-2.0
"""Probability that something holds the vehicle, from all its sensors and their faults."""
from __future__ import annotations

import math
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from propulsion_ros.flight.belief.modes import MEAN_TIMES, MOTIONS, SUPPORTED, Mode
from propulsion_ros.flight.belief.track import Track
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.settings.quantity import FloatArray


class Channel(IntEnum):
    """A measured quantity, which has a health of its own."""

    HEIGHT = 0
    SPEED = 1
    FORCE = 2


ALIKE = (0.1, 0.5, 0.1)
"""Correlation time of the errors of each channel [s]: faster readings are no further evidence."""
CERTAIN = 0.995
"""Probability from which it is certain that something holds the vehicle."""
LIKELY = 0.5
"""Probability from which it is likely that something holds the vehicle."""
DOUBT = 0.02
"""A probability from before a restart, which may be long ago, is kept so far from 0 and 1."""
STILL = 0.3 * STANDARD_GRAVITY
"""Largest difference from 1 g at rest, in a lift, or under a parachute [m/s^2]."""
WEAK = 3.5
"""A vehicle at rest has no smaller force, unless its accelerometer has failed [m/s^2]."""
ALONE = 60.0
"""People stay away from the vehicle for so long after an ignition [s]."""
DRAG = 3e-4
"""Drag of a model rocket at the ground, over the squared speed [1/m]."""
DOF = 4.0
"""Degrees of freedom of the errors of a sound sensor (Student's t), for their heavy tails."""
GLITCH = 0.01
"""Share of a sound sensor's readings that are outliers."""

_FAILURE_RATE = 2e-4  # of a sound channel [1/s]
_HEALING_RATE = 0.2  # of a failed channel [1/s]
_FAILED_START = 0.01  # odds of a failed channel at the start
# A failed channel reads near its last values, is blocked, dead or stuck, or reads anything. The
# weights of these add up to more than 1, see `_likelihood_stuck`.
_NEAR = (5.0, 5.0, 5.0)  # scale of the distance from the last values [m, m/s, m/s^2]
_FAR = (1000.0, 100.0, 100.0)  # range of a channel that reads anything [m, m/s, m/s^2]
_LEVEL_TIME = 2.0  # time constant of the level of a blocked port; least age of a stuck force [s]
_LEVEL_SHARE = 0.65  # weight of a blocked port; with more, a vehicle at rest would seem blocked
_MOVED = 25.0  # squared distance from its level beyond which a height has moved [m^2]
_DEAD_VARIANCE = 0.006  # variance of the force of a dead accelerometer [m^2/s^4]
_OFFSET = 0.8  # largest reading of a dead accelerometer, and change of a stuck one [m/s^2]
# Weight of a dead accelerometer, or of one with a wrong range: beside a sound height at rest, and
# elsewhere, where a free fall reads zeros too.
_DEAD_SHARES = (0.09, 0.02)
_STRONG = STANDARD_GRAVITY + STILL  # beside a height at rest a larger force is stuck [m/s^2]
_STEADY = 0.1  # share by which a stuck force may change; that of a motor changes more
_STUCK_SHARE = 0.5  # weight of a stuck accelerometer beside a sound height at rest
_STUCK_SIGMA = 0.3  # standard deviation of a stuck accelerometer [m/s^2]
_THRUST = 0.2  # standard deviation of the change of a thrust within 1 s, as a share of it
_LEAST_PUSH = 0.5 * STANDARD_GRAVITY  # beside a sound height a weaker push varies like this [m/s^2]
_PORT = 3e-4  # error of a static port over the squared speed [s^2/m]; its rate lasts for 1 s
_DRAG_SPREAD = 0.5  # standard deviation of the drag, as a share of it
_DRAG_TIME = 8.0  # time constant of the error of the drag [s]
_TILT_NOISE = 8.0  # process noise of a free speed, as a force of 1 g is never all upright [m^2/s^3]
_AIR = 8400.0  # scale height of the air [m]
_DRAG_SPEED = 300.0  # speed up to which drag grows with the square of the speed [m/s]
_TERRAIN = 100.0  # the landing rate falls to 1/e in this distance from the level of the pad [m]
_CLIMB = 20.0  # the landing rate falls to 1/e at this speed of a climb [m/s]
_BELOW = 50.0  # few flights get further below the pad [m]
_DEEP = 15.0  # factor of the landing rate where dead reckoning is further below the pad
_PAD_SPREAD = 30.0  # standard deviation of the height at a start on the pad [m]
_AIR_SPREAD = 4000.0  # standard deviation of the height at a start in the air [m]
# By whether the vehicle is held: share of slow turns, mean rate of slow and of fast ones [rad/s].
_SPINS = {True: (0.9, 0.2, 3.0), False: (0.3, 0.3, 3.0)}
_SPIN_TIME = 3.0  # correlation time of the rate of turn [s]
_SPIN_EVIDENCE = 2.0  # largest log likelihood ratio from slow turns in all, as a slow turn goes on
_SPEED_TIME = 0.1  # correlation time of the speed of a hypothesis [s]
_LIMITS = np.array([2e5, 2e3, 500.0])  # largest state of a model rocket [m, m/s, m/s^2]
_SQUARES = _LIMITS**2  # [m^2, m^2/s^2, m^2/s^4]
_FLOOR = np.array([1e-4, 1e-4, 1e-3])  # least variances of the state [m^2, m^2/s^2, m^2/s^4]
_LEAST = 1e-30  # least probability of a hypothesis, so that it can recover
_LONGEST = 0.25  # longest step of a prediction [s]
_STEPS = 40  # most steps of a prediction, however long
_SHAKEN = 10.0  # variance of the acceleration at rest over the noise variance of the force
# Probability of each mode, by whether the vehicle may begin in the air.
_PRIORS = {
    False: (0.90, 0.01, 0.01, 0.04, 0.04),
    True: (0.10, 0.05, 0.15, 0.35, 0.35),
}
_CHANNELS = len(Channel)


def _normal(off: float, variance: float) -> float:
    """Return the density of a normal distribution at a distance from its mean."""
    return math.exp(-min(0.5 * off * off / variance, 300.0)) / math.sqrt(math.tau * variance)


def _log_agreement(square: FloatArray | float) -> FloatArray:
    """Return the log of Student's t over its peak, for a squared deviation in sigmas."""
    return np.asarray(-0.5 * (DOF + 1.0) * np.log1p(square / DOF))


def _log_density(square: FloatArray | float, variance: FloatArray | float) -> FloatArray:
    """Return the log density of Student's t, for a squared deviation in sigmas."""
    return np.asarray(_log_agreement(square) - 0.98 - 0.5 * np.log(variance))


def _drag(height: FloatArray, speed: FloatArray) -> FloatArray:
    """Return the likely drag of a model rocket, with the sign of its speed [m/s^2]."""
    air = np.exp(-np.minimum(np.maximum(height, 0.0), 1e5) / _AIR)
    return np.asarray(DRAG * speed * np.minimum(np.abs(speed), _DRAG_SPEED) * air)


def _moments(weight: FloatArray, mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return weights with weighted means and mean squares (n, 13), whose sums merge hypotheses.

    ``mean`` is (n, 3) and ``covariance`` is (n, 3, 3), as from `_from_moments`.
    """
    moments = np.empty((len(weight), 13))
    moments[:, 0], moments[:, 1:4] = 1.0, mean
    squares = moments[:, 4:].reshape(-1, 3, 3)
    np.add(covariance, mean[:, :, None] * mean[:, None, :], out=squares)
    moments *= weight[:, None]
    return moments


def _from_moments(moments: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return weights, means and covariances; inverse of `_moments`."""
    weight = moments[:, 0]
    each = moments[:, 1:] / (weight + 1e-300)[:, None]
    mean = each[:, :3]
    return weight, mean, each[:, 3:].reshape(-1, 3, 3) - mean[:, :, None] * mean[:, None, :]


class Reckoned(NamedTuple):
    """Dead reckoning by the force alone: height [m], upward speed and its sigma [m/s]."""

    height: float
    speed: float
    speed_sigma: float


class _Switch:
    """Switching rates between hypotheses [1/s], given as (from, to).

    Attributes
    ----------
    into : ndarray
        The rates as (to, from): their product with the moments that leave is what arrives.
    total : ndarray
        Total rate out of each hypothesis.
    """

    def __init__(self, rates: FloatArray) -> None:
        self.into = np.ascontiguousarray(rates.T)
        self.total = rates.sum(axis=1)


class Belief:
    """A bank of filters, one for each mode of motion with each set of failed channels.

    Each hypothesis has its probability and a Gaussian of height, speed and acceleration. Modes and
    healths switch at fixed rates (interacting multiple models: Blom and Bar-Shalom, IEEE Trans.
    Automatic Control 33, 1988). The errors of a sound channel follow Student's t. A failed channel
    explains nearly any reading, but with a lower likelihood than a sound one that agrees.

    Attributes
    ----------
    has_flown : bool
        Whether the vehicle has left what held it; the caller sets it.
    level : float
        Height at which it was certainly held last [m]; the caller sets it.
    """

    def __init__(self) -> None:
        healths = 1 << _CHANNELS
        self._mode = np.repeat([int(mode) for mode in Mode], healths)
        failed = np.tile(np.arange(healths), len(Mode))
        self._is_sound = np.array([failed >> channel & 1 == 0 for channel in Channel])
        self._is_held = np.isin(self._mode, [int(mode) for mode in SUPPORTED])
        self._is_coast = self._mode == int(Mode.COAST)
        self._is_rest = self._mode == int(Mode.REST)
        self._is_carried = self._mode == int(Mode.CARRIED)
        self._failures = (~self._is_sound).sum(axis=0)
        # As floats, so that each probability is one product with the shares.
        self._held, self._sound = self._is_held.astype(float), self._is_sound.astype(float)
        self._coast, self._rest = self._is_coast.astype(float), self._is_rest.astype(float)
        height, speed = self._is_sound[Channel.HEIGHT], self._is_sound[Channel.SPEED]
        is_felt, is_pushed = self._is_sound[Channel.FORCE], self._mode == int(Mode.PUSHED)
        self._pushed = is_pushed.astype(float)
        # A sound height must show a weak push; without one the accelerometer is rather stuck.
        self._pushing = np.flatnonzero(is_pushed & is_felt & height)
        hangs = self._mode == int(Mode.PARACHUTE)
        self._hanging = np.flatnonzero(hangs & is_felt)
        self._may_be_below = self._is_held | height
        # Wind must not explain a level height where the accelerometer reads a free fall.
        self._moved_by_wind = (self._is_held | hangs) * self._sound[Channel.FORCE]
        self._reckoned = (is_felt & ~height & ~self._is_held).astype(float)
        self._shown = {
            (by_height, by_speed):
                (self._is_held & ((height & by_height) | (speed & by_speed))).astype(float)
            for by_height in (False, True) for by_speed in (False, True)
        }
        self._set_switches(failed)
        self._set_motions()
        self._track = Track()
        self.reset()

    def _set_switches(self, failed: NDArray[np.int_]) -> None:
        """Compute the switching rates between hypotheses (from, to) [1/s]."""
        rates = np.zeros((len(Mode), len(Mode)))
        for (source, target), mean_time in MEAN_TIMES.items():
            rates[source, target] = 1.0 / mean_time
        flipped = failed[:, None] ^ failed[None]
        modes = np.where(flipped == 0, rates[self._mode][:, self._mode], 0.0)
        lands = ~self._is_held[:, None] & (self._mode[None] == int(Mode.REST))
        lifts = ~self._is_carried[:, None] & self._is_carried[None]
        same = self._mode[:, None] == self._mode[None]
        health, heals_height = np.zeros_like(modes), np.zeros_like(modes)
        for channel in Channel:
            flips = same & (flipped == 1 << channel)
            sound = self._is_sound[channel][:, None]
            each = np.where(flips, np.where(sound, _FAILURE_RATE, _HEALING_RATE), 0.0)
            if channel is Channel.HEIGHT:
                # A height heals only if its own readings agree, see `_mix`.
                heals_height = np.where(sound, 0.0, each)
                each -= heals_height
            health += each
        self._lands, self._heals_height = _Switch(modes * lands), _Switch(heals_height)
        self._health = _Switch(health)
        # By whether an engine was just lit: people stay away, and do not pick the vehicle up.
        self._modes = {
            is_lit: _Switch(np.where(lands | (lifts & is_lit), 0.0, modes))
            for is_lit in (False, True)
        }

    def _set_motions(self) -> None:
        rows = np.array([MOTIONS[Mode(mode)] for mode in self._mode])
        (self._speed, self._speed_spread, self._speed_time, self._push, self._push_spread,
         self._push_time, self._widest, self._entry_speed, self._entry_jump, self._entry_push,
         self._entry_spread) = rows.T
        self._is_entered_at_speed = self._entry_speed > 0.0
        least = np.where(self._is_sound[Channel.HEIGHT], _LEAST_PUSH, self._entry_push)
        self._least_thrust = least + STANDARD_GRAVITY
        self._dt = math.nan

    def _set_transition(self, dt: float) -> None:
        """Compute the prediction over a step [s], which is kept while the step stays the same."""
        decay = np.exp(-dt / self._speed_time)
        self._dt, self._transition = dt, np.zeros((len(decay), 3, 3))
        step = self._transition
        step[:, 0, 0], step[:, 0, 1], step[:, 0, 2] = 1.0, dt, 0.5 * dt * dt
        step[:, 1, 1], step[:, 1, 2] = decay, dt * decay
        # At rest an acceleration only shakes the vehicle; `_move` adds a fall, below 1 g.
        step[self._is_rest, :2, 2] = 0.0
        self._mean_speed_gain = self._speed * (1.0 - decay)
        self._speed_growth = self._speed_spread**2 * (1.0 - decay**2)

    def reset(
        self, *, in_air: bool = False, held: float = 0.0, doubt: float = DOUBT,
        carried: float = 0.0,
    ) -> None:
        """Begin anew on the pad, or in the air.

        In the air ``held`` is the probability that something holds the vehicle, which is kept
        ``doubt`` from 0 and 1. The share ``carried`` of the probability of a rest is moved to that
        of being carried.
        """
        is_held = self._is_held
        spread = np.where(is_held, _AIR_SPREAD if in_air else _PAD_SPREAD, _AIR_SPREAD)
        count = len(self._mode)
        self._state = np.zeros((count, 3))
        self._state[:, 1], self._state[:, 2] = self._speed, self._push
        self._covariance = np.zeros((count, 3, 3))
        self._covariance[:, 0, 0] = spread**2
        self._covariance[:, 1, 1] = np.where(is_held, self._speed_spread, 100.0) ** 2
        self._covariance[:, 2, 2] = self._entry_spread**2
        prior = np.array(_PRIORS[in_air])[self._mode] * _FAILED_START**self._failures
        prior /= prior.sum()
        if in_air:
            known, held = float(prior[is_held].sum()), min(max(held, doubt), 1.0 - doubt)
            prior *= np.where(is_held, held / known, (1.0 - held) / (1.0 - known))
        more = carried * prior[self._is_rest]
        prior[self._is_rest] -= more
        prior[self._is_carried] += more
        self._shares: FloatArray = np.maximum(prior, _LEAST)
        self._begins_in_air = in_air
        self.has_flown, self.level = False, 0.0
        self._level_height = self._constant_force = math.nan
        self._lit_time = self._scatter = self._constant_time = 0.0
        self._recent = np.full(_CHANNELS, np.nan)
        self.wander = self._spin_evidence = 0.0
        self._track.reset()

    def light(self) -> None:
        """Take note that an engine is being lit: people stay away for a while.

        A reading of the accelerometer ends that, as it shows a push by itself.
        """
        self._lit_time = ALONE
        self._shares[self._is_rest] += self._shares[self._is_carried]
        self._shares[self._is_carried] = _LEAST

    def douse(self) -> None:
        """Take note that no engine is being lit any more: a person may carry the vehicle."""
        self._lit_time = 0.0

    def advance(self, seconds: float) -> None:
        """Advance by a time [s], in steps whose number is limited after a long gap."""
        count = max(min(math.ceil(seconds / _LONGEST), _STEPS), 1)
        for _ in range(count):
            self._lit_time = max(self._lit_time - seconds / count, 0.0)
            self._mix(seconds / count)
            self._track.advance(seconds / count)
            self._move(seconds / count)
            self._doubt_speeds(seconds / count)

    def _mix(self, dt: float) -> None:
        """Switch modes and healths, and merge the moments that arrive at each hypothesis."""
        origin = float(self._shares @ self._state[:, 0])
        # A height that heals is where its track is, which must be proven for that.
        may_heal = self._track.is_proven
        lands = np.exp(self._pad_distance() / -_TERRAIN)
        if self._begins_in_air and math.isnan(self._recent[Channel.HEIGHT]):
            # Without a height the ground is as likely at any height.
            lands = np.full_like(lands, _TERRAIN / _AIR_SPREAD)
        elif not may_heal:
            lands = np.where(self._state[:, 0] < self.level - _BELOW, _DEEP, lands)
        # A vehicle that climbs does not land.
        climbs = np.maximum(self._state[:, 1] - np.sqrt(self._covariance[:, 1, 1]), 0.0)
        lands = lands * np.exp(climbs / -_CLIMB)
        modes = self._modes[self._lit_time > 0.0]
        leaving = modes.total + self._health.total + lands * self._lands.total
        if may_heal:
            heals = self._agreement()
            leaving += heals * self._heals_height.total
        stays = np.exp(-leaving * dt)
        # Heights from a common origin, or their squares would lose digits.
        self._state[:, 0] -= origin
        moments = _moments(self._shares, self._state, self._covariance)
        leaves = ((1.0 - stays) / leaving)[:, None] * moments
        total = stays[:, None] * moments + self._health.into @ leaves
        arrives = modes.into @ leaves + self._lands.into @ (lands[:, None] * leaves)
        total += self._entered(arrives, origin)
        if may_heal:
            total += self._healed(self._heals_height.into @ (heals[:, None] * leaves), origin)
        weight, self._state, self._covariance = _from_moments(total)
        self._state[:, 0] += origin
        self._bound()
        self._shares = np.maximum(weight / weight.sum(), _LEAST)

    def _pad_distance(self) -> FloatArray:
        """Return how far each hypothesis is from the level of the pad [m].

        With a failed height it is at least as far as the track of that height.
        """
        own = np.abs(self._state[:, 0])
        if not self._track.is_proven:
            return own
        by_track = abs(float(self._track.state[0]))
        return np.where(self._is_sound[Channel.HEIGHT], own, np.maximum(own, by_track))

    def _agreement(self) -> FloatArray:
        """Return how well each hypothesis agrees with the track of the height alone, up to 1.

        The speed does not count for a held vehicle; a height may come back with an offset.
        """
        off = self._state[:, :2] - self._track.state[:2]
        spread, other = self._covariance, self._track.covariance
        speed = _log_agreement(off[:, 1]**2 / (spread[:, 1, 1] + other[1, 1]))
        height = _log_agreement(off[:, 0]**2 / (spread[:, 0, 0] + other[0, 0] + _PAD_SPREAD**2))
        return np.asarray(np.exp(height + np.where(self._is_held, 0.0, speed)))

    def _is_felt(self) -> NDArray[np.bool_]:
        """Return which hypotheses have a measured force that they believe."""
        is_measured = not math.isnan(self._recent[Channel.FORCE])
        return self._is_sound[Channel.FORCE] if is_measured else np.zeros_like(self._is_held)

    def _entered(self, moments: FloatArray, origin: float) -> FloatArray:
        """Return the moments that enter each mode, with the acceleration of that mode."""
        weight, mean, covariance = _from_moments(moments)
        fixed = self._is_entered_at_speed
        # Without a measured force the speed is uncertain enough to need no jump.
        jump = np.where(self._is_felt(), self._entry_jump, 0.0)
        mean[fixed, 1] = covariance[fixed, 1, :] = covariance[fixed, :, 1] = 0.0
        covariance[:, 1, 1] += np.where(fixed, self._entry_speed, jump) ** 2
        drag = _drag(mean[:, 0] + origin, mean[:, 1]) * self._coast
        mean[:, 2] = self._entry_push - drag
        covariance[:, 2, :] = covariance[:, :, 2] = 0.0
        covariance[:, 2, 2] = self._entry_spread**2 + (_DRAG_SPREAD * drag) ** 2
        push = self._recent[Channel.FORCE] - STANDARD_GRAVITY
        begins = self._begin_as_felt(push)
        if len(begins):
            # Entered at every reading with the spread of all motors, a push would never converge.
            spread, sigma = self._entry_spread[begins], 1.0 + _STEADY * abs(push)
            off = (push - self._entry_push[begins]) / spread
            weight = weight.copy()
            weight[begins] *= sigma / spread * np.exp(-0.5 * off * off)
            mean[begins, 2], covariance[begins, 2, 2] = push, sigma**2
        return _moments(weight, mean, covariance)

    def _begin_as_felt(self, push: float) -> NDArray[np.int_]:
        """Return which hypotheses begin with the measured push [m/s^2].

        A strong push is found without that. In flight a thrust below the weight is a push too; at
        rest it is an offset of the accelerometer.
        """
        if abs(push) <= STILL:
            return self._hanging
        least = STILL if self.held >= LIKELY else WEAK - STANDARD_GRAVITY
        is_weak = least < push < MOTIONS[Mode.PUSHED].entry_acceleration
        return self._pushing if is_weak else self._pushing[:0]

    def _healed(self, moments: FloatArray, origin: float) -> FloatArray:
        """Return the moments of healed heights: height, and speed in the air, are the track's.

        A held vehicle has moved by its own speed since the last reading, not as a rocket might.
        """
        weight, mean, covariance = _from_moments(moments)
        track, spread, flies = self._track, self._track.covariance, ~self._is_held
        (last, last_variance), age = track.shown, track.age
        variance = np.maximum(covariance[:, 1, 1], _FLOOR[1])
        gain = np.where(flies, variance / (variance + spread[1, 1]), 0.0)
        mean[:, 0] = np.where(flies, track.state[0], last + mean[:, 1] * age) - origin
        mean[:, 1] += gain * (track.state[1] - mean[:, 1])
        pushed = np.where(flies, 0.0, covariance[:, 1, 2])
        moved = np.where(flies, gain * spread[0, 1], variance * age)
        covariance[:, 0, 0] = np.where(flies, spread[0, 0], last_variance + variance * age**2)
        covariance[:, 0, 1] = covariance[:, 1, 0] = moved
        covariance[:, 0, 2] = covariance[:, 2, 0] = age * pushed
        covariance[:, 1, 1] = (1.0 - gain) * variance
        covariance[:, 1, 2] = covariance[:, 2, 1] = pushed
        return _moments(weight, mean, covariance)

    def _move(self, dt: float) -> None:
        """Predict each hypothesis (Ornstein-Uhlenbeck processes of speed and acceleration)."""
        if dt != self._dt:
            self._set_transition(dt)
        np.minimum(np.maximum(self._state, -_LIMITS), _LIMITS, out=self._state)
        drag = _drag(self._state[:, 0], self._state[:, 1]) * self._coast
        # A small measured force leaves little to push sideways.
        force = np.minimum(np.abs(self._state[:, 2] + STANDARD_GRAVITY) / STANDARD_GRAVITY, 1.0)
        tilt_noise = _TILT_NOISE * np.where(self._is_felt(), force**2, 1.0)
        # The error of the drag lasts longer than other disturbances.
        unknown = (_DRAG_SPREAD * drag) ** 2
        spread = self._push_spread**2 + unknown
        rate = (self._push_spread**2 / self._push_time + unknown / _DRAG_TIME) / spread
        step, shaken, decay = self._transition, _SHAKEN * self._scatter, np.exp(-dt * rate)
        step[:, 2, 2] = decay
        falls = self._rest * np.minimum(self._state[:, 2] + math.sqrt(shaken), 0.0)
        self._state = (step @ self._state[:, :, None])[:, :, 0]
        self._state[:, 1] += falls * dt
        self._state[:, 1] += self._mean_speed_gain
        self._state[:, 2] += (self._push - drag) * (1.0 - decay)
        self._covariance = step @ self._covariance @ step.transpose(0, 2, 1)
        self._covariance[:, 1, 1] += self._speed_growth
        self._covariance[:, 1, 1] += np.where(self._is_held, 0.0, tilt_noise * dt)
        # The error of a static port is a bias that changes with the speed.
        port_rate = 2.0 * _PORT * self._state[:, 1] * self._state[:, 2]
        self._covariance[:, 0, 0] += (port_rate**2 + self.wander * self._moved_by_wind) * dt
        self._covariance[:, 2, 2] += (spread + shaken * self._rest) * (1.0 - decay**2)
        thrust = np.maximum(self._state[:, 2] + STANDARD_GRAVITY, self._least_thrust)
        self._covariance[:, 2, 2] += self._pushed * (_THRUST * thrust) ** 2 * dt

    def _doubt_speeds(self, dt: float) -> None:
        """Make a hypothesis less probable while it is faster than its mode allows.

        This goes by time, not by reading, or each further sensor would count the same speed again.
        """
        off = np.maximum(np.abs(self._state[:, 1] - self._speed) - self._widest, 0.0)
        excess = np.minimum(0.5 * off**2 / (self._covariance[:, 1, 1] + 1.0), 50.0)
        self._weigh(excess * (-dt / _SPEED_TIME))

    def _bound(self) -> None:
        """Limit standard deviations to `_LIMITS`, by scaling, so that it stays a covariance."""
        diagonal = self._covariance.reshape(-1, 9)[:, ::4]
        if (diagonal > _SQUARES).any():
            scale = np.minimum(1.0, _LIMITS / np.sqrt(np.maximum(diagonal, _FLOOR)))
            self._covariance *= scale[:, :, None] * scale[:, None, :]
            diagonal = self._covariance.reshape(-1, 9)[:, ::4]
        np.maximum(diagonal, _FLOOR, out=diagonal)

    def read(
        self, channel: Channel, value: float, spacing: float = 1.0, variance: float = 0.0,
        scatter: float = 0.0,
    ) -> None:
        """Take a reading of a channel.

        Parameters
        ----------
        channel : Channel
            Height [m], upward speed [m/s], or size of the specific force [m/s^2].
        value : float
            Finite reading.
        spacing : float
            Time since the last reading, over its `ALIKE`. Below 1 the reading counts in part;
            above 1 a failed channel may have moved further.
        variance : float
            Variance of this reading, added to that of its channel.
        scatter : float
            Variance of such readings by noise.
        """
        if channel is Channel.FORCE:
            self._lit_time, self._scatter = 0.0, scatter
        index, measured, kind = self._model(channel, value)
        noise_square = kind + variance
        innovation = measured - self._state[:, index]
        total = self._covariance[:, index, index] + noise_square
        # After a start in the air a first reading fixes the state. It is evidence of a mode only in
        # so far as a carried vehicle is near the level of the pad.
        is_first = self._begins_in_air and math.isnan(self._recent[channel])
        square = np.zeros_like(total) if is_first else innovation**2 / total
        weight = min(spacing, 1.0)
        # A failed channel is as noisy as a sound one.
        noisy = np.sqrt(noise_square / kind)
        near, far = _NEAR[channel] * noisy * max(spacing, 1.0) ** 1.5, _FAR[channel]
        sound = np.logaddexp(
            math.log1p(-GLITCH) + _log_density(square, total), math.log(GLITCH / far)
        )
        step = self._own_innovation(channel, value, weight)
        failed = np.log(
            0.25 / near * np.exp(-np.minimum(step / near, 300.0)) + 0.25 / far
            + self._likelihood_stuck(channel, value, spacing * ALIKE[channel], noise_square)
        )
        is_sound = self._is_sound[channel]
        evidence = np.where(is_sound, sound, failed)
        if channel is Channel.HEIGHT:
            evidence -= self._too_deep()
        if not is_first:
            self._weigh(weight * evidence)
        elif channel is Channel.HEIGHT:
            self._weigh(np.where(self._is_carried & is_sound, -abs(value) / _TERRAIN, 0.0))
        # An outlier moves the state less (weights of Student's t).
        noise = noise_square / weight * (DOF + square) / (DOF + 1.0)
        gain = self._covariance[:, :, index] * (
            is_sound / (self._covariance[:, index, index] + noise)
        )[:, None]
        self._state = self._state + gain * innovation[:, None]
        self._covariance = self._covariance - gain[:, :, None] * self._covariance[:, index, None, :]
        self._bound()

    def _model(
        self, channel: Channel, value: float
    ) -> tuple[int, FloatArray | float, FloatArray | float]:
        """Return the index of the measured state, its reading, and the variance of the channel."""
        speed = self._state[:, 1]
        if channel is Channel.HEIGHT:
            return 0, value, 1.0
        if channel is Channel.SPEED:
            return 1, value, (2.0 + 0.05 * np.abs(speed)) ** 2
        # Only the size of a force is known. In an upward coast it is drag, which points down.
        sign = np.where(self._is_coast & (speed > 0.0), -1.0, 1.0)
        return 2, sign * value - STANDARD_GRAVITY, (1.0 + 0.02 * value) ** 2

    def _own_innovation(self, channel: Channel, value: float, weight: float) -> float:
        """Return how far a reading is from the prediction by its channel alone."""
        last = self._recent[channel]
        if math.isnan(last):
            last = value
        self._recent[channel] = last + weight * (value - last)
        step = abs(value - last)
        if channel is Channel.HEIGHT:
            step = min(step, self._track.take(value, 1.0 / weight))
        return float(step)

    def _likelihood_stuck(
        self, channel: Channel, value: float, seconds: float, variance: FloatArray | float
    ) -> FloatArray | float:
        """Return the likelihood of a reading of a blocked port, a dead or a stuck accelerometer."""
        if channel is Channel.FORCE:
            off = value - self._constant_force
            if abs(off) < max(_OFFSET, _STEADY * value):
                self._constant_time += seconds
            else:
                self._constant_force, self._constant_time, off = value, 0.0, 0.0
            # Without a proven height nothing contradicts a free fall.
            if not self._track.is_proven:
                return 0.0
            is_long = self._constant_time >= _LEVEL_TIME
            rests = self._is_rest & self._is_sound[Channel.HEIGHT]
            if self._constant_force > _STRONG:
                # A stuck value may drift.
                self._constant_force += off * min(seconds / _LEVEL_TIME, 1.0)
                sigma = _STUCK_SIGMA * (1.0 + _STEADY * value)
                stuck = _STUCK_SHARE * _normal(off, sigma**2) if is_long else 0.0
                return np.where(rests, stuck, 0.0)
            if self._constant_force < _OFFSET:
                off = value
            elif self._constant_force > WEAK or not is_long:
                return 0.0
            return np.where(rests, *_DEAD_SHARES) * _normal(off, _DEAD_VARIANCE)
        if channel is Channel.SPEED:
            return 0.0
        off = 0.0 if math.isnan(self._level_height) else value - self._level_height
        # The level of a height that has moved follows at once, as it may stop anywhere.
        keeps = 0.0 if off * off > _MOVED else 1.0 - min(seconds, ALIKE[channel]) / _LEVEL_TIME
        self._level_height = value - off * keeps
        # No weight of a mixture: a port stays blocked, and pays once for that, by its failure rate.
        return _LEVEL_SHARE * np.exp(_log_density(off * off / variance, variance))

    def _too_deep(self) -> FloatArray:
        """Return the log likelihood that a flight loses below the ground.

        Once the vehicle has left what held it, a sound height may show a valley; before that it
        shows pressure in the bay.
        """
        above = self._state[:, 0] - self.level + _BELOW
        deep = np.minimum(above / np.sqrt(self._covariance[:, 0, 0]), 0.0)
        may_be = self._may_be_below if self.has_flown else self._is_held
        return np.where(may_be, 0.0, np.minimum(0.5 * deep**2, 50.0))

    def read_spin(self, rate: float, seconds: float) -> None:
        """Take a mean rate of turn [rad/s] over a time [s]."""
        def log_likelihood(is_held: bool) -> float:
            share, slow, fast = _SPINS[is_held]
            return math.log(
                share / slow * math.exp(-min(rate / slow, 300.0))
                + (1.0 - share) / fast * math.exp(-min(rate / fast, 300.0))
            )
        evidence = min(seconds / _SPIN_TIME, 1.0) * (log_likelihood(True) - log_likelihood(False))
        evidence = min(evidence, _SPIN_EVIDENCE - self._spin_evidence)
        self._spin_evidence = max(self._spin_evidence + evidence, 0.0)
        self._weigh(np.where(self._is_held & self._is_sound[Channel.FORCE], evidence, 0.0))

    def _weigh(self, evidence: FloatArray) -> None:
        shares = self._shares * np.exp(evidence - evidence.max())
        self._shares = np.maximum(shares / shares.sum(), _LEAST)

    # Results.

    def supported(self, *, height: bool, speed: bool) -> float:
        """Return the probability that the vehicle is held, by a live and sound height or speed.

        A force of 1 g alone does not count: it is also that of a parachute, a hover, or a fall at
        terminal speed.

        Parameters
        ----------
        height, speed : bool
            Whether that channel is alive.
        """
        return float(self._shares @ self._shown[height, speed])

    def believed(self, channel: Channel) -> float:
        """Return the probability that a channel is sound."""
        return float(self._shares @ self._sound[channel])

    @property
    def held(self) -> float:
        """Probability that something holds the vehicle, whichever sensors show it."""
        return float(self._shares @ self._held)

    @property
    def height(self) -> float:
        """Mean height of a held vehicle [m]."""
        shares = self._shares * self._held
        return float(shares @ self._state[:, 0] / shares.sum())

    @property
    def tracked(self) -> float:
        """Height by its own readings alone [m]."""
        return float(self._track.state[0])

    @property
    def rests(self) -> float:
        """Probability that the vehicle is at rest, not carried."""
        return float(self._shares @ self._rest)

    @property
    def jumped(self) -> float:
        """Sum of all jumps of the height [m]."""
        return self._track.jumped

    @property
    def speed(self) -> float:
        """Mean speed of a held vehicle [m/s]."""
        shares = self._shares * self._held
        return float(shares @ self._state[:, 1] / shares.sum())

    @property
    def flight(self) -> tuple[float, float]:
        """Mean height [m] and speed [m/s] of a flying vehicle."""
        shares = self._shares * (1.0 - self._held)
        height, speed, _ = shares @ self._state / shares.sum()
        return float(height), float(speed)

    @property
    def climb(self) -> float:
        """Upward speed of a flying vehicle, less three standard deviations [m/s]."""
        _, _, speed, sigma = self._flown(1.0 - self._held)
        return speed - 3.0 * sigma

    @property
    def reckoned(self) -> tuple[float, Reckoned]:
        """Probability of a flight with a failed height, and its dead reckoning by the force."""
        total, height, speed, sigma = self._flown(self._reckoned)
        return total, Reckoned(height, speed, sigma)

    def _flown(self, which: FloatArray) -> tuple[float, float, float, float]:
        """Return probability, mean height and speed, and sigma of the speed, of hypotheses."""
        shares = self._shares * which
        total = float(shares.sum())
        height, speed, _ = shares @ self._state / total
        square = float(shares @ (self._covariance[:, 1, 1] + self._state[:, 1] ** 2)) / total
        return total, float(height), float(speed), math.sqrt(max(square - speed**2, 0.0))

    @property
    def modes(self) -> FloatArray:
        """Probability of each mode (5,)."""
        return np.asarray(np.bincount(self._mode, self._shares, len(Mode)), dtype=float)
