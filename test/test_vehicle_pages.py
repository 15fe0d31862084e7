# SPDX-License-Identifier: Apache-2.0
"""The page of each vehicle says what its description and settings say."""
from __future__ import annotations

import re

import numpy as np
import pytest
import yaml

from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.models.common.family import WRENCH_NAMES
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.settings.flat import build
from propulsion_ros.urdf.reader import actuators_from_urdf, mass_from_urdf
from topic_tables import PAGES, topics_of

SHARE = share_directory()
NUMBER = r'-?\d+(?:\.\d+)?'


@pytest.fixture(params=VEHICLES)
def vehicle(request):
    return request.param


@pytest.fixture
def text(vehicle):
    return (PAGES / f'{vehicle}.md').read_text(encoding='utf-8')


@pytest.fixture
def description(vehicle):
    return read_description(SHARE / 'urdf' / f'{vehicle}.urdf.xacro').text


def numbers(text, row, count):
    """Return the first numbers of a row of the first table."""
    (cell,) = re.findall(rf'^\| {row} \| (.*) \|$', text, re.MULTILINE)
    return [float(number) for number in re.findall(NUMBER, cell)[:count]]


def test_body_is_that_of_the_description(text, description):
    base_link, body = mass_from_urdf(description)
    assert f'| Base frame | `{base_link}`' in text
    assert numbers(text, 'Mass', 1) == pytest.approx([body.mass], rel=1e-3)
    assert numbers(text, 'Centre of mass', 3) == pytest.approx(body.com, abs=5e-4)
    moments = np.diag(body.inertia)
    assert numbers(text, 'Inertia about it', 3) == pytest.approx(moments, rel=5e-3)


def test_step_is_that_of_the_settings(text, vehicle):
    settings = yaml.safe_load((SHARE / 'config' / f'{vehicle}.yaml').read_text(encoding='utf-8'))
    rate = settings['/**/vehicle']['ros__parameters']['update_rate']
    assert numbers(text, 'Step', 1) == [rate]


def test_every_command_name_is_listed_and_no_other(text, description):
    names = set()
    for spec in actuators_from_urdf(description, loop_params_of):
        family = FAMILIES[spec.family]
        known = family(build(family.Params, spec.values)).command_names
        names |= set(known) - set(WRENCH_NAMES)
        assert f'`{spec.name}`' in text
    table = text.split('| Node | Names |')[1].split('\n\n')[0]
    rows = [row.split('|')[2] for row in table.splitlines()[2:]]
    listed = re.findall('`([^`]+)`', ' '.join(rows))
    assert sorted(listed) == sorted(names)


def test_timeout_is_that_of_the_blocks(text, description):
    (said,) = re.findall(rf'not repeated within ({NUMBER}) s', text)
    timeouts = {
        spec.values['command_timeout'] for spec in actuators_from_urdf(description, loop_params_of)
        if spec.family != 'inverse_fam'
    }
    assert timeouts == {float(said)}


def test_page_of_the_nodes_has_the_types_of_the_graphs():
    known = {}
    for vehicle in VEHICLES:
        for topic, kind in topics_of(vehicle).items():
            known.setdefault(topic.rpartition('/')[2], set()).add(kind)
    text = (PAGES.parent / 'nodes.md').read_text(encoding='utf-8')
    rows = re.findall(r'^\|[^|]*\| ([^|]*`~?/[^|]*) \| ([^|]*) \|', text, re.MULTILINE)
    checked = set()
    for topics, kinds in rows:
        names, types = re.findall(r'`~?/(\w+)`', topics), kinds.split(', ')
        if len(types) == 1:
            types *= len(names)
        for name, kind in zip(names, types, strict=True):
            assert {kind} == known.get(name, {kind}), name
        checked.update(names)
    assert len(checked & known.keys()) > 25
