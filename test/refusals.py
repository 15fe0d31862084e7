# SPDX-License-Identifier: Apache-2.0
"""The one line with which a wrong input is refused."""
import pytest

from propulsion_ros.settings.errors import CommandError, ConfigError


def refusal(call, *args, **kwargs):
    """Return the line with which a call is refused; it has no end of a line and no escapes."""
    with pytest.raises((ConfigError, CommandError)) as caught:
        call(*args, **kwargs)
    line = str(caught.value)
    assert line.isprintable()
    return line
