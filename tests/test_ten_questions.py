"""The ten questions of the site's first page: each command runs, and its first screen answers."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sparselaw.cli import main

INDEX = Path(__file__).parent.parent / "docs" / "index.md"
ROW = re.compile(r"^\| (?P<asked>[^|]+\?) \| `(?P<command>sparselaw [^`]+)` \| \[", re.MULTILINE)
QUESTIONS = {found["asked"]: found["command"] for found in ROW.finditer(INDEX.read_text("utf-8"))}
SCREEN = 25  # lines
NUMBER = r"-?\d[\d.,]*(?:e[-+]\d+)?(?: ?%|[kMBT])?"
# A number and its interval; or how wide an interval is now and will be, which is what `next` is about.
ANSWER = re.compile(
    rf"\d[^\n]*\[{NUMBER}, {NUMBER}\]|interval of the forecast goes from {NUMBER} to {NUMBER} wide"
)
NEXT = re.compile(r"^next: \w|; more: sparselaw \w+ ", re.MULTILINE)
THEORY = ("sparsity", "coupling g", "alpha1")


def made_runs(better=1.0):
    """Forty runs at five budgets, by Chinchilla's law with 0.3 % of noise."""
    rng = np.random.default_rng(3)
    C = np.repeat([1e19, 3e19, 1e20, 3e20, 1e21], 8)
    N = np.sqrt(C / (6.0 * np.tile(np.geomspace(3.0, 200.0, 8), 5)))
    D = C / (6.0 * N)
    loss = better * (1.7 + 480.0 * N**-0.35 + 1400.0 * D**-0.36) * np.exp(0.003 * rng.standard_normal(N.size))
    return pd.DataFrame({"N": N.round(), "D": D.round(), "loss": loss})


def made_curves():
    """A cosine and a constant rate, 24,000 steps each."""
    step = np.arange(200, 24_001, 200)
    warm = np.minimum(step / 1_000, 1.0)
    cosine = 0.55 + 0.45 * np.cos(np.pi * np.clip((step - 1_000) / 23_000, 0, 1))
    parts = []
    for i, (run, lr) in enumerate({"cosine": 3e-4 * warm * cosine, "constant": 3e-4 * warm}.items()):
        noise = np.exp(3e-4 * np.random.default_rng(i).standard_normal(step.size))
        loss = (3.0 + 0.3 * (np.cumsum(lr) / 0.03) ** -0.5 + 200 * lr) * noise
        parts.append(pd.DataFrame({"run": run, "step": step, "lr": lr, "loss": loss}))
    return pd.concat(parts)


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    folder = tmp_path_factory.mktemp("desk")
    made_runs().to_csv(folder / "runs.csv", index=False)
    made_runs().to_csv(folder / "adamw.csv", index=False)
    made_runs(0.985).to_csv(folder / "muon.csv", index=False)
    made_curves().to_csv(folder / "curves.csv", index=False)
    shapes = made_runs()
    shapes["n_layers"] = np.maximum(2, (shapes["N"] / 1.5e6) ** (1 / 3)).round()
    shapes["d_model"] = np.sqrt(shapes["N"] / (12 * shapes["n_layers"])).round()
    shapes["N"] += (32_000 * shapes["d_model"]).round()
    shapes.to_csv(folder / "shapes.csv", index=False)
    rng = np.random.default_rng(0)
    rare = (rng.random((600, 80)) < np.geomspace(0.3, 0.004, 80)) * rng.standard_normal((600, 80))
    sparse.save_npz(folder / "features.npz", sparse.csr_array(rare))
    return folder


def test_there_are_ten():
    assert len(QUESTIONS) == 10
    assert len(set(QUESTIONS.values())) == 10


@pytest.mark.parametrize("asked", QUESTIONS)
def test_the_first_screen_answers(asked, desk, monkeypatch, capsys):
    monkeypatch.chdir(desk)
    words = shlex.split(QUESTIONS[asked])[1:]
    if words[0] == "fit" or "--unique-data" in words:
        words += ["--bootstrap", "30"]  # in place of a thousand draws
    with pytest.raises(SystemExit) as stop:
        main(words)
    out, err = capsys.readouterr()
    assert stop.value.code == 0, err
    screen = "\n".join(out.splitlines()[:SCREEN])
    assert ANSWER.search(screen), "no number with an interval"
    assert NEXT.search(screen), "no next step"
    if words[0] == "fit":
        assert [word for word in THEORY if word in out.lower()] == []


ON_THE_SAME = {
    "fit runs.csv --where N>1e8 --columns loss=loss --bootstrap 0": "--where 'N>1e8' --columns loss=loss",
    "forecast runs.csv --best --budget 1e22": "--best",
    "plan runs.csv --final --group run --budget 1e22": "--group run --final",
    "compare adamw.csv muon.csv --where N>1e8 --budget 1e22": "--where 'N>1e8'",
    "measure features.npz --binary --threshold 0.5": "--threshold 0.5 --binary",
}


@pytest.mark.parametrize("asked", ON_THE_SAME)
def test_the_next_step_goes_on_with_the_same_rows(asked, desk, monkeypatch, capsys):
    monkeypatch.chdir(desk)
    named = pd.read_csv("runs.csv")
    named.assign(run=named.index).to_csv("runs.csv", index=False)
    with pytest.raises(SystemExit):
        main(asked.split())
    steps = re.findall(r"(?:more|next: .*): sparselaw (.*)", capsys.readouterr().out)
    assert steps
    for step in steps:
        assert ON_THE_SAME[asked] in step
    with pytest.raises(SystemExit) as stop:
        main(shlex.split(steps[-1]))
    assert stop.value.code == 0, capsys.readouterr().err
