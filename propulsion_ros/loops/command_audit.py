# SPDX-License-Identifier: Apache-2.0
"""Finds commands of a wrong unit or sign, by what they did to the actuators."""
from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from propulsion_ros.loops.command_hold import CommandHold
from propulsion_ros.models.common.family import Allocatable, Family, Output
from propulsion_ros.settings.quantity import FloatArray

_FAR = {'effort': (10.0, ' N', 'in N'), 'velocity': (4.0, ' rad/s', 'in rad/s'),
        'position': (1.5, '', 'a throttle of 0 to 1, not N, % or us')}
"""By field: commands of so many times their limit are in another unit; unit, and unit in words."""
_BELOW = 0.01  # throttles so far below 0 are no rounding
_ODD = 4.0  # commands of so many times the response to them are in another unit
_MOST = 1e9  # larger commands are not counted
_BLOCK = 64  # steps that are compared at once, in a fraction of the time of one by one
# Commands are shares up to 1 if all thrusts are below `_SHARES` [N] and below a share `_LITTLE` of
# a limit above `_LARGE` [N]. By field: that share, and the unit of a command.
_SHARES, _LARGE, _LITTLE = 2.0, 7.0, {'effort': (0.15, 'N'), 'velocity': (1e-4, 'rad/s')}
_LASTING_NS = 1_000_000_000
"""Time after which commands below 0 that push nothing are no transient [ns]."""


class _Far(NamedTuple):
    """Last commands that are far beyond their limits, or push nothing there."""

    text: str = ''
    pushes: bool = False
    is_negative: bool = False
    """Whether something pushes all the same, and whether all are below 0."""


_USUAL = _Far()
_NONE = np.zeros(0)


class CommandAudit:
    """Compares the commands of a family with their effects.

    Parameters
    ----------
    family : Family
        What is commanded.
    hold : CommandHold
        Its last commands.
    """

    def __init__(self, family: Family, hold: CommandHold) -> None:
        self._family, self._hold = family, hold
        self._output: Output | None = None
        self._steps: list[tuple[FloatArray, Output]] = []
        self._was_far, self._most = False, 0.0
        self._has_pushed, self._turned_ns = False, 0
        self._is_effort = np.array([each == 'effort' for each in family.command_fields])
        self._asked, self._done = np.zeros((2, len(family.command_names)))
        self._followed = _followed_columns(family)

    def take_run(self, commands: FloatArray, effort: FloatArray | None) -> None:
        """Take the commands of many steps, (t, m), and the efforts of their states."""
        # Efforts are commands, whose thrust may lag behind, or thrusts.
        for each in (commands[:, self._is_effort], effort):
            if each is not None:
                self._add_thrust(np.abs(each))

    def _add_thrust(self, thrusts: FloatArray) -> None:
        # fmax leaves NaN out.
        self._most = float(np.fmax.reduce(thrusts, axis=None, initial=self._most))

    def take(self, stamp_ns: int, output: Output) -> str:
        """Take the output of a step; return what is to be logged once of its commands, or ''."""
        self._output = output
        self._steps.append((self._hold.last.copy(), output))
        if len(self._steps) == _BLOCK:
            self._compare()
        if self._was_far:
            return ''
        far = self._far_commands()
        # Counting takes a fraction of the time of `np.any`, which every step would pay.
        self._has_pushed = self._has_pushed or bool(np.count_nonzero(output.thrusts))
        # Commands that push nothing may be intended, unless they last before any has pushed.
        is_turned = far.is_negative and not self._has_pushed
        self._turned_ns = (self._turned_ns or stamp_ns) if is_turned else 0
        lasts = is_turned and stamp_ns - self._turned_ns >= _LASTING_NS
        self._was_far = far.pushes or lasts
        return far.text if self._was_far else ''

    def _compare(self) -> None:
        """Add up the commands of the last steps, and the angles and speeds that follow them."""
        if not self._steps:
            return
        commands, outputs = zip(*self._steps, strict=True)
        self._steps.clear()
        asked = np.where(np.abs(commands) < _MOST, np.abs(commands), 0.0)
        self._asked += asked.sum(axis=0)
        # Count the command too: its thrust may lag behind.
        self._add_thrust(asked[:, self._is_effort])
        # A step of a replayed block has no thrusts.
        thrusts = [each.thrusts for each in outputs if each.thrusts is not None]
        self._add_thrust(np.abs(np.concatenate([_NONE, *thrusts])))
        for field, (own, seen) in [*self._followed.items()]:
            done = [getattr(each, field) for each in outputs]
            if done[0] is None:
                # The output has no such field, as for a throttle.
                del self._followed[field]
            else:
                self._done[own] += np.abs(done)[:, seen].sum(axis=0)

    @property
    def mistake(self) -> str:
        """Description of commands that probably have a wrong unit or sign, or did not push."""
        return self._far_commands().text or self.small_commands() or self._unfollowed()

    def _unfollowed(self) -> str:
        """Describe commands that were all 0, or much larger than the response to them."""
        names, fields = self._family.command_names, self._family.command_fields
        if not self._asked.any():
            if not (isinstance(self._family, Allocatable) and self._hold.has_any):
                return ''
            return f'every command was 0, {self._at_zero or "so nothing pushed"}'
        columns = [column for own, _ in self._followed.values() for column in own]
        for i in (i for i in columns if self._asked[i] > _ODD * self._done[i]):
            unit = {'position': 'rad, not degrees', 'velocity': 'rad/s, not rpm'}[fields[i]]
            part = self._done[i] / self._asked[i]
            return f'{names[i]} did {part:.2g} of what was sent; is that in {unit}?'
        return ''

    def small_commands(self) -> str:
        """Describe thrusts so small that commands were probably shares of the limit."""
        self._compare()
        field = self._family.command_fields[0]
        share, unit = _LITTLE.get(field, (0.0, ''))
        if isinstance(self._family, Allocatable):
            limit = float(self._family.thrust_limits[1].max())
            # A command that came too late leaves a thrust of nearly 0.
            if 1e-7 * limit < self._most < min(_SHARES, share * limit) and limit > _LARGE:
                most = f'{self._most:.3g} of {limit:g} N'
                return f'no thrust was above {most}; is {field} in {unit}?'
        return ''

    @functools.cached_property
    def _at_zero(self) -> str:
        """What a throttle of 0 does if that is not rest, as of reversible thrusters; else ''."""
        family = self._family
        if not isinstance(family, Allocatable) or family.command_fields[0] != 'position':
            return ''
        rest = np.max(family.command_for(np.zeros(len(family.actuator_names))))
        words = f'which is full astern, and {rest:.3g} is rest; of -1 to 1 send 0.5 + 0.5 x'
        return words if rest > _BELOW else ''

    def _far_commands(self) -> _Far:
        """Describe the last commands if all are far beyond their limits, or push nothing there."""
        output = self._output
        saturated = None if output is None else output.flags.get('saturated')
        if output is None or saturated is None or output.thrusts is None:
            return _USUAL
        off = output.flags.get('off_curve')
        met = saturated if off is None else saturated | off
        if not np.count_nonzero(met):
            return _USUAL
        sent, last = self._hold.commanded, self._hold.last
        if not np.count_nonzero(sent):
            return _USUAL
        lowest = int(np.argmin(np.where(sent, last, np.inf)))
        if last[lowest] < -_BELOW and self._at_zero:
            return _Far(
                f'every command below 0 is clamped to 0, such as {last[lowest]:g} of '
                f'{self._family.command_names[lowest]}, {self._at_zero}', pushes=True,
            )
        if not np.all(met[sent] if len(met) == len(sent) else met):
            return _USUAL
        limits, is_far, first = np.zeros(1), False, int(np.argmax(sent))
        times, unit, asked = _FAR[self._family.command_fields[0]]
        if isinstance(self._family, Allocatable):
            ends = [self._family.command_for(limit) for limit in self._family.thrust_limits]
            limits = np.abs(ends).max(axis=0)
            is_far = len(last) == len(limits) and bool(np.all(
                np.abs(last[sent]) > times * limits[sent]
            ))
        what = 'beyond its limits' if not is_far else (
            f'far beyond its limits and clamped, such as {self._family.command_names[first]} '
            f'{last[first]:g} of at most {limits[first]:g}{unit}; is it {asked}?'
        )
        is_negative, pushes = bool(np.all(last < 0.0)), bool(np.any(output.thrusts))
        if pushes and not is_far:
            return _USUAL
        begin = 'every' if pushes else 'nothing pushes, as every'
        end = '; is their sign wrong?' if is_negative else ''
        return _Far(f'{begin} last command is {what}{end}', pushes, is_negative)


def _followed_columns(family: Family) -> dict[str, tuple[list[int], list[int]]]:
    """Return the columns of angles and of speeds in commands and in states, by field."""
    seen = {name: i for i, name in enumerate(family.state_names)}
    rows = [(field, i, seen[name]) for i, (name, field) in enumerate(
        zip(family.command_names, family.command_fields, strict=True)) if name in seen]
    return {field: (
        [i for key, i, _ in rows if key == field], [k for key, _, k in rows if key == field]
    ) for field in ('position', 'velocity')}
