"""Which theory describes the features, and what limits the loss now: computed from the curves, not said.

The error of a theory is the mean of |predicted/measured - 1| over the points of the learning curve, each
counting as the root of its loss: a point where little is left matters less than one where nearly all is.
``unseen`` wins where the unseen variance alone is within a tenth; then ``sparse`` where the cavity prediction
is within 5 %, or nearer than the covariance and within 15 %; then ``covariance`` (Gaussian inputs of the same
eigenvalues) within 15 %; ``none`` where nothing is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

UNSEEN_WITHIN = 0.10
SPARSE_WITHIN = 0.05
WITHIN = 0.15


def relative_error(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """The mean of |predicted/measured - 1|, at most 1 each, weighted by the root of what is measured.

    >>> round(relative_error([1.1, 1.0], [1.0, 1.0]), 4)
    0.05
    """
    weights = [math.sqrt(m) for m in measured]
    if not sum(weights) > 0.0:
        return math.nan
    errors = (min(abs(p / m - 1.0), 1.0) for p, m in zip(predicted, measured, strict=True))
    return sum(w * e for w, e in zip(weights, errors, strict=True)) / sum(weights)


def verdict(errors: Mapping[str, float]) -> str:
    """``unseen``, ``sparse``, ``covariance`` or ``none``; errors of unseen, cavity and gaussian.

    >>> verdict({"unseen": 0.6, "cavity": 0.3, "gaussian": 0.05})
    'covariance'
    """
    if math.isnan(errors["cavity"]):
        return "none"
    if errors["unseen"] <= UNSEEN_WITHIN:
        return "unseen"
    sparse, covariance = errors["cavity"], errors["gaussian"]
    if sparse <= SPARSE_WITHIN or sparse <= min(covariance, WITHIN):
        return "sparse"
    return "covariance" if covariance <= WITHIN else "none"


WORDS = {
    "unseen": "features never shown are nearly all of the loss: the unseen variance alone predicts it",
    "sparse": "how often features were seen, and with whom, predicts the loss (the cavity prediction)",
    "covariance": "features act together: the eigenvalues of their covariance predict the loss",
    "none": "neither the sparse theory nor the covariance predicts this learning curve",
}


def in_words(verdict: str, errors: Mapping[str, float]) -> str:
    """What the verdict means; where another theory does as well, it is named."""
    both = verdict == "sparse" and errors["gaussian"] <= SPARSE_WITHIN
    too = "; so do the eigenvalues of the covariance, at these D (they fail beyond D = K)" if both else ""
    return f"{verdict}: {WORDS[verdict]}{too}"


def limited_by(measured: float, unseen: float, model: float | None) -> str:
    """What the loss is made of at the largest D: ``unseen``, ``undetermined`` or ``model-size``.

    ``model`` is the loss that the largest model asked for has even with all the rows.
    """
    if model is not None and model > measured:
        return "model-size"
    return "unseen" if unseen >= 0.5 * measured else "undetermined"


LIMITS = {
    "unseen": "features that the rows never showed: only more rows help",
    "undetermined": "features that were shown but too seldom to be told apart: more rows help",
    "model-size": "the number of random features: a larger N helps, more rows do not",
}
