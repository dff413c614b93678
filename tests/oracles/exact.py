"""Spans of rows in exact arithmetic, and singular vectors that keep their digits whatever the amplitudes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

PRIME = 2**61 - 1


def independent_rows(signs: np.ndarray, order: np.ndarray) -> list[int]:
    """Rows of an integer matrix, in ``order``, that are no combination of those before: modulo a prime."""
    pivots: dict[int, list[int]] = {}
    chosen = []
    for k in order:
        row = [int(v) for v in signs[k]]
        for column, pivot in pivots.items():
            if row[column]:
                factor = row[column]
                row = [(a - factor * b) % PRIME for a, b in zip(row, pivot, strict=True)]
        column = next((c for c, v in enumerate(row) if v % PRIME), None)
        if column is not None:
            inverse = pow(row[column], -1, PRIME)
            pivots[column] = [v * inverse % PRIME for v in row]
            chosen.append(int(k))
    return sorted(chosen)


def variance_outside(signs: np.ndarray, amplitudes: np.ndarray, variances: np.ndarray) -> Fraction:
    """tr(Sigma (I - P)), P the projection on the column space of diag(amplitudes) signs.

    For a basis V of the left null space it is sum_j s_j V_j (V^T V)^-1 V_j^T.
    """
    kept = independent_rows(signs, np.arange(len(signs)))
    others = [j for j in range(len(signs)) if j not in kept]
    if not others:
        return Fraction(0)
    basis = [[Fraction(int(v)) for v in signs[i]] for i in kept]
    gram = [[_dot(a, b) for b in basis] for a in basis]
    right = [[_dot(a, [Fraction(int(v)) for v in signs[j]]) for j in others] for a in basis]
    combinations = _solve(gram, right)  # row j of the others is sum_i combinations[i][j] times row i
    V = [[Fraction(0)] * len(others) for _ in signs]
    for n, j in enumerate(others):
        V[j][n] = -1 / Fraction(float(amplitudes[j]))
    for m, i in enumerate(kept):
        V[i] = [c / Fraction(float(amplitudes[i])) for c in combinations[m]]
    columns = list(zip(*V, strict=True))
    inverse = _solve([[_dot(a, b) for b in columns] for a in columns], [list(c) for c in columns])
    return sum(
        (Fraction(float(s)) * _dot(V[j], [row[j] for row in inverse]) for j, s in enumerate(variances)),
        Fraction(0),
    )


def _dot(a, b) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), Fraction(0))


def _solve(matrix: list[list[Fraction]], right: list[list[Fraction]]) -> list[list[Fraction]]:
    rows = [[*a, *b] for a, b in zip(matrix, right, strict=True)]
    for k in range(len(rows)):
        at = next(i for i in range(k, len(rows)) if rows[i][k])
        rows[k], rows[at] = rows[at], rows[k]
        pivot = rows[k][k]
        rows[k] = [v / pivot for v in rows[k]]
        for i in range(len(rows)):
            if i != k and rows[i][k]:
                factor = rows[i][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[len(matrix) :] for row in rows]


def jacobi(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Left singular vectors and singular values of X by rotations of pairs of rows.

    One-sided Jacobi: rows of very different length keep their relative precision.
    """
    rows, basis = X.copy(), np.eye(len(X))
    for _ in range(60):
        worst = 0.0
        for i in range(len(X)):
            for j in range(i + 1, len(X)):
                a, b, c = rows[i] @ rows[i], rows[j] @ rows[j], rows[i] @ rows[j]
                if a == 0.0 or b == 0.0 or abs(c) <= 1e-16 * np.sqrt(a) * np.sqrt(b):
                    continue
                worst = max(worst, abs(c) / (np.sqrt(a) * np.sqrt(b)))
                zeta = (b - a) / (2.0 * c)
                t = (1.0 if zeta >= 0.0 else -1.0) / (abs(zeta) + np.hypot(1.0, zeta))
                cosine = 1.0 / np.hypot(1.0, t)
                turn = cosine * np.array([[1.0, -t], [t, 1.0]])
                rows[[i, j]], basis[[i, j]] = turn @ rows[[i, j]], turn @ basis[[i, j]]
        if worst < 1e-15:
            break
    return basis.T, np.linalg.norm(rows, axis=1)
