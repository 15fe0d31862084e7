# SPDX-License-Identifier: Apache-2.0
"""What flights, replays and fits have in common: a robot, and what of it varies."""
from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.files import write_text
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.study.kinds import ROBOT
from propulsion_ros.study.overrides import (
    MASS,
    Base,
    parameters_of_case,
    with_mass,
    write_merged,
)
from propulsion_ros.study.study import Case, Study


class RobotCases:
    """Cases of a robot: its description and the parameters of its nodes vary.

    Parameters
    ----------
    study : Study
        What varies.
    folder : Path
        Has the files of the study, and gets those of the case.
    description : str
        URDF, '' for none.
    files : sequence of Path
        Parameter files without a change, of which the later ones win.
    nodes : sequence of str
        Whose parameters can vary.
    file : ParameterFile or None
        What the parameter file of a case has beside what varies.
    """

    other = ''
    """What of a name is before its dot, where neither description nor parameters vary."""

    def __init__(
        self, study: Study, folder: Path, description: str, files: Sequence[Path],
        nodes: Sequence[str], file: ParameterFile | None = None,
    ) -> None:
        self._study, self._params, self._folder = study, study.params, folder
        self._description, self._nodes, self._file = description, nodes, file
        self._base = Base(description, files)

    def write(self, path: Path, case: Case) -> None:
        """Write the parameter file of a case, and its robot where that varies."""
        model, changes, _ = self._varied(case)
        comment = f'Case {case.number} of {self._study.path.name}.'
        write_merged(path, self._file, changes, comment)
        if model != self._folder / ROBOT:
            write_text(path.with_suffix('.urdf'), with_mass(
                self._description, case.values[MASS]
            ))

    def unit(self, name: str) -> str:
        """Return the unit of a column, '' where none is known."""
        if name == MASS:
            return 'factor'
        for result in self._study.results:
            if result.name == name:
                return result.unit
        node, _, key = name.removesuffix(' sd').partition('.')
        # What has no schema of an actuator or the body has no unit here.
        with suppress(ConfigError):
            return self._base.unit(node, key.partition('[')[0]) if node in self._nodes else ''
        return ''

    def _varied(self, case: Case) -> tuple[Path, dict[str, dict[str, Any]], dict[str, Any]]:
        """Return the description, the parameters of nodes, and what is `other` by its name."""
        model, drawn, rest = self._folder / ROBOT, [], {}
        for variable in self._study.vary:
            number = case.values[variable.name]
            owner, _, key = variable.name.partition('.')
            if owner == self.other:
                rest[key] = number
            elif variable.name == MASS:
                model = self._folder / f'case_{ROBOT}'
                write_text(model, with_mass(self._description, number))
            else:
                drawn.append((variable, number))
        return model, parameters_of_case(drawn, self._nodes, self._base.value), rest
