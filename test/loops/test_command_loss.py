# SPDX-License-Identifier: Apache-2.0
"""A controller that ends while its actuators are in use is reported once, and its return."""
import numpy as np
import pytest

from fake_host import MS, FakeHost
from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.node_config import build_family
from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.loops.actuator_ports import ActuatorPorts
from propulsion_ros.loops.command_hold import CommandUpdate
from propulsion_ros.models.common.facts import STEPS
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.urdf.reader import actuators_from_urdf

BLOCKS = [
    pytest.param(block, id=f'{vehicle} {block.name}')
    for vehicle in VEHICLES
    for block in actuators_from_urdf(
        read_description(share_directory() / 'urdf' / f'{vehicle}.urdf.xacro').text, loop_params_of
    )
    if REGISTRY[block.family].facts.loop == STEPS
]
ROTORS = next(row.values[0] for row in BLOCKS if row.values[0].family == 'rotors')


class Group:
    """A group of actuators whose time and commands are set."""

    def __init__(self, block, *, is_simulated=True):
        self.host = FakeHost()
        self.host.is_simulated = is_simulated
        family, params = build_family(block.family, {'command_timeout': 0.5}, block)
        self.loop = self.host.run(ActuatorPorts(family, params, 'base_link', self.host))
        self.safe = np.asarray(family.safe_command, float)
        self.names = family.command_names
        self.ms = 0
        self.host.lines.clear()

    def run(self, seconds, offset=None, every_ms=100, columns=None):
        """Let time pass, with commands that are so far from the safe ones."""
        columns = np.arange(len(self.safe)) if columns is None else np.array(columns)
        for _ in range(round(seconds * 100)):
            self.ms += 10
            if offset is not None and self.ms % every_ms == 0:
                update = CommandUpdate(columns, self.safe[columns] + offset)
                self.loop.core.inputs.push('command', self.ms * MS, update)
            self.loop.core.inputs.push('clock', self.ms * MS)

    @property
    def lines(self):
        """Level and first words of what was logged."""
        lines, self.host.lines = self.host.lines, []
        return [(level, ' '.join(line.split()[:2])) for level, line in lines]


@pytest.mark.parametrize('block', BLOCKS)
@pytest.mark.parametrize('is_simulated', [True, False], ids=['simulated', 'robot'])
def test_end_and_return_are_one_line_each(block, is_simulated):
    group = Group(block, is_simulated=is_simulated)
    for _ in range(2):
        group.run(0.3, 0.05)
        assert not group.lines
        group.run(0.8)
        assert group.lines == [('warn', 'commands ended')]
        group.run(1.4, 0.05)
        assert group.lines == [('info', 'commands are')]


def test_line_names_what_was_in_use():
    group = Group(ROTORS)
    group.run(1.0, 0.0)
    group.run(0.2, 0.05, columns=[1, 3])
    group.run(1.0)
    ((_, line),) = group.host.lines
    assert line == (
        f'commands ended at 1.704 s with {group.names[1]}, {group.names[3]} in use; '
        'the safe command applies until the next one'
    )


@pytest.mark.parametrize(('runs', 'is_loss'), [
    pytest.param([(1.0, 0.0), (3.0,)], False, id='safe ones end'),
    pytest.param([(1.0, float('nan')), (3.0,)], False, id='those of nothing end'),
    pytest.param([(20.0, 0.05, 900)], True, id='too slow'),
    pytest.param([(0.3, 0.05), (1.0,), (3.0, 0.05, 100, [0])], True, id='one does not return'),
])
def test_commands_that_end_and_do_not_return_are_one_loss(runs, is_loss):
    group = Group(ROTORS)
    for run in runs:
        group.run(*run)
    assert group.lines == [('warn', 'commands ended')] * is_loss


@pytest.mark.parametrize('stop', [
    pytest.param(lambda group: setattr(group.loop.core, 'enabled', False), id='disabled'),
    pytest.param(lambda group: group.loop.reset(), id='reset'),
    pytest.param(lambda group: group.host.run(group.loop), id='activated again'),
])
def test_commands_that_are_forgotten_are_no_loss(stop):
    group = Group(ROTORS)
    group.run(0.3, 0.05)
    stop(group)
    group.host.lines.clear()
    group.run(3.0)
    assert not group.lines
