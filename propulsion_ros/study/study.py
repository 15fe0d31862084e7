# SPDX-License-Identifier: Apache-2.0
"""A study: its file, its rows as CSV, and statistics of the rows."""
from __future__ import annotations

import csv
import functools
import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from propulsion_ros.graph.share import share_directory
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.files import ABSENT, kind_of, printable, read_text, replacing, writing
from propulsion_ros.settings.flat import (
    build,
    known_hint,
    parameters_of,
    refuse_unknown,
    suggestion,
)
from propulsion_ros.settings.quantity import FloatArray, quantity, validate
from propulsion_ros.settings.yaml_file import SIZE_LIMIT, KeyPlaces, document_of
from propulsion_ros.study.draws import Variable, is_number, read_variable, seed_of
from propulsion_ros.study.signals import Result, read_result

MOST_CASES = 100_000_000  # at each point of the grid
Row = Mapping[str, Any]
"""Numbers and texts of a case by column."""
OWN = ('case', 'seed', 'error')
"""Columns that every study has."""
_VARIANTS = 4  # most texts of a grid that are told apart
_SHARES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)  # quantiles in the summary


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of study."""

    cases: tuple[str, str]
    """Module and class that fly its cases; a worker imports only the one that it needs."""
    keys: frozenset[str] = frozenset()
    """Keys besides those of all kinds."""
    required: tuple[tuple[str, ...], ...] = ()
    """Tuples of keys; one key of each tuple must be given."""
    takes_logs: bool = False
    """True if its input is a folder of flown logs, False if it is a table."""
    rates_by: tuple[str, ...] = ()
    """Columns by whose values the cases beyond their limits are counted."""


_ROBOT = frozenset({'vehicle', 'robot', 'params', 'results'})
KINDS: Mapping[str, Kind] = {
    'flight': Kind(
        cases=('flight_cases', 'FlightCases'),
        keys=_ROBOT | {'controller', 'wait_for', 'allocate', 'duration'},
        required=(('vehicle', 'robot'), ('results', 'controller')),
    ),
    'replay': Kind(
        cases=('table_cases', 'ReplayCases'), keys=_ROBOT | {'input'},
        required=(('params', 'vehicle'), ('input',), ('results',)),
    ),
    'apogee': Kind(
        cases=('apogee_cases', 'ApogeeCases'), keys=frozenset({'input'}), takes_logs=True,
        rates_by=('fault', 'apogee.method'),
    ),
    'ground': Kind(
        cases=('ground.judge', 'GroundCases'), rates_by=('situation', 'source', 'class'),
    ),
    'identify': Kind(
        cases=('table_cases', 'IdentifyCases'),
        keys=frozenset({'robot', 'params', 'input', 'fit', 'measured'}),
        required=(('robot',), ('input',), ('fit',)),
    ),
}
"""All kinds of studies."""
_ALL = frozenset({'kind', 'cases', 'seed', 'vary', 'limits'})
_SECTIONS = ('vary', 'results', 'limits')


@dataclass(frozen=True, kw_only=True, eq=False)
class StudyParams:
    """Keys of a study besides vary, results and limits."""

    kind: str = quantity(doc='what a case is', kind=str, choices=tuple(KINDS))
    vehicle: str = quantity(
        '', kind=str, choices=('', *VEHICLES), doc='a vehicle of the package, with its settings'
    )
    robot: str = quantity('', kind=str, doc='robot description (.urdf, .xacro)')
    params: tuple[str, ...] = quantity(
        (), kind=str, shape=('*',), doc='parameter files of the nodes; later ones win'
    )
    input: str = quantity(
        '', kind=str, doc='bag or table that is replayed, or compared with; of the apogee a folder '
        'of flown logs'
    )
    controller: str = quantity('', kind=str, doc='Python file with the class Controller')
    wait_for: tuple[str, ...] = quantity(
        (), kind=str, shape=('*',), doc='topics of its commands, which each step waits for'
    )
    allocate: tuple[str, ...] = quantity(
        (), kind=str, shape=('*',), doc='plugin blocks that are commanded by a wrench'
    )
    duration: float = quantity(
        60.0, 's', doc='simulated time after which a flight ends', above=0.0, hi=1e6
    )
    fit: tuple[str, ...] = quantity(
        (), kind=str, shape=('*',), doc='what is fitted, as identify takes it'
    )
    measured: str = quantity(
        'imu', kind=str, doc='what the input has, as identify takes it'
    )
    cases: int = quantity(
        1, doc='how many are drawn, at each point of the grid', kind=int, lo=1, hi=MOST_CASES
    )
    seed: int = quantity(0, doc='of everything that is drawn', kind=int, lo=0)

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True)
class Case:
    """One case of a study."""

    number: int
    seed: int
    """Seed of the case as an integer, which follows from the study's seed and the number."""
    values: Mapping[str, Any]
    """Values of the variables, by name."""


@dataclass(frozen=True)
class Study:
    """A study whose cases depend on its file and their numbers only."""

    path: Path
    params: StudyParams
    vary: tuple[Variable, ...] = ()
    results: tuple[Result, ...] = ()
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Lowest and highest accepted value of each result that has limits."""

    @property
    def name(self) -> str:
        """Name of the file, without its ending."""
        return self.path.name.partition('.')[0]

    @functools.cached_property
    def points(self) -> int:
        """Number of points of the grid, 1 without a grid."""
        return math.prod(len(each.levels) for each in self.vary if each.levels)

    @property
    def size(self) -> int:
        """Number of cases."""
        return self.points * self.params.cases

    def case(self, number: int) -> Case:
        """Return a case; in a grid the last variable changes fastest."""
        point, values = number // self.params.cases, {}
        for variable in reversed(self.vary):
            if variable.levels:
                point, level = divmod(point, len(variable.levels))
                values[variable.name] = variable.levels[level]
            else:
                values[variable.name] = variable.draw(self.params.seed, number)
        ordered = {variable.name: values[variable.name] for variable in self.vary}
        return Case(number, seed_of(self.params.seed, number), ordered)

    def varied(self, row: Row) -> str:
        """Return what varied in the case of a row, and its texts, in words."""
        names = {each.name for each in self.vary}
        return ', '.join(
            f'{name} {f"{value:.4g}" if is_number(value) else value}' for name, value in row.items()
            if name in names or (isinstance(value, str) and value and name not in OWN)
        )

    def variants(self, rows: Sequence[Row]) -> dict[str, list[Row]]:
        """Return the rows by the texts of a grid, such as methods; all as '' without such texts."""
        names = [each.name for each in self.vary
                 if 1 < len(each.levels) <= _VARIANTS and not any(map(is_number, each.levels))]
        found: dict[str, list[Row]] = {}
        for row in rows:
            found.setdefault(' '.join(str(row.get(name)) for name in names), []).append(row)
        return found

    def failed_limits(self, row: Mapping[str, Any]) -> list[str]:
        """Return the results of a row that are beyond their limits, or no number."""
        return [
            name for name, (low, high) in self.limits.items()
            if not (isinstance(row.get(name), (int, float)) and low <= row[name] <= high)
        ]

    def check_limits(self, rows: Iterable[Row]) -> bool:
        """Check that the first case without an error has every result that has limits.

        Returns whether there is such a case; raises `SourceError` with the results that it has.
        """
        for row in rows:
            if row['error']:
                continue
            known = [name for name in row if name not in OWN]
            for name in self.limits:
                if name not in row:
                    raise SourceError(
                        f'{printable(self.path)}: limits: {name}',
                        f'case {row["case"]} has no such result{known_hint(name, known)}',
                    )
            return True
        return False

    def fingerprint(self, files: Mapping[str, bytes]) -> str:
        """Return a digest of files and keys, which differs if any case could differ."""
        digest = hashlib.sha256()
        for name, content in sorted(files.items()):
            digest.update(f'{name} {len(content)} '.encode() + content)
        digest.update(repr((
            [(each.key, getattr(self.params, each.key)) for each in parameters_of(StudyParams)
             if each.key not in ('cases',) or self.points > 1],
            self.vary, self.results,
        )).encode())
        return digest.hexdigest()


def find_study(path: Path) -> Path:
    """Return the path of a file, or of the study of that name in the package.

    Raises `SourceError` if there is neither.
    """
    if kind_of(path) != ABSENT or path.name != str(path) or path.suffix:
        return path
    shipped = {each.stem: each for each in (share_directory() / 'studies').glob('*.yaml')}
    if path.name not in shipped:
        raise SourceError(
            printable(path), f'no such file or study{suggestion(path.name, shipped)}; the package '
            f'has {", ".join(sorted(shipped))}'
        )
    return shipped[path.name]


def read_study(path: Path, **given: Any) -> Study:
    """Return the study of a file; ``given`` options override its keys.

    Raises `SourceError` with file, line and key of an error.
    """
    name, places = printable(path), KeyPlaces()
    document = document_of(name, read_text(path, SIZE_LIMIT), places)
    if not isinstance(document, Mapping):
        raise SourceError(
            name, f'expected the keys of a study, kind among them, got {str(document)[:60]!r}'
        )
    return _Reader(name, places, document, given).study(path)


class _Reader:
    """Reads the document of a study, and names the lines of errors."""

    def __init__(
        self, name: str, places: KeyPlaces, document: Mapping[str, Any], given: Mapping[str, Any]
    ) -> None:
        self._name, self._places, self._given = name, places, given
        self._document = {**document, **given}

    def study(self, path: Path) -> Study:
        params = self._params()
        self._check_keys(params)
        return Study(
            path, params,
            tuple(read_variable(place, key, value) for key, place, value in self._items('vary')),
            tuple(read_result(place, key, value) for key, place, value in self._items('results')),
            {key: _limits(place, value) for key, place, value in self._items('limits')},
        )

    def _place(self, key: str) -> str:
        if key in self._given:
            return f'--{key}'
        return f'{self._name}{self._places.suffix_of("/" + key)}: {key.replace("/", ": ")}'

    def _params(self) -> StudyParams:
        flat = {key: value for key, value in self._document.items() if key not in _SECTIONS}
        known = [*_SECTIONS, *(each.key for each in parameters_of(StudyParams))]
        try:
            refuse_unknown(map(str, self._document), known)
            return build(StudyParams, flat)
        except ConfigError as error:
            raise SourceError(self._place(error.key), error.problem) from None

    def _check_keys(self, params: StudyParams) -> None:
        """Refuse keys that a kind does not have, and require those that it needs."""
        kind = KINDS[params.kind]
        for key in self._document:
            if key not in kind.keys | _ALL:
                known = ', '.join(sorted(kind.keys | _ALL))
                raise SourceError(
                    self._place(str(key)),
                    f'a study of kind {params.kind} has none{suggestion(str(key), kind.keys)}'
                    f'; expected some of {known}'
                )
        for key in ('robot', 'allocate') if self._document.get('vehicle') else ():
            if self._document.get(key):
                raise SourceError(self._place(key), 'is that of the vehicle; leave one of them out')
        for keys in kind.required:
            if not any(self._document.get(key) for key in keys):
                others = ''.join(f', or {key}' for key in keys[1:])
                raise SourceError(
                    f'{self._name}: {keys[0]}',
                    f'is required in a study of kind {params.kind}{others}',
                )

    def _items(self, section: str) -> Iterable[tuple[str, str, Any]]:
        """Return key, place and value of each entry of a section."""
        given = self._document.get(section, {})
        if not isinstance(given, Mapping):
            raise SourceError(self._place(section), f'expected names, got {given!r}')
        return [(str(key), self._place(f'{section}/{key}'), value) for key, value in given.items()]


_OPEN = (None, 'null')
"""No limit, as YAML and as ROS give it."""


def _limits(place: str, given: Any) -> tuple[float, float]:
    """Return the lowest and the highest value; null means no limit."""
    ends = given if isinstance(given, list) and len(given) == 2 else ['', '']
    if not all(end in _OPEN or type(end) in (int, float) for end in ends):
        raise SourceError(place, f'expected the lowest and the highest value, got {given!r}')
    low, high = (
        none if end in _OPEN else float(end)
        for end, none in zip(ends, (-math.inf, math.inf), strict=True)
    )
    if not low <= high:  # nor NaN
        raise SourceError(place, f'expected the lowest value first, got {given!r}')
    return low, high


@dataclass(frozen=True)
class Column:
    """The numbers of a result over all cases that have one."""

    name: str
    cases: FloatArray
    """Numbers of these cases, (n,)."""
    values: FloatArray
    """Their values, (n,)."""

    @property
    def counts(self) -> dict[float, int]:
        """Number of cases of each value, if they share one or two, as a flag; else empty."""
        values, counts = np.unique(self.values, return_counts=True)
        is_shared = len(values) <= 2 and len(values) < len(self.values)
        return dict(zip(values.tolist(), counts.tolist(), strict=True)) if is_shared else {}

    @property
    def median(self) -> float:
        """Median of the values."""
        return float(np.median(self.values))

    def worst(self, count: int, limits: tuple[float, float] | None) -> list[int]:
        """Return the cases farthest beyond the limits or, without limits, from the median."""
        low, high = limits or (self.median, self.median)
        beyond = np.maximum(low - self.values, self.values - high)
        order = np.argsort(-beyond, kind='stable')[:count]
        return [int(case) for case in self.cases[order]]

    @property
    def summary(self) -> dict[str, Any]:
        """Row of the column in the file of quantiles; of equal extremes it has the first case."""
        values = self.values
        spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        shares = zip(_SHARES, np.quantile(values, _SHARES).tolist(), strict=True)
        return {
            'result': self.name, 'cases': len(values), 'mean': float(values.mean()),
            'sd': spread, 'min': float(values.min()),
            **{f'{share:.0%}': value for share, value in shares},
            'max': float(values.max()), 'lowest case': int(self.cases[values.argmin()]),
            'highest case': int(self.cases[values.argmax()]),
        }


def columns_of(rows: Iterable[Row]) -> list[str]:
    """Return the names of all columns in the order of the rows, the error last."""
    names = dict.fromkeys(name for row in rows for name in row)
    return [*(name for name in names if name != 'error'), 'error']


def numbers_of(study: Study, rows: Sequence[Row]) -> list[Column]:
    """Return the numeric results, each with the cases that have one."""
    varied = {variable.name for variable in study.vary}
    return [
        column for name in columns_of(rows) if name not in OWN and name not in varied
        if (column := column_of(name, rows)) is not None
    ]


def column_of(name: str, rows: Iterable[Row]) -> Column | None:
    """Return the numbers of a column, None if it has none."""
    found = [(row['case'], row[name]) for row in rows if is_number(row.get(name))]
    if not found:
        return None
    cases, values = np.array(found, dtype=float).T
    return Column(name, cases, values)


def rates(study: Study, rows: Iterable[Row], by: Sequence[str]) -> list[dict[str, Any]]:
    """Count the cases beyond each limit for each combination of values of some columns.

    All values of the first column are also counted together, as ``all``; failed cases separately.
    """
    groups: dict[tuple[str, ...], list[Row]] = {}
    found: list[dict[str, Any]] = []
    for row in rows:
        names = tuple(str(row.get(name, '')) for name in by)
        for key in (names, ('all', *names[1:])):
            groups.setdefault(key, []).append(row)
    for key in sorted(groups):
        flown = [row for row in groups[key] if not row['error']]
        beyond = [name for row in flown for name in study.failed_limits(row)]
        group: dict[str, Any] = dict(zip(by, key, strict=True))
        group['cases'], group['failed'] = len(flown), len(groups[key]) - len(flown)
        found.append({**group, **{name: beyond.count(name) for name in study.limits}})
    return found


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as CSV; the same rows always give the same bytes.

    A number has all its digits; an empty cell is a missing value. Raises `SourceError` if the
    file cannot be written.
    """
    names = columns_of(rows) if rows and 'error' in rows[0] else list(rows[0]) if rows else []
    with writing(path), replacing(path) as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([cell(row.get(name)) for name in names] for row in rows)


def cell(value: Any) -> str:
    """Return a value of a row as a cell of the file, '' for none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ''
    return value if isinstance(value, str) else repr(value)
