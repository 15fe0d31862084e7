# SPDX-License-Identifier: Apache-2.0
"""Each wrong value of `mistakes/values.yaml` is refused in one line that names it."""
from pathlib import Path

import pytest
import yaml

from propulsion_ros.models.body.rigid_body import BodyParams
from propulsion_ros.models.body.simulated_body import ParachutesParams
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build

TABLE = yaml.safe_load((Path(__file__).parents[1] / 'mistakes/values.yaml').read_text())
STILL = BodyState(velocity=[0.0] * 3)
OTHERS = {'vehicle': ParachutesParams, 'body': BodyParams}
"""Parameters that are of no family."""


def made(of, values):
    """Make what the parameters are of; with ``step`` it takes one so long."""
    values, dt = dict(values), values.get('step', 0.01)
    values.pop('step', None)
    if of in OTHERS:
        return build(OTHERS[of], values)
    return FAMILIES[of](build(FAMILIES[of].Params, values)).step(Command(), STILL, dt, 0)


@pytest.mark.parametrize(('of', 'right'), [
    pytest.param(group.get('of', name), group['right'], id=name)
    for name, group in TABLE.items() if any(change for _, change, _ in group['wrong'])
])
def test_without_the_change_nothing_is_wrong(of, right):
    made(of, right)


@pytest.mark.parametrize(('of', 'values', 'text'), [
    pytest.param(group.get('of', name), {**group['right'], **change}, text, id=f'{name}: {what}')
    for name, group in TABLE.items() for what, change, text in group['wrong']
])
def test_a_wrong_value_is_one_line_that_names_it(of, values, text):
    with pytest.raises(ConfigError) as error:
        made(of, values)
    assert text in str(error.value)
    assert str(error.value).startswith("parameter '")
    assert '\n' not in str(error.value)
