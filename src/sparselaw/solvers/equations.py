"""Least squares prepared once: the eigenbasis of H = Phi Phi^T / D, in which every solver is a filter.

The objective is (1/2D) |Phi^T theta - y|^2 = (1/2) theta^T H theta - theta^T b + const with b = Phi y / D. In
the eigenbasis V of H it separates: eigenvalue l_i, projection (V^T b)_i. Directions with l = 0 carry no
gradient, so a descent from zero never enters them and they are left out.

Rank. ``from_rows`` factors the feature rows themselves, so singular values are resolved down to about 1e-16
of the largest and a tolerance of 1e-10 means what it says. ``from_gram`` sees only squares: it resolves
singular values down to about 1e-8 of the largest and cuts there, whatever smaller tolerance is asked for.
The difference matters only where the features are so nearly dependent that singular values between those two
levels exist and are needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]

EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalEquations:
    """min (1/2D) |Phi^T theta - y|^2 in the eigenbasis of H = Phi Phi^T / D, for T targets at once."""

    eigenvalues: FloatArray  # (r,) descending, the positive ones kept by the rank rule of whoever built it
    projections: FloatArray  # (r, T): V^T (Phi y / D)
    samples: int  # D


def from_rows(
    rows: FloatArray, targets: FloatArray, counts: IntArray | None = None
) -> tuple[NormalEquations, FloatArray]:
    """The equations of P feature rows (P, N) with targets (P, T), row p standing for counts[p] samples.

    Rows are scaled by sqrt(count), which leaves the objective unchanged when the repeats share their target
    (or when the target is the mean over the repeats). Returns the equations and the basis V (N, r). The
    triangular factor of a QR on the thin side goes through the SVD, so the cost is N P min(N, P).
    """
    samples = rows.shape[0] if counts is None else int(counts.sum())
    if counts is not None:
        root = np.sqrt(counts.astype(np.float64))[:, None]
        rows, targets = rows * root, targets * root
    tall = rows.shape[0] >= rows.shape[1]
    triangle = np.asarray(np.linalg.qr(rows if tall else rows.T, mode="r"))
    left, singular, right = scipy.linalg.svd(triangle if tall else triangle.T, check_finite=False)
    kept = singular > EPSILON * max(rows.shape) * singular[0]
    singular = singular[kept]
    if tall:
        basis = right[kept].T
        projections = basis.T @ (rows.T @ targets) / samples
    else:
        basis = rows.T @ (left[:, kept] / singular)
        projections = singular[:, None] * (left[:, kept].T @ targets) / samples
    equations = NormalEquations(eigenvalues=singular**2 / samples, projections=projections, samples=samples)
    return equations, basis


def from_gram(hessian: FloatArray, moments: FloatArray, samples: int) -> tuple[NormalEquations, FloatArray]:
    """The equations of H (N, N) and b = Phi y / D (N, T); returns them with the basis V (N, r)."""
    eigenvalues, basis = scipy.linalg.eigh(hessian, check_finite=False)
    eigenvalues, basis = eigenvalues[::-1], basis[:, ::-1]
    kept = eigenvalues > EPSILON * len(eigenvalues) * max(eigenvalues[0], 0.0)
    basis = np.ascontiguousarray(basis[:, kept])
    return NormalEquations(
        eigenvalues=eigenvalues[kept], projections=basis.T @ moments, samples=samples
    ), basis
