# SPDX-License-Identifier: Apache-2.0
"""Least-squares parabola through a window of samples, with its uncertainty."""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from propulsion_ros.settings.quantity import FloatArray

CLEAR = 3.0
"""Sigma that count as clear."""
_MAD_TO_SIGMA = 1.4826  # median absolute deviation of a normal distribution
_BISQUARE = 4.685  # Tukey's tuning constant: 95 % efficient on normal noise
_GEARY_MEAN = math.sqrt(2.0 / math.pi)  # mean(|r|) / rms(r) of a normal distribution
_GEARY_SPREAD = 0.2123  # its standard deviation times sqrt(n)
_LARGEST_CORRELATION = 0.9


@dataclass(slots=True)
class Parabola:
    """A parabola in time, in polynomials orthogonal over the samples it was fitted to.

    h(x) = mean + slope x + curve (x^2 - skew x - spread), with x = t - centre. The three
    polynomials are the columns of Q, so the coefficients are uncorrelated and each has an
    information (1 / variance) of its own.

    Attributes
    ----------
    centre : float
        Mean time of the samples [s].
    mean, slope, curve : float
        Coefficients [m], [m/s], [m/s^2].
    skew, spread : float
        Coefficients of the quadratic polynomial [s], [s^2].
    mean_info, slope_info, curve_info : float
        Information of the three coefficients; NaN until `with_noise`.
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
        """Return the altitude at a time [m]."""
        x = time - self.centre
        return self.mean + self.slope * x + self.curve * (x * x - self.skew * x - self.spread)

    def altitudes(self, time: FloatArray) -> FloatArray:
        """Return the altitudes at times of any shape [m]."""
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
        """Return one sigma of `altitude` [m]."""
        x = time - self.centre
        quadratic = x * x - self.skew * x - self.spread
        return math.sqrt(
            1.0 / self.mean_info + x * x / self.slope_info + quadratic**2 / self.curve_info
        )

    def velocity_sigma(self, time: float) -> float:
        """Return one sigma of `velocity` [m/s]."""
        lever = 2.0 * (time - self.centre) - self.skew
        return math.sqrt(1.0 / self.slope_info + lever * lever / self.curve_info)

    @property
    def acceleration_sigma(self) -> float:
        """One sigma of `acceleration` [m/s^2]."""
        return 2.0 / math.sqrt(self.curve_info)

    @property
    def vertex(self) -> float:
        """Time at which the velocity is zero [s], NaN for a straight line."""
        if self.curve == 0.0:
            return math.nan
        return self.centre + 0.5 * (self.skew - self.slope / self.curve)

    def with_noise(self, sigma: float) -> Parabola:
        """Return the parabola with its information scaled to samples of one sigma [m]."""
        scale = 1.0 / (sigma * sigma)
        return Parabola(
            self.centre, self.mean, self.slope, self.curve, self.skew, self.spread,
            self.mean_info * scale, self.slope_info * scale, self.curve_info * scale,
        )

    def with_acceleration(self, acceleration: float, sigma: float) -> Parabola:
        """Return the parabola after an independent measurement of its acceleration [m/s^2]."""
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
    """Fit a parabola by QR decomposition in centred time.

    Q is that of a Gram-Schmidt orthogonalisation of 1, t, t^2 over the samples (Forsythe,
    "Generation and use of orthogonal polynomials for data-fitting with a digital computer",
    J. SIAM 5, 1957). Each column is normalised by its own norm, so the result does not depend
    on the unit or origin of time, and nothing is lost however late in the flight.

    Parameters
    ----------
    time : FloatArray
        Sample times, shape (n,) [s].
    altitude : FloatArray
        Samples, shape (n,) [m].
    weight : FloatArray, optional
        Weight of each sample, shape (n,); None for equal weights.

    Returns
    -------
    tuple of Parabola and FloatArray, or None
        The parabola, with the information of samples of unit noise, and the residuals (n,);
        None where fewer than three distinct times carry weight.
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
    """Return Tukey's bisquare weights for residuals, shape (n,), scaled by their median.

    Parameters
    ----------
    residual : FloatArray
        Shape (n,) [m].
    noise_floor : float
        Smallest scale [m], for data of which more than half lie on the curve exactly.
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
    """Return whether the residuals have tails that normal noise does not have.

    Geary's test ("The ratio of the mean deviation to the standard deviation as a test of
    normality", Biometrika 27, 1935) at three standard deviations.

    Parameters
    ----------
    residual : FloatArray
        Shape (n,) [m].
    square_sum : float
        Sum of the squares of the residuals [m^2].
    """
    n = len(residual)
    absolute = float(np.add.reduce(np.abs(residual)))
    limit = _GEARY_MEAN - 3.0 * _GEARY_SPREAD / math.sqrt(n)
    return absolute < limit * math.sqrt(n * square_sum)


def noise_of(
    residual: FloatArray, square_sum: float, total: float, prior: float, prior_count: float
) -> float:
    """Return the noise that explains the scatter of a fit [m].

    The sample variance is joined with a prior of some virtual samples, and inflated by the
    correlation of neighbouring residuals: of samples with a lag-one correlation r only
    (1 - r) / (1 + r) are independent.

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
