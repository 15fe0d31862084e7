# SPDX-License-Identifier: Apache-2.0
"""What nodes may do, as an access control policy of SROS2."""
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from propulsion_ros.settings.errors import SourceError

VERSION = '0.2.0'
"""Of the format."""
_RULES = (
    ('topics', 'publish', 'topic', 'publishes'),
    ('topics', 'subscribe', 'topic', 'subscribes'),
    ('services', 'reply', 'service', 'replies'),
    ('services', 'request', 'service', 'requests'),
)
_NAME = re.compile(r'(/[A-Za-z0-9_*]+)+')


@dataclass(frozen=True)
class Profile:
    """What one node does in the graph; all names are whole, a ``*`` in one is any part of it.

    Attributes
    ----------
    name, namespace : str
        Of the node.
    publishes, subscribes : frozenset of str
        Topics.
    replies, requests : frozenset of str
        Services.
    """

    name: str
    namespace: str = '/'
    publishes: frozenset[str] = frozenset()
    subscribes: frozenset[str] = frozenset()
    replies: frozenset[str] = frozenset()
    requests: frozenset[str] = frozenset()


def policy_text(enclave: str, profiles: Iterable[Profile]) -> str:
    """Return the policy of one enclave with the profiles of its nodes.

    Parameters
    ----------
    enclave : str
        Its path, such as '/rocket'.
    profiles : iterable of Profile
        Its nodes.

    Raises
    ------
    SourceError
        Where the enclave is no path of names, or a name is none of ROS.
    """
    names = enclave.removeprefix('/').split('/')
    # Names of ROS need no escapes in XML, so none are made, and others are refused.
    if not (enclave.startswith('/') and all(part.isascii() and part.isidentifier()
                                            for part in names)):
        raise SourceError('enclave', f'expected a path such as /rocket, got {enclave!r}')
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<policy version="{VERSION}">', '  <enclaves>', f'    <enclave path="{enclave}">',
        '      <profiles>', *(line for profile in profiles for line in _lines(profile)),
        '      </profiles>', '    </enclave>', '  </enclaves>', '</policy>',
    ]
    return '\n'.join(lines) + '\n'


def _lines(profile: Profile) -> Iterator[str]:
    yield f'        <profile ns="{profile.namespace}" node="{profile.name}">'
    for group, may, element, attribute in _RULES:
        names = sorted(getattr(profile, attribute))
        for name in names:
            if not _NAME.fullmatch(name):
                raise SourceError(element, f'expected a whole name such as /a/b, got {name!r}')
        if names:
            yield f'          <{group} {may}="ALLOW">'
            yield from (f'            <{element}>{name}</{element}>' for name in names)
            yield f'          </{group}>'
    yield '        </profile>'
