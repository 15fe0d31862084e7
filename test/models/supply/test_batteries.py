# SPDX-License-Identifier: Apache-2.0
"""Batteries against closed forms, and what rotors and thrusters do as their voltage falls."""
import numpy as np
import pytest
from scipy.integrate import quad

from propulsion_ros.models.common.family import BodyState, Command, Powered
from propulsion_ros.models.fins.fins import Fins
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
from propulsion_ros.models.supply.batteries import BatteriesParams
from propulsion_ros.models.thrusters.thrusters import Thrusters, ThrustersParams

LIPO = '0 9 0.1 13.5 0.9 16 1 16.8'
STILL = BodyState()


def battery(**values):
    return BatteriesParams(**{
        'names': ['main'], 'capacity': 1.0, 'open_circuit_voltage': LIPO,
        'internal_resistance': 0.05, 'nominal_voltage': 14.8, 'cut_off_voltage': 12.0, **values,
    })


def rotors(cell=None, **values):
    return Rotors(RotorsParams(**{
        'names': ['a', 'b', 'c', 'd'], 'max_thrust': 10.0, 'motor_constant': 1e-5,
        'moment_constant': 0.02, 'drive_efficiency': 0.7, 'battery': 'main',
        'batteries': cell or battery(), **values,
    }))


def thrusters(cell=None, **values):
    return Thrusters(ThrustersParams(**{
        'names': ['a', 'b'], 'rotor_constant': 0.004, 'max_command': 100.0, 'min_command': -100.0,
        'power_constant': 3.0, 'battery': 'main', 'batteries': cell or battery(), **values,
    }))


def power_of(thrust):
    """Return the electric power of the rotors [W]: torque times speed, over the efficiency."""
    return float(np.sum(0.02 * thrust * np.sqrt(thrust / 1e-5)) / 0.7)


def at(voltage, resistance, power):
    """Return the voltage under a constant power [V]."""
    return 0.5 * (voltage + np.sqrt(voltage**2 - 4.0 * resistance * power))


@pytest.mark.parametrize('dt', [0.01, 0.7])
def test_a_constant_power_on_an_ideal_battery_has_a_closed_form(dt):
    cell = battery(
        open_circuit_voltage='16', capacity=0.1, cut_off_voltage=0.0, standby_power=5.0
    )
    model, command = rotors(cell), Command(effort=[5.0] * 4)
    power = power_of(np.full(4, 5.0)) + 5.0
    voltage = at(16.0, 0.05, power)
    current = power / voltage
    end = 0.1 * 3600.0 / current
    outputs = [model.step(command, STILL, dt, i) for i in range(int(end / dt) + 3)]
    lasts = int(end / dt)
    for output in outputs[:lasts]:
        assert output.batteries.voltage[0] == pytest.approx(voltage, rel=1e-12)
        assert output.batteries.current[0] == pytest.approx(current, rel=1e-12)
        assert not output.flags['empty'][0]
        np.testing.assert_allclose(output.applied, 5.0, rtol=1e-15)
    # The step that empties it gives what was left, and then there is nothing.
    left = outputs[lasts]
    assert left.flags['empty'][0]
    assert left.batteries.current[0] * dt == pytest.approx((end / dt - lasts) * current * dt)
    assert 0.0 < left.applied[0] < 5.0
    assert outputs[-1].batteries == ([16.0], [0.0], pytest.approx([0.0], abs=1e-14))
    assert not np.any(outputs[-1].applied)


@pytest.mark.parametrize('interface', ['effort', 'velocity', 'throttle'])
def test_the_energy_is_that_of_the_charge(interface):
    field = {'throttle': 'position'}.get(interface, interface)
    extra = {'max_command': 1e3} if interface == 'velocity' else {}
    value = {'effort': 5.0, 'velocity': 700.0, 'throttle': 0.6}[interface]
    for model, dt in (
        (rotors(command_interface=interface, time_constant_up=0.05), 0.02),
        (thrusters(command_interface=interface, max_thrust=40.0, dynamics='first_order',
                   time_constant=0.1, **extra), 0.02),
    ):
        # Without points of the curve in between the balance is exact.
        model.retune(type(model).Params(**{
            **vars(model.params), 'batteries': battery(starting_charge=0.85)
        }))
        model.reset()
        command, energy = Command(**{field: [value] * len(model.command_names)}), 0.0
        for i in range(500):
            output = model.step(command, STILL, dt, i)
            voltage, current, charge = (row[0] for row in output.batteries)
            energy += (voltage * current + 0.05 * current**2) * dt
        taken, _ = quad(lambda s: np.interp(s, [0.1, 0.9], [13.5, 16.0]), charge, 0.85)
        assert 0.1 < charge < 0.849
        assert energy == pytest.approx(3600.0 * taken, rel=1e-9)
        assert np.all(output.applied != 0.0)


def test_voltage_and_thrust_of_a_step_go_together():
    """A rotor at its throttle: I is in proportion to V^2, so V is the root of a quadratic."""
    cell = battery(open_circuit_voltage='14', cut_off_voltage=0.0, internal_resistance=0.2)
    output = rotors(cell, command_interface='throttle').step(
        Command(position=[1.0] * 4), STILL, 0.01, 0
    )
    voltage = output.batteries.voltage[0]
    nominal = power_of(np.full(4, 10.0))
    closed = 28.0 / (1.0 + np.sqrt(1.0 + 4.0 * 0.2 * nominal * 14.0 / 14.8**3))
    assert voltage == pytest.approx(closed, rel=1e-11)
    np.testing.assert_allclose(output.applied, 10.0 * (closed / 14.8) ** 2, rtol=1e-10)
    np.testing.assert_allclose(
        output.velocity, np.sqrt(10.0 / 1e-5) * closed / 14.8, rtol=1e-10
    )
    assert voltage * output.batteries.current[0] == pytest.approx(
        power_of(output.applied), rel=1e-11
    )


@pytest.mark.parametrize(('make', 'fields', 'top'), [
    pytest.param(rotors, {'command_interface': 'throttle'}, 10.0, id='rotor by throttle'),
    pytest.param(rotors, {'command_interface': 'throttle', 'esc_gives': 'speed',
                          'esc_curve': '0 1000'}, 10.0, id='rotor by throttle to speed'),
    pytest.param(rotors, {}, 10.0, id='rotor by thrust'),
    pytest.param(rotors, {'command_interface': 'velocity'}, 10.0, id='rotor by speed'),
    pytest.param(thrusters, {}, 40.0, id='thruster by speed'),
    pytest.param(thrusters, {'command_interface': 'effort', 'max_thrust': 40.0}, 40.0,
                 id='thruster by thrust'),
    pytest.param(thrusters, {'command_interface': 'throttle', 'max_thrust': 40.0}, 40.0,
                 id='thruster by throttle'),
    pytest.param(thrusters, {'dynamics': 'yoerger', 'alpha': 0.5, 'beta': 50.0}, 40.0,
                 id='thruster with drag'),
])
@pytest.mark.parametrize('voltage', [13.0, 10.0])
def test_sag_lowers_the_largest_thrust_by_its_square(make, fields, top, voltage):
    cell = battery(open_circuit_voltage=str(voltage), internal_resistance=0.0,
                   cut_off_voltage=0.0, capacity=1e6)
    model = make(cell, **fields)
    field = model.command_fields[0]
    full = {'position': 1.0, 'effort': 40.0, 'velocity': 1e4 if top == 10.0 else 100.0}[field]
    for i in range(200):
        output = model.step(Command(**{field: [full] * len(model.command_names)}), STILL, 0.05, i)
    if fields.get('dynamics') == 'yoerger':
        top = 0.004 * 100.0 * 50.0 / 0.5
    np.testing.assert_allclose(output.applied, top * (voltage / 14.8) ** 2, rtol=1e-9)


def test_a_command_within_reach_is_followed_to_the_last_digit():
    for make, field, value in ((rotors, 'effort', 3.3), (thrusters, 'velocity', 33.3)):
        plain = {'battery': '', 'batteries': BatteriesParams()}
        with_it, without = make(), make(**plain)
        command = Command(**{field: [value] * len(with_it.command_names)})
        for i in range(20):
            one, other = (model.step(command, STILL, 0.01, i) for model in (with_it, without))
            np.testing.assert_array_equal(one.wrench, other.wrench)
            np.testing.assert_array_equal(one.velocity, other.velocity)
        assert other.batteries is None
        assert list(other.flags) == [f for f in one.flags if f not in ('low_voltage', 'empty')]


def test_the_cut_off_holds_the_voltage_and_thrust_ends_gently():
    model, command = rotors(), Command(effort=[6.0] * 4)
    outputs = [model.step(command, STILL, 0.05, i) for i in range(5000)]
    voltage, current, charge = np.array([output.batteries for output in outputs])[..., 0].T
    thrust = np.array([output.applied[0] for output in outputs])
    low, empty = (
        np.array([output.flags[key][0] for output in outputs]) for key in ('low_voltage', 'empty')
    )
    begin, end = np.argmax(low), np.argmax(empty)
    assert 0 < begin < end < 4999
    np.testing.assert_allclose(thrust[:begin], 6.0, rtol=1e-15)
    np.testing.assert_allclose(voltage[begin:end], 12.0, rtol=1e-9)
    assert np.all(voltage >= 12.0 * (1.0 - 1e-9))
    assert np.all(np.diff(thrust[begin:end]) < 0.0)
    # No step on the way takes more than a small part of the thrust.
    assert np.max(-np.diff(thrust[:end])) < 0.02 * 6.0
    assert thrust[end - 1] < 0.15 * 6.0
    assert not np.any(thrust[end + 1:])
    assert not np.any(current[end + 1:])
    assert np.all(np.diff(charge) <= 0.0)
    assert voltage[-1] == pytest.approx(12.0, rel=2e-3)
    assert outputs[begin].flags['saturated'].all()


def test_batteries_of_a_group_are_apart_and_an_actuator_may_have_none():
    cells = battery(
        names=['left', 'right'], capacity=[1.0, 0.5], internal_resistance=[0.05, 0.3],
        nominal_voltage=14.8, open_circuit_voltage=['14', '14'],
    )
    model = rotors(cells, battery=['left', 'right', 'right', ''], command_interface='throttle')
    output = model.step(Command(position=[1.0] * 4), STILL, 0.01, 0)
    left, right, same, free = output.applied
    assert right == same < left < free == 10.0
    assert output.batteries.voltage[0] > output.batteries.voltage[1]
    assert output.batteries.current[1] == pytest.approx(
        power_of(output.applied[1:3]) / output.batteries.voltage[1]
    )
    assert isinstance(model, Powered)
    assert model.battery_names == ('left', 'right')
    assert not isinstance(Fins, Powered)


@pytest.mark.parametrize('make', [rotors, thrusters])
def test_rest_keeps_the_charge_and_reset_restores_it(make):
    model = make(battery(starting_charge=0.7))
    names = len(model.command_names)
    field = model.command_fields[0]
    for i in range(50):
        model.step(Command(**{field: [9.0] * names}), STILL, 0.1, i)
    used = model._batteries.charge.copy()
    assert used[0] < 0.7 * 3600.0
    model.rest()
    np.testing.assert_array_equal(model._batteries.charge, used)
    model.reset()
    assert model._batteries.charge[0] == pytest.approx(0.7 * 3600.0)
