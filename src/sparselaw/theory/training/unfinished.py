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
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from sparselaw.gram.law import GramLaw
from sparselaw.inputs import Inputs
from sparselaw.theory.training.filters import Filter, flow_filter
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
LONG_PASS = 10.0  # times the memory of momentum: a pass must be longer, or its own samples come back too soon


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfinished:
    """What the theory says of one run."""

    loss: float
    parts: dict[str, float]
    kappa: float  # minibatches multiply the few-pass loss by 1/(1 - kappa)
    pi: float | None  # eps P D^-x: training is short of its end where it is below one
    step: float
    error: float = math.nan  # relative: the size of the terms left out
    reason: str = ""
    cautions: tuple[str, ...] = ()


class Answer(NamedTuple):
    """Parts of the loss, their relative error and how many of the runs diverge."""

    parts: np.ndarray
    error: float
    kappa: float = 0.0
    diverging: float = 0.0


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
    asked = Asked(inputs, run, N, noise, form, sharp, judged and sharp, top)
    kappa, value = math.nan, math.nan
    if not (reason := asked.no_theory()):
        answer = asked.full() if run.full else asked.minibatches()
        kappa, value, reason = answer.kappa, math.inf, asked.unstable(answer)
    parts = np.full(len(PARTS), value) if reason else answer.parts
    return Unfinished(
        loss=value if reason else float(parts.sum()),
        parts=dict(zip(PARTS, parts.tolist(), strict=True)),
        kappa=kappa,
        pi=_scaled_passes(inputs, run),
        step=run.own_step,
        error=math.nan if reason else FLOOR + answer.error,
        reason=reason,
        cautions=() if reason else tuple(asked.cautions(answer)),
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """A run of N features, and the ways to its loss."""

    inputs: Inputs
    run: Run
    N: float
    noise: float
    form: Form
    sharp: bool
    judged: bool
    top: float

    def counted(self, size: float) -> float:
        """The features or samples that count as ``size`` of them do."""
        return max(size - HALF, HALF) if self.sharp else size

    def mixing(self, law: GramLaw) -> float:
        """The samples that mix the atoms of the law; to leading order none mix counts."""
        atoms, samples = law.atoms()
        return samples if self.sharp or atoms.rank_sd == 0.0 else math.inf

    def full(self) -> Answer:
        """Full batches: a spectral filter of the data's own curvatures."""
        run, law = self.run, self.inputs.gram(self.run.D)
        mixing = self.mixing(law)
        # features and samples widen the largest curvature
        end = self.top * ((1.0 + 1.0 / math.sqrt(self.N)) * (1.0 + 1.0 / math.sqrt(mixing))) ** 2
        ball = run.ball(end)
        if ball.steps == 0.0:
            return Answer(np.array([_total(self.inputs), 0.0, 0.0]), 0.0)
        diverging = beyond_the_edge(Spectrum.of(law.atoms()[0], run.D), ball.edge, self.N)
        weight, curvature, variance, unseen = _full_batch(self.inputs, run, ball.contour is not None)
        medium = Medium(weight, curvature, variance, unseen, mixing, self.N)
        if ball.contour is None:  # N is infinite, and only coordinates that share no sample have exact powers
            left = ball.left(curvature)
            fitted = float(variance @ ((1.0 - left) ** 2 / curvature))
            parts = np.array([unseen + float(variance @ left**2), 0.0, self.noise / run.D * fitted])
            return Answer(parts, 1.0 / mixing, diverging=diverging)
        once = ball.filter()
        how = (once, ball.left, STABLE * ball.edge, math.exp(-ball.swing_decay))
        descent, error, medium = self.descended(law, medium, *how)
        noise = self.noise / run.D * medium.noise(once, ball.filter(2)) if self.noise > 0.0 else 0.0
        swings = float(variance @ ball.swinging(curvature, math.sqrt(2.0 / self.N + 2.0 / mixing)))
        error += swings / max(descent + swings, 1e-300)
        return Answer(np.array([descent + swings, 0.0, noise]), error, diverging=diverging)

    def descended(
        self,
        law: GramLaw | None,
        medium: Medium,
        once: Filter,
        left: Callable[[np.ndarray], np.ndarray],
        edge: float = math.inf,
        swings: float = 0.0,
    ) -> tuple[float, float, Medium]:
        """What a descent leaves, the relative size of what is left out, and the medium of the sharp sizes.

        ``left`` is its filter ``once`` itself, ``edge`` that of stability, ``swings`` what is left of them.
        """
        at = medium.ridges_at(once.z)
        if not self.sharp:
            return max(medium.left(once, at), medium.unseen), math.nan, medium
        finer = replace(medium, samples=self.counted(medium.samples), features=self.counted(self.N))
        columns = medium.column_lengths(left, edge, self.N)
        loss = max(finer.left(once, finer.ridges_at(once.z, at)) + columns, finer.unseen)
        if not self.judged or not loss > 0.0:
            return loss, math.nan, finer
        leading = medium.left(once, at)
        width = abs(loss / leading - 1.0)
        error = width * (width + 1.0 / self.N) + swings * abs(columns) / loss
        if law is None:
            return loss, error, finer
        kappa, S, stiffness = medium.stiffness(1.0 / self.run.time)
        x = np.array([math.log(kappa * self.run.D)])
        error += float(law.scatter(x).SS[0]) / stiffness**2 + float(law.error(x)[0])
        if law.atoms()[0].rank_sd > 0.0:  # counts fluctuate, of which the effective medium takes the mean
            alone = replace(medium, samples=math.inf)
            sharing = abs(leading / alone.left(once, alone.ridges_at(once.z, at)) - 1.0)
            error += sharing * min(S / law.rank, 1.0) ** 2
        return loss, error, finer

    def minibatches(self) -> Answer:
        """Fresh samples up to one pass, counted ones from two on; between them a share of either."""
        run, inputs = self.run, self.inputs
        share = min(max(run.passes - 1.0, 0.0), 1.0)
        if share > 0.0:
            law = inputs.gram(run.D)
            counted = self.noisy(law, _counted_modes(inputs, run), self.mixing(law))
        if share < 1.0:
            visits = max(run.passes * run.D, math.nextafter(run.batch, math.inf))  # more than one batch
            visited = replace(run, D=visits, passes=1.0)  # as if all were different
            modes = fresh_modes(population_of(inputs, visited.D), visited)
            fresh = replace(self, run=visited).noisy(None, modes, math.inf)
        if 0.0 < share < 1.0:
            return Answer(
                (1.0 - share) * fresh.parts + share * counted.parts,
                (1.0 - share) * fresh.error + share * counted.error,
                (1.0 - share) * fresh.kappa + share * counted.kappa,
                max(fresh.diverging, counted.diverging),
            )
        return counted if share > 0.0 else fresh

    def noisy(self, law: GramLaw | None, modes: Modes, mixing: float) -> Answer:
        """Descent, what its batches add, and the label noise that it fits."""
        run, parts, kappa = self.run, np.zeros(3), modes.kappa(self.run)
        going = MeanDescent(modes, run, self.counted(mixing), self.counted(self.N))
        if not self.stable(kappa):
            return Answer(parts + math.inf, math.nan, kappa, modes.diverging)
        if run.time == 0.0:
            return Answer(np.array([going.medium.total, 0.0, 0.0]), 0.0, kappa)
        once = flow_filter(run.time)
        medium = replace(going.medium, samples=mixing, features=self.N)
        parts[0], error, finer = self.descended(law, medium, once, lambda rate: np.exp(-run.time * rate))
        parts[1] = (with_memory if self.form == "full" else quasi_static)(going, self.noise)
        if self.noise > 0.0 and not run.fresh:  # fresh samples: it is all noise of the batches
            parts[2] = self.noise / run.D * finer.noise(once, flow_filter(2.0 * run.time))
        kicked = min(modes.kicks / self.N, WILD) * medium.total  # what growing modes do to the others
        error += (kappa**2 * parts[1] + kicked) / parts.sum() + modes.diverging
        if run.momentum > 0.0 and not run.fresh:  # samples come back while their batch still acts
            error += run.batch / (run.D * (1.0 - run.momentum))
        return Answer(parts, error, kappa, modes.diverging)

    def stable(self, kappa: float) -> bool:
        """Whether minibatches add less noise than they forget, at the largest step."""
        return 0.0 <= kappa * max(self.run.earlier_steps, default=1.0) < 1.0

    def largest_step(self) -> float:
        return 2.0 * (1.0 + self.run.momentum) / self.top

    def no_theory(self) -> str:
        """Why there is no number for momentum whose swings are many and have not died."""
        run, beta = self.run, self.run.momentum
        if beta > 0.0 and not run.full and 0.0 < run.updates * (1.0 - beta) < FEWEST:
            return (
                f"momentum {beta:g} remembers {1.0 / (1.0 - beta):.3g} steps, too many for the "
                f"theory of {run.updates:g} steps of minibatches: take more steps or less momentum"
            )
        if not run.full or beta == 0.0 or run.ball(self.top).contour or math.isinf(self.N):
            return ""
        return (
            f"momentum {beta:g} still swings after {run.updates:g} steps, too many for the theory of "
            "finitely many features: take more steps or less momentum"
        )

    def unstable(self, answer: Answer) -> str:
        step, largest = self.run.own_step, self.largest_step()
        if step > largest:
            return f"step {step:g} is above the largest stable step {largest:.4g} of gradient descent"
        if answer.diverging >= OFTEN:
            return f"step {step:g}: most runs see a coordinate so large that they diverge"
        if not self.stable(answer.kappa):
            return (
                f"step {step:g} is unstable in mean square (kappa = {answer.kappa:.3g}, it must be below 1)"
            )
        if not answer.parts.sum() >= 0.0:
            return f"step {step:g} is unstable: the noise of the batches grows"
        return ""

    def cautions(self, answer: Answer) -> list[str]:
        run, cautions = self.run, []
        if answer.diverging > RARELY:
            cautions.append(
                f"about {answer.diverging:.2g} of the runs diverge (a long column of the embedding, or a "
                "rare large coordinate): the loss is the mean of the others"
            )
        if answer.kappa > LOUD:
            cautions.append(
                f"kappa = {answer.kappa:.2f}: minibatch noise more than doubles the loss, runs differ widely"
            )
        if answer.error > UNSURE:
            cautions.append(f"the loss may be off by about {min(answer.error, 1.0):.0%}")
        step, largest = run.own_step, self.largest_step()
        if step > 0.75 * largest:
            cautions.append(f"step {step:g} is close to the largest stable step {largest:.3g}")
        if run.momentum == 0.0:
            return cautions
        memory = 1.0 / (1.0 - run.momentum)
        if run.full and math.isfinite(self.N) and run.ball(self.top).swing_decay < SWINGING:
            cautions.append("momentum: the largest modes still swing, each embedding at its own pace")
        if not run.full and run.D < LONG_PASS * run.batch * memory:
            cautions.append(
                f"momentum: a batch acts over {memory:.3g} steps, a pass has only {run.D / run.batch:.3g}"
            )
        return cautions


@functools.lru_cache(maxsize=32)
def _full_batch(inputs: Inputs, run: Run, covered: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """(weight, curvature, variance, unseen) of the data's own modes, the same for every N.

    Modes that make a run diverge are taken as never seen. Where a contour has ``covered`` the spectrum,
    curvatures that hardly differ are put together.
    """
    spectrum, ball = Spectrum.of(inputs.gram(run.D).atoms()[0], run.D), run.ball(0.0)
    growth = np.zeros_like(spectrum.curvature)
    above = spectrum.curvature > ball.edge
    growth[above] = ball.steps * ball.log_root(spectrum.curvature[above]).real
    kept = growth <= DIVERGED
    curvature, columns = spectrum.curvature[kept], np.stack([spectrum.weight, spectrum.variance])[:, kept]
    if covered:
        slowest = FAINT * (1.0 - ball.momentum) / (ball.step * ball.steps)
        curvature, columns = thinned(curvature, columns, slowest)
    return columns[0], curvature, columns[1], spectrum.unseen + float(spectrum.variance[~kept].sum())


@functools.lru_cache(maxsize=32)
def _counted_modes(inputs: Inputs, run: Run) -> Modes:
    """The same for every N."""
    return counted_modes(Spectrum.of(inputs.gram(run.D).atoms()[0], run.D), run)


@functools.lru_cache(maxsize=8)
def _total(inputs: Inputs) -> float:
    """E|phi|^2 = tr Sigma."""
    atoms = inputs.population(1.0)
    return float(atoms.variance.sum()) + atoms.unseen


def _scaled_passes(inputs: Inputs, run: Run) -> float | None:
    """pi = eps P D^-x, x = (alpha2+1)/(alpha1+1); None where there is no such power law."""
    if not inputs.has_power_activations:
        return None
    law = inputs.power_activations()
    return run.sample_step * run.passes * math.pow(run.D, law.growth / law.decay)
