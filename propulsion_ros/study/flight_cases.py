# SPDX-License-Identifier: Apache-2.0
"""Closed-loop flights as the cases of a study."""
from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from propulsion_ros.graph.simulation import Simulation
from propulsion_ros.graph.wiring import Graph, robot_graph, vehicle_graph
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.files import read_text, write_text
from propulsion_ros.study.closed_loop import ClosedLoop, Controller
from propulsion_ros.study.overrides import (
    MASS,
    Base,
    parameters_of_case,
    write_merged,
    write_with_mass,
)
from propulsion_ros.study.places import CASE, CONTROLLER, ROBOT, params_in
from propulsion_ros.study.signals import Signals, check_topics
from propulsion_ros.study.study import Case, Study
from propulsion_ros.urdf.xml import SIZE_LIMIT

_CONTROLLER = 'controller'


class FlightCases:
    """Flies the cases of a study of flights.

    Parameters
    ----------
    study : Study
        What varies.
    folder : Path
        Has the files of the study, and gets those of the case.
    """

    def __init__(self, study: Study, folder: Path) -> None:
        self._study, self._params, self._folder = study, study.params, folder
        self._own = params_in(folder)
        self._description = read_text(folder / ROBOT, SIZE_LIMIT)
        self._make = _controller_in(folder / CONTROLLER) if self._params.controller else None
        graph = self._graph(folder / ROBOT, self._own)
        self._shipped = [graph.params_file] if graph.params_file else []
        self._nodes = [spec.name for spec in graph.nodes]
        self._base = Base(self._description, [*self._shipped, *self._own])

    def _graph(self, model: Path, files: list[Path]) -> Graph:
        params = self._params
        simulation = Simulation(
            tuple(params.wait_for),
            {'duration': params.duration, 'real_time_factor': 0.0, 'publish_tf': False},
            tuple(files),
        )
        if params.vehicle:
            return vehicle_graph(params.vehicle, model=model, simulation=simulation)
        return robot_graph(model, allocated=params.allocate, simulation=simulation)

    def check(self, case: Case) -> None:
        """Raise `ConfigError` for what is wrong before a case can be flown."""
        loop, _, _ = self._made(case)
        check_topics(self._study.results, loop.published_topics)

    def fly(self, case: Case) -> Mapping[str, Any]:
        """Return the results of a flight, and those of its controller."""
        loop, signals, controller = self._made(case)
        loop.fly()
        own: Mapping[str, Any] = getattr(controller, 'results', dict)()
        return {**signals.numbers(), **own, 'warnings': len(loop.lines)}

    def write(self, path: Path, case: Case) -> None:
        """Write the parameter file of a case, and its robot where that varies."""
        model, changes, _ = self._varied(case)
        write_merged(path, None, changes, f'Case {case.number} of {self._study.path.name}.')
        if model != self._folder / ROBOT:
            write_text(path.with_suffix('.urdf'), read_text(model, SIZE_LIMIT))

    def _made(self, case: Case) -> tuple[ClosedLoop, Signals, Controller | None]:
        model, changes, given = self._varied(case)
        overlay = self._folder / CASE
        write_merged(overlay, None, changes)
        files = [*self._own, overlay] if changes else self._own
        graph, signals = self._graph(model, files), Signals(self._study.results)
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
            raise SourceError(CONTROLLER, f'{type(error).__name__}: {error}') from error
        return made

    def _varied(self, case: Case) -> tuple[Path, dict[str, dict[str, Any]], dict[str, Any]]:
        """Return the description, the parameters of nodes, and those of the controller."""
        model, given, drawn = self._folder / ROBOT, {}, []
        for variable in self._study.vary:
            number = case.values[variable.name]
            group, _, key = variable.name.partition('.')
            if group == _CONTROLLER:
                given[key] = number
            elif variable.name == MASS:
                model = write_with_mass(self._folder, self._description, number)
            else:
                drawn.append((variable, number))
        return model, parameters_of_case(drawn, self._nodes, self._base.value), given


def _controller_in(path: Path) -> Any:
    """Return the class of a controller; what the file raises is named."""
    spec = importlib.util.spec_from_file_location('study_controller', path)
    if spec is None or spec.loader is None:
        raise SourceError(path.name, 'expected a Python file')
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise SourceError(path.name, f'{type(error).__name__}: {error}') from error
    made = getattr(module, 'Controller', None)
    if not callable(getattr(made, 'steer', None)):
        raise ConfigError(_CONTROLLER, f'expected a class Controller with steer() in {path.name}')
    return made
