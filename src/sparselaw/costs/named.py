"""The costs that come with the package (appendix:compute, tab:threeRegimes)."""

from __future__ import annotations

from sparselaw.costs.base import Conditioning, CostModel, CostTerm, Terms, register


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


register(CostModel(name="direct", terms=direct, formula="N D min(N, D)"))
register(CostModel(name="6nd", terms=six_nd, formula="6 N D"))
register(CostModel(name="gd", terms=gd, formula="N D kappa", needs_sparsity=True))
register(CostModel(name="accelerated", terms=accelerated, formula="N D sqrt(kappa)", needs_sparsity=True))
smallest = "the smallest of direct, gd and accelerated"
register(CostModel(name="cheapest", terms=cheapest, formula=smallest, needs_sparsity=True))
register(CostModel(name="power", terms=power, formula="N^r D", parameter="r"))
