# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of any kind of study in a process that has the files of the study."""
from __future__ import annotations

import os
import re
import tempfile
import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from propulsion_ros.graph.share import located, read_description, share_directory
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.replay.bags import is_bag
from propulsion_ros.settings.errors import ConfigError, SourceError, one_line
from propulsion_ros.settings.files import FILE, kind_of, opened_to_write, read_bytes
from propulsion_ros.settings.flat import known_hint
from propulsion_ros.settings.yaml_file import KeyPlaces, document_of
from propulsion_ros.study.study import KINDS, Case, Study
from propulsion_ros.urdf.xml import parse_urdf

_LARGEST = 256 * 1024 * 1024  # size of a file that is sent to every worker [bytes]


ROBOT, CONTROLLER, CASE, GIVEN = 'robot.urdf', 'controller.py', 'case.yaml', 'given.yaml'
"""Files of a study in the folder of a process that flies its cases."""


def params_name(index: int) -> str:
    """Return the name of a parameter file; names sort in the order of the files."""
    return f'params_{index:03d}.yaml'


def params_in(folder: Path) -> list[Path]:
    """Return the parameter files in a folder, of which the later ones win."""
    return sorted(folder.glob('params_*.yaml'))


def input_name(given: str, prefix: str = 'input') -> str:
    """Return the worker's name of a table, which keeps its ending."""
    return prefix + ('.csv.gz' if given.endswith('.gz') else '.csv')


class Cases(ABC):
    """Flies the cases of a study; base of the class of each kind."""

    warnings: Sequence[str] = ()
    """Warnings of the last case, before it of the study; its column ``warnings`` has their number.
    """
    units: Mapping[str, str] = MappingProxyType({})
    """Units of columns."""

    @abstractmethod
    def check(self, case: Case) -> None:
        """Raise `ConfigError` for an error that shows before a case is flown."""

    @abstractmethod
    def fly(self, case: Case) -> Mapping[str, Any]:
        """Return the numbers of a case."""

    @abstractmethod
    def write(self, path: Path, case: Case) -> None:
        """Write the parameter file of a case."""

    def unit(self, name: str) -> str:
        """Return the unit of a column, '' if none is known."""
        return self.units.get(name, '')


def files_of(study: Study) -> dict[str, bytes]:
    """Return all files that a study names, by the names that workers give them.

    Raises `SourceError` if one cannot be read.
    """
    params, folder, found = study.params, study.path.parent, {}
    robot = params.robot and str(_near(folder, params.robot))
    if params.vehicle:
        robot = str(share_directory() / 'urdf' / f'{params.vehicle}.urdf.xacro')
    if robot:
        found[ROBOT] = read_description(robot).text.encode()
    for i, name in enumerate(params.params):
        found[params_name(i)] = read_bytes(_near(folder, name), _LARGEST)
    if params.controller:
        found |= _with_modules(_near(folder, params.controller))
    if params.input and KINDS[params.kind].takes_logs:
        found |= _flown_logs(_near(folder, params.input))
    elif params.input:
        path = _near(folder, params.input)
        if is_bag(path):
            raise SourceError(f'{study.path}: input', 'expected a table (.csv), got a bag')
        found[input_name(params.input)] = read_bytes(path, _LARGEST)
    return found


def _with_modules(path: Path) -> dict[str, bytes]:
    """Return a controller, with the modules beside it that it names, and that these name."""
    found = {CONTROLLER: read_bytes(path, _LARGEST)}
    texts, beside = [*found.values()], sorted(path.parent.glob('*.py'))
    for text in texts:
        for each in beside:
            is_named = re.search(rf'\b{re.escape(each.stem)}\b'.encode(), text)
            if is_named and each.name not in (path.name, *found):
                found[each.name] = read_bytes(each, _LARGEST)
                texts.append(found[each.name])
    return found


def _flown_logs(folder: Path) -> dict[str, bytes]:
    """Return the list of a folder of flown logs and the logs, all in one folder."""
    from propulsion_ros.study.apogee_flights import LISTS, references_of

    paths = [reference.path for reference in references_of(folder).values()]
    listed = next(folder / name for name in LISTS if kind_of(folder / name) == FILE)
    return {
        LISTS[0]: read_bytes(listed),
        **{path.name: read_bytes(path, _LARGEST) for path in paths},
    }


def named_in(study: Study, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files that parameters, robot and variables name, such as curves of motors.

    Workers open these by their paths; here they are only read for the fingerprint of the study.
    """
    texts, found = [variable.given for variable in study.vary], {}
    if study.params.vehicle:
        config = share_directory() / 'config'
        shipped = config / f'{study.params.vehicle}.yaml'
        texts += [str(shipped), str(config / VEHICLES[study.params.vehicle].flight_config)]
        files = {**files, 'params_shipped.yaml': read_bytes(shipped, _LARGEST)}
    for name, content in files.items():
        if name == ROBOT:
            texts += parse_urdf(content.decode()).itertext()
        elif name.startswith('params_'):
            texts.append(document_of(name, content.decode(), KeyPlaces()))
    for text in _texts(texts):
        path = os.path.expanduser(text.strip())
        if kind_of(path) == FILE:
            found[path] = read_bytes(path, _LARGEST)
    return found


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in values, lists and mappings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(each)


def _near(folder: Path, name: str) -> Path:
    """Return the path of a file that a study names: beside the study, or in a ROS package."""
    return folder / located(name)


@dataclass(frozen=True)
class StudyWork:
    """A study with all of its files, to be sent to any process."""

    study: Study
    files: Mapping[str, bytes]
    named: Mapping[str, bytes] = field(default_factory=dict)
    """Files of `named_in`."""

    @property
    def key(self) -> str:
        """Fingerprint, which differs if any case could differ."""
        return self.study.fingerprint({**self.files, **self.named})

    def ready(self) -> OpenStudy:
        """Return the study opened in this process."""
        return OpenStudy(self.study, self.files)


class OpenStudy:
    """A study in the process that flies its cases, with its files in a folder of its own."""

    def __init__(self, study: Study, files: Mapping[str, bytes]) -> None:
        self.study = study
        # It is removed with this object, at the latest when the process ends.
        self._place = tempfile.TemporaryDirectory(prefix='study_')
        self._folder = Path(self._place.name)
        for name, content in files.items():
            with opened_to_write(self._folder / name) as file:
                file.write(content)
        name, made = KINDS[study.params.kind].cases
        module = import_module(f'propulsion_ros.study.{name}')
        with self._located():
            self._cases: Cases = getattr(module, made)(study, self._folder)

    def check(self) -> None:
        """Raise `ConfigError` for an error that shows before any case is flown."""
        with self._located():
            self._cases.check(self.study.case(0))

    @contextmanager
    def _located(self) -> Iterator[None]:
        """Turn errors into ones that name the study and its files."""
        try:
            yield
        except ConfigError as error:
            raise SourceError(str(self.study.path), self._without_folder(str(error))) from None

    def write(self, path: Path, number: int) -> None:
        """Write the parameter file of a case, to fly it with nodes."""
        self._cases.write(path, self.study.case(number))

    def unit(self, name: str) -> str:
        """Return the unit of a column, '' if none is known."""
        return self._cases.unit(name)

    @property
    def warnings(self) -> list[str]:
        """Warnings of the last case, before it of the study."""
        return list(map(self._without_folder, self._cases.warnings))

    def row(self, number: int) -> dict[str, Any]:
        """Return the row of a case; an exception of the case is in its column ``error``."""
        case = self.study.case(number)
        row: dict[str, Any] = {'case': number, 'seed': case.seed, **case.values}
        try:
            results = {name: _plain(name, got) for name, got in self._cases.fly(case).items()}
            for name in results.keys() & {*row, 'error'}:
                raise SourceError(f'results: {name}', 'is another column, give it another name')
            return {**row, **results, 'error': ''}
        except Exception as error:
            kind = '' if isinstance(error, ConfigError) else f'{type(error).__name__}: '
            # Of the controller the line; what the package raises names its place by itself.
            frames = traceback.extract_tb(error.__traceback__) if kind else []
            lines = [f' ({at.filename}:{at.lineno})' for at in frames
                     if at.filename.startswith(f'{self._folder}/')]
            text = f'{kind}{error}{_known_to(error)}{"".join(lines[-1:])}'
            return {**row, 'error': self._without_folder(text)}

    def _without_folder(self, text: str) -> str:
        """Replace the paths in an error by the names that the study has for its files."""
        params = self.study.params
        names = {
            ROBOT: params.robot, CONTROLLER: params.controller, GIVEN: ', '.join(params.params),
            input_name(params.input): params.input,
            **{params_name(i): name for i, name in enumerate(params.params)},
        }
        for own, name in names.items():
            text = text.replace(f'{self._folder}/{own}', name or own)
        return one_line(text.replace(f'{self._folder}/', ''))


def _known_to(error: Exception) -> str:
    """Return a hint with the attributes of an object, for an error about a missing one."""
    if not isinstance(error, AttributeError) or error.obj is None:
        return ''
    known = [each for each in dir(error.obj) if not each.startswith('_')]
    return known_hint(str(error.name), known)


def _plain(name: str, value: Any) -> Any:
    """Return a result as a type of JSON, so that it is the same when read from the journal.

    Raises `SourceError` if it is neither a number nor a text.
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is None or isinstance(plain, str | int | float):
        return plain
    raise SourceError(
        f'results: {name}', f'expected a number or a text, got {type(value).__name__}'
    )
