"""Rare coordinates that share samples: the cavity closure, without sampling.

A sample in which coordinate j is active says the more of it the less is unknown about its other
coordinates. With cut-off k a sample holds back R = 1/(k + Y), Y = sum of c_i r_i over its other
coordinates, and what is left unknown of coordinate j is r_j = 1/(1 + c_j sum R) over its n_j samples. R =
1/k is the leading surface. Then

    S(k) = E sum_j (1 - r_j) = N,     t(k) = E sum_j s_j r_j,

and above the rank k = 0 and t is the variance that the data leave open. The laws of R and Y are kept by
their Laplace transforms, which are each other's Hankel transforms: with psi_i(v) = E e^{-vR} seen from
coordinate i and lam_i(w) = E e^{-w c_i r_i} seen from a sample,

    lam_i = reciprocal of  e^{-v/c_i} (1 - p_i (1 - psi_i(v)))^(D-1),
    psi_i = reciprocal of  e^{-kw} prod_{j != i} (1 - p_j + p_j lam_j(w)),
    E r_i = int_0^inf e^{-u} (1 - p_i (1 - psi_i(c_i u)))^D du,

because counts are binomial. No law is cut short: for trees of samples and coordinates this is exact. Also S
= D (1 - k E R) with all coordinates in Y, which checks the numbers.

Rare coordinates enter by sums over all of them at one v. With tau = D (1 - psi) these are functions of v
and tau alone, sum w p e^{-v/c} e^{-p tau}, the same for every D and k: tabulated once on a lattice of log v
and log tau (``_Sums``), with the next order of (1-p)^D. So a fixed point costs no more than the few
coordinates that are kept singly. Many (D, k) are sought side by side; each is what it is on its own.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparselaw.arrays import FloatArray
from sparselaw.gram.counts import cells
from sparselaw.gram.law import each, lagrange
from sparselaw.gram.nodes import seen

ComplexArray = NDArray[np.complex128]

STEP = 0.3  # in log v, log w and log tau
BIAS = 0.3
SINGLE = {True: 5e-3, False: 0.05}  # activity from which on a coordinate is kept singly: few samples, or many
FEW_SAMPLES = 1_000.0
FINE, COARSE = 0.25, 0.6  # widths of cells in log p, of coordinates seen often and seldom
OFTEN = 0.02  # mean count from which on they are fine
MOST_CELLS = 300  # cells
TOLERANCE = 1e-6
ROUNDS = 200
MEMORY = 4  # of Anderson's mixing
BARELY = 1e-9  # of one: weight of what is hardly felt in the mixing
DAMPING = 1e-10  # of the mixing: rounding is not magnified by more than its root
LOWEST = -40.0  # logarithms of transforms below this are as good as zero
NEIGHBOURS = 8  # of the interpolation in log tau
NEVER_SEEN = 1e-7  # p tau below which nothing was seen
BELOW = 40  # steps of v below the grid, where R has its mean
ROWS = 64  # of the table made at a time
ABREAST = 96  # fixed points sought side by side

_LAGRANGE = lagrange(NEIGHBOURS)


@functools.cache
def _kernel(size: int) -> tuple[FloatArray, ComplexArray]:
    """y and the logarithm of Gamma(1+s)/Gamma(1-s) at s = -BIAS + iy."""
    y = np.asarray(2.0 * math.pi * np.arange(size // 2 + 1) / (size * STEP), float)
    return y, _log_gamma(1.0 - BIAS + 1j * y) - _log_gamma(1.0 + BIAS - 1j * y)


def _log_gamma(z: ComplexArray) -> ComplexArray:
    """Stirling's series after twelve steps of the recurrence."""
    below = sum(np.log(z + j) for j in range(12))
    z = z + 12.0
    series = 1.0 / (12.0 * z) - 1.0 / (360.0 * z**3) + 1.0 / (1260.0 * z**5)
    return np.asarray((z - 0.5) * np.log(z) - z + 0.5 * math.log(2.0 * math.pi) + series - below)


@dataclass(frozen=True, slots=True)
class Grid:
    """v = e^{STEP n} for laws of R = 1/(k + Y), w for laws of Y: a row for each (D, k).

    Transforms go by ``turned``: int sqrt(w v) J_1(2 sqrt(w v)) h(v) dlog v. For a positive random x with
    transform h(v) = E e^{-vx} its reciprocal has E e^{-w/x} = 1 less this integral, which is 1 - e^{-w/x} for
    one x. It is a convolution in log v and log w: a product of Mellin transforms, with Gamma(1+s)/Gamma(1-s)
    for the kernel, done by FFT along s = -BIAS + iy. The Laplace transform of a law holds Gamma(iy) as a
    factor and falls as e^{-pi |y|/2}: coarse steps suffice whatever the law. BIAS > 0 lets the errors of
    rounding fall with w, as 1 minus the result does. h must be small at both ends: subtract e^{-av}, whose
    integral is 1 - e^{-w/a}.
    """

    n: NDArray[np.intp]
    v: FloatArray
    w: FloatArray
    symbol: ComplexArray

    @classmethod
    def of(cls, first: NDArray[np.intp], size: int) -> Grid:
        steps = np.arange(size)
        lowest = -(first + size) - math.ceil(4.0 / STEP)  # of w
        y, log_kernel = _kernel(size)
        symbol = np.exp(log_kernel - 1j * np.multiply.outer(STEP * (first + lowest), y))
        symbol[:, -1] = 0.0
        n = first[:, None] + steps
        return cls(n, np.exp(STEP * n), np.exp(STEP * (lowest[:, None] + steps)), symbol)

    def pick(self, some: NDArray[np.bool_]) -> Grid:
        return Grid(self.n[some], self.v[some], self.w[some], self.symbol[some])

    def to_w(self, h: FloatArray) -> FloatArray:
        return self._turned(h, self.v, self.w)

    def to_v(self, h: FloatArray) -> FloatArray:
        return self._turned(h, self.w, self.v)

    def _turned(self, h: FloatArray, before: FloatArray, after: FloatArray) -> FloatArray:
        spectrum = np.fft.rfft(h * before[:, None] ** BIAS, axis=-1)
        spectrum *= self.symbol[:, None]
        turned = np.fft.irfft(np.conj(spectrum, out=spectrum), h.shape[-1], axis=-1)
        turned *= after[:, None] ** BIAS
        return np.asarray(turned)


class _Sums:
    """Sums over rare coordinates (weight, p, c) at v and tau.

    Four tables: w p e^{-v/c} e^{-p tau} and the same times p^2; w v/c e^{-v/c} (1 - e^{-p tau}), and
    w v/c p^2 e^{-v/c} e^{-p tau}. With tau = d u they make (1 - p u)^d to the order d (pu)^2.
    """

    def __init__(self, weight: FloatArray, p: FloatArray, c: FloatArray, most: float) -> None:
        self._c = c
        self._first = math.floor(math.log(NEVER_SEEN / max(float(p.max(initial=0.0)), 1e-300)) / STEP)
        last = max(math.ceil(math.log(most) / STEP), self._first) + NEIGHBOURS
        log_tau = STEP * np.arange(self._first, last)
        gone = np.multiply.outer(p, np.exp(log_tau))
        left, met = np.exp(-gone), -np.expm1(-gone)
        some, twice = weight * p, weight * p**2
        self._right = (
            np.stack([some[:, None] * left, (some * p**2)[:, None] * left]),
            np.stack([weight[:, None] * met, twice[:, None] * left]),
        )
        self._made: dict[tuple[int, int, int], FloatArray] = {}

    def _table(self, low: int, high: int, tables: int) -> FloatArray:
        """The first ``tables`` side by side, by v from e^{STEP ROWS low} to e^{STEP ROWS high} and by tau."""
        if (low, high, tables) not in self._made:
            if high - low > 1 or tables < 4:
                parts = [self._table(i, i + 1, 4)[:, :tables] for i in range(low, high)]
            else:
                of_c = np.exp(STEP * np.arange(low * ROWS, high * ROWS))[:, None] / self._c
                decay = np.exp(-np.minimum(of_c, 745.0))
                four = np.concatenate([decay @ self._right[0], (of_c * decay) @ self._right[1]])
                parts = [four.reshape(4, -1).T]
            self._made[low, high, tables] = np.ascontiguousarray(np.concatenate(parts))
        return self._made[low, high, tables]

    def at(self, n: NDArray[np.intp], tau: FloatArray, tables: int) -> FloatArray:
        """(tables, ...) at v = e^{STEP n}."""
        low, high = int(n.min()) // ROWS, int(n.max()) // ROWS + 1
        table = self._table(low, high, tables)
        size = len(table) // ((high - low) * ROWS)
        z = np.log(np.maximum(tau, 1e-300)) / STEP - self._first
        z = np.clip(z, 0.5 * NEIGHBOURS - 1.0, size - 0.5 * NEIGHBOURS - 1e-9)
        cell = z.astype(np.intp)
        place = z - cell - 0.5
        powers = np.ones((NEIGHBOURS, *place.shape))
        for i in range(1, NEIGHBOURS):
            np.multiply(powers[i - 1], place, out=powers[i])
        share = np.moveaxis(np.tensordot(_LAGRANGE, powers, 1), 0, -1)
        start = (n - low * ROWS) * size + cell - (NEIGHBOURS // 2 - 1)
        near = table.take(start[..., None] + np.arange(NEIGHBOURS), axis=0)
        return np.moveaxis((share[..., None, :] @ near)[..., 0, :], -1, 0)

    def shown(self, n: NDArray[np.intp], u: FloatArray, d: FloatArray) -> FloatArray:
        """Sum of w p e^{-v/c} (1 - p u)^d."""
        tau = d * u
        first, second = self.at(n, tau, 2)
        return np.asarray(first - 0.5 * tau * u * second)

    def learnt(self, n: NDArray[np.intp], u: FloatArray, d: FloatArray) -> tuple[FloatArray, FloatArray]:
        """int of w v/c e^{-v/c} (1 - (1 - p u)^d) and of w p v e^{-v/c} (1 - p u)^d over log v."""
        tau = d * u
        left, left_more, met, met_more = self.at(n, tau, 4)
        least = math.exp(STEP * (self._first + 0.5 * NEIGHBOURS - 1.0))
        met *= np.minimum(tau / least, 1.0)
        more = 0.5 * tau * u
        S = (met + more * met_more).sum(axis=-1)
        t = (np.exp(STEP * n) * (left - more * left_more)).sum(axis=-1)
        return STEP * S, STEP * t


@dataclass(frozen=True, slots=True)
class CavityState:
    """The fixed point at one (D, k), and the effective medium of the same cells at the kappa' given."""

    log_k: float
    sums: FloatArray  # S, t, those of the medium, and S by samples over S by coordinates
    grid: Grid
    held: FloatArray  # 1 - psi: of those kept singly, and of all others


class Cavity:
    """The closure for coordinates (weight, p, c) and any number of samples up to ``most``."""

    def __init__(self, weight: FloatArray, p: FloatArray, c: FloatArray, most: float) -> None:
        width = np.where(most * p > OFTEN, FINE, COARSE)
        given = weight, p, c
        weight, p, c = cells(*given, width)
        while p.size > MOST_CELLS:  # tables whose p and c go separate ways
            width = 1.5 * width
            weight, p, c = cells(*given, width)
        order = np.argsort(-p, kind="stable")
        self.weight, self.p, self.c = weight[order], p[order], c[order]
        least = SINGLE[most <= FEW_SAMPLES]
        self.single = int((self.p > least).sum())
        if self.single == p.size:  # none is rare: an empty cell stands for them
            values = (self.weight, 0.0), (self.p, least), (self.c, float(self.c.min()))
            self.weight, self.p, self.c = (np.append(*value) for value in values)
        rare = self.weight[self.single :], self.p[self.single :], self.c[self.single :]
        self._orders = rare[0] * rare[1], 0.5 * rare[0] * rare[1] ** 2  # of -log(1 - p)
        self._sums = _Sums(*rare, most * math.exp(27.0))

    def top(self, D: FloatArray) -> FloatArray:
        """log of the largest c r that matters."""
        count = np.multiply.outer(D, self.p)
        size = np.log(self.c) + np.log(np.minimum(1.0, 30.0 / count))
        return np.asarray(np.where(count * np.abs(self.weight) > 1e-6, size, -np.inf).max(axis=-1))

    def many(self, D: FloatArray, log_k: FloatArray, y: FloatArray) -> list[CavityState]:
        """The fixed points at several (D, k), y the log kappa' of the effective medium there."""
        first = np.floor((log_k - np.log(D) - 5.0) / STEP).astype(np.intp)
        stop = np.maximum(self.top(D), log_k) + 4.0
        size = 16 * np.ceil((stop / STEP - first) / 16.0).astype(np.intp)
        found: dict[int, CavityState] = {}
        for length in np.unique(size).tolist():
            alike = np.flatnonzero(size == length)
            for i in range(0, alike.size, ABREAST):
                some = alike[i : i + ABREAST]
                with np.errstate(all="ignore"):
                    states = self._solve(Grid.of(first[some], length), D[some], log_k[some], y[some])
                found |= zip(some.tolist(), states, strict=True)
        return [found[i] for i in range(D.size)]

    def _solve(self, grid: Grid, D: FloatArray, log_k: FloatArray, y: FloatArray) -> list[CavityState]:
        """The states of one size of grid; arrays are (item, coordinate, place)."""
        s, k, R = slice(0, self.single), np.exp(log_k)[:, None], np.exp(-y)[:, None]
        strength = D[:, None] * self.p * self.c * R
        like_w = np.exp((-self.c / (1.0 + strength))[:, :, None] * grid.w[:, None])
        gone = 1.0 - like_w[:, self.single :]
        rare_w = -(self._orders[0] @ gone)
        for order in self._orders[1:]:
            gone *= gone
            rare_w -= order @ gone
        like_w = like_w[:, s]
        factors = np.log1p(np.maximum(self.p[s, None] * (like_w - 1.0), -1.0 + 1e-16))
        decay = np.exp(-np.minimum(grid.v[:, None] / self.c[s, None], 745.0))
        like_v = decay * np.exp(
            -np.minimum((D[:, None] * self.p[s] * R)[:, :, None] * grid.v[:, None], 745.0)
        )
        rare_v = self._sums.at(grid.n, D[:, None] * R * grid.v, 1)[0]
        law = np.concatenate([(rare_w + self.weight[s] @ factors)[:, None], factors], axis=1)
        law = np.clip(law, LOWEST, 0.0)
        fade = np.exp(-k * grid.w)
        found, active = law.copy(), np.arange(D.size)
        fixed = [D[:, None], fade, like_w, like_v, rare_w, rare_v, decay]
        now, mixed = grid, _Anderson()
        for _ in range(ROUNDS):
            new = self._update(now, law, *fixed)
            moved = np.max(np.abs(np.exp(new[:, 0]) - np.exp(law[:, 0])) * fixed[1], axis=1)
            found[active] = new
            moving = ~(moved < TOLERANCE)
            if not moving.any():
                break
            law = np.clip(mixed.next(law, new, fixed[1]), LOWEST, 0.0)
            if not moving.all():
                active, law, now = active[moving], law[moving], now.pick(moving)
                fixed = [values[moving] for values in fixed]
                mixed.keep(moving)
        held, Q = self._held(grid, found, fade)
        S, t = self._sums_of(grid, D, held, Q[:, -1], decay)
        plain = -np.expm1(-grid.v * R)
        same = np.broadcast_to(plain[:, None], held.shape)
        plain_S, plain_t = self._sums_of(grid, D, same, R[:, 0], decay)
        checked = D * (1.0 - k[:, 0] * Q[:, -1]) / S
        sums, one = np.stack([S, t, plain_S, plain_t, checked], axis=1), np.eye(D.size, dtype=bool)
        return [CavityState(float(x), sums[i], grid.pick(one[i]), held[i]) for i, x in enumerate(log_k)]

    def _held(self, grid: Grid, law: FloatArray, fade: FloatArray) -> tuple[FloatArray, FloatArray]:
        """1 - psi of R without each coordinate kept singly, and with all of them; and E R of each."""
        known = np.empty_like(law)
        np.minimum(law[:, :1] - law[:, 1:], 0.0, out=known[:, :-1])
        known[:, -1] = law[:, 0]
        np.exp(known, out=known)
        known *= fade[:, None]
        Q = (known * grid.w[:, None]).sum(axis=-1) * STEP + grid.w[:, :1] * (1.0 - 0.5 * STEP)
        known -= np.exp(-grid.w[:, None] / Q[:, :, None])
        held = grid.to_v(known) - np.expm1(-grid.v[:, None] * Q[:, :, None])
        return np.asarray(np.clip(held, 0.0, 1.0, out=held)), Q

    def _update(
        self,
        grid: Grid,
        law: FloatArray,
        D: FloatArray,
        fade: FloatArray,
        like_w: FloatArray,
        like_v: FloatArray,
        rare_w: FloatArray,
        rare_v: FloatArray,
        decay: FloatArray,
    ) -> FloatArray:
        held, _ = self._held(grid, law, fade)
        turned = np.empty_like(law)
        turned[:, :-1] = decay * self._missed(held, D - 1.0) - like_v
        turned[:, -1] = self._sums.shown(grid.n, held[:, -1], D - 1.0) - rare_v
        turned = grid.to_w(turned)
        lam = np.clip(like_w - turned[:, :-1], 1e-300, 1.0)
        factors = np.log1p(np.maximum(self.p[: self.single, None] * (lam - 1.0), -1.0 + 1e-16))
        total = self.weight[: self.single] @ factors + rare_w - turned[:, -1]
        return np.asarray(np.clip(np.concatenate([total[:, None], factors], axis=1), LOWEST, 0.0))

    def _missed(self, held: FloatArray, samples: FloatArray) -> FloatArray:
        """(1 - p (1 - psi))^samples of the coordinates kept singly."""
        inside = np.minimum(self.p[: self.single, None] * held[:, :-1], 1.0 - 1e-16)
        return np.exp(np.maximum(samples[:, :, None] * np.log1p(-inside), -745.0))

    def _sums_of(
        self, grid: Grid, D: FloatArray, held: FloatArray, Q: FloatArray, decay: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """S and t of laws of R; below the grid R has its mean Q."""
        s, n = slice(0, self.single), grid.n[:, :1] + np.arange(-BELOW, 0)
        deeper = np.exp(STEP * n)
        last = grid.v[:, -1:] * math.exp(0.5 * STEP)
        u = np.concatenate([np.minimum(deeper * Q[:, None], 1.0), held[:, -1]], axis=1)
        S, t = self._sums.learnt(np.concatenate([n, grid.n], axis=1), u, D[:, None])
        rare = self.weight[self.single :], self.p[self.single :], self.c[self.single :]
        S = S + each(np.exp(-last / rare[2]) * seen(rare[1], D[:, None]), rare[0])  # above it R is held back
        variance = self.weight * self.p * self.c
        rest = STEP / math.expm1(STEP)  # what lies below a grid is all there
        t = t + each(np.minimum(deeper[:, :1] / self.c[self.single :] * rest, 1.0), variance[self.single :])
        of_c = grid.v[:, None] / self.c[s, None]
        missed = (of_c * decay * self._missed(held, D[:, None])).sum(axis=-1) * STEP
        missed += np.minimum(of_c[:, :, 0] * rest, 1.0)
        faint = 1.0 / (1.0 + (D * Q)[:, None] * (self.p * self.c)[s])
        missed = np.where(of_c[:, :, 0] > 0.05, faint, np.clip(missed, 0.0, 1.0))
        return S + each(1.0 - missed, self.weight[s]), t + each(missed, variance[s])


class _Anderson:
    """Anderson's mixing of fixed-point iterations side by side, each by the first row of its law.

    Steps are compared where the transform of R is felt, by e^{law} e^{-kw}: the logarithms of what is as good
    as zero move by far more, and would take the mixing over.
    """

    def __init__(self) -> None:
        self._steps: list[FloatArray] = []
        self._moves: list[FloatArray] = []

    def keep(self, some: NDArray[np.bool_]) -> None:
        """Goes on with some of the iterations."""
        self._steps, self._moves = ([each[some] for each in kept] for kept in (self._steps, self._moves))

    def next(self, old: FloatArray, new: FloatArray, fade: FloatArray) -> FloatArray:
        felt = np.exp(new[:, 0]) * fade + BARELY
        self._steps = [*self._steps, new][-MEMORY:]
        self._moves = [*self._moves, new[:, 0] - old[:, 0]][-MEMORY:]
        if len(self._moves) < 2:
            return new
        last = self._moves[-1]
        differences = np.stack([(last - move) * felt for move in self._moves[:-1]], axis=1)
        gram = differences @ differences.transpose(0, 2, 1)
        size = np.trace(gram, axis1=1, axis2=2)
        gram += (DAMPING * size + 1e-300)[:, None, None] * np.eye(gram.shape[1])
        shares = np.linalg.solve(gram, differences @ (last * felt)[:, :, None])
        mixed = (1.0 - shares.sum(axis=1))[:, :, None] * new
        for i, step in enumerate(self._steps[:-1]):
            mixed += shares[:, i, None] * step
        return np.asarray(mixed)
