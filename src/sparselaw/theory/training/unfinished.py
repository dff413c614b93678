"""The loss of training that is stopped before it is finished, at one point (N, D).

    loss = descent + minibatch + label noise

``descent``: full-batch descent for the same time. ``minibatch``: the noise of SGD's own batches, label noise
in them included. ``label_noise``: what the descent itself has fitted of the label noise.

A run may diverge by chance: a rare large coordinate is seen, or a column of the embedding is long. The loss
is the mean over runs that do not; how often they do is said in a caution.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sparselaw.gram.law import Atoms, GramLaw
from sparselaw.inputs import Inputs
from sparselaw.nonlinear.variance_sums import variance_sums
from sparselaw.theory.training.filters import Filter
from sparselaw.theory.training.medium import Medium
from sparselaw.theory.training.minibatches import MeanDescent, quasi_static, with_memory
from sparselaw.theory.training.modes import (
    DIVERGED,
    FAINT,
    OFTEN,
    Modes,
    Spectrum,
    beyond_the_edge,
    counted_modes,
    fresh_modes,
    population_of,
    thinned,
    top_curvature,
)
from sparselaw.theory.training.schedule import Descent, Run

Form = Literal["full", "quasi-static"]
PARTS = ("descent", "minibatch", "label_noise")

HALF = 0.5  # features that fluctuations cost: C_N (N - 1/2)^-(a-1) is right to order 1/N for a power law
FLOOR = 0.005  # of the error: what is left where every correction is small
STABLE = 0.995  # of the edge of stability: columns that are longer have ended the run
RARELY = 1e-3  # runs that diverge, from which on it is said
WILD = 3.0  # times the variance of the inputs: a run with more has diverged
UNSURE = 0.25  # relative error from which on it is said
LOUD = 0.5  # kappa above which minibatches more than double the loss
SWINGING = 4.0  # -ln of what is left of the swings of momentum
FEWEST = 5.0  # times the memory of momentum: with fewer steps minibatches have no closed form
LONG = 10.0  # times the memory of momentum: a pass must be longer, or its own samples come back too soon


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """What the theory says of one run."""

    loss: float
    parts: dict[str, float]
    kappa: float  # minibatches multiply the few-pass loss by 1/(1 - kappa)
    pi: float | None  # eps P D^-x: training is short of its end where it is below one
    step: float
    error: float = math.nan  # relative: the size of the terms left out
    diverging: float = 0.0  # share of the runs
    reason: str = ""
    cautions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """Parts of the loss, their relative error and how many of the runs diverge."""

    parts: np.ndarray
    error: float
    kappa: float = 0.0
    diverging: float = 0.0

    def with_share(self, other: Answer, share: float) -> Answer:
        """1 - ``share`` of this one and ``share`` of the other."""
        own = 1.0 - share
        return Answer(
            own * self.parts + share * other.parts,
            own * self.error + share * other.error,
            own * self.kappa + share * other.kappa,
            max(self.diverging, other.diverging),
        )


def train(
    inputs: Inputs,
    N: float,
    D: float,
    descent: Descent,
    noise: float = 0.0,
    form: Form = "full",
    *,
    sharp: bool = True,
    judged: bool = True,
) -> Unfinished:
    """The population loss of N features after ``descent`` on D samples; N may be infinite.

    ``sharp`` takes in terms of order 1/N and 1/D: N - 1/2 features and D - 1/2 samples are counted, which is
    right for a finished power law, and columns of the embedding differ in length. ``judged`` gives the error
    too.
    """
    top = top_curvature(inputs, N)
    if descent.step is None:
        usual = 1.0 / top if descent.steps is not None else (1.0 - descent.momentum) / _total(inputs)
        descent = replace(descent, step=usual)
    run = descent.among(D)
    size = Sizes(N, noise, form, sharp, judged and sharp, top)
    kappa, value = math.nan, math.nan
    if not (reason := _no_theory(run, size)):
        answer = (_full if run.full else _minibatches)(inputs, run, size)
        kappa, value, reason = answer.kappa, math.inf, _unstable(run, answer, top)
    parts = np.full(len(PARTS), value) if reason else answer.parts
    return Unfinished(
        loss=value if reason else float(parts.sum()),
        parts=dict(zip(PARTS, parts.tolist(), strict=True)),
        kappa=kappa,
        pi=scaled_passes(inputs, run),
        step=run.own_step,
        error=math.nan if reason else FLOOR + answer.error,
        diverging=0.0 if reason else answer.diverging,
        reason=reason,
        cautions=() if reason else tuple(_cautions(run, answer, size)),
    )


@dataclass(frozen=True, slots=True)
class Sizes:
    """What is asked, beside the run."""

    N: float
    noise: float
    form: Form
    sharp: bool
    judged: bool
    top: float

    def counted(self, size: float) -> float:
        """The features or samples that count as ``size`` of them do."""
        return max(size - HALF, HALF) if self.sharp else size

    def end(self, mixing: float) -> float:
        """Where the spectrum ends: features and samples widen the largest curvature."""
        return self.top * ((1.0 + 1.0 / math.sqrt(self.N)) * (1.0 + 1.0 / math.sqrt(mixing))) ** 2

    @property
    def columns(self) -> float:
        return self.N if self.sharp else math.inf

    def mixed(self, law: GramLaw) -> tuple[Atoms, float]:
        """The atoms of the law and the samples that mix them; to leading order none mix counts."""
        atoms, samples = law.atoms()
        return atoms, samples if self.sharp or atoms.spread == 0.0 else math.inf


def _full(inputs: Inputs, run: Run, size: Sizes) -> Answer:
    """Full batches: a spectral filter of the data's own curvatures."""
    law = inputs.gram(run.D)
    atoms, mixing = size.mixed(law)
    ball = run.ball(size.end(mixing))
    if ball.steps == 0.0:
        return Answer(np.array([_total(inputs), 0.0, 0.0]), 0.0)
    edge = 2.0 * (1.0 + ball.momentum) / ball.step
    diverging = beyond_the_edge(Spectrum.of(atoms, run.D), edge, size.N)
    weight, curvature, variance, unseen = _full_batch(inputs, run, ball.has_contour)
    medium = Medium(weight, curvature, variance, unseen, mixing, size.N)
    if not ball.has_contour:  # N is infinite, and only coordinates that share no sample have exact powers
        left = ball.left(curvature)
        fitted = float(variance @ ((1.0 - left) ** 2 / curvature))
        parts = np.array([unseen + float(variance @ left**2), 0.0, size.noise / run.D * fitted])
        return Answer(parts, 1.0 / mixing, diverging=diverging)
    once = ball.filter()
    columns = medium.column_lengths(ball.left, STABLE * edge, size.columns)
    descent, error, medium = _descended(law, medium, once, columns, run, size, math.exp(-ball.swing_decay))
    noise = size.noise / run.D * medium.noise(once, ball.filter(2)) if size.noise > 0.0 else 0.0
    swings = float(variance @ ball.swinging(curvature, math.sqrt(2.0 / size.N + 2.0 / mixing)))
    descent, error = descent + swings, error + swings / (descent + swings)
    return Answer(np.array([descent, 0.0, noise]), error, diverging=diverging)


@functools.lru_cache(maxsize=32)
def _full_batch(inputs: Inputs, run: Run, covered: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """(weight, curvature, variance, unseen) of the data's own modes, the same for every N.

    Modes that make a run diverge are taken as never seen. Where a contour has ``covered`` the spectrum,
    curvatures that hardly differ are put together.
    """
    spectrum, ball = Spectrum.of(inputs.gram(run.D).atoms()[0], run.D), run.ball(0.0)
    growth = np.zeros_like(spectrum.curvature)
    above = spectrum.curvature > 2.0 * (1.0 + ball.momentum) / ball.step
    growth[above] = ball.steps * ball.log_root(spectrum.curvature[above]).real
    kept = growth <= DIVERGED
    curvature, columns = spectrum.curvature[kept], np.stack([spectrum.weight, spectrum.variance])[:, kept]
    if covered:
        slowest = FAINT * (1.0 - ball.momentum) / (ball.step * ball.steps)
        curvature, columns = thinned(curvature, columns, slowest)
    return columns[0], curvature, columns[1], spectrum.unseen + float(spectrum.variance[~kept].sum())


def _descended(
    law: GramLaw | None,
    medium: Medium,
    once: Filter,
    columns: float,
    run: Run,
    size: Sizes,
    swings: float = 0.0,
) -> tuple[float, float, Medium]:
    """What a descent leaves, the relative size of what is left out, and the medium of the sharp sizes.

    ``columns``: what their lengths add. ``swings``: what is left of them, each column at its own pace.
    """
    at = medium.ridges_at(once.z)
    if not size.sharp:
        return max(medium.left(once, at), medium.unseen), math.nan, medium
    finer = replace(medium, samples=size.counted(medium.samples), features=size.counted(size.N))
    loss = max(finer.left(once, finer.ridges_at(once.z, at)) + columns, finer.unseen)
    if not size.judged or not loss > 0.0:
        return loss, math.nan, finer
    leading = medium.left(once, at)
    width = abs(loss / leading - 1.0)
    error = width * (width + 1.0 / size.N) + swings * abs(columns) / loss
    if law is None:
        return loss, error, finer
    kappa, S, stiffness = medium.stiffness(1.0 / run.time)
    x = np.array([math.log(kappa * run.D)])
    error += float(law.scatter(x).SS[0]) / stiffness**2 + float(law.error(x)[0])
    if law.atoms()[0].spread > 0.0:  # counts fluctuate, of which the effective medium takes the mean
        alone = replace(medium, samples=math.inf)
        sharing = abs(leading / alone.left(once, alone.ridges_at(once.z, at)) - 1.0)
        error += sharing * min(S / law.rank, 1.0) ** 2
    return loss, error, finer


def _minibatches(inputs: Inputs, run: Run, size: Sizes) -> Answer:
    """Fresh samples up to one pass, counted ones from two on; between them a share of either."""
    if run.passes >= 2.0:
        return _counted(inputs, run, size)
    visits = max(run.passes * run.D, math.nextafter(run.batch, math.inf))  # more than one batch
    visited = replace(run, D=visits, passes=1.0)  # as if all were different
    modes = fresh_modes(population_of(inputs, visited.D), visited)
    fresh = _noisy(None, modes, visited, size, math.inf)
    return fresh if run.passes <= 1.0 else fresh.with_share(_counted(inputs, run, size), run.passes - 1.0)


def _counted(inputs: Inputs, run: Run, size: Sizes) -> Answer:
    law = inputs.gram(run.D)
    return _noisy(law, _counted_modes(inputs, run), run, size, size.mixed(law)[1])


@functools.lru_cache(maxsize=32)
def _counted_modes(inputs: Inputs, run: Run) -> Modes:
    """The same for every N."""
    return counted_modes(Spectrum.of(inputs.gram(run.D).atoms()[0], run.D), run)


def _noisy(law: GramLaw | None, modes: Modes, run: Run, size: Sizes, mixing: float) -> Answer:
    """Descent, what its batches add, and the label noise that it fits."""
    parts = np.zeros(3)
    going = MeanDescent(modes, run, size.counted(mixing), size.counted(size.N))
    kappa = modes.kappa(run)
    if not 0.0 <= kappa * max(run.earlier_steps, default=1.0) < 1.0:
        return Answer(parts + math.inf, math.nan, kappa, modes.diverging)
    if run.time == 0.0:
        return Answer(np.array([going.medium.total, 0.0, 0.0]), 0.0, kappa)
    once = going.filter()
    medium = replace(going.medium, samples=mixing, features=size.N)
    columns = medium.column_lengths(going.left, math.inf, size.columns)
    parts[0], error, finer = _descended(law, medium, once, columns, run, size)
    parts[1] = (with_memory if size.form == "full" else quasi_static)(going, size.noise)
    if size.noise > 0.0 and not run.fresh:  # fresh samples: it is all noise of the batches
        parts[2] = size.noise / run.D * finer.noise(once, going.filter(2))
    kicked = min(modes.kicks / size.N, WILD) * medium.total  # what growing modes do to the others
    error += (kappa**2 * parts[1] + kicked) / parts.sum() + modes.diverging
    return Answer(parts, error, kappa, modes.diverging)


def scaled_passes(inputs: Inputs, run: Run) -> float | None:
    """pi = eps P D^-x, x = (alpha2+1)/(alpha1+1); None where there is no such power law."""
    if not inputs.has_power_activations:
        return None
    law = inputs.power_activations()
    return run.sample_step * run.passes * math.pow(run.D, law.growth / law.decay)


@functools.lru_cache(maxsize=8)
def _total(inputs: Inputs) -> float:
    """E|phi|^2 = tr Sigma."""
    return variance_sums(inputs, 1.0).total()


def _unstable(run: Run, answer: Answer, top: float) -> str:
    step, largest = run.own_step, 2.0 * (1.0 + run.momentum) / top
    if step > largest:
        return f"step {step:g} is above the largest stable step {largest:.4g} of gradient descent"
    if answer.diverging >= OFTEN:
        return f"step {step:g}: most runs see a coordinate so large that they diverge"
    if not 0.0 <= answer.kappa * max(run.earlier_steps, default=1.0) < 1.0:
        return f"step {step:g} is unstable in mean square (kappa = {answer.kappa:.3g}, it must be below 1)"
    if not answer.parts.sum() >= 0.0:
        return f"step {step:g} is unstable: the noise of the batches grows"
    return ""


def _no_theory(run: Run, size: Sizes) -> str:
    """Why there is no number for momentum whose swings are many and have not died."""
    beta = run.momentum
    if beta > 0.0 and not run.full and 0.0 < run.updates * (1.0 - beta) < FEWEST:
        return (
            f"momentum {beta:g} remembers {1.0 / (1.0 - beta):.3g} steps, too many for the "
            f"theory of {run.updates:g} steps of minibatches: take more steps or less momentum"
        )
    if not run.full or beta == 0.0 or run.ball(size.top).has_contour or math.isinf(size.N):
        return ""
    return (
        f"momentum {beta:g} still swings after {run.updates:g} steps, too many for the theory of "
        "finitely many features: take more steps or less momentum"
    )


def _cautions(run: Run, answer: Answer, size: Sizes) -> list[str]:
    cautions: list[str] = []
    if answer.diverging > RARELY:
        cautions.append(
            f"about {answer.diverging:.2g} of the runs diverge (a long column of the embedding, or a rare "
            "large coordinate): the loss is the mean of the others"
        )
    if answer.kappa > LOUD:
        cautions.append(
            f"kappa = {answer.kappa:.2f}: minibatch noise more than doubles the loss, runs differ widely"
        )
    if answer.error > UNSURE:
        cautions.append(f"the loss may be off by about {min(answer.error, 1.0):.0%}")
    step, largest = run.own_step, 2.0 * (1.0 + run.momentum) / size.top
    if step > 0.75 * largest:
        cautions.append(f"step {step:g} is close to the largest stable step {largest:.3g}")
    if (
        run.full
        and run.momentum > 0.0
        and math.isfinite(size.N)
        and run.ball(size.top).swing_decay < SWINGING
    ):
        cautions.append("momentum: the largest modes still swing, each embedding at its own pace")
    if not run.full and run.momentum > 0.0 and run.D < LONG * run.batch / (1.0 - run.momentum):
        cautions.append(
            f"momentum: a batch acts over {1.0 / (1.0 - run.momentum):.3g} steps, a pass has only "
            f"{run.D / run.batch:.3g}"
        )
    return cautions
