# SPDX-License-Identifier: Apache-2.0
"""What looks like sensors and a flight of RocketPy, for tests without it; its computers."""
from __future__ import annotations

import json

import numpy as np

from propulsion_ros.graph.share import share_directory
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.models.common.atmosphere import temperature_and_pressure
from propulsion_ros.replay.bags import BagReader
from propulsion_ros.tools import cli

PAD = 100.0


class Sensor:
    noise_density, noise_variance = 0.0, 1.0

    def __init__(self, sampling_rate, name=''):
        self.sampling_rate, self.name = sampling_rate, name or type(self).__name__
        self.measured_data = []


class Barometer(Sensor):
    """Measures pressures."""


class Accelerometer(Sensor):
    """Measures what it should not."""


class SpecificForce(Accelerometer):
    at_rest = (0.0, 0.0, 9.81)


class Gyroscope(Sensor):
    noise_density = (0.0, 0.0, 0.0)


class GnssReceiver(Sensor):
    position_accuracy, altitude_accuracy = 2.0, 3.0


def height(time, speed=120.0, net=40.0):
    """Return the height of a burn, a coast without drag, and a fall at 15 m/s [m]."""
    burn = speed / net
    coast = np.clip(time - burn, 0.0, None)
    top = 0.5 * net * burn**2 + 0.5 * speed**2 / 9.81
    free = 0.5 * net * np.minimum(time, burn) ** 2 + speed * coast - 0.5 * 9.81 * coast**2
    apogee = burn + speed / 9.81
    return np.where(time < apogee, free, np.maximum(top - 15.0 * (time - apogee), 0.0))


APOGEE = 120.0 / 40.0 + 120.0 / 9.81


class Flight:
    """Calls triggers and measures in the order in which RocketPy does: triggers first.

    Parameters
    ----------
    sensors : sequence of Sensor
        They are emptied, as at the begin of a flight.
    triggers : mapping of str to callable
        By the names of parachutes; one that has fired is dropped.
    rate : float
        Of the triggers [Hz].
    lost : tuple of float
        Between these times nothing is measured [s], as in RocketPy's last step before the apogee.
    """

    def __init__(self, sensors, triggers, rate=50.0, end=50.0, lost=(0.0, 0.0)):
        for sensor in sensors:
            sensor.measured_data = []
        self.sensors, self.fired = [*sensors], {}
        left = dict(triggers)
        steps = {id(each): 0 for each in sensors}
        for k in range(round(end * rate)):
            now = k / rate
            for name, trigger in [*left.items()]:
                if trigger(0.0, 0.0, None, self.sensors):
                    self.fired[name] = now
                    del left[name]
            for sensor in sensors:
                while (time := steps[id(sensor)] / sensor.sampling_rate) <= now:
                    if not lost[0] < time < lost[1]:
                        self._measure(sensor, time)
                    steps[id(sensor)] += 1

    def _measure(self, sensor, time):
        high = float(height(np.array(time)))
        kind = type(sensor).__name__
        if kind == 'Barometer':
            row = (float(temperature_and_pressure(PAD + high)[1]),)
        elif kind == 'SpecificForce':
            row = (0.0, 0.0, 49.81 if time < 3.0 else (9.81 if time > APOGEE else 0.0))
        elif kind == 'GnssReceiver':
            row = (47.0, 11.0, PAD + high)
        else:
            row = (0.0, 0.0, 0.0)
        sensor.measured_data.append((time, *row))


SETTINGS = {
    'config_file': str(share_directory() / 'config' / 'rocket_flight.jsonc'),
    'altitude_source': 'pressure', 'flight.max_ascent_time': 40.0,
}
"""Of a flight computer."""


def with_settings(path, **changes):
    """Write the settings of a flight computer to a file, and return its path."""
    path.write_text(json.dumps({'flight_state': {'ros__parameters': SETTINGS | changes}}))
    return path


def replayed(config, bag, output):
    """Return arrival and stamp [ns] of the sample, and name, of each event in a replay of a bag."""
    assert cli.main(['replay', str(config), str(bag), str(output)]) == 0
    with BagReader(output) as reader:
        return [
            (each.stamp_ns, stamp_to_ns(message.header.stamp), status.name)
            for each in reader.messages({'/flight_state/events'})
            for message in [reader.decode(each)] for status in message.status
        ]
