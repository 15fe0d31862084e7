# SPDX-License-Identifier: Apache-2.0
"""The demos as a visitor runs them, each once to its end and once more in part."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
import yaml
from plot_pages import decided, found, parabolas

from parts import few_of
from propulsion_ros.demos.demo import demo_of, text_of
from propulsion_ros.demos.pilot import Recording
from propulsion_ros.drawing.figure import DECIDING
from propulsion_ros.graph.share import share_directory
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.pictures.picture import draw
from propulsion_ros.tools import cli
from propulsion_ros.tools.demo import reserved_domain

# Ten flights, each as fast as the machine; `make test` flies the quadrotor.
pytestmark = [pytest.mark.timeout(3600), pytest.mark.part('flights')]
FLOWN = few_of(sorted(VEHICLES, key=lambda vehicle: vehicle != 'quadrotor'), len(VEHICLES))

EXHAUST_VELOCITY = 2600.0 / 1.205
PARTS = {'rocket': 4.0, 'quadrotor': 1.5, 'rov': 6.0, 'freeflyer': 17.5, 'cubesat': 5.0}
"""How much of a flight is flown again [s]; the table of the rest is in docs/vehicles."""
# The command itself, which keeps its recording on the side.
COMMAND = """
import json, sys
from dataclasses import asdict
from propulsion_ros.tools import cli
from propulsion_ros.demos import flight

path, fly = sys.argv.pop(1), flight.fly

def kept(*args):
    recording = fly(*args)
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(asdict(recording), file)
    return recording

flight.fly = kept
sys.exit(cli.main(sys.argv[1:]))
"""


@dataclass(frozen=True)
class Flight:
    """What a run of the command left."""

    summary: dict
    recording: Recording
    printed: str


def fly(vehicle, folder, *options):
    """Run the command; nobody hears it."""
    kept = folder / 'recording.json'
    command = [sys.executable, '-c', COMMAND, str(kept), 'demo', '--vehicle', vehicle,
               '--output', str(folder), *options]
    with reserved_domain() as domain:
        done = subprocess.run(command, capture_output=True, text=True, timeout=850, check=False,
                              env={**os.environ, 'ROS_DOMAIN_ID': str(domain)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'publishers of' not in done.stdout + done.stderr
    assert (folder / f'{vehicle}.png').read_bytes().startswith(b'\x89PNG')
    return Flight(
        json.loads(
            (folder / f'{vehicle}.json').read_text(encoding='utf-8'), parse_constant=pytest.fail
        ),
        Recording(**json.loads(kept.read_text(encoding='utf-8'))), done.stdout,
    )


class Runs(dict):
    """By vehicle, a whole flight and a part of another one, flown when they are first needed."""

    def __init__(self, folder_for):
        super().__init__()
        self._folder_for = folder_for

    def __missing__(self, vehicle):
        with ThreadPoolExecutor(max_workers=2) as pool:
            started = [
                pool.submit(fly, vehicle, self._folder_for(vehicle), *options)
                for options in ((), ('--until', f'{PARTS[vehicle]}'))
            ]
        self[vehicle] = [run.result() for run in started]
        return self[vehicle]


@pytest.fixture(scope='module')
def runs(tmp_path_factory):
    """Return the runs of each vehicle."""
    return Runs(tmp_path_factory.mktemp)


@pytest.fixture
def whole(runs):
    """Return the summary of the whole flight of a vehicle."""
    return lambda vehicle: runs[vehicle][0].summary


@pytest.mark.parametrize('vehicle', FLOWN)
def test_another_run_records_the_same_to_the_last_bit(runs, vehicle):
    first, second = runs[vehicle]
    assert first.recording.rows.keys() >= second.recording.rows.keys() >= {'motion'}
    for name, rows in second.recording.rows.items():
        if name == 'predicted':  # its time is that of what is predicted
            continue
        again = [row for row in rows if row[0] < PARTS[vehicle] - 0.1]
        assert len(again) > (0 if name == 'fit' else 100)
        assert repr(first.recording.rows[name][: len(again)]) == repr(again), name


@pytest.mark.parametrize('vehicle', FLOWN)
def test_flight_that_is_cut_short_says_what_was_not_reached(runs, vehicle):
    assert 'not reached' in runs[vehicle][1].printed
    assert 'not reached' not in runs[vehicle][0].printed
    assert 'nan' not in runs[vehicle][1].printed


def test_what_was_not_reached_is_null(runs):
    quadrotor = runs['quadrotor'][1].summary
    assert quadrotor['hover_thrust'] is None
    assert quadrotor['heading']['settling_time'] is None
    assert quadrotor['take_off']['settling_time'] is None
    assert quadrotor['weight'] == pytest.approx(1.5 * STANDARD_GRAVITY)


@pytest.mark.parametrize('ending', ['json', 'png'])
def test_table_is_printed_even_where_a_file_cannot_be_written(
    runs, tmp_path, monkeypatch, capsys, ending
):
    recording = runs['quadrotor'][1].recording
    monkeypatch.setattr('propulsion_ros.demos.flight.fly', lambda *args: recording)
    written = tmp_path / f'quadrotor.{ending}'
    written.mkdir()
    assert cli.main(['demo', '--vehicle', 'quadrotor', '--output', str(tmp_path)]) == 1
    printed = capsys.readouterr()
    assert '  take-off by 1 m         not reached\n' in printed.out
    assert printed.err == f'propulsion_ros demo: {written}: cannot be written: Is a directory\n'


@pytest.mark.parametrize('vehicle', FLOWN)
def test_every_line_of_every_panel_is_drawn(runs, vehicle):
    demo, recording = demo_of(vehicle), runs[vehicle][0].recording
    page = demo.page(demo.summarise(recording), recording)
    for panel in page.panels:
        begin, end = panel.span or (page.begin, page.end)
        for trace in panel.traces:
            seen = (trace.x >= begin) & (trace.x <= end) & np.isfinite(trace.y)
            assert seen.any(), (panel.heading, trace.label)


@pytest.mark.slow
def test_page_of_the_rocket_has_every_phase_and_the_apogee(runs):
    demo, recording = demo_of('rocket'), runs['rocket'][0].recording
    summary = demo.summarise(recording)
    page = demo.page(summary, recording)
    assert [span.name for span in page.phases] == [phase for _, phase in recording.phases]
    assert {'preflight', 'launch'} <= {span.name for span in page.phases}
    shown, apogee = page.above
    assert found(shown) == [(summary['apogee'], summary['altitude'])]
    assert decided(shown) == [summary['detected']]
    assert parabolas(apogee, DECIDING)[0][0] <= summary['detected'] + 1e-9
    assert {'liftoff', 'burnout', 'apogee', 'main parachute'} <= {mark.name for mark in page.marks}


@pytest.mark.parametrize('rows', [1, 2, 10])
@pytest.mark.parametrize('vehicle', FLOWN)
def test_flight_of_a_few_steps_has_a_table_and_a_picture(runs, tmp_path, vehicle, rows):
    part = runs[vehicle][1].recording.rows
    recording = Recording({name: all_[:rows] for name, all_ in part.items()})
    demo, picture = demo_of(vehicle), tmp_path / 'picture.png'
    summary = demo.summarise(recording)
    text = text_of(demo.table(summary, recording))
    assert 'not reached' in text
    assert 'nan' not in text
    draw(demo.page(summary, recording), picture)
    assert picture.read_bytes().startswith(b'\x89PNG')


@pytest.mark.parametrize('vehicle', FLOWN)
def test_page_of_the_vehicle_has_what_is_printed(runs, vehicle):
    page = (share_directory() / f'docs/vehicles/{vehicle}.md').read_text(encoding='utf-8')
    table = [line for line in runs[vehicle][0].printed.splitlines() if line.startswith('  ')]
    # The first one says how fast this machine is; what is left by rounding may differ on another.
    lines = [line for line in table[1:] if 'e-' not in line]
    assert len(lines) > 2
    for line in lines:
        assert line in page


# The rocket.


@pytest.mark.slow
def test_impulse_and_mass_lost_are_those_of_the_propellant_burnt(whole):
    flight = whole('rocket')
    burnt = flight['propellant_start'] - flight['propellant_left']
    assert flight['propellant_start'] == pytest.approx(3.6)
    assert burnt > 3.5
    assert flight['impulse'] == pytest.approx(burnt * EXHAUST_VELOCITY, rel=1e-9)
    assert flight['mass_lost'] == pytest.approx(burnt, rel=1e-14)


@pytest.mark.slow
def test_apogee_is_found_where_it_is(whole):
    flight = whole('rocket')
    assert flight['apogee'] == pytest.approx(flight['true_apogee'], abs=0.3)
    assert flight['detected'] == pytest.approx(flight['true_apogee'], abs=0.3)
    assert flight['altitude'] == pytest.approx(flight['true_altitude'], abs=5.0)
    assert flight['predicted'] == pytest.approx(flight['true_apogee'], abs=1.5)


@pytest.mark.slow
def test_rocket_takes_its_course(runs, whole):
    flight = whole('rocket')
    assert 2.0 < flight['liftoff'] < flight['burnout'] < flight['true_apogee']
    assert flight['max_speed_time'] == pytest.approx(flight['burnout'], abs=0.1)
    for word in ('drogue parachute', 'main parachute'):
        assert word in runs['rocket'][0].printed


@pytest.mark.slow
def test_rocket_asks_for_nothing_after_burnout(runs, whole):
    recording, burnout = runs['rocket'][0].recording, whole('rocket')['burnout']
    asked = recording.between('command', 0.0, np.inf)
    assert asked[asked[:, 0] < burnout - 0.02, 1].max() == 2600.0
    after = asked[asked[:, 0] > burnout + 0.01]
    assert len(after) > 5000
    assert not after[:, 1:].any()
    # The gimbals have a lag of 0.03 s.
    assert np.abs(recording.between('gimbal', burnout + 1.0, np.inf)[:, 1:]).max() < 1e-6


@pytest.mark.slow
def test_rocket_keeps_its_attitude_while_it_is_driven(runs, whole):
    lean = runs['rocket'][0].recording.between('lean', 4.0, whole('rocket')['burnout'] - 0.02)
    assert np.abs(lean[:, 1] - lean[:, 3]).max() < np.radians(1.0)
    assert np.abs(lean[:, 2]).max() < np.radians(0.1)


# The quadrotor.


def test_quadrotor_hovers_with_a_thrust_of_its_weight(whole):
    flight = whole('quadrotor')
    assert flight['weight'] == pytest.approx(1.5 * STANDARD_GRAVITY)
    # What is missing is the momentum that it still gains; the air takes less than that.
    gained = 1.5 * flight['hover_climb'] / 1.0
    assert flight['hover_thrust'] - flight['weight'] == pytest.approx(gained, abs=1e-4)
    assert abs(gained) < 0.01


@pytest.mark.parametrize('step', ['take_off', 'position', 'height', 'heading'])
def test_quadrotor_follows_each_step(whole, step):
    response = whole('quadrotor')[step]
    assert response['settling_time'] < 2.5
    assert response['overshoot'] < 0.02
    assert abs(response['error']) < 0.01 * abs(response['size'])


# The underwater vehicle.


@pytest.mark.slow
def test_thrusters_balance_the_buoyancy_at_rest(whole):
    flight = whole('rov')
    text = (share_directory() / 'config' / 'rov.yaml').read_text(encoding='utf-8')
    body = yaml.safe_load(text)['/**/vehicle']['ros__parameters']
    displaced = body['body.fluid_density'] * body['body.displaced_volume']
    surplus = (displaced - 11.5) * STANDARD_GRAVITY
    assert surplus > 0.9
    gained = 11.5 * flight['rest_climb'] / 1.0
    assert flight['rest_force'] == pytest.approx(gained - surplus, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize('step', ['dive', 'turn', 'rise'])
def test_rov_follows_each_step(whole, step):
    response = whole('rov')[step]
    assert response['settling_time'] < 8.0
    assert response['overshoot'] < 0.05
    assert abs(response['error']) < 0.02 * abs(response['size'])


@pytest.mark.slow
def test_rov_holds_its_heading_without_one_thruster(runs, whole):
    flight = whole('rov')
    thrust = np.array(runs['rov'][0].recording.rows['thrust'])
    failed = thrust[thrust[:, 0] > 29.0]
    assert np.abs(failed[:, 1]).max() < 1e-3
    assert failed[-1, 3:].min() > 5.0
    # The allocator makes up for it at once: without that the heading was off by 9 degrees.
    assert flight['fault_error'] < np.radians(0.5)
    assert flight['recovery_time'] < 0.1
    assert flight['speed'] == pytest.approx(0.8, abs=0.01)


# The free-flyer.


@pytest.mark.slow
def test_momentum_is_the_integral_of_the_true_wrench(whole):
    flight = whole('freeflyer')
    assert flight['momentum'] > 0.3
    assert flight['angular_momentum'] > 0.03
    assert flight['momentum_error'] < 1e-5
    assert flight['angular_momentum_error'] < 1e-5


@pytest.mark.slow
def test_estimate_is_the_true_wrench_once_the_servos_have_settled(whole):
    settled, error, missing = (
        np.array(whole('freeflyer')[key]) for key in ('settled_error', 'error', 'missing')
    )
    # A servo count is some thousandths of the thrust of an open nozzle.
    assert (settled < [2e-3] * 3 + [2e-4] * 3).all()
    assert (error < 0.5 * missing).all()


@pytest.mark.slow
def test_saturation_is_estimated_as_it_is(whole):
    flight = whole('freeflyer')
    assert flight['largest_asked'] == 0.6
    assert flight['largest_given'] < 0.4
    assert flight['largest_estimated'] == pytest.approx(flight['largest_given'], abs=2e-3)
    # Four pulses, one and a half seconds each way.
    assert flight['unmet_time'] == pytest.approx(12.0, abs=0.1)


# The cubesat.


@pytest.mark.slow
def test_momentum_left_after_detumbling_is_less_than_the_impulse_bits(whole):
    flight = whole('cubesat')
    assert flight['momentum_bit'] == pytest.approx([1.13e-4, 1.7e-4, 1.13e-4])
    assert (np.array(flight['momentum_left']) < flight['momentum_bit']).all()
    assert flight['start_momentum'] > 300.0 * max(flight['momentum_bit'])
    assert flight['detumble_time'] < 4.0
    assert flight['angular_momentum_error'] < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize('target', ['point', 'turn'])
def test_cubesat_holds_its_attitudes(whole, target):
    flight = whole('cubesat')
    assert flight[f'{target}_time'] < 25.0
    assert flight[f'{target}_error'] < np.radians(0.3)


@pytest.mark.slow
def test_impulse_of_the_jets_is_that_of_their_propellant(whole):
    flight = whole('cubesat')
    expected = flight['impulse'] / (70.0 * STANDARD_GRAVITY)
    assert flight['propellant'] == pytest.approx(expected, rel=1e-9)


# Wrong options.


@pytest.mark.parametrize(('options', 'expected'), [
    pytest.param(['--until', '-1'], '--until -1 is not above 0 s', id='time'),
    pytest.param(['--until', 'nan'], '--until nan is not above 0 s', id='no time'),
    pytest.param(['--output', '/dev/null/demo'], '/dev/null/demo: cannot be made: Not a directory',
                 id='folder'),
    pytest.param(['--params-file', 'absent.yaml', '--params-file', 'other.yaml'],
                 'absent.yaml: cannot be read: No such file or directory', id='first of two files'),
])
def test_wrong_option_is_said_in_one_line(capsys, monkeypatch, tmp_path, options, expected):
    monkeypatch.chdir(tmp_path)
    assert cli.main(['demo', *options]) == 1
    assert capsys.readouterr().err == f'propulsion_ros demo: {expected}\n'
