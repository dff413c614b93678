"""A one-layer transformer that learns facts, by torch on the CPU.

A sample is a line of ``LENGTH`` tokens: the token of the fact at a random place, noise tokens elsewhere,
and a query at the end, where the answer is read. One head of attention and one layer of ReLU units, both
with a residual. Noise has a vocabulary of its own. The network is tested on the tokens that it has seen, in
fresh lines.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.experiments.networks.network import DECAY_MEAN, DECAY_SQUARE, Network, NetworkDescent
from sparselaw.experiments.networks.train import Trained, Weights

LENGTH, NOISE, BATCH, TESTS = 6, 16, 512, 8


def train_transformer(
    network: Network,
    adam: NetworkDescent,
    counts: IntArray,
    answers: IntArray,
    choices: int,
    rng: np.random.Generator,
) -> tuple[Trained, FloatArray, float]:
    """The course of training, how often each token seen is answered wrongly in fresh lines, and the error
    rate on the lines it was trained on."""
    torch.manual_seed(int(rng.integers(2**31)))
    torch.set_num_threads(1)
    tokens = np.repeat(np.arange(counts.size), counts)
    lines, targets = _lines(tokens, counts.size, rng), torch.from_numpy(answers)[tokens]
    model: Any = _Block(counts.size + NOISE + 1, network.width, choices, adam.start)
    optimiser = torch.optim.Adam(model.parameters(), lr=adam.rate, betas=(DECAY_MEAN, DECAY_SQUARE))
    losses = np.zeros(adam.steps + 1)
    for step in range(adam.steps):
        shape = min(1.0, (step + 1) / adam.warm_up) * 0.5 * (1.0 + np.cos(np.pi * step / adam.steps))
        optimiser.param_groups[0]["lr"] = adam.rate * shape
        chosen = torch.from_numpy(rng.integers(0, tokens.size, size=min(BATCH, tokens.size)))
        loss = nn.functional.cross_entropy(model(lines[chosen]), targets[chosen])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses[step] = float(loss.detach())
    losses[-1] = losses[-2]
    fresh = np.repeat(np.arange(counts.size), TESTS)
    said = _said(model, _lines(fresh, counts.size, rng))
    wrong = (said != answers[fresh]).reshape(counts.size, TESTS).mean(axis=1)
    missed = float(np.mean(_said(model, lines) != targets.numpy()))
    none = np.zeros((0, network.width))
    weights = Weights(first=none, hidden=none[None], last=none)
    return Trained(weights=weights, losses=losses, gradient=0.0), wrong, missed


def _said(model: Any, lines: torch.Tensor) -> IntArray:
    """The network's answers, computed for a part of the lines at a time."""
    with torch.no_grad():
        answers: IntArray = torch.cat([model(part).argmax(dim=1) for part in lines.split(4096)]).numpy()
    return answers


def _lines(tokens: IntArray, vocabulary: int, rng: np.random.Generator) -> torch.Tensor:
    lines = vocabulary + rng.integers(0, NOISE, size=(tokens.size, LENGTH + 1))
    lines[np.arange(tokens.size), rng.integers(0, LENGTH, size=tokens.size)] = tokens
    lines[:, -1] = vocabulary + NOISE  # the query
    return torch.from_numpy(lines)


class _Block(nn.Module):  # type: ignore[misc,unused-ignore]
    def __init__(self, vocabulary: int, width: int, choices: int, start: float) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.place = nn.Parameter(start * torch.randn(LENGTH + 1, width))
        self.query, self.key, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.hidden, self.back = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.readout = nn.Linear(width, choices)

    def forward(self, lines: torch.Tensor) -> torch.Tensor:
        x = self.embedding(lines) + self.place
        asked = self.query(x[:, -1:]) @ self.key(x).transpose(1, 2) / x.shape[-1] ** 0.5
        x = x[:, -1] + (asked.softmax(dim=-1) @ self.value(x))[:, 0]
        x = x + self.back(torch.relu(self.hidden(x)))
        answer: torch.Tensor = self.readout(x)
        return answer
