r"""Milliseconds a step of full-batch Adam: the compiled loop over nonzeros against torch, in one run.

    python benchmarks/networks_against_torch.py (needs the extra torch) \
      | python docs/quote_results.py --keep networks-against-torch
    python benchmarks/networks_against_torch.py --sweep     (five data sizes, ten seeds, as a user runs it)

Both train the same network on the same distinct samples from the same start, one thread each. torch adds the
rows of a sample's nonzeros by embedding_bag, its fastest way to read sparse rows. The weights after the steps
are compared, so that the same work is timed. Times are of the processor.
"""

from __future__ import annotations

import math
import sys
import time

import numpy as np

import sparselaw as sl
from sparselaw.data.sparse_samples import distinct_patterns, draw_sparse
from sparselaw.experiments.networks.train import Lesson, draw_weights, train

STEPS = 100
SIZES = (250, 4_000, 64_000)
KINDS = (sl.Network(2, 64, "linear"), sl.Network(2, 64, "relu"), sl.Network(3, 32, "relu"))


def lesson_of(D):
    inputs, rng = sl.SparseInputs(alpha1=1.0, alpha2=0.3), np.random.default_rng(0)
    data = draw_sparse(inputs, D, rng)
    patterns = distinct_patterns(inputs, data)
    rows = patterns.matrix(data.active.size)
    targets = rows @ rng.standard_normal((data.active.size, 1))
    return Lesson(rows, patterns.counts / patterns.counts.sum(), targets)


def by_torch(network, adam, lesson, start):
    import torch

    torch.set_num_threads(1)
    first, *rest = (
        torch.tensor(layer.copy(), requires_grad=True) for layer in (start.first, *start.hidden, start.last)
    )
    column, offsets = torch.tensor(lesson.samples.indices), torch.tensor(lesson.samples.indptr[:-1])
    value, weight = torch.tensor(lesson.samples.data), torch.tensor(lesson.weight)[:, None]
    targets = torch.tensor(lesson.targets)
    optimiser = torch.optim.Adam([first, *rest], lr=adam.rate, betas=(0.9, 0.99), eps=1e-10)
    for step in range(adam.steps):
        shape = min(1.0, (step + 1) / adam.warm_up) * 0.5 * (1.0 + math.cos(math.pi * step / adam.steps))
        optimiser.param_groups[0]["lr"] = adam.rate * shape
        act = torch.nn.functional.embedding_bag(column, first, offsets, mode="sum", per_sample_weights=value)
        for layer in rest:
            act = (act if network.is_linear else act.relu()) @ layer.T
        loss = (weight * (act - targets) ** 2).sum() / targets.shape[1]
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return first.detach().numpy()


def timed(run, *arguments):
    run(*arguments)  # compiled, and in the cache
    best = math.inf
    for _ in range(3):
        begun = time.process_time()
        result = run(*arguments)
        best = min(best, time.process_time() - begun)
    return best, result


def main():
    adam = sl.Adam(steps=STEPS)
    print("| network | D | distinct | ours, ms | torch, ms | ratio |")
    print("|---|---|---|---|---|---|")
    for network in KINDS:
        for D in SIZES:
            lesson = lesson_of(D)
            start = draw_weights(network, adam, lesson.samples.shape[1], 1, np.random.default_rng(1))
            ours, trained = timed(train, network, adam, lesson, start)
            theirs, first = timed(by_torch, network, adam, lesson, start)
            gap = np.abs(first - trained.weights.first).max()
            kind = network.activation.replace("relu", "ReLU")
            print(
                f"| {kind}, depth {network.depth}, N = {network.width} | {D:,} | {lesson.weight.size:,} | "
                f"{1e3 * ours / STEPS:.2g} | {1e3 * theirs / STEPS:.2g} | {theirs / ours:.2g} |",
                flush=True,
            )
            print(f"weights differ by {gap:.1e}", file=sys.stderr)


def sweep():
    begun = time.perf_counter()
    model = sl.SparseInputs(alpha1=1.0, alpha2=0.3)
    study = sl.train_networks(model, sl.Network(2, 64, "relu"), D=[250, 1000, 4000, 16_000, 64_000], seeds=10)
    print(f"D-sweep of five sizes, ten seeds, ReLU, N = 64: {time.perf_counter() - begun:.0f} s")
    print("\n".join(study.says()))


if __name__ == "__main__":
    if "--sweep" in sys.argv:
        sweep()
    else:
        main()
