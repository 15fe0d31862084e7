# SPDX-License-Identifier: Apache-2.0
"""A ROS domain of one's own, on this machine: traffic apart from that of others."""
from __future__ import annotations

import os
import random
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

_DOMAINS = range(1, 101)
"""Below the ports that the system lends to others, and without the default domain."""
_FIRST_PORT = 32768
"""Of domain 0, as in ROS 2's ``domain_coordinator``: test runs of other packages keep off too."""


@contextmanager
def reserved_domain() -> Iterator[int]:
    """Hold a domain that no other process on this machine holds, until the end of the context.

    A TCP port stands for each domain; the system frees it where the process dies. Raises
    `RuntimeError` where all of them are held.
    """
    for domain in random.SystemRandom().sample(_DOMAINS, len(_DOMAINS)):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as held:
            try:
                held.bind(('127.0.0.1', _FIRST_PORT + domain))
            except OSError:
                continue
            yield domain
            return
    raise RuntimeError(f'all ROS domains from {_DOMAINS[0]} to {_DOMAINS[-1]} are held')


@contextmanager
def own_network() -> Iterator[None]:
    """Keep the traffic of this process and its children on this machine, and to themselves.

    A range or a domain that the environment already has stays as it is.
    """
    with ExitStack() as stack:
        own = {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
        if 'ROS_DOMAIN_ID' not in os.environ:
            own['ROS_DOMAIN_ID'] = str(stack.enter_context(reserved_domain()))
        own = {name: value for name, value in own.items() if name not in os.environ}
        os.environ.update(own)
        try:
            yield
        finally:
            for name in own:
                os.environ.pop(name, None)
