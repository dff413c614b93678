"""One file per view: what it answers. A new one is a file, and a line here for each question of its page."""

from __future__ import annotations

from sparselaw.explore.call import Stream, Values
from sparselaw.explore.views import (
    budget_view,
    curves_view,
    decide_view,
    failure_view,
    features_view,
    phase_view,
    runs_view,
    surface_view,
    trials_view,
)

# Questions that take milliseconds, and those of which the answers come line by line.
VALUES: dict[str, Values] = {
    "phase": phase_view.phase,
    "surface": surface_view.surface,
    "surface/estimate": trials_view.estimate,
    "budget": budget_view.budget,
    "budget/frontier": budget_view.frontier_of,
    "runs/columns": runs_view.columns,
    "runs/next": decide_view.next_of,
    "runs/compare": decide_view.compared,
    "curves/end": curves_view.end,
    "failure": failure_view.failure,
}
STREAMS: dict[str, Stream] = {
    "inputs/measured": phase_view.keep_measured,
    "surface/features": surface_view.feature_curves,
    "surface/simulate": trials_view.simulate,
    "runs/read": runs_view.read,
    "runs/fit": runs_view.fitted,
    "runs/report": runs_view.report,
    "curves/read": curves_view.read,
    "features/measure": features_view.measured,
    "features/learn": features_view.learned,
    "failure/bulk": failure_view.bulk,
}
