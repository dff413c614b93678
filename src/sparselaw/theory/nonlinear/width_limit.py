"""The loss of N nonlinear features trained on all the data there are (D infinite).

N features span a random subspace of the functions of a sample. With K_t the kernel of units of type t and w_t
their share, what is left of a function outside of it is on average

    r = (I + N sum_t w_t K_t / tau_t)^-1,    tau_t = tr(K_t r),

in every sector of parity. The target lies in the sectors of one coordinate, where the kernel has one
eigenvalue, slope^2 s_j E[u_j^2 | t], so that loss = sum_j s_j r_j. Without types this is T_lin + T_even = N,
T = sum l/(l + nu) over the eigenvalues l of the kernel.

The next order in 1/N, for Gaussian features: with f = 1 - r, B = sum f^2, C = sum f^3 over all sectors r_j
becomes r_j [1 - f_j (B - C)/(N - B)^2 + f_j^2/(N - B)], which leaves sum f = N.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.inputs import Inputs
from sparselaw.theory.nonlinear.even_tables import EvenTable

STEPS = 60
CLOSE = 1e-5  # of tau, relative
MEMORY = 5  # steps that the acceleration looks back


@dataclass(frozen=True, slots=True, kw_only=True)
class WidthLimit:
    loss: float
    cutoff: float  # nu: features resolve directions of the kernel above it
    linear: float  # T_lin: how many of N are spent on coordinates; the others on even functions
    correction: float  # of order 1/N, relative, part of the loss


def width_limit(
    inputs: Inputs,
    table: EvenTable,
    N: float,
    even_weight: float = 1.0,
    missing: float = 0.0,
    cutoff: float | None = None,
) -> WidthLimit:
    """``even_weight`` is (bend/slope)^2; ``missing`` the share of T_even that the table leaves out.

    ``cutoff`` is where to start.
    """
    problem = _Problem(inputs, table, N, even_weight, missing)
    start = np.full(table.types.weights.size, math.log(N * (cutoff or table.cutoff)))
    return problem.answer(_fixed_point(problem.step, start))


class _Problem:
    def __init__(
        self, inputs: Inputs, table: EvenTable, N: float, even_weight: float, missing: float
    ) -> None:
        self.table, self.N = table, N
        self.even_weight, self.missing = even_weight, missing
        self.variances = inputs.variance_sums(N)
        types = table.types
        typed = [(1.0, types.nodes[0][:, None])] * types.first
        typed += [(float(types.other), types.nodes[1][None, :])] * (types.other > 0)
        self.s = inputs.variances(np.array([j for j, _ in typed]))
        shape = types.weights.shape
        self.squares = np.array([np.broadcast_to(u**2, shape) for _, u in typed]).reshape(-1, *shape)

    def pull(self, log_tau: FloatArray) -> FloatArray:
        weights = self.table.types.weights
        return self.N * weights * np.exp(-log_tau.reshape(weights.shape))

    def resolvents(self, pull: FloatArray) -> list[FloatArray]:
        """r in the even sectors."""
        found: list[FloatArray] = []
        for group in self.table.groups:
            matrices = self.even_weight * group.mean(pull)
            found.append(np.asarray(np.linalg.inv(np.eye(matrices.shape[1]) + matrices), dtype=float))
        return found

    def linear(self, pull: FloatArray) -> tuple[FloatArray, float, float]:
        """r_j of the coordinates that have types, k of the others, and sum s_j/(s_j + k) over those."""
        r = 1.0 / (1.0 + 0.25 * self.s * np.tensordot(self.squares, pull, 2))
        k = 4.0 / float(pull.sum())
        rest = self.variances.degrees(math.log(k))[0] - float(np.sum(self.s / (self.s + k)))
        return r, k, rest

    def step(self, log_tau: FloatArray) -> FloatArray:
        """log tr(K_t r)."""
        pull = self.pull(log_tau)
        r, k, rest = self.linear(pull)
        total = 0.25 * (np.tensordot(self.s * r, self.squares, 1) + k * rest)
        weight = self.even_weight * (1.0 + self.missing)
        for group, resolvent in zip(self.table.groups, self.resolvents(pull), strict=True):
            total = total + weight * group.products(resolvent)
        return np.asarray(np.log(total).ravel())

    def answer(self, log_tau: FloatArray) -> WidthLimit:
        pull = self.pull(log_tau)
        r, k, rest = self.linear(pull)
        f, own = 1.0 - r, self.s / (self.s + k)
        f1, spread = self.variances.degrees(math.log(k))
        two = f1 - spread - float(np.sum(own**2))
        three = self.variances.cubes(math.log(k)) - float(np.sum(own**3))
        plain = float(np.sum(self.s * r)) + k * rest
        once = float(np.sum(self.s * r * f)) + k * two
        twice = float(np.sum(self.s * r * f**2)) + k * three
        B, C = two + float(np.sum(f**2)), three + float(np.sum(f**3))
        for group, resolvent in zip(self.table.groups, self.resolvents(pull), strict=True):
            F = np.eye(resolvent.shape[1]) - resolvent
            alike, square = (1.0 + self.missing) * group.alike, F @ F
            B += float(alike @ np.trace(square, axis1=1, axis2=2))
            C += float(alike @ np.einsum("cij,cji->c", square, F))
        free = max(self.N - B, 1.0)
        correction = (twice / free - once * (B - C) / free**2) / plain
        return WidthLimit(
            loss=plain * (1.0 + correction),
            cutoff=k / 4.0,
            linear=float(np.sum(f)) + rest,
            correction=correction,
        )


def _fixed_point(step: Callable[[FloatArray], FloatArray], x: FloatArray) -> FloatArray:
    """x = step(x), by Anderson's acceleration."""
    values: list[FloatArray] = []
    gaps: list[FloatArray] = []
    for _ in range(STEPS):
        value = step(x)
        gap = value - x
        if float(np.abs(gap).max()) < CLOSE:
            return value
        values, gaps = [*values, value][-MEMORY:], [*gaps, gap][-MEMORY:]
        x = value
        if len(gaps) > 1:
            changes = np.stack([gaps[-1] - old for old in gaps[:-1]], axis=1)
            weights = np.linalg.lstsq(changes, gaps[-1], rcond=1e-8)[0]
            x = value - np.stack([values[-1] - old for old in values[:-1]], axis=1) @ weights
            x = np.clip(x, value - 2.0, value + 2.0)
    return x
