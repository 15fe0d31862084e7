# SPDX-License-Identifier: Apache-2.0
"""Cases on the ground and in the air as those of a study."""
from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.study.draws import generator
from propulsion_ros.study.ground.case import SITUATIONS, SOURCES, draw
from propulsion_ros.study.ground.case import Case as GroundCase
from propulsion_ros.study.ground.judge import judge
from propulsion_ros.study.overrides import write_merged
from propulsion_ros.study.study import Case, Study

_PREFIX = 'ground.'
_OWN = ('situation', 'source', 'seed', 'faults', 'restarts', 'stages', 'clock')
"""What varies, beside drawn numbers that are given."""
_UNITS = {'drogue': 's', 'delay': 's', 'main_height': 'm', 'hours': 'h'}


class GroundCases:
    """Has the flight computer fly a drawn situation for each case.

    What does not vary is drawn evenly of all there is, without faults and restarts.
    """

    def __init__(self, study: Study, folder: Path) -> None:
        for variable in study.vary:
            if not variable.name.startswith(_PREFIX) or variable.mode != 'value':
                raise SourceError(
                    f'vary: {variable.name}', f'expected {_PREFIX}<one of {", ".join(_OWN)}, or of '
                    'the numbers that a situation, a sensor or <fault>. draws>, and no is:'
                )

    def check(self, case: Case) -> None:
        """Raise `ConfigError` where a case cannot be drawn."""
        self._case(case)

    def fly(self, case: Case) -> Mapping[str, Any]:
        """Return the row of a case."""
        return judge(self._case(case))

    def write(self, path: Path, case: Case) -> None:
        """Write the parameters of the flight computer."""
        flown = self._case(case)
        write_merged(path, None, {'flight_state': {
            'altitude_source': flown.source.split()[0],
            'flight.max_ascent_time': float(draw(flown).scene.timer),
        }})

    def unit(self, name: str) -> str:
        """Return the unit of a column, '' where it has none."""
        return _UNITS.get(name, '')

    def _case(self, case: Case) -> GroundCase:
        values = {name.removeprefix(_PREFIX): value for name, value in case.values.items()}
        given = {name: values.pop(name) for name in _OWN if name in values}
        for name, known in (('situation', SITUATIONS), ('source', SOURCES)):
            rng = generator(case.seed, 0, f'{name} of a study')
            given.setdefault(name, list(known)[int(rng.integers(len(known)))])
        return GroundCase(**{'seed': case.seed, **given}, pins=values)
