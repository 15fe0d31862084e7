# SPDX-License-Identifier: Apache-2.0
"""Replays and fits of a table as the cases of a study."""
from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from propulsion_ros.graph.simulation import BODY
from propulsion_ros.graph.wiring import robot_graph, vehicle_graph
from propulsion_ros.identify.problem import MEASURED
from propulsion_ros.identify.robot import read_robot
from propulsion_ros.identify.session import Request, Session
from propulsion_ros.replay.blocks import Moment
from propulsion_ros.replay.robot import Choice, Robot
from propulsion_ros.replay.sources import TableSource
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import read_lines, read_text, write_text
from propulsion_ros.settings.flat import suggestion
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.study.draws import Variable, generator
from propulsion_ros.study.overrides import (
    MASS,
    Base,
    parameters_of_case,
    write_merged,
    write_with_mass,
)
from propulsion_ros.study.places import CASE, ROBOT, input_name, params_in
from propulsion_ros.study.signals import Signals, check_topics
from propulsion_ros.study.study import Case, Study
from propulsion_ros.urdf.xml import SIZE_LIMIT

_INPUT = 'input'
_EFFECTS = ('noise', 'offset', 'factor')
"""What can be done to a column of the input: ``noise`` is a standard deviation."""


class TableCases:
    """What replays and fits have in common: parameters, a robot and a table that vary.

    Parameters
    ----------
    study : Study
        What varies.
    folder : Path
        Has the files of the study, and gets those of the case.
    """

    def __init__(self, study: Study, folder: Path) -> None:
        self._study, self._params, self._folder = study, study.params, folder
        files = params_in(folder)
        self._merged = folder / 'given.yaml'
        changes: dict[str, dict[str, Any]] = {}
        for path in files[1:]:
            for pattern, values in ParameterFile(path).entries:
                changes.setdefault(pattern.rpartition('/')[2], {}).update(values)
        write_merged(self._merged, ParameterFile(files[0]) if files else None, changes)
        self._input = folder / input_name(study.params.input)
        has_robot = bool(study.params.robot or study.params.vehicle)
        self._description = read_text(folder / ROBOT, SIZE_LIMIT) if has_robot else ''
        self._base = Base(self._description, [self._merged])
        self._nodes = self._names()

    def _names(self) -> list[str]:
        """Return the names of the nodes whose parameters can vary."""
        names = ParameterFile(self._merged).nodes
        model = self._folder / ROBOT
        if self._params.vehicle:
            graph = vehicle_graph(self._params.vehicle, model=model, replay=True)
        elif self._description:
            graph = robot_graph(model, replay=True)
        else:
            return names
        return list(dict.fromkeys([*names, *(spec.name for spec in graph.nodes), BODY]))

    def write(self, path: Path, case: Case) -> None:
        """Write the parameter file of a case."""
        _, changes, _ = self._varied(case)
        write_merged(
            path, ParameterFile(self._merged), changes,
            f'Case {case.number} of {self._study.path.name}.',
        )

    def _made(self, case: Case) -> tuple[Path | None, Path, Path]:
        """Return robot description, parameter file and table of a case."""
        model, changes, columns = self._varied(case)
        config = self._folder / CASE
        write_merged(config, ParameterFile(self._merged), changes)
        table = self._input
        if columns:
            table = self._folder / input_name('', 'case')
            write_text(table, self._spoilt(columns, case))
        return model, config, table

    def _varied(
        self, case: Case
    ) -> tuple[Path | None, dict[str, dict[str, Any]], list[tuple[str, str, Variable]]]:
        model = self._folder / ROBOT if self._description else None
        drawn, columns = [], []
        for variable in self._study.vary:
            number = case.values[variable.name]
            if variable.name == MASS:
                model = write_with_mass(self._folder, self._description, number)
            elif variable.name.startswith(f'{_INPUT}.'):
                column, _, effect = variable.name.partition('.')[2].rpartition('.')
                if effect not in _EFFECTS:
                    raise SourceError(
                        variable.name, 'expected input.<column>.<effect>, an effect of '
                        f'{", ".join(_EFFECTS)}'
                    )
                columns.append((column, effect, variable))
            else:
                drawn.append((variable, number))
        return model, parameters_of_case(drawn, self._nodes, self._base.value), columns

    def _spoilt(self, columns: Sequence[tuple[str, str, Variable]], case: Case) -> str:
        """Return the text of the table with what varies in its columns."""
        rows = list(csv.reader(read_lines(self._input)))
        header = [name.strip() for name in rows[0]] if rows else []
        for column, effect, variable in columns:
            if column not in header:
                raise SourceError(
                    variable.name, f'no column {column!r}{suggestion(column, header)}'
                )
            index, number = header.index(column), case.values[variable.name]
            rng = generator(self._study.params.seed, case.number, f'{variable.name} of rows')
            for row in rows[1:]:
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
        """Raise `ConfigError` for what is wrong before a case can be replayed."""
        robot, _ = self._robot(case, [])
        check_topics(
            self._study.results, (each for host in robot.hosts for each in host.published_topics)
        )

    def fly(self, case: Case) -> Mapping[str, Any]:
        """Return the results of a replay."""
        lines: list[str] = []
        robot, source = self._robot(case, lines)
        signals = Signals(self._study.results)
        for moment in source.play(robot):
            # No loop is given that takes blocks, so there are none.
            if isinstance(moment, Moment):
                for published in moment.published:
                    signals.take(*published)
        return {**signals.numbers(), 'warnings': len(lines)}

    def _robot(self, case: Case, lines: list[str]) -> tuple[Robot, TableSource]:
        model, config, table = self._made(case)
        source = TableSource(table, is_bare=not self._params.vehicle)
        choice = Choice(config, self._params.vehicle, model)
        return Robot(choice, source.inputs, lines.append), source


class IdentifyCases(TableCases):
    """Fits parameters to a table: what noise and wrong starts make of the estimates."""

    def check(self, case: Case) -> None:
        """Raise `ConfigError` for what is wrong before a fit can be made."""
        measured = self._params.measured
        if measured not in MEASURED:
            known = ', '.join(MEASURED)
            raise SourceError('measured', f'expected one of {known}, got {measured!r}')
        self._session(case)

    def fly(self, case: Case) -> Mapping[str, Any]:
        """Return each estimate with its standard deviation, and the errors that are left."""
        report = self._session(case).run().report
        row: dict[str, Any] = {}
        for name, found in report['estimates'].items():
            row[name], row[f'{name} sd'] = found['value'], found['sd']
        return {
            **row, 'rms': report['rms'], 'cross_validation_rms': report['cross_validation_rms'],
            'warnings': len(report['warnings']),
        }

    def _session(self, case: Case) -> Session:
        model, config, table = self._made(case)
        if model is None:
            raise SourceError('robot', 'is required: it has the group that is fitted')
        fit = list(self._params.fit)
        robot = read_robot(model, config, fit)
        return Session(robot, Request(table, fit, self._params.measured))
