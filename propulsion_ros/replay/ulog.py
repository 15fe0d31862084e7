# SPDX-License-Identifier: Apache-2.0
"""PX4's logs (ULog), read by the package pyulog, within limits that this does not have.

https://docs.px4.io/main/en/dev_log/ulog_file_format
"""
from __future__ import annotations

import contextlib
import io
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from propulsion_ros.loops.decoders import LATEST_NS
from propulsion_ros.settings.errors import SourceError, one_line
from propulsion_ros.settings.files import opened, printable
from propulsion_ros.settings.imports import how_to_get
from propulsion_ros.settings.quantity import FloatArray, IntArray

SUFFIX = '.ulg'
_LARGEST = 1024**3
_MOST_FIELDS, _DEEPEST = 200_000, 8
"""Fields of all subscriptions with those inside of them, and how deep; real logs have 10,000."""
_READ_AGAIN, _SMALL = 4, 1024**2
"""How often a file may be read where the library looks for what is behind damage."""


class _DamageError(Exception):
    """What the library must not take for a fault of one message and go on."""


@dataclass(frozen=True)
class Dataset:
    """The messages of one name and instance."""

    name: str
    stamps: IntArray
    """Since the boot of the autopilot, in order [ns], (t,)."""
    _fields: Mapping[str, Any]
    _order: IntArray

    def column(self, field: str) -> FloatArray:
        """Return the values of a field, (t,), NaN for one that this firmware did not have."""
        given = self._fields.get(field)
        if given is None:
            return np.full(len(self.stamps), np.nan)
        return np.asarray(given[self._order], float)

    def columns(self, *fields: str) -> FloatArray:
        """Return the values of some fields, (t, k)."""
        return np.column_stack([self.column(field) for field in fields])


@dataclass(frozen=True)
class Log:
    """What a log has of what was asked for."""

    datasets: list[Dataset]
    parameters: Mapping[str, float]
    """As they were at its beginning."""
    names: list[str]
    """Of all its messages."""
    notes: list[str]
    """Of what firmware it is, and what is wrong with it."""

    def of(self, *names: str) -> list[Dataset]:
        """Return the datasets of some messages, in this order, by instance."""
        return [each for name in names for each in self.datasets if each.name == name]


def read_log(path: Path, wanted: Collection[str]) -> Log:
    """Return what a log has of the messages of some names.

    Raises `SourceError`, naming the file, for a missing package and whatever is wrong with it.
    """
    name, seen = printable(path), dict[str, None]()
    try:
        # Only those who have such logs need it.
        import pyulog
    except ImportError as error:
        raise SourceError(
            name, f'the Python package pyulog reads logs of PX4: {how_to_get("pyulog")}'
        ) from error
    try:
        # It prints what it finds damaged.
        with opened(path, _LARGEST) as file, contextlib.redirect_stdout(io.StringIO()):
            return _log(_bounded(pyulog.ULog, seen)(_Limited(file), list(wanted)), list(seen))
    except SourceError:
        raise
    except Exception as error:
        # It raises whatever it meets in a damaged file.
        reason = one_line(str(error))[:300] or type(error).__name__
        raise SourceError(name, f'is not a readable ULog: {reason}') from error


def _log(read: Any, names: list[str]) -> Log:
    info, datasets = read.msg_info_dict, []
    release = info.get('ver_sw_release', 0)
    version = '.'.join(str(release >> shift & 255) for shift in (24, 16, 8))
    notes = [f'{info.get("sys_name", "unknown firmware")} {version} on {info.get("ver_hw", "")}']
    for each in read.data_list:
        time = np.asarray(each.data['timestamp'])
        good = np.flatnonzero((time > 0) & (time < LATEST_NS // 1000))
        if len(good) < len(time):
            notes.append(f'{each.name}: {len(time) - len(good)} without a time: left out')
        order = good[np.argsort(time[good], kind='stable')]
        if len(order):
            stamps = time[order].astype(np.int64) * 1000
            datasets.append(Dataset(each.name, stamps, each.data, order))
    if read.dropouts:
        lost = sum(int(each.duration) for each in read.dropouts)
        notes.append(f'{len(read.dropouts)} dropouts while logging, {lost} ms together')
    if read.file_corruption:
        notes.append('it is damaged: what could be read of it is used')
    return Log(datasets, {
        key: float(value) for key, value in read.initial_parameters.items()
        if isinstance(value, (int, float)) and np.isfinite(value)
    }, names, notes)


def _bounded(reader: Any, seen: dict[str, None]) -> Any:
    """Return the library's reader, which notes each message, and refuses endless formats."""
    left = _MOST_FIELDS

    class Subscription(reader._MessageAddLogged):  # type: ignore[misc]
        """Counts fields before they are made of a format."""

        def _parse_nested_type(self, prefix: str, name: str, formats: Mapping[str, Any]) -> None:
            nonlocal left
            left -= 1 + sum(max(size, 1) for _, size, _ in formats[name].fields)
            if left < 0 or prefix.count('.') > _DEEPEST:
                raise _DamageError(
                    f'its messages have over {_MOST_FIELDS} fields, or over {_DEEPEST} levels'
                )
            if not prefix:
                seen[name] = None
            super()._parse_nested_type(prefix, name, formats)

    return type('Bounded', (reader,), {'_MessageAddLogged': Subscription})


class _Limited:
    """A file for the library, which goes back in it to look for what is behind damage."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file, self._left = file, _READ_AGAIN * file.seek(0, io.SEEK_END) + _SMALL
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
        """Leave the file to who opened it."""
