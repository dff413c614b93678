"""What a log says of one run: its points, its schedule to the planned end, and whether it can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparselaw.arrays import FloatArray
from sparselaw.curves.log_tables import BATCH, DATA, LOSS, RATE, SIZE, STEP, RunRows, read_logs
from sparselaw.curves.schedules import Schedule, logged_schedule, written_schedule
from sparselaw.errors import InputError

FLOOR = 3e-4  # of the scatter of points, relative: keeps the fit from chasing the finest structure
DIVERGED = 1.08  # last losses over the lowest
SMOOTHED = -0.26  # autocorrelation of differences: -0.5 for independent points, near 0 after smoothing
TRUNK = 5  # equal points at the start that make a run a branch of another
WINDOW = 11  # differences whose mean is the local trend
FEWEST_DIFFERENCES = 90  # differences that are too few to judge by
NO_NOISE = 1e-6  # relative: below this there is nothing to judge by
ASSUMED = (
    "logs begin at the full rate after step 0: a straight warm-up until there is assumed; give the warm-up"
)
FULL = 0.9  # of the peak: a first logged rate above this is past the warm-up


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """One run: measured points (``own``: without the trunk it shares with a run before) and the schedule."""

    name: str
    step: FloatArray
    loss: FloatArray
    schedule: Schedule
    white: float  # scatter of single log losses
    N: float = float("nan")
    D: float = float("nan")  # data at the end of the schedule
    smoothed: bool = False
    diverged: bool = False
    own: int = 0  # first point that no run before has
    trunk: str = ""

    @property
    def last(self) -> float:
        return float(self.step[-1])

    @property
    def size(self) -> float:
        """1 where sizes are not known."""
        return self.N if np.isfinite(self.N) else 1.0

    def until(self, step: float) -> Log:
        """What was known of it at a step: nothing that came later has a say."""
        kept = self.step <= step
        if not kept.any():
            raise InputError("curves", self.name, "has no point so early", "log more often")
        loss = self.loss[kept]
        return replace(
            self, step=self.step[kept], loss=loss, own=0, white=scatter(loss), smoothed=is_smoothed(loss)
        )


def make_logs(
    source: Any,
    *,
    warmup: float | None = None,
    lr: float | None = None,
    shape: str | None = None,
    steps: float | None = None,
    columns: Mapping[str, str] | None = None,
    N: float | None = None,
) -> tuple[tuple[Log, ...], list[str], str]:
    """Every run, read and judged; what there is to say; the clock. See ``fit_curves`` for the arguments."""
    found = read_logs(source, columns)
    said = found.notes
    logs: list[Log] = []
    for run in found.runs.values():
        log = _log(run, said, warmup=warmup, lr=lr, shape=shape, steps=steps)
        if log is not None:
            logs.append(log if N is None or np.isfinite(log.N) else replace(log, N=N))
    if not logs:
        raise InputError("curves", "", "no run has a loss that can be used", "check the column of the loss")
    peaks = {log.schedule.peak for log in logs}
    flat = [np.ptp(log.schedule.rates[log.schedule.steps >= log.schedule.warmup]) == 0.0 for log in logs]
    if shape is None and len(peaks) > 1 and all(flat):
        raise InputError(
            "lr", f"{min(peaks):g} to {max(peaks):g}",
            "is one number for each run: a setting, not its schedule",
            "log the rate of each step, or say the schedule: --shape cosine --steps 24000, --shape constant",
        )  # fmt: skip
    known = [np.isfinite(log.N) for log in logs]
    if any(known) and not all(known):
        said.append("N is not known for every run: sizes are not told apart")
        logs = [replace(log, N=float("nan")) for log in logs]
    return _branches(logs), list(dict.fromkeys(said)), found.clock


def _log(run: RunRows, said: list[str], **plan: Any) -> Log | None:
    rows = run.rows
    measured = np.flatnonzero(np.isfinite(rows[:, LOSS]))
    if measured.size == 0:
        said.append(f"{run.name}: no loss that can be used")
        return None
    step, loss = rows[measured, STEP], rows[measured, LOSS]
    ahead = int(np.count_nonzero(np.isnan(rows[measured[-1] + 1 :, LOSS])))
    schedule = _schedule(run, step[-1], said, **plan)
    data, N, batch = _data(rows, schedule), _one(rows[:, SIZE]), _one(rows[:, BATCH])
    log = Log(
        name=run.name, step=step, loss=loss, schedule=schedule, white=scatter(loss), N=N,
        D=data if data is not None else batch * schedule.last,
        smoothed=is_smoothed(loss), diverged=has_diverged(loss),
    )  # fmt: skip
    times = "once" if run.restarts == 1 else f"{run.restarts} times"
    remarks = {
        f"{run.lost - ahead} rows without a usable loss are left out": run.lost > ahead,
        f"steps go back {times}: the rows logged last count": run.restarts,
        f"a long log, averaged over {run.averaged} rows each": run.averaged > 1,
        "the batch changes on the way, which the law does not know": len(run.batches) > 1,
        "data per step change on the way: the law does not know of batches":
            len(run.batches) <= 1 and _data_per_step_changes(rows),
        "the log looks smoothed, which shifts and hides the curve: log single losses":
            log.smoothed and not log.diverged,
        "the rate rises again after the warm-up, where the law is not tested": schedule.rewarmed(),
    }  # fmt: skip
    said += [f"{run.name}: {words}" for words, applies in remarks.items() if applies]
    return log


def _schedule(
    run: RunRows,
    last: float,
    said: list[str],
    *,
    warmup: float | None,
    lr: float | None,
    shape: str | None,
    steps: float | None,
) -> Schedule:
    """By the rates that are logged, or by its name; ``last`` is the last step with a loss."""
    rows = run.rows[np.isfinite(run.rows[:, RATE])]
    step, rate = rows[:, STEP], rows[:, RATE]
    if np.any(rate < 0.0) or (rate.size and not rate.max() > 0.0):
        raise InputError("lr", f"{rate.min():g}", f"is no learning rate ({run.name})", "give positive rates")
    if shape is not None:
        if lr is None and not rate.size:
            raise InputError("lr", "", "is missing", "give --lr, the peak rate, beside --shape")
        end = steps if steps is not None else float(run.rows[-1, STEP])
        text = shape if ":" in shape else f"{shape}:{end:.0f}"
        if warmup is None:
            warmup = find_warmup(step, rate)[0] if rate.size else 0.0
        made = written_schedule(text, peak=float(rate.max()) if lr is None else lr, warmup=warmup)
        if rate.size > 1:
            logged = logged_schedule(step, rate, warmup)
            if not logged.begins_like(made, min(logged.last, made.last)):
                condition = f"is not the rate that {run.name} has logged"
                raise InputError("shape", text, condition, "leave --shape out, or correct it")
        if made.last < last * 0.999:
            raise InputError("steps", f"{made.last:.0f}", f"ends before the log of {run.name}", "give more")
        return made
    if rate.size < 2:
        raise InputError(
            "lr", "", f"is not logged in {run.name}, and without the schedule nothing can be said",
            "name its column with --columns lr=..., or give --lr 3e-4 --shape cosine --steps 24000",
        )  # fmt: skip
    if warmup is None:
        warmup, assumed = find_warmup(step, rate)
        if assumed:
            said.append(ASSUMED)
    if step[-1] < last:  # rates logged less often than losses
        step, rate = np.append(step, last), np.append(rate, rate[-1])
    return logged_schedule(step, rate, warmup, run.name)


def find_warmup(step: FloatArray, rate: FloatArray) -> tuple[float, bool]:
    """Where the warm-up ends, and whether that is assumed since the log begins after it.

    >>> find_warmup(np.array([0.0, 10, 20, 30, 40]), np.array([0.1, 0.5, 1.0, 1.0, 0.9]))
    (20.0, False)
    """
    top = rate.max()
    if rate[0] < FULL * top:
        reached = int(np.argmax(rate >= 0.99 * top))
        rising = bool(np.all(np.diff(rate[: reached + 1]) >= -1e-3 * top))
        return (float(step[reached]), False) if rising else (0.0, False)
    usual = float(np.median(np.diff(step))) if step.size > 1 else step[0]
    return (float(step[0]), True) if step[0] > 3.0 * usual else (0.0, False)


def scatter(loss: FloatArray) -> float:
    """Of single log losses: from third differences of the later three quarters, robust.

    Third differences of independent points have 20 times their variance.
    """
    later = np.diff(np.log(loss[len(loss) // 4 :]), 3)
    if later.size < 6:
        return FLOOR
    return float(max(1.4826 * np.median(np.abs(later)) / np.sqrt(20.0), FLOOR))


def is_smoothed(loss: FloatArray) -> bool:
    """Do neighbouring differences lack the autocorrelation -1/2 that independent points would give?"""
    change = np.diff(np.log(loss[len(loss) // 4 :]))
    if change.size < FEWEST_DIFFERENCES:
        return False
    trend = np.lib.stride_tricks.sliding_window_view(change, WINDOW).mean(axis=1)
    change = change[WINDOW // 2 : WINDOW // 2 + trend.size] - trend
    width = 3.0 * 1.4826 * np.median(np.abs(change))  # a jump of the rate is no noise
    change = np.clip(change, -width, width)
    power = float(change @ change)
    return power > NO_NOISE**2 * change.size and float(change[1:] @ change[:-1]) / power > SMOOTHED


def has_diverged(loss: FloatArray) -> bool:
    """Do the last losses lie far above the lowest of before?"""
    width = max(3, len(loss) // 20)
    if len(loss) < 2 * width:
        return False
    parts = [float(np.median(p)) for p in np.array_split(loss, len(loss) // width)]
    return parts[-1] > (DIVERGED + 3.0 * scatter(loss)) * min(parts)


def _branches(logs: Sequence[Log]) -> tuple[Log, ...]:
    """Points that a run shares with one before it count once."""
    found: list[Log] = []
    for log in logs:
        for before in (b for b in found if b.loss[0] == log.loss[0]):
            n = min(before.step.size, log.step.size)
            equal = (before.step[:n] == log.step[:n]) & (before.loss[:n] == log.loss[:n])
            shared = n if equal.all() else int(np.argmin(equal))
            if shared > max(TRUNK, log.own) and shared < log.step.size:
                log = replace(log, own=shared, trunk=before.name)
        found.append(log)
    return tuple(found)


def _data_per_step_changes(rows: FloatArray) -> bool:
    both = np.isfinite(rows[:, DATA]) & np.isfinite(rows[:, STEP]) & (rows[:, STEP] > 0.0)
    if np.count_nonzero(both) <= 10 or np.array_equal(rows[both, DATA], rows[both, STEP]):
        return False
    each = np.diff(rows[both, DATA]) / np.diff(rows[both, STEP])
    low, high = np.quantile(each, [0.05, 0.95])
    return bool(np.all(each >= 0.0) and high > 1.2 * max(low, 1e-300))


def _one(cells: FloatArray) -> float:
    known = cells[np.isfinite(cells) & (cells > 0.0)]
    return float(known[0]) if known.size else float("nan")


def _data(rows: FloatArray, schedule: Schedule) -> float | None:
    """Data at the last planned step, in proportion to the steps."""
    both = np.isfinite(rows[:, DATA]) & (rows[:, DATA] > 0.0) & (rows[:, STEP] > 0.0)
    if not both.any():
        return None
    data, step = rows[both, DATA], rows[both, STEP]
    if data.size > 1 and np.all(data == data[0]):  # the planned amount in every row
        return float(data[0])
    return float(data[-1] * schedule.last / step[-1])
