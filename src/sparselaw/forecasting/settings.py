"""The constants of a forecast, in one place. docs/forecast.md says how each was chosen."""

from __future__ import annotations

from dataclasses import dataclass

LogNormal = tuple[float, float]  # centre, and standard deviation of the logarithm


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Priors of the law, sizes of both discrepancies, noise, and how a back-test informs the interval."""

    floor: LogNormal = (0.55, 0.30)  # E over the lowest loss
    exponent: LogNormal = (0.30, 0.50)  # alpha, beta
    coupling: LogNormal = (0.45, 0.30)  # g
    wiggle_sizes: tuple[float, ...] = (0.004, 0.012, 0.036)  # tau
    wiggle_prior: LogNormal = (0.008, 1.0)
    wiggle_length: float = 4.0  # in ln N and ln D
    drift_sizes: tuple[float, ...] = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0)  # k
    drift_prior: LogNormal = (0.5, 0.3)
    drift_tails: float = 2.0  # degrees of freedom of that prior; infinite: normal
    drift_behind: float = 1.5  # by how much distances behind the frontier count more than those ahead
    drift_of_sizes: float = 0.25  # relative change of an exponent for a factor e in N or in D
    drift_of_compute: float = 0.08  # the same for a factor e in N D
    noise_shares: tuple[float, ...] = (0.7, 1.0)  # of the residuals' scale; the rest is the discrepancy's
    noise_prior: LogNormal = (0.7, 0.5)
    least_noise: float = 0.001
    winsor: float = 8.0  # residuals count up to so many scales by the median; infinite: the plain mean
    degrees: int = 6  # of freedom, of Student's t
    scale_alone: float = 0.55  # v without any back-test
    scale_prior: tuple[float, float] = (4.0, 0.55)  # v before the back-tests: worth in observations, value
    scale_per_cut: float = 0.5  # what a back-test is worth in observations
    largest_square: float = 9.0  # of a score of the back-test
    shift: float = 0.4  # share of the back-tests' mean score by which the forecast is moved
    cuts: tuple[float, ...] = (0.5, 0.7)
    most_rows: int = 400


SETTINGS = Settings()
