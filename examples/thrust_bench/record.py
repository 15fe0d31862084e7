"""Write bench.csv: what a test stand records of the motor of true.yaml, with noise."""
import csv

import numpy as np

from propulsion_ros import load

DT, EVERY = 0.002, 5
"""Step of the simulation [s], and steps from row to row."""
HELD, COUNT = 0.5, 60
"""How long each throttle is held [s], and how many there are."""


def main():
    """Step the throttle at random, from a motor that stands still."""
    rng = np.random.default_rng(1)
    motor = load('bench.urdf', 'true.yaml')['rotors']
    before, throttles = 0.0, [0.0, 0.0, *rng.uniform(0.1, 1.0, COUNT - 2)]
    with open('bench.csv', 'w', newline='') as file:
        writer = csv.writer(file, lineterminator='\n')
        writer.writerow(['stamp', 'throttle', 'thrust'])
        for tick in range(round(COUNT * HELD / DT)):
            throttle = throttles[int(tick * DT / HELD)]
            thrust = motor.step([throttle], dt=DT).wrench[2]
            if tick % EVERY == 0:
                # A thrust is the mean of its step; a load cell is read between two of them.
                cell = 0.5 * (before + thrust) + rng.normal(0.0, 0.05)
                writer.writerow([f'{tick * DT:.2f}', f'{throttle:.3f}', f'{cell:.3f}'])
            before = thrust


if __name__ == '__main__':
    main()
