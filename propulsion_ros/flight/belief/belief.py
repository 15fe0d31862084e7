# SPDX-License-Identifier: Apache-2.0
"""How probable it is that something holds the vehicle, by all its sensors and their faults."""
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
    """What is measured; each has a health of its own."""

    HEIGHT = 0
    SPEED = 1
    FORCE = 2


ALIKE = (0.1, 0.5, 0.1)
"""Errors of a channel are alike for so long [s]: what comes faster is no further evidence."""

CERTAIN, LIKELY = 0.995, 0.5
"""Probabilities from which it is certain, and likely, that something holds the vehicle."""
DOUBT = 0.02
"""Least doubt of what was believed before a restart, where it may be long ago."""
STILL = 0.3 * STANDARD_GRAVITY
"""Within which of 1 g it rests, rides in a lift, or hangs under a parachute [m/s^2]."""
WEAK = 3.5
"""What rests shows no less, unless its accelerometer is dead or of a wrong range [m/s^2]."""

_FAILS, _HEALS = 2e-4, 0.2  # how often a channel fails, and a failed one heals [1/s]
_FAILED_START = 0.01  # share of a failed channel at the start
_TAIL = 4.0  # degrees of freedom of a sound channel's errors (Student's t)
_GLITCH = 0.01  # share of a sound channel's readings that are anything
# A failed channel does one of these; the shares of all of them add up to more than 1.
_NEAR = (5.0, 5.0, 5.0)  # It goes on so near its last values [m, m/s, m/s^2].
_FAR = (1000.0, 100.0, 100.0)  # It reads anything in such a range.
_LEVEL_TIME = 2.0  # A height stays, as that of a blocked port, with the noise of a sound one [s].
_LEVEL_SHARE = 0.65  # With a larger share of that, what rests would seem blocked.
_MOVED = 25.0  # square of how far it is from its level where it has moved [m^2]
_DEAD_VARIANCE = 0.006  # A dead accelerometer shows zeros [m^2/s^4].
_OFFSET = 0.8  # One of a wrong range shows the same weak force, larger than an offset, that no drag
# is, until it changes by more than that [m/s^2].
_DEAD_SHARES = (0.09, 0.02)  # Of both, beside a height that rests; else: a free fall shows zeros.
_STRONG = STANDARD_GRAVITY + STILL  # Nothing at rest shows that [m/s^2]: it is stuck if it
_STEADY = 0.1  # changes by a smaller share within `_LEVEL_TIME`, as that of no motor does.
_STUCK_SHARE, _STUCK_SIGMA = 0.5, 0.3  # Of that, beside a height at rest; its noise [m/s^2].
_THRUST, _LEAST_PUSH = 0.2, 0.5 * STANDARD_GRAVITY  # A thrust changes by such a share within 1 s,
# of one that pushes at least so much [m/s^2], or as a motor does where no height shows it.
_PORT = 3e-4  # error of a static port by the square of the speed [s^2/m], as it moves for 1 s
_DRAG, _DRAG_SPREAD = 3e-4, 0.5  # of a model rocket at the ground [1/m]; unknown by half,
_DRAG_TIME = 8.0  # for so long [s]
_ASIDE = 8.0  # growth of the variance of a free speed: no force of 1 g is all upright [m^2/s^3]
_AIR = 8400.0  # scale height of the air [m]
_DRAG_SPEED = 600.0  # up to which drag grows with the square of the speed [m/s]
_TERRAIN = 100.0  # landings are that near the height of the pad [m]
_CLIMB = 20.0  # and so much slower [m/s]
_BELOW, _DEEP = 50.0, 15.0  # Few flights are further below the pad [m]: reckoned so far, they land
# so much sooner.
_PAD_SPREAD, _AIR_SPREAD = 30.0, 4000.0  # of the height at a start on the pad, in the air [m]
_SPINS = {True: (0.9, 0.2, 3.0), False: (0.3, 0.3, 3.0)}
# Rates of turn of what is held or not: share of the slow ones, and both means [rad/s].
_SPIN_ALIKE = 3.0  # [s]
_SPIN_NEWS = 2.0  # What turns slowly goes on so: it counts no more than this in all.
_SPEED_ALIKE = 0.1  # The speed of a hypothesis is news after so long [s].
_LIMITS = np.array([2e5, 2e3, 500.0])  # beyond which no model rocket is [m, m/s, m/s^2]
_SQUARES = _LIMITS**2
_FLOOR = np.array([1e-4, 1e-4, 1e-3])  # least variances of the state
_LEAST = 1e-30  # least probability, so that any belief can be withdrawn
_LONGEST = 0.25  # step of time [s]
_STEPS = 40  # for a gap of any length
_SHAKEN = 10.0  # times the variance of a mean of readings, of the force on what shakes
_LIT = 60.0  # no person goes near what was to be lit [s]
_PRIORS = {  # by mode
    False: (0.90, 0.01, 0.01, 0.04, 0.04),
    True: (0.10, 0.05, 0.15, 0.35, 0.35),
}
_CHANNELS = len(Channel)


def _normal(off: float, variance: float) -> float:
    """Return the density of a normal distribution so far from its mean."""
    return math.exp(-min(0.5 * off * off / variance, 300.0)) / math.sqrt(math.tau * variance)


def _log_agreement(square: FloatArray | float) -> FloatArray:
    """Return the logarithm of Student's t, off by the square of so many sigma, over its peak."""
    return np.asarray(-0.5 * (_TAIL + 1.0) * np.log1p(square / _TAIL))


def _log_density(square: FloatArray | float, variance: FloatArray | float) -> FloatArray:
    """Return the same as that of a density."""
    return np.asarray(_log_agreement(square) - 0.98 - 0.5 * np.log(variance))


def _drag(height: FloatArray, speed: FloatArray) -> FloatArray:
    """Return the drag that a model rocket likely has [m/s^2], upward where it falls, negative."""
    air = np.exp(-np.minimum(np.maximum(height, 0.0), 1e5) / _AIR)
    return np.asarray(_DRAG * speed * np.minimum(np.abs(speed), _DRAG_SPEED) * air)


def _moments(weight: FloatArray, mean: FloatArray, covariance: FloatArray) -> FloatArray:
    """Return weights with weighted means and mean squares (n, 13), which add up where they merge.

    ``mean`` is (n, 3) and ``covariance`` is (n, 3, 3), as of `_parted`.
    """
    moments = np.empty((len(weight), 13))
    moments[:, 0], moments[:, 1:4] = 1.0, mean
    squares = moments[:, 4:].reshape(-1, 3, 3)
    np.add(covariance, mean[:, :, None] * mean[:, None, :], out=squares)
    moments *= weight[:, None]
    return moments


def _parted(moments: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return weights, means and covariances of such moments."""
    weight = moments[:, 0]
    each = moments[:, 1:] / (weight + 1e-300)[:, None]
    mean = each[:, :3]
    return weight, mean, each[:, 3:].reshape(-1, 3, 3) - mean[:, :, None] * mean[:, None, :]


class Reckoned(NamedTuple):
    """Height [m], upward speed and one sigma of it [m/s], by the force alone."""

    height: float
    speed: float
    speed_sigma: float


class _Switch:
    """Rates at which hypotheses follow each other [1/s], given as (from, to).

    Attributes
    ----------
    into : ndarray
        The same as (to, from), so that its product with what leaves is what arrives.
    total : ndarray
        Of all rates that leave each hypothesis.
    """

    def __init__(self, rates: FloatArray) -> None:
        self.into = np.ascontiguousarray(rates.T)
        self.total = rates.sum(axis=1)


class Belief:
    """A bank of filters, one for each mode of motion with each set of failed channels.

    Each hypothesis has its probability and a Gaussian of height, speed and acceleration. Modes and
    healths switch at stated rates (interacting multiple models: Blom and Bar-Shalom, IEEE Trans.
    Automatic Control 33, 1988). A sound channel has errors of Student's t. A failed one reads near
    its own last values, goes on smoothly, or reads anything, so that each fault has its price.

    Attributes
    ----------
    has_risen : bool
        Whether it left its pad upward, to be set by who follows the flight.
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
        # As numbers, since what is asked for at each sample is then a product.
        self._held, self._sound = self._is_held.astype(float), self._is_sound.astype(float)
        self._coast, self._rest = self._is_coast.astype(float), self._is_rest.astype(float)
        height, speed = self._is_sound[Channel.HEIGHT], self._is_sound[Channel.SPEED]
        is_felt, is_pushed = self._is_sound[Channel.FORCE], self._mode == int(Mode.PUSHED)
        self._pushed = is_pushed.astype(float)
        # Beside a height that does not show it a weak push is rather a force that is stuck.
        self._pushing = np.flatnonzero(is_pushed & is_felt & height)
        hangs = self._mode == int(Mode.PARACHUTE)
        self._hanging = np.flatnonzero(hangs & is_felt)
        self._may_be_below = self._is_held | height
        # Beside a force that falls freely no wind explains that a height stays.
        self._blown = (self._is_held | hangs) * self._sound[Channel.FORCE]
        self._reckoned = (is_felt & ~height & ~self._is_held).astype(float)
        self._shown = {
            (by_height, by_speed):
                (self._is_held & ((height & by_height) | (speed & by_speed))).astype(float)
            for by_height in (False, True) for by_speed in (False, True)
        }
        self._read_switches(failed)
        self._read_motions()
        self._track = Track()
        self.reset()

    def _read_switches(self, failed: NDArray[np.int_]) -> None:
        """Compute the rates at which one hypothesis follows another (from, to) [1/s]."""
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
            each = np.where(flips, np.where(sound, _FAILS, _HEALS), 0.0)
            if channel is Channel.HEIGHT:
                # A height heals only where its own readings agree, see `_mix`.
                heals_height = np.where(sound, 0.0, each)
                each -= heals_height
            health += each
        self._lands, self._heals_height = _Switch(modes * lands), _Switch(heals_height)
        self._health = _Switch(health)
        # By whether it was just lit, so that no person carries it.
        self._modes = {
            is_lit: _Switch(np.where(lands | (lifts & is_lit), 0.0, modes))
            for is_lit in (False, True)
        }

    def _read_motions(self) -> None:
        rows = np.array([MOTIONS[Mode(mode)] for mode in self._mode])
        (self._speed, self._speed_spread, self._speed_time, self._push, self._push_spread,
         self._push_time, self._widest, self._entry_speed, self._entry_jump, self._entry_push,
         self._entry_spread) = rows.T
        self._is_entered_at_speed = self._entry_speed > 0.0
        least = np.where(self._is_sound[Channel.HEIGHT], _LEAST_PUSH, self._entry_push)
        self._least_thrust = least + STANDARD_GRAVITY
        self._dt = math.nan

    def _read_steps(self, dt: float) -> None:
        """Compute how each hypothesis moves on over a time [s]: most steps are as the last one."""
        keeps = np.exp(-dt / self._speed_time)
        self._dt, self._step_by = dt, np.zeros((len(keeps), 3, 3))
        step = self._step_by
        step[:, 0, 0], step[:, 0, 1], step[:, 0, 2] = 1.0, dt, 0.5 * dt * dt
        step[:, 1, 1], step[:, 1, 2] = keeps, dt * keeps
        # Shaking takes what rests nowhere. Less than 1 g is a fall, as far as it is no shaking.
        step[self._is_rest, :2, 2] = 0.0
        self._drawn_speed = self._speed * (1.0 - keeps)
        self._speed_growth = self._speed_spread**2 * (1.0 - keeps**2)

    def reset(
        self, *, in_air: bool = False, held: float = 0.0, doubt: float = DOUBT,
        carried: float = 0.0,
    ) -> None:
        """Begin anew on the pad, or in the air.

        There it is held with a probability, which is at least ``doubt`` off 0 and 1. Where it is
        held, it is ``carried`` with a probability.
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
        self.has_risen = False
        self._level_height = self._same_force = math.nan
        self._lit_time = self._scatter = self._same_time = 0.0
        self._recent = np.full(_CHANNELS, np.nan)
        self.wander = self._spin_news = 0.0
        self._track.reset()

    def light(self) -> None:
        """Know that its engine is being lit: no person carries it for a while.

        That counts where no force is measured: a force shows itself what pushes.
        """
        self._lit_time = _LIT
        self._shares[self._is_rest] += self._shares[self._is_carried]
        self._shares[self._is_carried] = _LEAST

    def douse(self) -> None:
        """Know that it is not being lit any more: a person may carry it."""
        self._lit_time = 0.0

    def advance(self, seconds: float) -> None:
        """Let time pass [s]; a long gap takes no more steps than a minute of readings."""
        count = max(min(math.ceil(seconds / _LONGEST), _STEPS), 1)
        for _ in range(count):
            self._lit_time = max(self._lit_time - seconds / count, 0.0)
            self._mix(seconds / count)
            self._track.advance(seconds / count)
            self._move(seconds / count)
            self._doubt_speeds(seconds / count)

    def _mix(self, dt: float) -> None:
        """Let modes and healths switch, and merge what comes to be the same hypothesis."""
        top = float(self._shares @ self._state[:, 0])
        # Where a height is that healed, its own readings must have shown.
        may_heal = self._track.is_proven
        lands = np.exp(np.minimum(self._apart(), 1500.0) / -_TERRAIN)
        if self._begins_in_air and math.isnan(self._recent[Channel.HEIGHT]):
            # Where no height was measured, it may be at any.
            lands = np.full_like(lands, _TERRAIN / _AIR_SPREAD)
        elif not may_heal:
            lands = np.where(self._state[:, 0] < -_BELOW, _DEEP, lands)
        # Nothing lands as it climbs.
        climbs = np.maximum(self._state[:, 1] - np.sqrt(self._covariance[:, 1, 1]), 0.0)
        lands = lands * np.exp(np.minimum(climbs, 300.0) / -_CLIMB)
        modes = self._modes[self._lit_time > 0.0]
        leaving = modes.total + self._health.total + lands * self._lands.total
        if may_heal:
            heals = self._agrees()
            leaving += heals * self._heals_height.total
        stays = np.exp(-leaving * dt)
        # Moments about a common height, or the squares would lose their digits.
        self._state[:, 0] -= top
        moments = _moments(self._shares, self._state, self._covariance)
        leaves = ((1.0 - stays) / leaving)[:, None] * moments
        total = stays[:, None] * moments + self._health.into @ leaves
        arrives = modes.into @ leaves + self._lands.into @ (lands[:, None] * leaves)
        total += self._entered(arrives, top)
        if may_heal:
            total += self._healed(self._heals_height.into @ (heals[:, None] * leaves), top)
        weight, self._state, self._covariance = _parted(total)
        self._state[:, 0] += top
        self._bound()
        self._shares = np.maximum(weight / weight.sum(), _LEAST)

    def _apart(self) -> FloatArray:
        """Return how far each hypothesis is from the level of the pad [m].

        One that does not believe the height has none of its own: what the height says counts.
        """
        own = np.abs(self._state[:, 0])
        if not self._track.is_proven:
            return own
        said = abs(float(self._track.state[0]))
        return np.where(self._is_sound[Channel.HEIGHT], own, np.maximum(own, said))

    def _agrees(self) -> FloatArray:
        """Return how well each hypothesis agrees with what the height says by itself.

        What is held has no speed to speak of; a height may come back a little elsewhere.
        """
        off = self._state[:, :2] - self._track.state[:2]
        spread, other = self._covariance, self._track.covariance
        speed = _log_agreement(off[:, 1]**2 / (spread[:, 1, 1] + other[1, 1]))
        height = _log_agreement(off[:, 0]**2 / (spread[:, 0, 0] + other[0, 0] + _PAD_SPREAD**2))
        return np.asarray(np.exp(height + np.where(self._is_held, 0.0, speed)))

    def _is_felt(self) -> NDArray[np.bool_]:
        """Return which hypotheses believe a force that is measured."""
        is_measured = not math.isnan(self._recent[Channel.FORCE])
        return self._is_sound[Channel.FORCE] if is_measured else np.zeros_like(self._is_held)

    def _entered(self, moments: FloatArray, top: float) -> FloatArray:
        """Return the moments of what enters a mode: it has the acceleration of that mode."""
        weight, mean, covariance = _parted(moments)
        fixed = self._is_entered_at_speed
        # Where no force is felt its speed is so uncertain that it need not jump.
        jump = np.where(self._is_felt(), self._entry_jump, 0.0)
        mean[fixed, 1] = covariance[fixed, 1, :] = covariance[fixed, :, 1] = 0.0
        covariance[:, 1, 1] += np.where(fixed, self._entry_speed, jump) ** 2
        drag = _drag(mean[:, 0] + top, mean[:, 1]) * self._coast
        mean[:, 2] = self._entry_push - drag
        covariance[:, 2, :] = covariance[:, :, 2] = 0.0
        covariance[:, 2, 2] = self._entry_spread**2 + (_DRAG_SPREAD * drag) ** 2
        push = self._recent[Channel.FORCE] - STANDARD_GRAVITY
        begins = self._begin_as_felt(push)
        if len(begins):
            # As wide as all of its kind, and renewed at every reading, it would never be steady.
            spread, sigma = self._entry_spread[begins], 1.0 + _STEADY * abs(push)
            off = (push - self._entry_push[begins]) / spread
            weight = weight.copy()
            weight[begins] *= sigma / spread * np.exp(-0.5 * off * off)
            mean[begins, 2], covariance[begins, 2, 2] = push, sigma**2
        return _moments(weight, mean, covariance)

    def _begin_as_felt(self, push: float) -> NDArray[np.int_]:
        """Return which hypotheses begin with the push that is felt [m/s^2].

        A strong push shows itself at once. In flight a thrust below the weight pushes too; at
        rest that is an accelerometer that is off.
        """
        if abs(push) <= STILL:
            return self._hanging
        least = STILL if self.held >= LIKELY else WEAK - STANDARD_GRAVITY
        is_weak = least < push < MOTIONS[Mode.PUSHED].entry_acceleration
        return self._pushing if is_weak else self._pushing[:0]

    def _healed(self, moments: FloatArray, top: float) -> FloatArray:
        """Return the moments of what healed: height, and speed in the air, are the track's.

        What is held has moved by its own speed since the last reading, not as a rocket might have.
        """
        weight, mean, covariance = _parted(moments)
        track, spread, flies = self._track, self._track.covariance, ~self._is_held
        (shown, unknown), age = track.shown, track.age
        variance = np.maximum(covariance[:, 1, 1], _FLOOR[1])
        gain = np.where(flies, variance / (variance + spread[1, 1]), 0.0)
        mean[:, 0] = np.where(flies, track.state[0], shown + mean[:, 1] * age) - top
        mean[:, 1] += gain * (track.state[1] - mean[:, 1])
        pushed = np.where(flies, 0.0, covariance[:, 1, 2])
        moved = np.where(flies, gain * spread[0, 1], variance * age)
        covariance[:, 0, 0] = np.where(flies, spread[0, 0], unknown + variance * age**2)
        covariance[:, 0, 1] = covariance[:, 1, 0] = moved
        covariance[:, 0, 2] = covariance[:, 2, 0] = age * pushed
        covariance[:, 1, 1] = (1.0 - gain) * variance
        covariance[:, 1, 2] = covariance[:, 2, 1] = pushed
        return _moments(weight, mean, covariance)

    def _move(self, dt: float) -> None:
        """Let each hypothesis move on by itself (Ornstein-Uhlenbeck speed and acceleration)."""
        if dt != self._dt:
            self._read_steps(dt)
        np.minimum(np.maximum(self._state, -_LIMITS), _LIMITS, out=self._state)
        drag = _drag(self._state[:, 0], self._state[:, 1]) * self._coast
        # A force that is felt to be small pushes nowhere.
        force = np.minimum(np.abs(self._state[:, 2] + STANDARD_GRAVITY) / STANDARD_GRAVITY, 1.0)
        aside = _ASIDE * np.where(self._is_felt(), force**2, 1.0)
        # What is not known of a drag lasts, what else pushes does not.
        unknown = (_DRAG_SPREAD * drag) ** 2
        spread = self._push_spread**2 + unknown
        rate = (self._push_spread**2 / self._push_time + unknown / _DRAG_TIME) / spread
        step, shaken, lasts = self._step_by, _SHAKEN * self._scatter, np.exp(-dt * rate)
        step[:, 2, 2] = lasts
        falls = self._rest * np.minimum(self._state[:, 2] + math.sqrt(shaken), 0.0)
        self._state = (step @ self._state[:, :, None])[:, :, 0]
        self._state[:, 1] += falls * dt
        self._state[:, 1] += self._drawn_speed
        self._state[:, 2] += (self._push - drag) * (1.0 - lasts)
        self._covariance = step @ self._covariance @ step.transpose(0, 2, 1)
        self._covariance[:, 1, 1] += self._speed_growth
        self._covariance[:, 1, 1] += np.where(self._is_held, 0.0, aside * dt)
        # The error of a port is no noise: it moves as the speed does.
        creeps = 2.0 * _PORT * self._state[:, 1] * self._state[:, 2]
        self._covariance[:, 0, 0] += (creeps**2 + self.wander * self._blown) * dt
        self._covariance[:, 2, 2] += (spread + shaken * self._rest) * (1.0 - lasts**2)
        thrust = np.maximum(self._state[:, 2] + STANDARD_GRAVITY, self._least_thrust)
        self._covariance[:, 2, 2] += self._pushed * (_THRUST * thrust) ** 2 * dt

    def _doubt_speeds(self, dt: float) -> None:
        """Weigh how fast each hypothesis has come to be by how fast it may be.

        By time, not by reading, or more sensors would find the same speed less likely.
        """
        off = np.maximum(np.abs(self._state[:, 1] - self._speed) - self._widest, 0.0)
        found = np.minimum(0.5 * off**2 / (self._covariance[:, 1, 1] + 1.0), 50.0)
        self._weigh(found * (-dt / _SPEED_ALIKE))

    def _bound(self) -> None:
        """Keep every deviation within what is possible; scaled, or it would be no covariance."""
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
            Finite.
        spacing : float
            Time since the last reading, over that of `ALIKE`: what comes sooner is a share of a
            reading, and what is wrong has gone further after longer.
        variance : float
            That it has itself, beside that of its kind.
        scatter : float
            Variance by the noise that such readings have.
        """
        if channel is Channel.FORCE:
            self._lit_time, self._scatter = 0.0, scatter
        index, measured, kind = self._model(channel, value)
        noise_square = kind + variance
        innovation = measured - self._state[:, index]
        total = self._covariance[:, index, index] + noise_square
        # In the air a first reading says where it is, but of what it is doing only that it is
        # carried near the level of the pad.
        is_first = self._begins_in_air and math.isnan(self._recent[channel])
        square = np.zeros_like(total) if is_first else innovation**2 / total
        weight = min(spacing, 1.0)
        # What failed is as noisy as what is sound.
        noisy = np.sqrt(noise_square / kind)
        near, far = _NEAR[channel] * noisy * max(spacing, 1.0) ** 1.5, _FAR[channel]
        sound = np.logaddexp(
            math.log1p(-_GLITCH) + _log_density(square, total), math.log(_GLITCH / far)
        )
        step = self._step(channel, value, weight)
        failed = np.log(
            0.25 / near * np.exp(-np.minimum(step / near, 300.0)) + 0.25 / far
            + self._stays(channel, value, spacing * ALIKE[channel], noise_square)
        )
        is_sound = self._is_sound[channel]
        evidence = np.where(is_sound, sound, failed)
        if channel is Channel.HEIGHT:
            evidence -= self._too_deep()
        if not is_first:
            self._weigh(weight * evidence)
        elif channel is Channel.HEIGHT:
            self._weigh(np.where(self._is_carried & is_sound, -abs(value) / _TERRAIN, 0.0))
        # A reading far out moves the state less (weights of Student's t).
        noise = noise_square / weight * (_TAIL + square) / (_TAIL + 1.0)
        gain = self._covariance[:, :, index] * (
            is_sound / (self._covariance[:, index, index] + noise)
        )[:, None]
        self._state = self._state + gain * innovation[:, None]
        self._covariance = self._covariance - gain[:, :, None] * self._covariance[:, index, None, :]
        self._bound()

    def _model(
        self, channel: Channel, value: float
    ) -> tuple[int, FloatArray | float, FloatArray | float]:
        """Return which number of the state is read, its reading, and the variance of that."""
        speed = self._state[:, 1]
        if channel is Channel.HEIGHT:
            return 0, value, 1.0
        if channel is Channel.SPEED:
            return 1, value, (2.0 + 0.05 * np.abs(speed)) ** 2
        # Of a force the size is known alone. In a coast it is the drag, and has its direction.
        sign = np.where(self._is_coast & (speed > 0.0), -1.0, 1.0)
        return 2, sign * value - STANDARD_GRAVITY, (1.0 + 0.02 * value) ** 2

    def _step(self, channel: Channel, value: float, weight: float) -> float:
        """Return how far a reading is from what its channel alone let expect."""
        last = self._recent[channel]
        if math.isnan(last):
            last = value
        self._recent[channel] = last + weight * (value - last)
        step = abs(value - last)
        if channel is Channel.HEIGHT:
            step = min(step, self._track.take(value, 1.0 / weight))
        return float(step)

    def _stays(
        self, channel: Channel, value: float, seconds: float, variance: FloatArray | float
    ) -> FloatArray | float:
        """Return the likelihood of a reading of what is blocked or dead, and shows nothing new."""
        if channel is Channel.FORCE:
            off = value - self._same_force
            if abs(off) < max(_OFFSET, _STEADY * value):
                self._same_time += seconds
            else:
                self._same_force, self._same_time, off = value, 0.0, 0.0
            # Without a height nothing contradicts a free fall.
            if not self._track.is_proven:
                return 0.0
            is_long = self._same_time >= _LEVEL_TIME
            rests = self._is_rest & self._is_sound[Channel.HEIGHT]
            if self._same_force > _STRONG:
                # It may drift.
                self._same_force += off * min(seconds / _LEVEL_TIME, 1.0)
                sigma = _STUCK_SIGMA * (1.0 + _STEADY * value)
                stuck = _STUCK_SHARE * _normal(off, sigma**2) if is_long else 0.0
                return np.where(rests, stuck, 0.0)
            if self._same_force < _OFFSET:
                off = value
            elif self._same_force > WEAK or not is_long:
                return 0.0
            return np.where(rests, *_DEAD_SHARES) * _normal(off, _DEAD_VARIANCE)
        if channel is Channel.SPEED:
            return 0.0
        off = 0.0 if math.isnan(self._level_height) else value - self._level_height
        # What moved may stop at once.
        keeps = 0.0 if off * off > _MOVED else 1.0 - min(seconds, ALIKE[channel]) / _LEVEL_TIME
        self._level_height = value - off * keeps
        # In full, not as a share: what is blocked stays blocked, and pays once for that.
        return _LEVEL_SHARE * np.exp(_log_density(off * off / variance, variance))

    def _too_deep(self) -> FloatArray:
        """Return by how much a flight is less likely that has come to be below the ground.

        Once it has risen that may be a valley, where the height is believed; before it is a pump.
        """
        deep = np.minimum((self._state[:, 0] + _BELOW) / np.sqrt(self._covariance[:, 0, 0]), 0.0)
        may_be = self._may_be_below if self.has_risen else self._is_held
        return np.where(may_be, 0.0, np.minimum(0.5 * deep**2, 50.0))

    def read_spin(self, rate: float, seconds: float) -> None:
        """Take a rate of turn [rad/s] that the inertial sensor had for a while [s]."""
        def likelihood(is_held: bool) -> float:
            share, slow, fast = _SPINS[is_held]
            return math.log(
                share / slow * math.exp(-min(rate / slow, 300.0))
                + (1.0 - share) / fast * math.exp(-min(rate / fast, 300.0))
            )
        news = min(seconds / _SPIN_ALIKE, 1.0) * (likelihood(True) - likelihood(False))
        news = min(news, _SPIN_NEWS - self._spin_news)
        self._spin_news = max(self._spin_news + news, 0.0)
        self._weigh(np.where(self._is_held & self._is_sound[Channel.FORCE], news, 0.0))

    def _weigh(self, evidence: FloatArray) -> None:
        shares = self._shares * np.exp(evidence - evidence.max())
        self._shares = np.maximum(shares / shares.sum(), _LEAST)

    # What is believed.

    def supported(self, *, height: bool, speed: bool) -> float:
        """Return the probability that something holds the vehicle, as a live height or speed shows.

        Hypotheses count that believe that height or that speed: a live one that is likely blocked
        shows nothing. A force of 1 g alone is also that of a parachute, a hover, or a fall at its
        last speed.

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
        """Probability that something holds the vehicle, by whatever."""
        return float(self._shares @ self._held)

    @property
    def height(self) -> float:
        """Mean height of what is held [m]."""
        shares = self._shares * self._held
        return float(shares @ self._state[:, 0] / shares.sum())

    @property
    def rests(self) -> float:
        """Probability that it rests, and is not carried."""
        return float(self._shares @ self._rest)

    @property
    def jumped(self) -> float:
        """By how much the height has jumped in all [m]."""
        return self._track.jumped

    @property
    def speed(self) -> float:
        """Mean speed of what is held [m/s]."""
        shares = self._shares * self._held
        return float(shares @ self._state[:, 1] / shares.sum())

    @property
    def flight(self) -> tuple[float, float]:
        """Mean height [m] and speed [m/s] of what nothing holds."""
        shares = self._shares * (1.0 - self._held)
        height, speed, _ = shares @ self._state / shares.sum()
        return float(height), float(speed)

    @property
    def reckoned(self) -> tuple[float, Reckoned]:
        """Probability that it flies and shows no height, and how it flies then by its force."""
        shares = self._shares * self._reckoned
        total = float(shares.sum())
        height, speed, _ = shares @ self._state / total
        square = float(shares @ (self._covariance[:, 1, 1] + self._state[:, 1] ** 2)) / total
        sigma = math.sqrt(max(square - speed**2, 0.0))
        return total, Reckoned(float(height), float(speed), sigma)

    @property
    def modes(self) -> FloatArray:
        """Probability of each mode (5,)."""
        return np.asarray(np.bincount(self._mode, self._shares, len(Mode)), dtype=float)
