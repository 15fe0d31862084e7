# SPDX-License-Identifier: Apache-2.0
"""Closed-loop flights as the cases of a study."""
from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from propulsion_ros.demos.pilot import Controller
from propulsion_ros.graph.simulation import Simulation
from propulsion_ros.graph.wiring import Graph, robot_graph
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import read_text
from propulsion_ros.settings.yaml_file import write_parameters
from propulsion_ros.study.closed_loop import ClosedLoop
from propulsion_ros.study.kinds import CASE, CONTROLLER, ROBOT, params_in
from propulsion_ros.study.overrides import RobotCases
from propulsion_ros.study.signals import Signals, check_results
from propulsion_ros.study.study import Case, Study, StudyParams
from propulsion_ros.urdf.xml import SIZE_LIMIT

_CONTROLLER = 'controller'


class FlightCases(RobotCases):
    """Flies the cases of a study of flights."""

    other = _CONTROLLER

    def __init__(self, study: Study, folder: Path) -> None:
        self._own, params = params_in(folder), study.params
        self._make = _controller_in(folder / CONTROLLER) if params.controller else None
        graph = _graph(params, folder / ROBOT, self._own)
        self._shipped = [graph.params_file] if graph.params_file else []
        super().__init__(
            study, folder, read_text(folder / ROBOT, SIZE_LIMIT), [*self._shipped, *self._own],
            [spec.name for spec in graph.nodes],
        )

    def unit(self, name: str) -> str:
        """Return the unit of a column, '' if none is known."""
        return getattr(self._make, 'units', {}).get(name) or super().unit(name)

    def check(self, case: Case) -> None:
        """Raise `ConfigError` for an error that shows before a case is flown."""
        loop, _, _ = self._made(case)
        check_results(self._study.results, loop.published_topics)

    def fly(self, case: Case) -> Mapping[str, Any]:
        """Return the results of a flight, and those of its controller."""
        loop, signals, controller = self._made(case)
        self.warnings = loop.lines
        loop.fly()
        own: Mapping[str, Any] = getattr(controller, 'results', dict)()
        return {**signals.numbers(), **own, 'warnings': len(loop.lines)}

    def _made(self, case: Case) -> tuple[ClosedLoop, Signals, Controller | None]:
        model, changes, given = self._varied(case)
        overlay = self._folder / CASE
        write_parameters(overlay, None, changes)
        files = [*self._own, overlay] if changes else self._own
        graph, signals = _graph(self._params, model, files), Signals(self._study.results)
        controller = self._controller(case.seed, given)
        loop = ClosedLoop(graph, [*self._shipped, *files], controller, signals.take)
        return loop, signals, controller

    def _controller(self, seed: int, given: Mapping[str, Any]) -> Controller | None:
        if self._make is None:
            if given:
                raise SourceError('vary', 'controller: the study has no controller')
            return None
        try:
            made: Controller = self._make(seed=seed, **given)
        except Exception as error:
            raise SourceError(
                str(self._folder / CONTROLLER), f'{type(error).__name__}: {error}'
            ) from error
        return made


def _graph(params: StudyParams, model: Path, files: list[Path]) -> Graph:
    simulation = Simulation(
        tuple(params.wait_for),
        {'duration': params.duration, 'real_time_factor': 0.0, 'publish_tf': False},
        tuple(files),
    )
    return robot_graph(
        params.vehicle, model, allocated=params.allocate, simulation=simulation)


def _controller_in(path: Path) -> Any:
    """Return the class of a controller; raise `SourceError` for what its file raises."""
    spec = importlib.util.spec_from_file_location('study_controller', path)
    if spec is None or spec.loader is None:
        raise SourceError(str(path), 'expected a Python file')
    module = importlib.util.module_from_spec(spec)
    # As for a program; another study may have had modules of these names.
    sys.path.insert(0, str(path.parent))
    for each in path.parent.glob('*.py'):
        sys.modules.pop(each.stem, None)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise SourceError(str(path), f'{type(error).__name__}: {error}') from error
    made = getattr(module, 'Controller', None)
    if not callable(getattr(made, 'steer', None)):
        raise SourceError(str(path), 'expected a class Controller with steer()')
    return made
