"""What the theory says of one pair (N, D)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sparselaw.records import finite, html_record, put

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("N", "D", "K", "xi", "loss", "caution", "rank", "loss_error", "median")
NO_MEDIAN = "given near the double-descent peak only"


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The predicted loss at (N, D). ``caution`` is empty where the prediction can be trusted."""

    N: float  # a whole number, or infinite
    D: int
    K: float  # expected number of coordinates seen in D samples
    xi: float  # nan where the inputs follow no power law
    loss: float  # the sum of ``terms``
    caution: str
    loss_reason: str = ""  # why the loss is infinite, or not known, where it is
    terms: Mapping[str, float] = field(default_factory=dict)  # what adds up to the loss, each with its name
    rank: float = float("nan")  # expected rank of the data: where the double-descent peak stands
    loss_error: float = float("nan")  # relative; an estimate of what the terms leave out
    median: float | None = None  # over data and embeddings, near the peak
    parts: Mapping[str, float] = field(default_factory=dict)  # of unfinished training, what adds up to it
    kappa: float | None = None  # of SGD: minibatches multiply the loss of few passes by 1/(1 - kappa)
    pi: float | None = None  # eps P D^-x: training is short of its end where it is below one

    def as_dict(self) -> dict[str, Any]:
        row: dict[str, Any] = {}
        put(row, "N", self.N, "infinite")
        row["D"] = self.D
        put(row, "K", self.K, "infinite: every coordinate of dense inputs is seen")
        put(row, "rank", self.rank, "not known")
        put(row, "xi", self.xi, "these inputs follow no power law")
        known = "not known" if math.isnan(self.loss) else "infinite"
        put(row, "loss", self.loss, f"{known}: {self.loss_reason}")
        put(row, "loss_error", self.loss_error, "no estimate")
        row["terms"] = {name: finite(value) for name, value in self.terms.items()}
        put(row, "median", self.median, NO_MEDIAN)
        if self.parts:
            row["parts"] = {name: finite(value) for name, value in self.parts.items()}
            put(row, "kappa", self.kappa, "no minibatches")
            put(row, "pi", self.pi, "no power law of activations")
        return row | {"caution": self.caution}

    def row(self) -> dict[str, Any]:
        """Its line in a data frame."""
        line = {name: getattr(self, name) for name in COLUMNS}
        return line | dict(self.parts) | ({"kappa": self.kappa, "pi": self.pi} if self.parts else {})

    def to_frame(self) -> pd.DataFrame:
        """One row."""
        import pandas as pd

        return pd.DataFrame([self.row()])

    def _repr_html_(self) -> str:
        plain = {name: value for name, value in self.as_dict().items() if not name.endswith("_reason")}
        parts = plain.pop("terms") | plain.pop("parts", {})
        notes = [text for text in (plain.pop("caution"), self.loss_reason) if text]
        return html_record(f"N = {self.N:g}, D = {self.D:,}", plain | parts, notes)
