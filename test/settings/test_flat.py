# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.models.boosters.boosters import BoostersParams
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build, parameters_of, suggestion, unknown_keys

BOOSTER = {'names': ['b'], 'max_thrust': [1], 'max_fuel_rate': [1]}


def test_groups_are_flattened_with_a_dot():
    keys = [parameter.key for parameter in parameters_of(BoostersParams)]
    assert 'max_thrust' in keys
    assert 'tanks.capacity' in keys
    assert 'gimbals.range' in keys


def test_description_carries_unit_and_bounds():
    by_key = {parameter.key: parameter for parameter in parameters_of(BoostersParams)}
    assert by_key['tanks.capacity'].description == 'propellant when full [kg]'
    assert by_key['tanks.capacity'].constraints == 'at least 0, one value per name'
    assert by_key['integrator'].constraints == 'one of exact, euler'
    assert by_key['gimbals.range'].constraints.endswith('2 per name')


@pytest.mark.parametrize(('values', 'message'), [
    pytest.param({**BOOSTER, 'max_thrust': None},
                 "parameter 'max_thrust': is required: thrust at throttle 1 [N]", id='missing'),
    pytest.param({**BOOSTER, 'tanks.names': ['t'], 'tanks.capacity': [-3]},
                 "parameter 'tanks.capacity[0]': -3 is below 0 kg: write 3, its size",
                 id='inside a group'),
    pytest.param({**BOOSTER, 'min_thrust': 2},
                 "parameter 'min_thrust[0]': 2 is above max_thrust 1 N; are they swapped?",
                 id='between fields'),
    pytest.param({**BOOSTER, 'tank': 'x'},
                 "parameter 'tank[0]': unknown tank 'x', known: none", id='unknown tank'),
    pytest.param({**BOOSTER, 'gimbals.booster': ['x']},
                 "parameter 'gimbals.booster[0]': unknown booster 'x', known: b",
                 id='unknown booster'),
])
def test_build_errors_carry_the_whole_key(values, message):
    with pytest.raises(ConfigError) as error:
        build(BoostersParams, values)
    assert str(error.value) == message


def test_unknown_keys_get_a_suggestion():
    known = [parameter.key for parameter in parameters_of(BoostersParams)]
    errors = unknown_keys(['max_trust', 'names', 'zzz'], known)
    assert [str(error) for error in errors] == [
        "parameter 'max_trust': unknown, did you mean 'max_thrust'?",
        "parameter 'zzz': unknown",
    ]


def test_suggestion_is_empty_where_nothing_is_near():
    assert suggestion('abc', ['xyz']) == ''


@pytest.mark.parametrize('family', FAMILIES)
def test_no_family_hides_a_setting_of_the_loop(family):
    loop = {parameter.key for parameter in parameters_of(LoopParams)}
    own = {parameter.key for parameter in parameters_of(FAMILIES[family].Params)}
    assert not loop & own


@pytest.mark.parametrize('family', FAMILIES)
def test_every_parameter_is_documented(family):
    for parameter in parameters_of(FAMILIES[family].Params):
        assert len(parameter.spec.doc) > 5, parameter.key
