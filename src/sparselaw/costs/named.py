"""The costs that come with the package (appendix:compute, tab:threeRegimes)."""

from __future__ import annotations

from sparselaw.costs.base import Conditioning, CostTerm
from sparselaw.costs.registry import Terms, register


def direct() -> Terms:
    """N D min(N, D): a direct least-squares solve."""
    return (CostTerm(resolved_power=1.0),)


def six_nd() -> Terms:
    """6 N D: one pass forward and backward through a network."""
    return (CostTerm(factor=6.0),)


def gd(conditioning: Conditioning) -> Terms:
    """N D kappa: gradient descent."""
    return _first_order(conditioning, 1.0)


def accelerated(conditioning: Conditioning) -> Terms:
    """N D sqrt(kappa): accelerated gradient descent."""
    return _first_order(conditioning, 0.5)


def cheapest(conditioning: Conditioning) -> Terms:
    """The smallest of direct, gd and accelerated."""
    return direct() + gd(conditioning) + accelerated(conditioning)


def power(r: float) -> Terms:
    """N^r D."""
    return (CostTerm(N_power=r),)


def _first_order(conditioning: Conditioning, effort: float) -> Terms:
    """N D kappa^effort: the steps that a first-order method takes grow as a power of kappa."""
    term = CostTerm(
        resolved_power=effort * conditioning.power,
        seen_exponent=conditioning.seen_exponent,
        seen_constant=conditioning.seen_constant,
    )
    return (term,)


register("direct", direct, formula="N D min(N, D)")
register("6nd", six_nd, formula="6 N D")
register("gd", gd, formula="N D kappa", needs_sparsity=True)
register("accelerated", accelerated, formula="N D sqrt(kappa)", needs_sparsity=True)
register("cheapest", cheapest, formula="the smallest of direct, gd and accelerated", needs_sparsity=True)
register("power", power, formula="N^r D", parameter="r")
