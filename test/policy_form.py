# SPDX-License-Identifier: Apache-2.0
"""A policy of SROS2: its form, as the schema has it (policy.xsd 0.2.0), and what it allows."""
from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from defusedxml import ElementTree
from rclpy._rclpy_pybind11 import NodeNameNonExistentError

RULES = {'topics': {'publish', 'subscribe'}, 'services': {'reply', 'request'}}
LAUNCH = 'launch_ros_*'
"""launch_ros' own node, which is named after its process."""


@dataclass(frozen=True)
class Profile:
    """What one node may do; all names are whole, a ``*`` in one is any part of it."""

    name: str
    namespace: str
    publishes: frozenset[str]
    subscribes: frozenset[str]
    replies: frozenset[str]
    requests: frozenset[str]


def read_policy(text):
    """Return the path of the enclave of a policy and its profiles; raise where it is none."""
    root = ElementTree.fromstring(text)
    assert (root.tag, root.attrib) == ('policy', {'version': '0.2.0'})
    (enclave,) = root.findall('enclaves/enclave')
    assert set(enclave.attrib) == {'path'}
    (group,) = enclave
    assert group.tag == 'profiles'
    for profile in group:
        assert (profile.tag, set(profile.attrib)) == ('profile', {'ns', 'node'})
        for rules in profile:
            assert set(rules.attrib) <= RULES[rules.tag]
            assert set(rules.attrib.values()) == {'ALLOW'}
            assert {rule.tag for rule in rules} == {rules.tag.removesuffix('s')}
            assert all(re.fullmatch(r'(/[a-z*][a-z0-9_*]*)+', rule.text) for rule in rules)
    return enclave.get('path'), [_profile(element) for element in group]


def _profile(element):
    return Profile(element.get('node'), element.get('ns'), *(
        frozenset(rule.text for rule in element.iterfind(f'{kind}[@{may}]/*'))
        for kind, may in (('topics', 'publish'), ('topics', 'subscribe'),
                          ('services', 'reply'), ('services', 'request'))
    ))


def seen(probe, profile):
    """Return what the node of a profile does, as another node knows; None for no such node."""
    node = next((
        (name, namespace) for name, namespace in probe.get_node_names_and_namespaces()
        if namespace == profile.namespace and fnmatchcase(name, profile.name)
    ), None)
    if node is None:
        return None
    asks = (
        probe.get_publisher_names_and_types_by_node, probe.get_subscriber_names_and_types_by_node,
        probe.get_service_names_and_types_by_node, probe.get_client_names_and_types_by_node,
    )
    try:
        return Profile(*node, *(frozenset(topic for topic, _ in ask(*node)) for ask in asks))
    except NodeNameNonExistentError:
        # One of this name that ended has just been forgotten.
        return None
