"""Trained linear features: reduced-rank regression against dense numpy, and the closed form beside it."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import sparselaw as sl
import sparselaw.trials.linear_trials as engine
from sparselaw.cli import main
from sparselaw.data.scaled_gram import Directions
from sparselaw.data.sparse_samples import draw_sparse
from sparselaw.inputs import SparseInputs
from sparselaw.theory.reduced_rank import tail_constant, trained_loss
from sparselaw.trials.run import run
from sparselaw.trials.task import Task, random_stream


def task_of(alpha1=1.0, N=6, D=300, outputs=20, seed=0, **settings):
    inputs = SparseInputs(alpha1=alpha1, alpha2=0.3, **settings.pop("inputs", {}))
    return Task(inputs=inputs, N=N, D=D, seed=seed, features="trained", outputs=outputs, **settings)


def dense_data(task):
    """X over the active coordinates (K, D), with the active coordinates."""
    data = draw_sparse(task.inputs, task.D, random_stream(task, "data"))
    X = np.zeros((data.active.size, task.D))
    X[data.column, data.sample] = data.sign * task.inputs.amplitudes(data.active)[data.column]
    return X, data.active


def naive_loss(task):
    """|Y - B X|^2 with rank B <= N: truncate the singular values of Y, on the samples themselves."""
    X, active = dense_data(task)
    T = random_stream(task, "teacher").standard_normal((task.outputs, active.size))
    U, S, V = np.linalg.svd(T @ X, full_matrices=False)
    kept = min(task.N, S.size)
    B = (U[:, :kept] * S[:kept]) @ V[:kept] @ np.linalg.pinv(X, rcond=1e-12)
    seen = np.sum((T - B) ** 2, axis=0) @ task.inputs.variances(active) / task.outputs
    everything = task.inputs.tail_variance(0)
    return seen + everything - task.inputs.variances(active).sum()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("alpha1", "N", "outputs"), [(1.0, 6, 20), (2.0, 3, 5), (0.5, 10, 100), (1.0, 1, 2)])
def test_the_optimum_is_that_of_a_dense_decomposition(alpha1, N, outputs, seed, monkeypatch):
    """Groups of coordinates only seen together are left as they are here, as numpy leaves them."""
    monkeypatch.setattr(
        engine, "told_apart", lambda gram, variance: Directions(gram=gram, variance=variance, across=0.0)
    )
    task = task_of(alpha1=alpha1, N=N, outputs=outputs, seed=seed)
    assert run(task).loss == pytest.approx(naive_loss(task), rel=1e-9)


@pytest.mark.parametrize("outputs", [1, 8])
def test_as_many_units_as_outputs_learn_all_that_was_seen(outputs):
    """tr(Sigma (I - P)): exact over the teacher, the same for every width from then on."""
    task = task_of(alpha1=0.4, N=outputs, D=100, outputs=outputs)
    X, active = dense_data(task)
    P = X @ np.linalg.pinv(X)
    inside = np.sum((np.eye(active.size) - P) ** 2, axis=0) @ task.inputs.variances(active)
    record = run(task)
    assert record.loss == pytest.approx(inside + record.control, rel=1e-9)
    assert record.rank < record.seen  # some coordinates were only seen together
    assert "teacher" in record.averaged
    assert run(task_of(alpha1=0.4, N=1000, D=100, outputs=1)).averaged == record.averaged


def test_label_noise_is_fitted_where_there_is_room():
    clean, noisy = (np.mean([run(task_of(seed=s, noise=q)).loss for s in range(5)]) for q in (0.0, 0.1))
    assert clean < noisy < clean + 0.1 * 20  # at most noise of every direction


@pytest.mark.parametrize("spectrum", [1.8, 3.3])
def test_the_constant_is_that_of_drawn_outputs(spectrum):
    """Against the singular values of drawn outputs; 4 standard errors (false alarm 1e-4 for each of six)."""
    m, rng = 120, np.random.default_rng(1)
    s = np.arange(1.0, 3001.0) ** -spectrum
    left = []
    for _ in range(10):
        values = np.linalg.svd(rng.standard_normal((m, s.size)) * np.sqrt(s), compute_uv=False) ** 2 / m
        left.append([values[N:].sum() / s[N:].sum() for N in (30, 60, 90)])
    mean, error = np.mean(left, axis=0), np.std(left, axis=0, ddof=1) / math.sqrt(10)
    finite = 0.02  # of the limit of large N, m and dimension
    for i, N in enumerate((30, 60, 90)):
        assert abs(mean[i] - tail_constant(N / m, spectrum)) < 4 * error[i] + finite * mean[i]
        assert abs(mean[i] - tail_constant(1.3 * N / m, spectrum)) > 4 * error[i] + finite * mean[i]
    assert tail_constant(0.0, spectrum) == 1.0
    assert tail_constant(1.0, spectrum) == 0.0


@pytest.mark.parametrize(("alpha1", "N", "D", "outputs"), [(1.0, 16, 5000, 64), (2.0, 8, 2000, 500)])
def test_theory_and_trials(alpha1, N, D, outputs):
    """4 standard errors and 3 % (false alarm 1e-4); a constant of one, the planted error, is out."""
    tasks = [task_of(alpha1=alpha1, N=N, D=D, outputs=outputs, seed=seed) for seed in range(20)]
    loss = np.array([run(task).loss for task in tasks])
    allowed = 4 * loss.std(ddof=1) / math.sqrt(loss.size) + 0.03 * loss.mean()
    theory = trained_loss(tasks[0].inputs, N, D, outputs)
    assert abs(loss.mean() - theory) < allowed
    if outputs == 64:
        assert abs(loss.mean() - trained_loss(tasks[0].inputs, N, D, 10**6)) > allowed


def test_the_peak_is_gone():
    """At N a little above K frozen features lose many times the unseen variance, trained ones do not."""
    model = SparseInputs(alpha1=1.0, alpha2=0.3)
    frozen = sl.simulate(model, N=80, D=1500, seeds=5, workers=1)
    trained = sl.simulate(model, N=80, D=1500, seeds=5, features="trained", outputs=500, workers=1)
    assert (frozen["loss"] / frozen["control"]).median() > 3
    assert (trained["loss"] / trained["control"]).median() < 1.1


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"solver": sl.Ridge(ridge=0.1)}, "solver"),
        ({"estimator": "raw"}, "estimator"),
        ({"outputs": 0}, "outputs"),
    ],
)
def test_refusals(settings, name):
    with pytest.raises(sl.InputError, match=f"{name}="):
        task_of(**settings)


def test_outputs_belong_to_trained_features():
    with pytest.raises(sl.InputError, match="outputs=3"):
        Task(inputs=SparseInputs(alpha1=1.0, alpha2=0.3), N=4, D=10, outputs=3)
    dense = sl.DenseInputs(alpha=1.3)
    with pytest.raises(sl.InputError, match="features=trained"):
        run(Task(inputs=dense, N=4, D=10, features="trained"))


def test_the_command_shows_ratio_and_slope(tmp_path, capsys):
    arguments = (
        "simulate --alpha1 1 --alpha2 0.3 -N 500 -D 50,100,200 --seeds 3 --features trained --outputs 40"
    )
    with pytest.raises(SystemExit) as stop:
        main([*arguments.split(), "--json", "--quiet", "--store", str(tmp_path / "runs.sqlite")])
    assert stop.value.code == 0
    shown = json.loads(capsys.readouterr().out)
    for cell in shown["cells"]:
        assert cell["ratio"]["low"] <= cell["ratio"]["best"] <= cell["ratio"]["high"]
        assert cell["unseen"] <= cell["mean"] * (1 + 1e-9)
        assert cell["theory"] == pytest.approx(cell["mean"], rel=1.0)
    assert shown["ratio_slope"]["low"] <= 0.05
    assert shown["width_slope"] is None
    assert shown["width_slope_reason"]
