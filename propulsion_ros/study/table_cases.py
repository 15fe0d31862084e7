# SPDX-License-Identifier: Apache-2.0
"""Cases of a study that replay a table, or fit parameters to it."""
from __future__ import annotations

import csv
import math
from collections import ChainMap
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from propulsion_ros.graph.simulation import BODY
from propulsion_ros.graph.wiring import robot_graph
from propulsion_ros.identify.problem import MEASURED
from propulsion_ros.identify.robot import read_robot
from propulsion_ros.identify.session import Request, Session
from propulsion_ros.replay.robot import Choice, Robot
from propulsion_ros.replay.sources import TableSource
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import read_lines, read_text, write_text
from propulsion_ros.settings.flat import suggestion
from propulsion_ros.settings.yaml_file import ParameterFile, write_parameters
from propulsion_ros.study.draws import generator
from propulsion_ros.study.kinds import CASE, GIVEN, ROBOT, input_name, params_in
from propulsion_ros.study.overrides import RobotCases, require_number
from propulsion_ros.study.signals import Signals, check_results
from propulsion_ros.study.study import Case, Study
from propulsion_ros.urdf.xml import SIZE_LIMIT

_INPUT = 'input'
_EFFECTS = ('noise', 'offset', 'factor')
"""Changes of a column of the input; ``noise`` is a standard deviation."""


class TableCases(RobotCases):
    """Base class of replays and fits, whose table can vary too."""

    other = _INPUT

    def __init__(self, study: Study, folder: Path) -> None:
        params, files, given = study.params, params_in(folder), folder / GIVEN
        write_parameters(given, ParameterFile(*files) if files else None, {})
        self._input = folder / input_name(params.input)
        merged, model = ParameterFile(given), folder / ROBOT
        has_robot = bool(params.robot or params.vehicle)
        description = read_text(model, SIZE_LIMIT) if has_robot else ''
        nodes = merged.nodes
        if has_robot:
            graph = robot_graph(params.vehicle, model, replay=True)
            nodes = list(dict.fromkeys([*nodes, *(spec.name for spec in graph.nodes), BODY]))
        super().__init__(study, folder, description, [given], nodes, merged)

    def _made(self, case: Case) -> tuple[Path | None, Path, Path]:
        """Return robot description, parameter file and table of a case."""
        model, changes, columns = self._varied(case)
        config = self._folder / CASE
        write_parameters(config, self._file, changes)
        table = self._input
        if columns:
            table = self._folder / input_name('', 'case')
            write_text(table, self._spoilt(columns, case))
        return model if self._description else None, config, table

    def _spoilt(self, columns: Mapping[str, Any], case: Case) -> str:
        """Return the text of the table with changed columns."""
        rows = list(csv.reader(read_lines(self._input)))
        header = [name.strip() for name in rows[0]] if rows else []
        for key, number in columns.items():
            name, (column, _, effect) = f'{_INPUT}.{key}', key.rpartition('.')
            if effect not in _EFFECTS:
                raise SourceError(
                    name, f'expected input.<column>.<effect>, an effect of {", ".join(_EFFECTS)}'
                )
            if column not in header:
                raise SourceError(
                    name, f'no column {column!r}{suggestion(column, header)}; the table has '
                    f'{", ".join(header)}'
                )
            require_number(name, number, 0.0 if effect == 'noise' else -math.inf)
            index = header.index(column)
            rng = generator(self._params.seed, case.number, f'{name} of rows')
            for row in rows[1:]:
                # The reader of the table refuses a cell that is no number, with its line.
                with suppress(ValueError):
                    if index < len(row) and row[index].strip():
                        row[index] = repr(_spoil(effect, float(row[index]), number, rng))
        return ''.join(','.join(row) + '\n' for row in rows)


def _spoil(effect: str, value: float, number: float, rng: Any) -> float:
    if effect == 'factor':
        return value * number
    return value + (number if effect == 'offset' else float(rng.normal(0.0, number)))


class ReplayCases(TableCases):
    """Replays a table with the parameters of each case."""

    def check(self, case: Case) -> None:
        """Raise `ConfigError` for an error that shows before a case is replayed."""
        robot, _ = self._robot(case, [])
        published = ChainMap(*(host.published_topics for host in robot.hosts))
        check_results(self._study.results, published)

    def fly(self, case: Case) -> Mapping[str, Any]:
        """Return the results of a replay."""
        self.warnings = lines = list[str]()
        robot, source = self._robot(case, lines)
        signals = Signals(self._study.results)
        for played in source.play(robot):
            for published in played.published:
                signals.take(*published)
        return {**signals.numbers(), 'warnings': len(lines)}

    def _robot(self, case: Case, lines: list[str]) -> tuple[Robot, TableSource]:
        model, config, table = self._made(case)
        source = TableSource(table, is_bare=not self._params.vehicle)
        choice = Choice(config, self._params.vehicle, model)
        return Robot(choice, source.inputs, lines.append), source


class IdentifyCases(TableCases):
    """Fits parameters to a table, to show the effect of noise and of wrong starts on estimates."""

    def check(self, case: Case) -> None:
        """Raise `ConfigError` for an error that shows before a fit."""
        measured = self._params.measured
        if measured not in MEASURED:
            known = ', '.join(MEASURED)
            raise SourceError('measured', f'expected one of {known}, got {measured!r}')
        self._session(case)

    def fly(self, case: Case) -> Mapping[str, Any]:
        """Return each estimate with its standard deviation, and the errors of the fit."""
        self.warnings = ()
        report = self._session(case).run().report
        self.warnings = report['warnings']
        row: dict[str, Any] = {}
        for name, found in report['estimates'].items():
            # If the start of a parameter varies, that has the column of its name.
            estimate = f'{name} fitted' if name in case.values else name
            row[estimate], row[f'{name} sd'] = found['value'], found['sd']
        return {
            **row, 'rms': report['rms'], 'cross_validation_rms': report['cross_validation_rms'],
            'warnings': len(report['warnings']),
        }

    def _session(self, case: Case) -> Session:
        model, config, table = self._made(case)
        if model is None:
            raise SourceError('robot', 'is required: it has the group that is fitted')
        fit = list(self._params.fit)
        robot = read_robot(model, [config], fit)
        return Session(robot, Request(table, fit, self._params.measured))
