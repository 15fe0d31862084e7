# SPDX-License-Identifier: Apache-2.0
"""The form of a policy of SROS2, as its schema has it: policy.xsd 0.2.0."""
from __future__ import annotations

import re

from defusedxml import ElementTree

RULES = {'topics': {'publish', 'subscribe'}, 'services': {'reply', 'request'}}


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
    return enclave.get('path'), list(group)
