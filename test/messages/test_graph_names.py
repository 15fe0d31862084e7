# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from std_msgs.msg import String
from std_srvs.srv import Trigger

from propulsion_ros.settings.names import class_of, is_installed, type_name


@pytest.mark.parametrize('kind', [String, Trigger])
def test_names_of_types_go_there_and_back(kind):
    assert class_of(type_name(kind)) is kind


@pytest.mark.parametrize('kind', ['no_msgs/msg/String', 'std_msgs/msg/Strung'])
def test_what_is_not_installed_is_named(kind):
    assert not is_installed(kind)
    with pytest.raises(LookupError, match=f'{kind} is not installed'):
        class_of(kind)
