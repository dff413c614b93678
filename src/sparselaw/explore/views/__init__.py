"""One file per view: what it answers. A new one is a file with a ``VIEW``, and a line here."""

from __future__ import annotations

from sparselaw.explore.call import Stream, Values, View
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

VIEWS: tuple[View, ...] = (
    phase_view.VIEW,
    surface_view.VIEW,
    trials_view.VIEW,  # of the same view
    budget_view.VIEW,
    runs_view.VIEW,
    decide_view.VIEW,  # of the same view
    curves_view.VIEW,
    features_view.VIEW,
    failure_view.VIEW,
)

VALUES: dict[str, Values] = {name: answer for view in VIEWS for name, answer in view.values.items()}
STREAMS: dict[str, Stream] = {name: stream for view in VIEWS for name, stream in view.streams.items()}
