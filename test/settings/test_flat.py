# SPDX-License-Identifier: Apache-2.0
import pytest

from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.models.boosters.boosters import BoostersParams
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.settings.flat import parameters_of
from propulsion_ros.settings.hints import number_hint


def test_description_carries_unit_and_bounds():
    by_key = {parameter.key: parameter for parameter in parameters_of(BoostersParams)}
    assert by_key['tanks.capacity'].description == 'propellant when full [kg]'
    assert by_key['tanks.capacity'].constraints == 'at least 0, one value per name'
    assert by_key['integrator'].constraints == 'one of exact, euler'
    assert by_key['gimbals.range'].constraints.endswith('2 per name')


@pytest.mark.parametrize('family', FAMILIES)
def test_every_parameter_is_documented_and_hides_none_of_the_loop(family):
    loop = {parameter.key for parameter in parameters_of(LoopParams)}
    for parameter in parameters_of(FAMILIES[family].Params):
        assert len(parameter.spec.doc) > 5, parameter.key
        assert parameter.key not in loop


# What is offered for a text that is no number.


@pytest.mark.parametrize(('text', 'hint'), [
    ('1.2 e-5', 'as 1.2e-5'), ('1.2x10^-5', 'as 1.2e-5'), ('1.2*10^-5', 'as 1.2e-5'),
    ('0 0 -pi/4', 'as ${...}'), ('3/4', 'as ${...}'), ('2 * 0.1', 'as ${...}'),
    ('none', 'leave it out, or write 0'), ('Off', 'leave it out, or write 0'),
    ('12 mm', 'write 0.012'), ('spin', ''), ('7', 'without quotes'),
])
def test_what_was_meant_is_offered(text, hint):
    got = number_hint(text)
    assert hint in got
    assert bool(hint) == bool(got)
