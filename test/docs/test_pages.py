# SPDX-License-Identifier: Apache-2.0
"""Every page is true: its links lead somewhere, its commands and blocks are what they say."""
from __future__ import annotations

import itertools
import re
import shutil

import pytest

from markdown_pages import REPOSITORY, Page, pages
from page_blocks import check_block
from page_commands import STARTS, Commands
from page_family import register_family
from page_graphs import PageError, Robot, Robots
from page_shell import commands_of
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.graph.wiring import robot_graph

PAGES = {page.name: page for page in pages()}


@pytest.fixture(scope='module')
def vehicles():
    """Return the running graph of each vehicle."""
    robots = [Robot(robot_graph(name, drawn_with=())) for name in VEHICLES]
    yield robots
    for robot in robots:
        robot.close()


@pytest.fixture
def commands(tmp_path, vehicles, monkeypatch):
    """Return what makes the checker of a page, in a folder with its files."""
    made = []

    def make(page):
        for name in ('config', 'urdf', 'examples'):
            shutil.copytree(REPOSITORY / name, tmp_path / name)
        # A program writes its pictures beside it.
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv('MPLBACKEND', 'Agg')
        (tmp_path / 'test').mkdir()
        (tmp_path / 'test/data').symlink_to(REPOSITORY / 'test/data')
        for file, text in page.files.items():
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_text(text, encoding='utf-8')
        register_family(page, tmp_path, monkeypatch)
        for file in page.files:
            if file.endswith(('.urdf', '.xacro')):
                made.append(Robot(robot_graph(model=tmp_path / file, drawn_with=())))
        return Commands(tmp_path, Robots([*made, *vehicles]))

    yield make
    for robot in made:
        robot.close()


WRITES = ('--picture', '--output', '--html', '--gif', '--record')


def overwritten(page):
    """Yield each file of the repository over which a command of a page writes."""
    here = (REPOSITORY, (REPOSITORY / page.name).parent)
    for block in page.blocks:
        for _, words in commands_of(block.text) if block.language == 'sh' else ():
            targets = [word for option, word in itertools.pairwise(words) if option in WRITES]
            yield from (each for each in targets for folder in here if (folder / each).is_file())


@pytest.mark.parametrize('name', PAGES)
def test_no_command_of_a_page_writes_over_a_file_of_the_repository(name):
    """The picture of an example, in a clone, was that of the reader's flight after it."""
    assert not [*overwritten(PAGES[name])]


def link_faults(page):
    """Yield what is wrong with the links of a page."""
    for link in page.links:
        target, _, anchor = link.text.partition('#')
        if ':' in target:
            continue
        path = (page.path.parent / target).resolve() if target else page.path
        if not path.exists():
            yield f'{link.place}: there is no {target}'
        elif anchor and anchor not in Page(path, target).anchors:
            yield f'{link.place}: {target or "this page"} has no heading #{anchor}'


def block_faults(page, commands):
    """Yield what is wrong with the blocks of a page, its commands run in order."""
    names = {'__name__': page.name}
    for block in page.blocks:
        try:
            check_block(block, names)
        except PageError as error:
            yield f'{block.place}: {error}'
        if block.language == 'sh':
            yield from sh_faults(block, commands)


def sh_faults(block, commands):
    """Yield what is wrong with the commands of a block, and with what it shows of them."""
    commands.said, commands.failed = '', False
    for offset, words in commands_of(block.text):
        try:
            commands.check(words)
        except PageError as error:
            yield f'{block.page}:{block.line + 1 + offset}: {error}'
    if commands.said and block.shows is not None:
        if not same_text(commands.said, block.shows):
            yield f'{block.place}: what one sees is\n{commands.said}'
    elif commands.failed:
        yield f'{block.place}: fails\n{commands.said}'


def same_text(said, shown):
    """Whether two texts agree, numbers to what differs between machines."""
    number = re.compile(r'-?\d+\.\d+(?:e[+-]?\d+)?')
    if number.sub('#', said) != number.sub('#', shown):
        return False
    ours, theirs = ([float(text) for text in number.findall(each)] for each in (said, shown))
    return ours == pytest.approx(theirs, rel=1e-9, abs=1e-12)


def span_faults(page, commands):
    """Yield what is wrong with the commands within the sentences of a page."""
    for span in page.spans:
        program = re.sub(r'^([A-Z_]+=\S+ +)*', '', span.text)
        if not program.startswith(tuple(f'{start} ' for start in STARTS)):
            continue
        try:
            for _, words in commands_of(span.text):
                commands.check(words, whole=False)
        except PageError as error:
            yield f'{span.place}: {error}'


@pytest.mark.parametrize('name', PAGES)
def test_links_lead_somewhere(name):
    faults = list(link_faults(PAGES[name]))
    assert not faults, '\n'.join(faults)


@pytest.mark.parametrize('name', PAGES)
def test_blocks_and_commands_are_what_they_say(name, commands):
    page = PAGES[name]
    checker = commands(page)
    faults = [*block_faults(page, checker), *span_faults(page, checker)]
    assert not faults, '\n'.join(faults)


def test_every_page_is_in_the_index():
    index = PAGES['docs/README.md']
    linked = {(index.path.parent / link.text.partition('#')[0]).resolve() for link in index.links}
    missing = [name for name, page in PAGES.items() if page.path not in {*linked, index.path}]
    assert not missing
