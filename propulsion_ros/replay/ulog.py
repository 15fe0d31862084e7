# SPDX-License-Identifier: Apache-2.0
"""PX4's logs (ULog), read by the package pyulog behind limits: what it would take without an end.

https://docs.px4.io/main/en/dev_log/ulog_file_format
"""
from __future__ import annotations

import contextlib
import functools
import io
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from propulsion_ros.loops.decoders import LATEST_NS
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import opened, printable
from propulsion_ros.settings.optional_packages import how_to_get
from propulsion_ros.settings.quantity import FloatArray, IntArray

SUFFIX = '.ulg'
_LARGEST = 1024**3
_MOST_FIELDS = 200_000
"""Fields of all subscriptions, with those inside of them; real logs have 10,000."""
_DEEPEST = 8
_READ_AGAIN, _SMALL = 4, 1024**2
"""How often the library may read a file where it looks for what is behind damage, beside a size."""


class _DamageError(Exception):
    """What the library must not take for a fault of one message: it would go on."""


@dataclass(frozen=True)
class Dataset:
    """All messages of one subscription, by time."""

    name: str
    instance: int
    stamps: IntArray
    """Since the boot of the autopilot [ns], (t,)."""
    _columns: Mapping[str, Any]
    _order: Any

    def __contains__(self, field: str) -> bool:
        return field in self._columns

    def column(self, field: str) -> FloatArray:
        """Return the values of a field, (t,), NaN for one that this firmware did not have."""
        if field not in self:
            return np.full(len(self.stamps), np.nan)
        return np.asarray(self._columns[field][self._order], float)

    def columns(self, *fields: str) -> FloatArray:
        """Return the values of some fields, (t, k)."""
        return np.column_stack([self.column(field) for field in fields])

    @functools.cached_property
    def sampled(self) -> IntArray:
        """When its values were measured, where it has that, else when it was published [ns]."""
        sampled = np.nan_to_num(self.column('timestamp_sample')).astype(np.int64) * 1000
        is_known = (sampled > 0) & (np.abs(self.stamps - sampled) < 1_000_000_000)
        return np.where(is_known, sampled, self.stamps)


@dataclass(frozen=True)
class Log:
    """What a log has of what was asked for."""

    datasets: tuple[Dataset, ...]
    parameters: Mapping[str, float]
    """As they were at its beginning."""
    about: str
    """Firmware and board."""
    names: tuple[str, ...]
    """Of all its messages."""
    notes: tuple[str, ...]
    """What is wrong with it, one line each."""

    def of(self, name: str) -> list[Dataset]:
        """Return the datasets of a message, by instance."""
        return [each for each in self.datasets if each.name == name]

    def first(self, *names: str) -> Dataset | None:
        """Return the first dataset of the first of some messages that it has, None for none."""
        return next((each for name in names for each in self.of(name)), None)


def read_log(path: Path, wanted: Collection[str]) -> Log:
    """Return what a log has of the messages of some names.

    Raises `SourceError`, naming the file, for a missing package and whatever is wrong with it.
    """
    name = printable(path)
    try:
        # Only those who have such logs need it.
        import pyulog
    except ImportError as error:
        raise SourceError(
            name, f'the Python package pyulog reads logs of PX4: {how_to_get("pyulog")}'
        ) from error
    try:
        with opened(path, _LARGEST) as file, contextlib.redirect_stdout(io.StringIO()):
            seen: dict[str, None] = {}
            read = _bounded(pyulog.ULog, seen)(_Limited(file), list(wanted))
            return _log(read, tuple(sorted(seen)))
    except SourceError:
        raise
    except Exception as error:
        # The library raises whatever it meets in a damaged file.
        reason = ' '.join(str(error).split())[:300] or type(error).__name__
        raise SourceError(name, f'is not a readable ULog: {reason}') from error


def _log(read: Any, names: tuple[str, ...]) -> Log:
    datasets, notes = [], []
    for each in read.data_list:
        given = each.data.get('timestamp')
        if given is None:
            notes.append(f'{each.name} has no timestamp: left out')
            continue
        time = np.asarray(given)
        good = np.flatnonzero((time > 0) & (time < LATEST_NS // 1000))
        if len(good) < len(time):
            notes.append(f'{each.name}: {len(time) - len(good)} without a time: left out')
        stamps = time[good].astype(np.int64) * 1000
        is_sorted = bool((np.diff(stamps) >= 0).all())
        order = slice(None) if is_sorted and len(good) == len(time) else good[
            np.argsort(stamps, kind='stable')
        ]
        if len(stamps):
            stamps = stamps if is_sorted else np.sort(stamps, kind='stable')
            datasets.append(Dataset(each.name, int(each.multi_id), stamps, each.data, order))
    if read.dropouts:
        lost = sum(int(each.duration) for each in read.dropouts)
        notes.append(f'{len(read.dropouts)} dropouts while logging, {lost} ms together')
    if read.file_corruption:
        notes.append('is damaged in parts: what could be read of it is used')
    parameters = {
        str(key): float(value) for key, value in read.initial_parameters.items()
        if isinstance(value, (int, float)) and np.isfinite(value)
    }
    info = read.msg_info_dict
    release = info.get('ver_sw_release')
    version = '.'.join(str(release >> shift & 255) for shift in (24, 16, 8)) \
        if isinstance(release, int) else ''
    about = ' '.join(str(part) for part in (info.get('sys_name'), version, info.get('ver_hw'))
                     if part)
    return Log(tuple(datasets), parameters, about, names, tuple(notes))


def _bounded(reader: Any, seen: dict[str, None]) -> Any:
    """Return the library's reader, which now notes each message, and refuses endless formats."""
    left = _MOST_FIELDS

    class Subscription(reader._MessageAddLogged):  # type: ignore[misc]
        """Counts fields before they are made of a format."""

        def _parse_nested_type(self, prefix: str, name: str, formats: Mapping[str, Any]) -> None:
            nonlocal left
            left -= 1 + sum(max(size, 1) for _, size, _ in formats[name].fields)
            if left < 0:
                raise _DamageError(f'its messages have over {_MOST_FIELDS} fields')
            if prefix.count('.') >= _DEEPEST:
                raise _DamageError(f'its messages are nested more than {_DEEPEST} times')
            if not prefix:
                seen[name] = None
            super()._parse_nested_type(prefix, name, formats)

    return type('BoundedULog', (reader,), {'_MessageAddLogged': Subscription})


class _Limited:
    """A file for the library, which goes back in it where it looks for what is behind damage."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self._left = _READ_AGAIN * file.seek(0, io.SEEK_END) + _SMALL
        self.seek, self.tell = file.seek, file.tell
        file.seek(0)

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        data = self._file.read(size)
        self._left -= len(data) + 1
        if self._left < 0:
            raise _DamageError('most of it is damaged')
        return data

    def close(self) -> None:
        """Leave the file open, for who opened it."""
