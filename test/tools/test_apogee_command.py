# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from propulsion_ros.loops.flight.params import FlightLoopParams, make_flight_state, read_config
from propulsion_ros.pictures.panels import flight_page
from propulsion_ros.pictures.table import signals_of_flight
from propulsion_ros.replay.flight_log import fly, read_flight_log
from propulsion_ros.tools import cli

_KEYS = {'detected_time', 'apogee_time', 'apogee_altitude', 'sigma', 'reason'}


@pytest.fixture
def command(tmp_path, capsys):
    """Run the command on a file of this text; return exit code, output and error."""
    def run(content: str | bytes, *options: str):
        log = tmp_path / 'log.csv'
        log.write_bytes(content.encode() if isinstance(content, str) else content)
        code = cli.main(['apogee', str(log), *options])
        printed = capsys.readouterr()
        return code, printed.out, printed.err
    return run


def _throw(
    columns='time_s,altitude_m', extra='', speed=60.0, begin=0.0, factor=1.0, end=10.0
):
    time = np.arange(begin, end, 0.05)
    altitude = np.maximum(speed * time - 4.903325 * time**2, 0.0)
    rows = [f'{factor * t:.2f},{h:.3f}{extra}' for t, h in zip(time, altitude, strict=True)]
    return '\n'.join([columns, *rows, ''])


@pytest.mark.parametrize(('columns', 'lines'), [
    ('vz_mps,az_mps2', 0), ('vz_mps,vz_filtered', 0), ('vx_mps,azimuth', 0), ('vz_mp,vx_mps', 1),
    ('vz_ms,az_mps', 2),
])
def test_a_column_that_is_likely_meant_is_not_ignored_without_a_line(command, columns, lines):
    _, out, err = command(_throw(f'time_s,altitude_m,{columns}', extra=',nan,nan'))
    assert json.loads(out)['reason'] == 'fit'
    assert err.count('is ignored; ') == len(err.splitlines()) == lines
    assert not lines or f'column {columns.partition(",")[0]} is ignored; vz_mps is taken' in err


def test_prints_one_json_object(command):
    code, out, err = command(_throw())
    found = json.loads(out)
    assert (code, err, out.count('\n')) == (0, '', 1)
    assert set(found) == _KEYS
    assert found['detected_time'] == pytest.approx(60.0 / 9.80665, abs=0.2)
    assert found['apogee_time'] == pytest.approx(60.0 / 9.80665, abs=0.02)
    assert found['apogee_altitude'] == pytest.approx(1800.0 / 9.80665, abs=0.1)
    assert 0.0 < found['sigma'] < 0.1
    assert found['reason'] == 'fit'


@pytest.mark.parametrize(
    'content',
    [
        pytest.param('time_s,altitude_m\n', id='header only'),
        pytest.param('time_s,altitude_m\n0,nan\n1,\n2,nan\n', id='no values'),
        pytest.param(_throw(speed=20.0), id='low hop'),
        pytest.param(_throw(speed=300.0), id='still climbing'),
    ],
)
def test_nothing_detected_is_all_null(command, content):
    code, out, _ = command(content)
    assert code == 0
    assert json.loads(out) == dict.fromkeys(_KEYS)


def test_unknown_times_are_null_and_never_nan(command):
    rows = [f'{0.02 * i:.2f},{900.0 - 0.5 * i:.2f}' for i in range(100)]
    _, out, _ = command('\n'.join(['time_s,altitude_m', *rows]))
    found = json.loads(out, parse_constant=pytest.fail)
    assert found['reason'] == 'descent'
    assert found['sigma'] is None


@pytest.mark.parametrize(('pad', 'doubt'), [
    (90.0, ''),
    (700.0, 'it begins at 700 m; altitude 0 is the pad, or the log begins in the climb'),
])
def test_altitude_above_the_sea_is_doubted(command, pad, doubt):
    rows = [row.split(',') for row in _throw().split()[1:]]
    text = '\n'.join(['time_s,altitude_m', *(f'{t},{pad + float(h)}' for t, h in rows)])
    _, _, err = command(text)
    assert doubt in err
    assert bool(err) == bool(doubt)


@pytest.mark.parametrize(('unit', 'factor'), [('hPa', 1.0), ('Pa', 100.0)])
def test_pressure_in_the_column_of_the_altitude_is_named(command, unit, factor):
    # What it fell by in the climb is found before its lowest value.
    rows = [f'{0.02 * i:.2f},{factor * (991.77 - 0.5 * max(i - 200, 0)):.2f}' for i in range(400)]
    _, _, err = command('\n'.join(['time_s,altitude_m', *rows]))
    write = f'write 44330.8 * (1 - (p / {991.77 * factor:g})**0.190263)'
    assert err.endswith(f'; if it is a pressure in {unit}, {write}\n')


@pytest.mark.parametrize(('content', 'reason'), [
    pytest.param(_throw(speed=300.0), "before one was seen, at health 'lockout'\n", id='climbs'),
    pytest.param(
        '\n'.join(_throw().split()[:122]) + '\n', 'before one was seen\n', id='at its apogee'
    ),
    pytest.param('time_s,altitude_m\n0,nan\n1,\n', 'has no number in any row\n', id='NaN'),
    pytest.param(_throw(factor=1000.0), '; if time_s is in ms, divide by 1000\n', id='in ms'),
])
def test_why_nothing_was_found(command, content, reason):
    _, _, err = command(content)
    assert err.endswith(reason)


def test_minimum_height(command):
    content = _throw(speed=40.0)
    assert json.loads(command(content, '--minimum-height', '30')[1])['reason'] == 'fit'


@pytest.mark.parametrize(
    'content',
    [
        pytest.param(_throw('time_s,altitude_m,vz_mps,az_mps2', ',,'), id='empty cells'),
        pytest.param(_throw('time_s,altitude_m,vz_mps,az_mps2', ',nan,NaN'), id='nan'),
        pytest.param(_throw('time_s,altitude_m,vz_mps,az_mps2', ',1e308,-1e308'), id='beyond all'),
        pytest.param(_throw('time_s,altitude_m,pressure_pa', ',abc'), id='other columns ignored'),
        pytest.param(_throw().replace('\n', '\r\n'), id='CRLF'),
        pytest.param('\ufeff' + _throw(), id='byte order mark'),
        pytest.param(_throw(' time_s , altitude_m '), id='blanks'),
        pytest.param(_throw().replace('\n1.00', '\n\n1.00'), id='empty line'),
        pytest.param(_throw() + '\n\n', id='empty lines at the end'),
        pytest.param(re.sub('(.+),(.+)', r'\2,\1', _throw()), id='columns in any order'),
    ],
)
def test_what_a_log_may_hold(command, content):
    assert command(content)[:2] == command(_throw())[:2]


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        pytest.param('', ':1: expected a header time_s,altitude_m, got no lines', id='empty'),
        pytest.param('time_s,height\n0,1\n', ':1: expected a column altitude_m', id='no column'),
        pytest.param(
            'time_s,altitude_m,time_s\n', ':1: expected one column time_s, got 2', id='twice'
        ),
        pytest.param(
            'time_s,altitude_m\n\n0,1\n1\n', ':4: altitude_m: expected column 2, got a row of 1',
            id='short row',
        ),
        pytest.param(
            'time_s,altitude_m\nnan,1\n', ':2: time_s: expected a finite time', id='NaN time'
        ),
        pytest.param('time_s,altitude_m\n,1\n', ':2: time_s: expected a finite', id='no time'),
        pytest.param('time_s,altitude_m\n1e30,1\n', ':2: time_s: expected', id='huge time'),
        pytest.param('time_s,altitude_m\n0,"1\n', ':2: expected comma-separated', id='quote'),
        pytest.param(b'\xff\xfe\x00', 'expected UTF-8 text, got byte 0xff', id='binary'),
    ],
)
def test_malformed_log_is_one_line_and_code_1(command, tmp_path, content, message):
    code, out, err = command(content)
    assert (code, out) == (1, '')
    assert err.count('\n') == 1
    assert err.startswith(f'propulsion_ros apogee: {tmp_path / "log.csv"}')
    assert message in err


def test_legacy_method(command):
    found = json.loads(command(_throw(), '--method', 'legacy')[1])
    assert found['detected_time'] == pytest.approx(60.0 / 9.80665, abs=0.1)
    assert found['sigma'] is None


_CONFIG = 'config/rocket_flight.jsonc'
_TIMER = '{}:\n  ros__parameters:\n    state_file: /absent/record\n    {}\n'


@pytest.fixture
def params_file(tmp_path):
    """Write a parameter file of the node with one more line."""
    path = tmp_path / 'computer.yaml'

    def write(line, node='flight_state'):
        path.write_text(_TIMER.format(node, line))
        return str(path)
    return write


def test_a_configuration_flies_the_log_to_its_end(command):
    code, out, err = command(_throw(speed=100.0, begin=-2.0, end=25.0), '--config', _CONFIG)
    found = json.loads(out)
    assert (code, err, set(found)) == (0, '', {*_KEYS, 'liftoff_time', 'events'})
    assert 0.0 < found['liftoff_time'] < 1.0
    drogue, main = found['events']
    assert drogue == {
        'time': found['detected_time'], 'name': 'drogue parachute',
        'altitude': pytest.approx(509.9, abs=1.0), 'why': 'time since apogee >= 0 s', 'count': 1,
    }
    # It has fallen below 450 m for 0.3 s.
    fallen = ((found['apogee_altitude'] - 450.0) / 4.903325) ** 0.5
    assert main['time'] == pytest.approx(found['apogee_time'] + fallen + 0.3, abs=0.06)


def test_what_never_fires_is_a_line(command):
    _, out, err = command(_throw(speed=100.0, begin=-2.0, end=12.0), '--config', _CONFIG)
    assert [event['name'] for event in json.loads(out)['events']] == ['drogue parachute']
    assert "'main' never fired: 'main parachute' needs (altitude <= 450 m" in err


@pytest.mark.parametrize('node', ['flight_state', '/my_rocket/flight_state', '/**'])
def test_a_parameter_file_gives_the_backup_timer(command, params_file, node):
    content = _throw(speed=100.0, begin=-2.0, end=25.0)
    file = params_file('flight.max_ascent_time: 5.0', node)
    _, out, _ = command(content, '--config', _CONFIG, '--params-file', file)
    found = json.loads(out)
    assert found['reason'] == 'timer'
    # It must be over for 0.1 s.
    assert found['detected_time'] == pytest.approx(found['liftoff_time'] + 5.1, abs=0.06)


def test_time_passes_where_rows_are_missing(command, params_file):
    header, *rows = _throw(speed=100.0, begin=-2.0, end=60.0).split()
    rows = [row for row in rows if not 6.0 < float(row.partition(',')[0]) < 50.0]
    file = params_file('flight.max_ascent_time: 8.0')
    _, out, _ = command('\n'.join([header, *rows]), '--config', _CONFIG, '--params-file', file)
    drogue = json.loads(out)['events'][0]
    assert 8.0 < drogue['time'] < 12.0
    assert drogue['altitude'] is None


def test_what_an_operator_would_be_told_is_a_line(command):
    time = np.arange(-5.0, 60.0, 0.05)
    hop = np.maximum(40.0 * time - 4.903325 * time**2, 0.0)
    noise = np.random.default_rng(1).normal(0.0, 0.2, len(time))
    rows = [f'{t:.2f},{h:.3f}' for t, h in zip(time, hop + noise, strict=True)]
    _, out, err = command('\n'.join(['time_s,altitude_m', *rows]), '--config', _CONFIG)
    assert json.loads(out)['events'] == []
    assert 's: the vehicle rests near its pad in flight, without an apogee: it is disarmed' in err


def test_an_operator_would_be_told_ten_lines_at_most(command):
    """A log with its columns exchanged made 60 lines, and its fault was between them."""
    rows = [f'{0.5 * i - 3.0 * (i // 5)},{0.5 * i}' for i in range(200)]
    _, _, err = command('\n'.join(['time_s,altitude_m', *rows]), '--config', _CONFIG)
    assert 'time_s goes back in' in err.splitlines()[0]
    assert err.count('the clock was set back') == 10
    assert err.endswith(' more such lines\n')


def test_an_event_that_may_fire_in_the_climb_is_a_warning(command, tmp_path):
    path = tmp_path / 'early.jsonc'
    config = json.loads(re.sub('//.*', '', Path(_CONFIG).read_text()))
    main = next(event for event in config['Events'] if event['name'] == 'main parachute')
    main['condition'] = {
        'operator': 'MORETHAN', 'flightVar': 'Position', 'component': 2, 'threshold': -450,
    }
    path.write_text(json.dumps(config))
    _, _, err = command(_throw(speed=100.0, begin=-2.0, end=25.0), '--config', str(path))
    assert f"{path}: event 'main parachute' can fire in the climb" in err


def test_an_option_wins_over_the_parameter_file(command, params_file):
    file = params_file('apogee.minimum_height: 9000.0')
    _, out, _ = command(_throw(), '--params-file', file)
    assert json.loads(out)['reason'] is None
    _, out, _ = command(_throw(), '--params-file', file, '--minimum-height', '50')
    assert json.loads(out)['reason'] == 'fit'
    _, _, err = command(_throw(), '--params-file', file, '--minimum-height', '-3')
    assert "parameter 'apogee.minimum_height': -3" in err
    assert file not in err


@pytest.mark.parametrize(('options', 'reason'), [
    (('--config', 'absent.jsonc'), 'absent.jsonc: cannot be read'),
    (('--params-file', 'config/rov.yaml'), "config/rov.yaml: expected a section 'flight_state', "),
])
def test_wrong_configurations_are_one_line(command, options, reason):
    code, out, err = command(_throw(), *options)
    assert (code, out, err.count('\n')) == (1, '', 1)
    assert reason in err


def test_a_wrong_parameter_is_placed_in_its_file(command, params_file):
    file = params_file('flight.max_ascent_tim: 5.0')
    code, _, err = command(_throw(), '--params-file', file)
    assert code == 1
    assert f'{file}:4: flight_state: ' in err
    assert "did you mean 'flight.max_ascent_time'?" in err


def test_a_picture_replaces_no_file_that_is_read(command, params_file, tmp_path):
    config = tmp_path / 'flight.jsonc'
    config.write_text(Path(_CONFIG).read_text())
    file = params_file(f'config_file: {config}')
    for picture in (str(config), file):
        code, _, err = command(_throw(), '--params-file', file, '--picture', picture)
        assert code == 1
        assert f'{picture}: is read too, expected another name' in err


def test_the_picture_reaches_beyond_the_last_event_and_says_where_the_log_ends(tmp_path):
    log = tmp_path / 'log.csv'
    log.write_text(_throw(speed=100.0, begin=-2.0, end=60.0))
    params = FlightLoopParams(config_file=_CONFIG, replay=True)
    flight = make_flight_state(params, read_config(params), in_simulation=False)
    signals = signals_of_flight('log', fly(read_flight_log(log), flight))
    assert [mark.name for mark in signals.flight.marks] == [
        'liftoff', 'drogue parachute', 'main parachute',
    ]
    page = flight_page(signals)
    drawn = next(trace for trace in page.above[0].traces if trace.label == 'log')
    last = signals.flight.marks[-1].time
    assert drawn.x.max() == pytest.approx(last + 0.5 * (last - page.begin), abs=0.1)
    assert page.time_label == 'time [s]; the log ends at 60.0 s'
