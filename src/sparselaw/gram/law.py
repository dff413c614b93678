"""The law of the Gram matrix G = X X^T: two functions of the effective ridge, and how they scatter.

N Gaussian features are a random projection of G, which turns the ridge into an effective ridge kappa. With
x = log kappa, f the eigenvalues of G (G + kappa)^-1 and Sigma the covariance of the population, everything
about the data that the loss needs is

    S(x) = E tr f              the degrees of freedom df1
    t(x) = E tr Sigma (1-f)    the unresolved variance

and their derivatives along x. Because df/dx = -f (1-f), these are traces of powers of f:

    P = tr f (1-f) = -S'       Q = tr f^2 (1-f)       R = tr f^3 (1-f)        df2 = S - P
    A0 = tr Sigma (1-f)^2      A1 = tr Sigma (1-f)^2 f      A2 = tr Sigma (1-f)^2 f^2      T = tr Sigma f
    (1-f) = t'

All eight are positive and carried one by one, so that no digit is lost in a difference. x = -inf is kappa =
0: S is the rank, A0 = t the variance that the data leave unresolved, and the other six vanish.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray

LATTICE = 0.2  # step in log g of the lattice that stands for many atoms
NEIGHBOURS = 12  # lattice points that share an atom: Lagrange's polynomials, good to 1e-10
LATTICE_ATOMS = 600  # atoms from which on the lattice is used
LARGEST_LOG = 600.0  # of 1/g
ENTRIES = 160_000  # of a matrix of effective ridges and atoms at a time


def each(rows: FloatArray, by: FloatArray) -> FloatArray:
    """Every row times ``by``, or its own row of it: the same to the last bit beside any others."""
    return np.asarray((rows[:, None] @ by[..., None])[:, 0, 0])


@functools.cache
def lagrange(neighbours: int) -> FloatArray:
    """Rows: the polynomial of each neighbour by powers of the distance from the middle of the cell."""
    at = np.arange(neighbours) - 0.5 * (neighbours - 1)
    rows = [np.poly(np.delete(at, k))[::-1] / np.prod(np.delete(at[k] - at, k)) for k in range(neighbours)]
    return np.array(rows)


class Moments(NamedTuple):
    """The eight traces at each x (arrays of one shape)."""

    S: FloatArray
    P: FloatArray
    Q: FloatArray
    R: FloatArray
    A0: FloatArray
    A1: FloatArray
    A2: FloatArray
    T: FloatArray

    @property
    def t(self) -> FloatArray:
        """The unresolved variance."""
        return np.asarray(self.A0 + self.T)

    @classmethod
    def of_derivatives(cls, S: FloatArray, t: FloatArray) -> Moments:
        """From the rows S, S', S'', S''' and t, t', t'', t''' along x."""
        df2_slope, df2_bend = S[1] + S[2], S[2] + S[3]
        Q = -0.5 * df2_slope
        R = -(df2_slope + 0.5 * df2_bend) / 3.0
        A0, A0_slope, A0_bend = t[0] - t[1], t[1] - t[2], t[2] - t[3]
        A1, A1_slope = 0.5 * A0_slope, 0.5 * A0_bend
        return cls(S[0], -S[1], Q, R, A0, A1, (A1 + A1_slope) / 3.0, t[1])

    def derivatives(self) -> tuple[FloatArray, FloatArray]:
        """The rows S, S', S'', S''' and t, t', t'', t''' along x."""
        S = np.stack([self.S, -self.P, self.P - 2.0 * self.Q, 6.0 * (self.Q - self.R) - self.P])
        t2 = self.T - 2.0 * self.A1
        t3 = t2 - 6.0 * self.A2 + 2.0 * self.A1
        return S, np.stack([self.t, self.T, t2, t3])

    def width(self, N: FloatArray | float, F: FloatArray) -> FloatArray:
        """The term of order 1/N relative to the leading loss A0 N/F, without its hard edge (h-P)^2/F^3."""
        a1, a2 = self.A1 / self.A0, self.A2 / self.A0
        bulk = (self.P - self.Q) + 3.0 * (self.P - self.R) - 4.0 * a1 * self.Q
        cubic = 4.0 * (self.P - self.Q) * (self.P + self.Q)
        return np.asarray(bulk / F**2 - cubic / F**3 - 1.0 / N + 3.0 * a2 / F)

    def rows(self) -> FloatArray:
        """The eight as rows of one array."""
        return np.stack(self)


class Scatter(NamedTuple):
    """Covariances over data sets of S and M = t' - t = -A0 and their derivatives along x."""

    SS: FloatArray  # Var S
    SS1: FloatArray  # Cov(S, S')
    SS2: FloatArray  # Cov(S, S'')
    S1S1: FloatArray  # Var S'
    SM: FloatArray  # Cov(S, M)
    SM1: FloatArray  # Cov(S, M')
    S1M: FloatArray  # Cov(S', M)
    MM: FloatArray  # Var M

    @classmethod
    def none(cls, x: FloatArray) -> Scatter:
        """Of one given data set."""
        return cls(*np.zeros((8, np.size(x))))

    def rows(self) -> FloatArray:
        """The eight as rows of one array."""
        return np.stack(self)

    def unexplained(self, m: Moments) -> FloatArray:
        """The variance of A0 over data sets that have the same S, relative to its square."""
        rest = self.MM - self.SM**2 / np.maximum(self.SS, 1e-300)
        return np.asarray(np.maximum(rest, 0.0) / m.A0**2)


class GramLaw(ABC):
    """D samples of some inputs, or one data set. Immutable; x may be -inf everywhere.

    A law of several D has arrays for numbers, and is asked at one x for each of them (``take``, ``one``).

    Attributes
    ----------
    rank
        S at kappa -> 0, where the double-descent peak stands.
    rank_sd
        The standard deviation of the rank over data sets.
    skew
        The third cumulant of the rank over its variance.
    most
        The largest rank that a data set can have: no more than the samples, nor the coordinates.
    unseen
        The variance that no data set of this size shows, on average: no loss is below it.
    hardly_open
        One where so few data sets leave a coordinate unseen that a simulation meets none, else zero.
    end
        The variable of ``along`` at kappa -> 0.
    rank_error
        By how much the mean rank may be off.
    noise_error
        The relative error of what label noise adds, beyond that of t.
    """

    rank: Any
    rank_error: Any = 0.0
    noise_error: Any = 0.0
    rank_sd: Any = 0.0
    skew: float = 0.0
    most: Any = np.inf
    unseen: Any = 0.0
    hardly_open: Any = 0.0
    end: Any = -np.inf

    def take(self, i: Any) -> Self:  # noqa: ARG002
        """For the i-th of the x that were asked for: a law of one D serves all of them."""
        return self

    def one(self, i: Any) -> Self:  # noqa: ARG002
        """The law of one D, of the i-th x."""
        return self

    @abstractmethod
    def at(self, x: FloatArray) -> Moments:
        """The moments at each x."""

    def along(self, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """x, S, P and dx/dy at y, in which they cost the law least: x itself where there is none."""
        m = self.at(y)
        return y, m.S, m.P, np.ones_like(y)

    @abstractmethod
    def atoms(self) -> tuple[Atoms, float]:
        """The atoms of the law, and the samples that mix them; infinite where none do.

        For solvers in steps, which need how fast each atom is learned.
        """

    @abstractmethod
    def inverses(self) -> tuple[float, float]:
        """tr G^+ and tr Sigma G^+ (kappa -> 0): where label noise is fitted exactly. They may be infinite."""

    def inverse_errors(self) -> tuple[Any, Any]:
        """The relative errors of ``inverses``."""
        return 0.0, 0.0

    @abstractmethod
    def start(self, N: FloatArray) -> FloatArray:
        """A rough y at which S = N, for N below the rank."""

    def scatter(self, x: FloatArray) -> Scatter:
        """How data sets differ."""
        return Scatter.none(x)

    def slack(self, x: FloatArray) -> FloatArray:
        """The share by which rank - S rises, on average over data sets, with each unit of the rank."""
        return np.zeros(np.shape(x))

    def scattered(self, x: FloatArray) -> tuple[Scatter, FloatArray]:
        """How data sets differ, and the variance of A0 over those of the same S, relative to its square."""
        cov = self.scatter(x)
        return cov, cov.unexplained(self.at(x))

    def apart(self) -> float:
        """The share of data sets in which coordinates depend on each other only by sharing their one
        sample.
        """
        return 1.0

    def looped(self, x: FloatArray) -> tuple[FloatArray, Any]:
        """What the next order in 1/D adds to S, S', t, t' (rows), and whether label noise feels it."""
        return np.zeros((4, x.size)), False

    def error(self, x: FloatArray) -> FloatArray:
        """The relative error of t that comes of what the law leaves out."""
        return np.zeros(np.shape(x))


def on_lattice(
    columns: FloatArray,
    log_g: FloatArray,
    law: NDArray[np.intp] | None = None,
    step: float = LATTICE,
    neighbours: int = NEIGHBOURS,
) -> tuple[FloatArray, FloatArray]:
    """(columns, log g) on a lattice of log g: rows of what atoms carry, and in these one for each ``law``.

    What is wanted is an analytic function of log g, so that an atom may be shared among its neighbours on the
    lattice with the weights of Lagrange's interpolation.
    """
    resolved = np.isfinite(log_g)  # the square of a tiny amplitude may be zero
    y, mass = log_g[resolved] / step, columns[:, resolved]
    cell = np.floor(y)
    lowest, laws = cell.min(initial=np.inf), 1
    if not y.size:
        return np.zeros((len(columns), 1, 0)), y
    size = int(cell.max() - lowest) + 1
    index, place = (cell - lowest).astype(np.intp), y - cell - 0.5
    if law is not None:
        laws = int(law.max()) + 1
        index += law[resolved] * size
    sums = np.empty((neighbours, len(mass), laws * size))  # of the columns times powers of the place
    for power in sums:
        power[:] = [np.bincount(index, values, laws * size) for values in mass]
        mass *= place
    shares = np.tensordot(lagrange(neighbours), sums, 1).reshape(neighbours, len(mass), laws, size)
    shared = np.zeros((len(mass), laws, size + neighbours - 1))
    for k, share in enumerate(shares):
        shared[:, :, k : k + size] += share
    kept = (shared != 0.0).any(axis=(0, 1))
    places = step * (lowest - (neighbours // 2 - 1) + np.arange(kept.size))
    return shared[:, :, kept], places[kept]


@dataclass(frozen=True)
class Atoms(GramLaw):
    """S = sum weight f and t = unseen + sum variance (1-f), f = g/(g + kappa): any discrete spectral measure.

    Counts of independent activations, their scaling limit, the population itself and the eigenvalues of one
    data set are all atoms.
    """

    weight: FloatArray
    log_g: FloatArray
    variance: FloatArray
    unseen: float = 0.0
    rank: float = np.nan
    rank_sd: float = 0.0
    most: float = np.inf
    log_single: FloatArray | None = None  # of the curvature that one sample shows: c of an activation

    def __post_init__(self) -> None:
        if np.isnan(self.rank):
            object.__setattr__(self, "rank", float(self.weight.sum()))

    @functools.cached_property
    def lattice(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(weight, log g, variance) of fewer atoms that give the same moments at real kappa, by rising g."""
        if self.log_g.size < LATTICE_ATOMS:
            order = np.argsort(self.log_g)
            order = order[np.isfinite(self.log_g[order])]
            return self.weight[order], self.log_g[order], self.variance[order]
        (weight, variance), log_g = on_lattice(np.stack([self.weight, self.variance]), self.log_g)
        return weight[0], log_g, variance[0]

    def at(self, x: FloatArray) -> Moments:
        x = np.atleast_1d(np.asarray(x, float))
        rows = np.zeros((8, x.size))
        if np.isneginf(x).all():
            rows[0], rows[4] = self.rank, self.unseen
            return Moments(*rows)
        weight, log_g, variance = self.lattice
        block = max(1, ENTRIES // max(log_g.size, 1) // 4)
        of_each = weight, variance
        for i in range(0, x.size, block):
            part = slice(i, i + block)
            weight, variance = (values[part] if values.ndim > 1 else values for values in of_each)
            with np.errstate(over="ignore", invalid="ignore"):
                ratio = np.exp(x[part, None] - log_g)
                f = 1.0 / (1.0 + ratio)
                e = np.where(np.isinf(ratio), 1.0, ratio * f)
            rows[0, part] = each(f, weight)
            fe, ee = f * e, e * e
            rows[4, part] = each(ee, variance)
            rows[1, part], rows[7, part] = each(fe, weight), each(fe, variance)
            fe *= f
            ee *= f
            rows[2, part], rows[5, part] = each(fe, weight), each(ee, variance)
            fe *= f
            ee *= f
            rows[3, part], rows[6, part] = each(fe, weight), each(ee, variance)
        rows[0] = np.where(np.isneginf(x), self.rank, rows[0])
        rows[4] += self.unseen
        return Moments(*rows)

    def along(self, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        weight, log_g, _ = self.lattice
        with np.errstate(over="ignore"):
            f = 1.0 / (1.0 + np.exp(y[:, None] - log_g))
        S = each(f, weight)
        f -= f * f
        return y, S, each(f, weight), np.ones_like(y)

    def atoms(self) -> tuple[Atoms, float]:
        return self, np.inf

    def inverses(self) -> tuple[float, float]:
        inverse = np.exp(np.minimum(-self.log_g, LARGEST_LOG))
        return float(self.weight @ inverse), float(self.variance @ inverse)

    def start(self, N: FloatArray) -> FloatArray:
        weight, log_g, _ = self.lattice
        total = np.cumsum(weight[..., ::-1], axis=-1)
        place = (total < N[:, None]).sum(axis=-1)
        return np.asarray(log_g[np.maximum(log_g.size - 1 - place, 0)])


LAST_STEP = 1e-7  # of a step, the error after it being its square
ROUNDS = 120


@np.errstate(all="ignore")
def effective_ridge(law: GramLaw, log_held: FloatArray, wanted: FloatArray) -> tuple[FloatArray, FloatArray]:
    """x = log kappa with S(x) + e^(log_held - x) = ``wanted``, and the y of ``GramLaw.along``.

    Both are those of kappa -> 0 where log_held = -inf and the rank is no more than wanted. By Newton's method
    in the logarithm of the sum; without ridge, near the rank, in log(rank - S).
    """
    x, y = np.full(wanted.shape, -np.inf), np.full(wanted.shape, law.end)
    bare = np.isneginf(log_held)
    active = np.flatnonzero((wanted > 0.0) & (~bare | (wanted < law.rank)))
    if not active.size:
        return x, y
    n, log_h, bare, law = wanted[active], log_held[active], bare[active], law.take(active)
    some_bare, some_held = bool(bare.any()), not bare.all()
    here = law.start(np.minimum(n, 0.999 * law.rank))
    if some_held:
        beyond = np.isneginf(law.end) & (n > law.rank)  # S is between zero and the rank
        here = np.where(beyond, np.minimum(here, log_h - np.log(n - law.rank)), here)
        here = np.maximum(here, log_h - np.log(n))
    low, high = np.full(n.shape, np.maximum(law.end, -3000.0)), np.full(n.shape, 3000.0)
    for _ in range(ROUNDS):
        x_here, S, P, stretch = law.along(here)
        total, slope = S, P
        if some_held:
            held = np.exp(np.minimum(log_h - x_here, 690.0))
            total, slope = S + held, P + held
        above = total > n
        low, high = np.where(above, here, low), np.where(above, high, here)
        step = np.log(total / n) * total / slope
        if some_bare:
            short = law.rank - S
            near = bare & (S > 0.5 * law.rank) & (short > 0.0)
            step = np.where(near, np.log((law.rank - n) / short) * short / P, step)
        new = here + np.minimum(np.maximum(step / stretch, -20.0), 20.0)
        close = LAST_STEP * np.maximum(np.abs(here), 1.0)
        done = np.abs(new - here) <= close  # no bracket is asked about rounding
        outside = ~(done | ((new > low) & (new < high)))
        if outside.any():
            halfway = 0.5 * (np.where(above, high, low) - here)
            new = np.where(outside, here + np.clip(halfway, -10.0, 10.0), new)
            done |= np.abs(new - here) <= close
        y[active], x[active] = new, x_here + (new - here) * stretch
        if done.all():
            break
        here = new
        if done.any():
            moving = np.flatnonzero(~done)
            active, law = active[moving], law.take(moving)
            bare = bare[moving]
            n, log_h, low, high, here = (v[moving] for v in (n, log_h, low, high, here))
    return x, y
