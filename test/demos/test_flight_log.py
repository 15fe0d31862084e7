# SPDX-License-Identifier: Apache-2.0
"""Which panels the page of a flown robot has."""
from rclpy.node import Node
from sensor_msgs.msg import JointState

from propulsion_ros.demos.demo import FlightLog, motion_page
from propulsion_ros.demos.flight import joined
from propulsion_ros.demos.pilot import Recording
from propulsion_ros.demos.pilot_node import PilotNode
from propulsion_ros.drawing.figure import COMMAND, PUBLISHED
from propulsion_ros.messages import qos
from propulsion_ros.pictures.picture import draw


def test_commands_are_recorded_once_their_publisher_was_found(graph):
    allocator = Node('rotors_allocator', context=graph.context)
    with joined():
        log = PilotNode(FlightLog(['rotors/state', 'fins/state']))
        allocated, own = ['/rotors_allocator/wrench_command'], ['rotors/command']
        assert log.lacks(allocated)
        assert log.lacks(own)
        assert not log.lacks([])
        allocator.create_publisher(JointState, 'rotors/command', qos.LOCKSTEP_COMMAND)
        graph.until(lambda: not log.lacks(allocated), 'the publisher of the allocator')
        assert log.lacks(own)
        graph.talk_later(JointState, 'rotors/command', qos.LOCKSTEP_COMMAND)
        graph.until(lambda: not log.lacks(own), 'the publisher of the controller')
        assert log.lacks([*own, 'fins/command'])
        log.destroy_node()
    allocator.destroy_node()


def test_titles_have_the_quantity_and_its_unit():
    recording = Recording()
    for time, is_open, angle in ((0.0, 0.0, 0.1), (1.0, 1.0, 1.0)):
        recording.add('motion', time, *[0.0] * 3, 1.0, *[0.0] * 3, angle, *[0.0] * 4)
        recording.add('jets thrust [N]:left', time, 0.02)
        recording.add('jets angle [rad]:left', time, is_open)
        recording.add('boosters angle [rad]:gimbal', time, angle)
        recording.add('pressure:gas', time, 1e7)
        recording.add(f'{COMMAND}jets thrust [N]:left', time, 0.03)
    page = motion_page('robot', recording)
    titles = [panel.heading for panel in page.panels]
    # What is always 0 has no panel.
    assert page.title == 'robot (0 all the time: position, rate of turn)'
    assert titles == [
        'velocity in the world [m/s]', 'attitude [deg]',
        'jets thrust [N]', 'jets valve open', 'boosters angle [rad]', 'pressure [Pa]',
    ]
    # The command is drawn beside what it became, under the same name.
    thrust = page.panels[2]
    assert [(line.label, line.role) for line in thrust.traces] == [
        ('left', PUBLISHED), ('left', COMMAND)
    ]


def test_flight_in_which_nothing_moves_has_a_picture_too(tmp_path):
    """It ended in a traceback after the flight: a page without a panel."""
    recording = Recording()
    for time in (0.0, 1.0):
        recording.add('motion', time, *[0.0] * 12)
    page = motion_page('robot', recording)
    assert [panel.heading for panel in page.panels] == ['position [m]']
    draw(page, tmp_path / 'still.png')
    assert (tmp_path / 'still.png').stat().st_size > 1000
