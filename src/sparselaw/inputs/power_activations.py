"""Activations that follow power laws, as the failure of gradient descent needs them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerActivations:
    """Coordinates 1, ..., ``dimension``: j is active with probability j^-decay, and then x_j^2 = j^growth."""

    decay: float  # alpha1 + 1
    growth: float  # -alpha2 - 1: above zero rare coordinates come with large amplitudes
    dimension: float
