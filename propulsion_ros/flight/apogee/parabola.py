# SPDX-License-Identifier: Apache-2.0
"""Least-squares fit of a parabola to a window of samples, with its uncertainty."""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from propulsion_ros.settings.quantity import FloatArray

CLEAR = 3.0
"""Least deviation that is clear, in sigma."""
_MAD_TO_SIGMA = 1.4826  # sigma of a normal distribution over its median absolute deviation
_BISQUARE = 4.685  # residuals beyond so many sigma get no weight: Tukey's, 95 % efficient
_GEARY_MEAN = math.sqrt(2.0 / math.pi)  # mean |r| over the rms of r, of a normal distribution
_GEARY_SPREAD = 0.2123  # standard deviation of that ratio for n samples, times sqrt(n)
_LARGEST_CORRELATION = 0.9  # of neighbouring residuals; limits the variance to 19 times


@dataclass(slots=True)
class Parabola:
    """A parabola in time, as a sum of polynomials that are orthogonal over the fitted samples.

    h(x) = mean + slope x + curve (x^2 - skew x - spread), with x = t - centre. As the three
    polynomials are orthogonal, the errors of the coefficients are uncorrelated, and each has its
    own information (1 / variance).

    Attributes
    ----------
    centre : float
        Mean time of the samples [s].
    mean, slope, curve : float
        Coefficients [m], [m/s], [m/s^2].
    skew, spread : float
        Coefficients of the quadratic polynomial [s], [s^2].
    mean_info, slope_info, curve_info : float
        Information of the three coefficients, for samples of unit noise until `with_noise`.
    """

    centre: float
    mean: float
    slope: float
    curve: float
    skew: float
    spread: float
    mean_info: float
    slope_info: float
    curve_info: float

    def altitude(self, time: float) -> float:
        """Return the altitude at a time of the fit [m]."""
        x = time - self.centre
        return self.mean + self.slope * x + self.curve * (x * x - self.skew * x - self.spread)

    def altitudes(self, time: FloatArray) -> FloatArray:
        """Return the altitudes at times of the fit, of any shape [m]."""
        x = time - self.centre
        altitude = self.curve * x
        altitude += self.slope - self.curve * self.skew
        altitude *= x
        altitude += self.mean - self.curve * self.spread
        return altitude

    def velocity(self, time: float) -> float:
        """Return the vertical velocity at a time, up positive [m/s]."""
        return self.slope + self.curve * (2.0 * (time - self.centre) - self.skew)

    @property
    def acceleration(self) -> float:
        """Vertical acceleration, up positive [m/s^2]."""
        return 2.0 * self.curve

    def altitude_sigma(self, time: float) -> float:
        """Return the standard deviation of `altitude` [m]."""
        x = time - self.centre
        quadratic = x * x - self.skew * x - self.spread
        return math.sqrt(
            1.0 / self.mean_info + x * x / self.slope_info + quadratic**2 / self.curve_info
        )

    def velocity_sigma(self, time: float) -> float:
        """Return the standard deviation of `velocity` [m/s]."""
        lever = 2.0 * (time - self.centre) - self.skew
        return math.sqrt(1.0 / self.slope_info + lever * lever / self.curve_info)

    @property
    def acceleration_sigma(self) -> float:
        """Standard deviation of `acceleration` [m/s^2]."""
        return 2.0 / math.sqrt(self.curve_info)

    @property
    def vertex(self) -> float:
        """Time of the fit at which the velocity is zero [s], NaN for a straight line."""
        if self.curve == 0.0:
            return math.nan
        return self.centre + 0.5 * (self.skew - self.slope / self.curve)

    def with_noise(self, sigma: float) -> Parabola:
        """Return the parabola with its information scaled to samples of a noise [m]."""
        scale = 1.0 / (sigma * sigma)
        return Parabola(
            self.centre, self.mean, self.slope, self.curve, self.skew, self.spread,
            self.mean_info * scale, self.slope_info * scale, self.curve_info * scale,
        )

    def with_acceleration(self, acceleration: float, sigma: float) -> Parabola:
        """Return the parabola corrected by a measured acceleration and its sigma [m/s^2]."""
        added = 4.0 / (sigma * sigma)
        info = self.curve_info + added
        curve = (self.curve * self.curve_info + 0.5 * acceleration * added) / info
        return Parabola(
            self.centre, self.mean, self.slope, curve, self.skew, self.spread,
            self.mean_info, self.slope_info, info,
        )


def fit_parabola(
    time: FloatArray, altitude: FloatArray, weight: FloatArray | None = None
) -> tuple[Parabola, FloatArray] | None:
    """Fit a parabola by orthogonal polynomials in centred time.

    The polynomials are those of a Gram-Schmidt orthogonalisation of 1, t, t^2 over the samples
    (Forsythe, "Generation and use of orthogonal polynomials for data-fitting with a digital
    computer", J. SIAM 5, 1957). The result does not depend on the unit or origin of time, so no
    precision is lost late in a flight.

    Parameters
    ----------
    time : FloatArray
        Times of the samples, shape (n,) [s].
    altitude : FloatArray
        Altitudes of the samples, shape (n,) [m].
    weight : FloatArray, optional
        Weight of each sample, shape (n,); None for equal weights.

    Returns
    -------
    tuple of Parabola and FloatArray, or None
        The parabola, with the information of samples of unit noise, and the residuals (n,) [m];
        None if fewer than three distinct times have weight.
    """
    if weight is None:
        total = float(len(time))
        if total < 3.0:
            return None
        centre = float(np.add.reduce(time)) / total
        mean = float(np.add.reduce(altitude)) / total
        x = time - centre
        y = altitude - mean
        weighted_x = x
    else:
        total = float(np.add.reduce(weight))
        if total <= 0.0:
            return None
        centre = float(weight.dot(time)) / total
        mean = float(weight.dot(altitude)) / total
        x = time - centre
        y = altitude - mean
        weighted_x = weight * x
    square = x * x
    moment = float(weighted_x.dot(x))
    if moment <= 0.0:
        return None
    skew = float(weighted_x.dot(square)) / moment
    spread = moment / total
    # The quadratic column is square - skew x - spread; its products follow from those of x, y and
    # square, since x and y have no mean.
    weighted_square = square if weight is None else weight * square
    norm = float(weighted_square.dot(square)) - moment * (skew * skew + spread)
    if norm <= 1e-12 * moment * spread:
        return None
    product = float(weighted_x.dot(y))
    slope = product / moment
    curve = (float(weighted_square.dot(y)) - skew * product) / norm
    x *= slope - curve * skew
    square *= curve
    y -= x
    y -= square
    y += curve * spread
    return Parabola(centre, mean, slope, curve, skew, spread, total, moment, norm), y


def reweight(residual: FloatArray, noise_floor: float) -> FloatArray:
    """Return Tukey's bisquare weight of each residual, shape (n,), scaled by their median size.

    Parameters
    ----------
    residual : FloatArray
        Residuals of a fit, shape (n,) [m].
    noise_floor : float
        Least sigma of the residuals [m], as more than half of them may be exactly 0.
    """
    size = np.abs(residual)
    middle = len(size) // 2
    scale = max(_MAD_TO_SIGMA * float(np.partition(size, middle)[middle]), noise_floor)
    size *= 1.0 / (_BISQUARE * scale)
    np.minimum(size, 1.0, out=size)
    size *= size
    np.subtract(1.0, size, out=size)
    size *= size
    return size


def has_outliers(residual: FloatArray, square_sum: float) -> bool:
    """Return whether the residuals have heavier tails than normal noise.

    Geary's test ("The ratio of the mean deviation to the standard deviation as a test of
    normality", Biometrika 27, 1935).

    Parameters
    ----------
    residual : FloatArray
        Residuals of a fit, shape (n,) [m].
    square_sum : float
        Sum of their squares [m^2].
    """
    n = len(residual)
    absolute = float(np.add.reduce(np.abs(residual)))
    limit = _GEARY_MEAN - CLEAR * _GEARY_SPREAD / math.sqrt(n)
    return absolute < limit * math.sqrt(n * square_sum)


def noise_of(
    residual: FloatArray, square_sum: float, total: float, prior: float, prior_count: float
) -> float:
    """Return the noise of the samples, estimated from the residuals of a fit [m].

    The variance is averaged with a prior that counts as some samples. It is then divided by
    (1 - r) / (1 + r), the share of samples that are independent if neighbouring residuals have the
    correlation r.

    Parameters
    ----------
    residual : FloatArray
        Residuals times the square root of their weights, shape (n,) [m].
    square_sum : float
        Sum of their squares [m^2].
    total : float
        Sum of the weights.
    prior, prior_count : float
        Noise assumed beforehand [m], and the number of samples it counts as.
    """
    freedom = max(total - 3.0, 0.0) + prior_count
    variance = (square_sum + prior_count * prior * prior) / freedom
    if square_sum > 0.0:
        correlation = float(residual[1:].dot(residual[:-1])) / square_sum
        correlation = min(max(correlation, 0.0), _LARGEST_CORRELATION)
        variance *= (1.0 + correlation) / (1.0 - correlation)
    return math.sqrt(variance)
