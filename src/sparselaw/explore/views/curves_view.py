"""Loss curves: a log dropped on the page, and its end as the schedule is dragged."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sparselaw.curves import CurveFit, fit_curves
from sparselaw.curves.ends import continued, going_on, size_of
from sparselaw.curves.fitting_curves import read_schedule, usual_warmup
from sparselaw.curves.logs import Log
from sparselaw.curves.model import Asked, student
from sparselaw.errors import InputError
from sparselaw.explore.call import Call, View, code_of, shell
from sparselaw.explore.chart_data import axis, chart, line, points
from sparselaw.numbers import short_size

SHOWN = 120  # points of a log
FEW = 6  # runs that are drawn with a name each
ALONG = 40  # points of the fan
DECAY, END = 0.2, 0.1  # of the steps and of the peak, to begin with


def read(call: Call) -> Iterator[dict[str, Any]]:
    """The law of the curves, and what was understood of the log."""
    content, name = call.body, call.file_name("curves.csv")
    if call.text("sample"):
        name, content = "sample.csv", sample_csv()
    if not content:
        raise InputError("curves", name, "is empty", "drop a log with step, lr and loss")
    key = call.session.uploads.keep(name, content)
    found = _fit(str(call.session.uploads.find(key)), name)
    yield {
        "upload": key, "file_name": name, "steps": max(log.schedule.last for log in found.model.logs),
        "curves": [end.as_dict() for end in found.curves], "status": found.status,
        "warnings": list(found.warnings), "title": found.title(),
    }  # fmt: skip


def end(call: Call) -> dict[str, Any]:
    """The final loss of a wsd with the decay, the last rate and the steps that were dragged to."""
    name = call.file_name("curves.csv")
    found = _fit(str(call.session.uploads.find(call.text("upload"))), name)
    model = found.model
    peak = model.logs[-1].schedule.peak
    steps = call.size("curve_steps", round(max(log.schedule.last for log in model.logs)))
    decay, low = call.positive("curve_decay", DECAY), call.not_negative("curve_end", END)
    start = max(round((1.0 - min(decay, 1.0)) * steps), round(usual_warmup(model.logs)))
    text = f"wsd:{start},{steps},end={min(low, 1.0) * peak:.6g}"
    schedule = read_schedule(text, model.logs)
    N = size_of(model.logs[-1])
    run = continued(model, schedule, N)
    whole = schedule if run is None else going_on(model, run, schedule)
    first = min(t.step[0] for t in model.points.tracks) if run is None else model.logs[run].last
    along = np.linspace(first, schedule.last, ALONG)
    mean, cov = model.predict([Asked(schedule=whole, N=N, run=run, step=float(s)) for s in along])
    half = student() * np.sqrt(np.diag(cov))
    low_end, best, high_end = (np.exp(mean + k * half) for k in (-1.0, 0.0, 1.0))
    series = _measured(model.logs, first)
    band = {"low": low_end.tolist(), "high": high_end.tolist()}
    fan = line(f"{text}, 95 %", along.tolist(), best.tolist(), colour=None, **band)
    final = found.predict(schedule, N=None if N == 1.0 else N)
    command = f"{shell('curve')} {shlex.quote(name)} --schedule {text}"
    return {
        "chart": chart(axis(found.clock, log=False), axis("loss (nats)", log=False), [*series, fan]),
        "schedule": text,
        "final": final.as_dict(),
        "code": code_of(command, f"found = sl.fit_curves({name!r})", f'print(found.predict("{text}"))'),
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
    try:
        return fit_curves(path)
    except InputError as error:
        if error.name == "file":
            raise InputError("file", name, error.condition, error.remedy) from None
        raise


def _measured(logs: Sequence[Log], first: float) -> list[dict[str, Any]]:
    """The losses of each run: a few as points of a colour each, more as lines of a colour for each size."""
    sizes = sorted({size_of(log) for log in logs})
    series, named = [], set()
    for i, log in enumerate(logs):
        late = np.flatnonzero(log.step >= min(first, 0.06 * log.step[-1]))
        late = late[:: max(1, late.size // SHOWN)]
        x, y, size = log.step[late].tolist(), log.loss[late].tolist(), size_of(log)
        if len(logs) <= FEW:
            series.append(points(log.name, x, y, colour=i))
            continue
        alike = sum(size_of(other) == size for other in logs)
        name = f"{alike} runs" if len(sizes) == 1 else f"{alike} runs of {short_size(size)}"
        series.append(line("" if size in named else name, x, y, colour=sizes.index(size) % FEW))
        named.add(size)
    return series


VIEW = View(values={"curves/end": end}, streams={"curves/read": read})
