# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.faults import FIRST, FaultList, FollowingError


def test_the_first_fault_ends_a_reading():
    with pytest.raises(ConfigError, match='wrong'), FIRST.kept():
        raise ConfigError('a', 'wrong')


def test_a_list_keeps_each_fault_once_and_none_that_follows():
    faults = FaultList()
    for error in (ConfigError('a', 'wrong'), ConfigError('b', 'wrong'), ConfigError('a', 'wrong')):
        with faults.kept():
            raise error
    with faults.kept():
        raise FollowingError('c', 'has a fault')
    assert [error.key for error in faults.errors] == ['a', 'b']


def test_a_list_keeps_each_warning_once():
    faults = FaultList()
    faults.warn('a', 'odd')
    faults.warn('a', 'odd')
    assert faults.warnings == [('a', 'odd')]
