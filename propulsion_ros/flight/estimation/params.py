# SPDX-License-Identifier: Apache-2.0
"""Parameters of the estimator of attitude, position and velocity."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.settings.quantity import FloatArray, quantity, validate


@dataclass(frozen=True, kw_only=True, eq=False)
class EstimatorParams:
    """Noise, limits and times of the estimator; the defaults suit MEMS sensors in a rocket."""

    method: str = quantity(
        'default',
        doc="default is the error-state filter, legacy Pickle Rick's own, external none: the "
        'odometry input is taken as it is',
        kind=str, choices=('default', 'legacy', 'external'),
    )
    gyro_noise: float = quantity(
        0.001, 'rad/s/sqrt(Hz)', above=0.0, doc='noise density of the gyroscope in flight'
    )
    gyro_scale: float = quantity(
        0.002, '', lo=0.0, hi=0.5, doc='error of the gyroscope relative to the rate, one sigma'
    )
    gyro_bias_sigma: float = quantity(
        0.02, 'rad/s', above=0.0, doc='bias of the gyroscope at switch-on, one sigma'
    )
    gyro_bias_walk: float = quantity(
        1e-4, 'rad/s/sqrt(s)', lo=0.0, doc='random walk of that bias'
    )
    accelerometer_noise: float = quantity(
        0.1, 'm/s^2/sqrt(Hz)', above=0.0, doc='noise density of the accelerometer in flight'
    )
    accelerometer_scale: float = quantity(
        0.01, '', lo=0.0, hi=0.5,
        doc='error of the accelerometer relative to the force, one sigma',
    )
    accelerometer_bias_sigma: float = quantity(
        0.3, 'm/s^2', above=0.0, doc='bias of the accelerometer at switch-on, one sigma'
    )
    accelerometer_bias_walk: float = quantity(
        0.01, 'm/s^2/sqrt(s)', lo=0.0, doc='random walk of that bias'
    )
    descent_force_noise: float = quantity(
        3.0, 'm/s^2/sqrt(Hz)', lo=0.0,
        doc="noise density that joins the accelerometer's where the vehicle tumbles or swings",
    )
    descent_rate_noise: float = quantity(
        0.05, 'rad/s/sqrt(Hz)', lo=0.0, doc='the same of the gyroscope'
    )
    pressure_noise: float = quantity(
        10.0, 'Pa', above=0.0,
        doc='least white noise of the barometer; more counts where it is stated or measured',
    )
    altitude_bias_sigma: float = quantity(
        1.0, 'm', above=0.0, doc='error of the barometer on the pad after averaging, one sigma'
    )
    altitude_bias_walk: float = quantity(
        0.1, 'm/sqrt(s)', lo=0.0, doc='random walk of that error'
    )
    altitude_scale_sigma: float = quantity(
        0.03, '', lo=0.0, hi=0.5,
        doc="temperature of the air relative to the standard atmosphere's, one sigma",
    )
    static_port_error: float = quantity(
        0.05, '', lo=0.0, hi=1.0,
        doc='error of the static ports relative to the dynamic pressure, one sigma',
    )
    static_port_time: float = quantity(
        20.0, 's', above=0.0, doc='time over which that error changes'
    )
    lockout_mach: float = quantity(
        0.75, '', above=0.0, doc='Mach number of the inertial speed above which the barometer is '
        'not believed'
    )
    lockout_hold: float = quantity(
        1.0, 's', lo=0.0, doc='how long this lockout lasts after the last such speed'
    )
    site_altitude: float = quantity(
        0.0, 'm', lo=-500.0, hi=10e3, doc='pad above sea level, where no pressure has told it'
    )
    magnetometer_noise: float = quantity(
        0.05, '', above=0.0, doc='noise of the direction of the magnetic field, one sigma'
    )
    magnetic_declination: float = quantity(
        0.0, 'rad', lo=-np.pi, hi=np.pi, doc='of magnetic north, east of true north'
    )
    heading: float = quantity(
        0.0, 'rad', lo=-np.pi, hi=np.pi,
        doc='rotation about up of the attitude on the pad, where no magnetometer tells it',
    )
    heading_sigma: float = quantity(
        1.0, 'rad', above=0.0, hi=np.pi, doc='how well that heading is known, one sigma'
    )
    gnss_noise: FloatArray = quantity(
        (3.0, 3.0, 6.0), 'm', above=0.0, shape=(3,),
        doc='noise east, north and up of a fix whose message states no covariance',
    )
    gate: float = quantity(
        5.0, '', above=0.0, doc='sigmas of the innovation beyond which a measurement is refused'
    )
    gate_time: float = quantity(
        0.3, 's', above=0.0, doc='refusals for this long mean that not the measurement is wrong'
    )
    imu_timeout: float = quantity(
        0.15, 's', above=0.0, doc='age at which the inertial sensor counts as lost'
    )
    pressure_timeout: float = quantity(
        0.5, 's', above=0.0, doc='age at which the barometer counts as lost'
    )
    magnetic_field_timeout: float = quantity(
        0.5, 's', above=0.0, doc='age at which the magnetometer counts as lost'
    )
    fix_timeout: float = quantity(
        2.5, 's', above=0.0, doc='age at which the satellite receiver counts as lost'
    )
    frozen_time: float = quantity(
        0.2, 's', above=0.0,
        doc='a value that repeats itself so long, while it must change, is frozen',
    )
    accelerometer_range: float = quantity(
        2000.0, 'm/s^2', above=0.0, doc='largest specific force on any axis'
    )
    gyro_range: float = quantity(
        70.0, 'rad/s', above=0.0, doc='largest angular rate on any axis'
    )
    accelerometer_step: float = quantity(
        300.0, 'm/s^2', above=0.0,
        doc='largest change between two samples; a larger one must be confirmed by the next',
    )
    gyro_step: float = quantity(20.0, 'rad/s', above=0.0, doc='the same of the angular rate')
    alignment_time: float = quantity(
        0.3, 's', above=0.0, doc='time at rest on the pad from which the first attitude is taken'
    )
    rest_acceleration: float = quantity(
        0.15 * STANDARD_GRAVITY, 'm/s^2', above=0.0,
        doc='how far the specific force may be from 1 g at rest',
    )
    rest_rate: float = quantity(
        0.35, 'rad/s', above=0.0, doc='how fast the vehicle may turn at rest'
    )
    usable_altitude_sigma: float = quantity(
        300.0, 'm', above=0.0, doc='an altitude less certain than this is not handed on'
    )
    usable_velocity_sigma: float = quantity(
        20.0, 'm/s', above=0.0, doc='a velocity less certain than this is not handed on'
    )
    legacy_beta: float = quantity(
        0.5, 'rad/s', lo=0.0, doc='correction of the Madgwick filter on the ground (legacy)'
    )
    legacy_beta_flight: float = quantity(
        0.5, 'rad/s', lo=0.0, doc='the same in flight; 0 freezes it (legacy)'
    )

    def __post_init__(self) -> None:
        validate(self)

    @property
    def static_port_density(self) -> float:
        """Noise density of the walk of the static ports' error [1/s]."""
        return 2.0 * self.static_port_error**2 / self.static_port_time
