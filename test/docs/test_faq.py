# SPDX-License-Identifier: Apache-2.0
"""What the FAQ calls a parameter, topic or argument is one, and a parameter of any page."""
from __future__ import annotations

import re

import pytest

from markdown_pages import REPOSITORY, Page, pages
from page_words import CHOICES, FLAGS, TOPICS, WORDS

PAGES = [Page(REPOSITORY / 'docs' / name) for name in ('faq.md', 'quick_start.md')]
OTHERS = {
    'actuator_msgs': 'a package of messages', 'base_link': 'a frame',
    'propulsion_ros': 'the package',
}
"""Words that are nothing of ours, and what they are."""
OF_FILES = {
    *('flight.seed', 'flight.log', 'flight.fault'), 'body.velocity.x',
    *(f'body.{key}' for key in ('mass', 'ixx', 'iyy', 'izz')),
}
"""Keys of studies, columns of tables, and what `identify` fits of a body."""
GROUPS = {key.rpartition('.')[0] for key in CHOICES}


def spans():
    """Yield each piece of code that is one word, or a key and a value."""
    for page in PAGES:
        for span in page.spans:
            if re.fullmatch(r'[a-z][\w.]*(: \S.*)?', span.text) and '_' in span.text:
                yield pytest.param(span.text, id=f'{span.place} {span.text}')


@pytest.mark.parametrize('text', spans())
def test_word_is_known(text):
    key, _, value = text.partition(': ')
    assert key in WORDS or key in OTHERS
    if value:
        assert not CHOICES[key] or set(re.findall(r'\w+', value)) <= set(CHOICES[key])


def test_no_word_is_excused_in_vain():
    assert set(OTHERS) <= {span.text for page in PAGES for span in page.spans}
    assert {span.text.partition(':')[0] for page in pages() for span in page.spans} >= OF_FILES


def test_parameters_of_every_page_are_there():
    """One had been removed."""
    known = {*CHOICES, *GROUPS, *OF_FILES}
    spans = [span for page in pages() for span in page.spans]
    found = [
        (span.place, span.text.partition(': ')[0]) for span in spans
        if re.fullmatch(r'[a-z_]+(\.(?!json)[a-z_]+)+(: .*)?', span.text)
        and span.text.partition('.')[0] in GROUPS
    ]
    assert len(found) > 100
    assert [each for each in found if each[1] not in known] == []


@pytest.mark.parametrize('topic', sorted({
    match for page in PAGES for span in page.spans for match in re.findall(r'~/[\w/<>]+', span.text)
    if not match.startswith('~/ws')
}))
def test_topic_is_one_of_a_node(topic):
    assert topic in TOPICS


@pytest.mark.parametrize('flag', FLAGS)
def test_flag_is_one_of_a_model(flag):
    models = (REPOSITORY / 'propulsion_ros/models').rglob('*.py')
    assert any(f"'{flag}'" in path.read_text(encoding='utf-8') for path in models)


@pytest.mark.parametrize(('text', 'file'), [
    ('command is stale', 'loops/actuator_ports.py'),
    ('no odometry yet, so no force', 'loops/actuator_ports.py'),
])
def test_diagnostics_say_what_the_page_quotes(text, file):
    assert f"'{text}'" in (REPOSITORY / 'propulsion_ros' / file).read_text(encoding='utf-8')
    assert any(span.text == text for page in PAGES for span in page.spans)
