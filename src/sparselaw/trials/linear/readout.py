"""One teacher, one label noise, one readout: for solvers whose answer cannot be averaged over teachers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sparselaw.arrays import FloatArray
from sparselaw.solvers import Solution, Solver
from sparselaw.solvers.equations import NormalEquations
from sparselaw.solvers.mixed_rows import MixedRows, Rows
from sparselaw.trials.linear.filter import prepare, weighted
from sparselaw.trials.linear.one_teacher import OneTeacher
from sparselaw.trials.linear.problem import LinearProblem
from sparselaw.trials.task import Task, random_stream


@dataclass(frozen=True, slots=True, kw_only=True)
class Readout:
    theta: FloatArray  # (k,) in the rows of the embedding; not finite where the descent diverged
    solution: Solution

    @property
    def diverged(self) -> bool:
        return self.solution.status == "diverged" or not bool(np.isfinite(self.theta).all())


def train(task: Task, drawn: OneTeacher) -> Readout:
    """The readout of one draw by the solver of ``task``."""
    noise = random_stream(task, "noise")
    if task.solver.by_samples:
        return train_on_samples(task.solver, drawn, noise, random_stream(task, "order"))
    return train_on_equations(task.solver, drawn.problem, drawn.teacher, noise)


def train_on_equations(
    solver: Solver, problem: LinearProblem, teacher: FloatArray, noise: np.random.Generator
) -> Readout:
    """The readout for teacher a (n,) by any solver that works on the normal equations."""
    eigenbasis = prepare(problem)
    label_noise = np.sqrt(problem.noise) * noise.standard_normal(eigenbasis.singular.size)
    target = eigenbasis.right.T @ teacher + label_noise
    equations = NormalEquations(
        eigenvalues=eigenbasis.eigenvalues,
        projections=(eigenbasis.singular * target / problem.samples)[:, None],
        samples=problem.samples,
    )
    solution = solver.solve(equations)
    return Readout(theta=eigenbasis.basis @ solution.coefficients[:, 0], solution=solution)


def train_on_samples(
    solver: Solver, drawn: OneTeacher, noise: np.random.Generator, order: np.random.Generator
) -> Readout:
    """The readout by a solver that takes one sample after the other.

    Each sample has its own label noise, so that with noise the targets are given sample by sample.
    """
    assert drawn.samples is not None
    problem, counts = drawn.problem, drawn.counts
    rows: Rows
    if solver.takes_mixed and isinstance(drawn.samples, sparse.csr_array):
        rows = MixedRows(samples=drawn.samples, mixing=problem.embedding)
    else:
        rows = np.asarray(drawn.samples @ problem.embedding.T)
    targets = np.asarray(drawn.samples @ drawn.teacher)
    if problem.noise > 0.0:
        if counts is not None:
            targets = np.repeat(targets, counts)
        targets = targets + np.sqrt(problem.noise) * noise.standard_normal(targets.size)
    solution = solver.solve_samples(rows, targets[:, None], order, counts)
    return Readout(theta=solution.coefficients[:, 0], solution=solution)


def loss_of_readout(problem: LinearProblem, teacher: FloatArray, readout: Readout) -> float:
    """The population loss, averaged over what the data never show."""
    if readout.diverged:
        return float("inf")
    theta = readout.theta
    with np.errstate(over="ignore", invalid="ignore"):  # noise whose squares no number holds
        error = teacher - problem.embedding.T @ theta
        seen = weighted(problem.covariance, error[:, None], None)
        return problem.floor + problem.unseen * (1.0 + float(theta @ theta) / problem.width) + seen
