"""Loss curves: a log dropped on the page, and its end as the schedule is dragged."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np

from sparselaw.curves import CurveFit, fit_curves
from sparselaw.curves.fitting_curves import read_schedule, usual_warmup
from sparselaw.curves.model import Model
from sparselaw.explore.call import Call, code_of, shell, under_its_name
from sparselaw.explore.chart_data import axis, chart, line, points
from sparselaw.numbers import typed
from sparselaw.plotting.style import unit_of

SHOWN = 120  # points of a log
NAMED_RUNS = 6  # runs that are drawn with a name each
ALONG = 40  # points of the fan
DECAY, END = 0.2, 0.1  # of the steps and of the peak, to begin with


def read(call: Call) -> Iterator[dict[str, Any]]:
    """The law of the curves, and what was understood of the log."""
    content, name = b"", call.file_name("curves.csv")
    if call.text("sample"):
        name, content = "sample.csv", sample_csv()
    key = call.dropped("curves", name, "drop a log with step, lr and loss", content)
    found = _fit(str(call.session.uploads.find(key)), name)
    yield {
        "upload": key, "file_name": name, "steps": max(log.schedule.last for log in found.model.logs),
        "curves": [end.as_dict() for end in found.curves], "status": found.status,
        "warnings": list(found.warnings), "title": found.title(),
    }  # fmt: skip


def end(call: Call) -> dict[str, Any]:
    """The final loss of a wsd with the decay, the last rate and the steps that were dragged to."""
    name = call.file_name("curves.csv")
    found = _fit(str(call.upload()), name)
    model = found.model
    peak = model.logs[-1].schedule.peak
    steps = call.size("curve_steps", round(max(log.schedule.last for log in model.logs)))
    decay, to = call.positive("curve_decay", DECAY), call.not_negative("curve_end", END)
    start = max(round((1.0 - min(decay, 1.0)) * steps), round(usual_warmup(model.logs)))
    text = f"wsd:{start},{steps},end={min(to, 1.0) * peak:.6g}"
    schedule = read_schedule(text, model.logs)
    N = model.logs[-1].size
    asked = model.under(schedule, N)
    first = model.start if asked.run is None else model.logs[asked.run].last
    along = np.linspace(first, schedule.last, ALONG)
    low, best, high = model.along(asked, along).tolist()
    fan = line(f"{text}, 95 %", along.tolist(), best, colour=None, low=low, high=high)
    series = [*_measured(model, first), fan]
    size = "" if N == 1.0 else f", N={typed(N)}"
    command = f"{shell('curve')} {shlex.quote(name)} --schedule {text}{size and f' -N {typed(N)}'}"
    return {
        "chart": chart(
            axis(found.clock, log=False),
            axis(unit_of([log.loss.max() for log in model.logs]), log=False),
            series,
        ),
        "schedule": text,
        "final": model.loss(asked).as_dict(),
        "code": code_of(command, f"found = sl.fit_curves({name!r})", f'print(found.predict("{text}"{size}))'),
    }


def sample_csv() -> bytes:
    """A constant rate and a cosine of 20,000 steps, made up."""
    rows = ["run,step,lr,loss"]
    step = np.arange(200.0, 20_001.0, 200.0)
    warm = np.minimum(step / 1_000.0, 1.0)
    falling = 0.55 + 0.45 * np.cos(np.pi * np.clip((step - 1_000.0) / 19_000.0, 0.0, 1.0))
    for seed, (run, rate) in enumerate({"constant": 3e-4 * warm, "cosine": 3e-4 * warm * falling}.items()):
        noise = np.exp(5e-4 * np.random.Generator(np.random.PCG64(seed)).standard_normal(step.size))
        loss = (2.9 + 0.3 * (np.cumsum(rate) / 0.015) ** -0.5 + 400.0 * rate) * noise
        rows += [f"{run},{s:.0f},{r:.6g},{v:.5f}" for s, r, v in zip(step, rate, loss, strict=True)]
    return ("\n".join(rows) + "\n").encode()


@functools.lru_cache(maxsize=8)
def _fit(path: str, name: str) -> CurveFit:
    """Once for every file, however often the schedule is dragged."""
    with under_its_name(path, name):
        return fit_curves(path)


def _measured(model: Model, first: float) -> list[dict[str, Any]]:
    """The losses of each run: a few as points of a colour each, more as lines of a colour for each size."""
    series, names = [], model.kinds()
    for i, log in enumerate(model.logs):
        late = np.flatnonzero(log.step >= min(first, 0.06 * log.step[-1]))
        late = late[:: max(1, late.size // SHOWN)]
        x, y = log.step[late].tolist(), log.loss[late].tolist()
        if len(model.logs) <= NAMED_RUNS:
            series.append(points(log.name, x, y, colour=i))
        else:
            label = names[i] if names[i] not in names[:i] else ""
            series.append(line(label, x, y, colour=model.sizes.index(log.size) % NAMED_RUNS))
    return series
