"""Tabulated inputs: a power law given as a table is the power law; no coordinate need be always active."""

import json
import pickle

import numpy as np
import pytest
from scipy import sparse

import sparselaw as sl
from sparselaw.cli import main
from sparselaw.data.scaled_gram import scaled_gram
from sparselaw.data.sparse_samples import distinct_patterns, draw_sparse, sign_matrix
from sparselaw.errors import InputError
from sparselaw.inputs.tabulated import grouped

M = 800
J = np.arange(1.0, M + 1.0)
POWER = sl.SparseInputs(alpha1=0.6, alpha2=0.3, dimension=M)
TABLE = sl.TabulatedInputs(J**-1.6, J**-1.3)
RARE = sl.TabulatedInputs(np.geomspace(0.3, 0.002, 40), np.linspace(0.5, 2.0, 40))


@pytest.mark.parametrize(("N", "D"), [(8, 300), (600, 300), (30, 20_000), (2000, 20_000), (20, 15)])
def test_a_power_law_as_a_table_is_the_power_law(N, D):
    for surface in ("leading", "sharp"):
        one, other = (sl.predict(x, N=N, D=D, surface=surface) for x in (POWER, TABLE))
        assert other.loss == pytest.approx(one.loss, rel=1e-9 if surface == "leading" else 2e-4)
        assert other.K == pytest.approx(one.K, rel=1e-9)
    with_ridge = [
        sl.predict(x, N=N, D=D, ridge=0.3, noise=0.1, surface="leading").loss for x in (POWER, TABLE)
    ]
    assert with_ridge[1] == pytest.approx(with_ridge[0], rel=1e-9)


def test_order_does_not_matter_and_identity_is_the_table():
    turned = sl.TabulatedInputs((J**-1.6)[::-1], (J**-1.3)[::-1])
    assert turned == TABLE
    assert hash(turned) == hash(TABLE)
    assert pickle.loads(pickle.dumps(TABLE)) == TABLE
    assert sl.TabulatedInputs.from_parameters(TABLE.parameters()) == TABLE
    assert TABLE != RARE


def test_trials_agree_with_theory_where_nothing_is_always_active():
    """Means of 30 seeds within four standard errors and the theory's own error: false alarm 1 in 16,000."""
    for N, D in ((10, 400), (100, 400), (100, 30)):
        runs = sl.simulate(RARE, N=N, D=D, seeds=30, workers=1)
        point = sl.predict(RARE, N=N, D=D)
        mean, error = runs["loss"].mean(), runs["loss"].std() / np.sqrt(30)
        allowed = 4.0 * error + (point.loss_error + 0.02) * point.loss
        assert abs(mean - point.loss) < allowed, (N, D, mean, point.loss, error)
    assert abs(0.7 * mean - point.loss) > allowed


def test_drawn_data_have_the_law():
    data = draw_sparse(RARE, 20_000, np.random.default_rng(0))
    counts = np.bincount(data.column, minlength=data.active.size)
    expected = 20_000 * RARE.probabilities(data.active)
    assert np.all(np.abs(counts - expected) < 5.0 * np.sqrt(expected))


def test_the_gram_is_that_of_the_signs():
    data = draw_sparse(RARE, 300, np.random.default_rng(1))
    gram = scaled_gram(data, RARE.amplitudes(data.active))
    signs = sign_matrix(data).toarray().astype(float)
    length = np.sqrt((signs**2).sum(axis=1))
    expected = np.tril(signs @ signs.T / np.outer(length, length))
    np.testing.assert_allclose(gram.correlation.toarray(), expected, atol=1e-12)


def test_patterns_may_be_empty():
    sparse_inputs = sl.TabulatedInputs([0.2, 0.1], [1.0, 2.0])
    data = draw_sparse(sparse_inputs, 2000, np.random.default_rng(2))
    patterns = distinct_patterns(sparse_inputs, data)
    assert patterns.counts.sum() == 2000
    assert patterns.counts.size == 9  # nothing, two signs each, four together
    rows = patterns.matrix(2).toarray()[patterns.inverse]
    whole = sign_matrix(data).toarray().T * np.sqrt(sparse_inputs.squared_amplitudes(data.active))
    np.testing.assert_allclose(rows, whole)


def test_data_without_a_nonzero_leave_everything_open():
    hardly = sl.TabulatedInputs([1e-6, 1e-7], [1.0, 2.0])
    for features in ("linear", "relu"):
        runs = sl.simulate(hardly, N=4, D=3, seeds=2, features=features, workers=1)
        assert runs["loss"].tolist() == pytest.approx([1.2e-6] * 2)


def test_relu_features_run():
    runs = sl.simulate(RARE, N=12, D=60, seeds=2, features="relu", workers=1)
    assert (runs["status"] == "ok").all()
    assert runs["loss"].between(0.0, 3.0 * RARE.tail_variance(0)).all()


def test_neighbours_are_put_together_only_where_there_are_many():
    rng = np.random.default_rng(0)
    p, c = np.sort(rng.random(30_000))[::-1] * 0.01, np.exp(rng.standard_normal(30_000))
    weight, p_cell, c_cell = grouped(p, c)
    assert weight.sum() == 30_000
    assert weight @ (p_cell * c_cell) == pytest.approx(p @ c, rel=1e-12)
    exact, cells = (p * c) @ (1 - p) ** 300, weight * p_cell * c_cell @ (1 - p_cell) ** 300
    assert cells == pytest.approx(exact, rel=1e-4)
    again = grouped(np.array([0.5, 0.5, 0.1]), np.array([1.0, 1.0, 1.0]))
    assert sorted(again[0].tolist()) == [1.0, 2.0]


def test_a_tail_continues_the_table():
    head = sl.TabulatedInputs(J[:100] ** -1.6, J[:100] ** -1.3)
    longer = head.continued(0.6, eta=1.3 / 1.6, rarest=M**-1.6)
    assert longer.dimension == pytest.approx(M, abs=1)
    one, other = (sl.predict(x, N=2000, D=3000).loss for x in (TABLE, longer))
    assert other == pytest.approx(one, rel=0.35)  # the tail starts at the mean amplitude of the last 32
    assert sl.predict(head, N=2000, D=3000).loss < 0.3 * one


@pytest.fixture
def measured(tmp_path, capsys):
    data = draw_sparse(RARE, 4000, np.random.default_rng(3))
    matrix = sign_matrix(data).T.tocsr() @ sparse.diags_array(RARE.amplitudes(data.active))
    sparse.save_npz(tmp_path / "x.npz", sparse.csr_array(matrix))
    with pytest.raises(SystemExit):
        main(["measure", str(tmp_path / "x.npz"), "--json"])
    (tmp_path / "measured.json").write_text(capsys.readouterr().out)
    return tmp_path / "measured.json"


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    return stop.value.code


def test_commands_take_a_measurement(measured, capsys):
    assert run("predict", "--inputs", measured, "-N", "10,100", "-D", 400, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["regime"] is None
    assert said["points"][0]["loss"] == pytest.approx(sl.predict(RARE, N=10, D=400).loss, rel=0.1)
    assert (
        run("simulate", "--inputs", measured, "-N", 10, "-D", 400, "--seeds", 3, "--workers", 1, "--json")
        == 0
    )
    cell = json.loads(capsys.readouterr().out)["cells"][0]
    assert cell["theory"] == pytest.approx(said["points"][0]["loss"])
    assert run("plan", "--inputs", measured, "--budget", 1e5, "--json") == 0
    assert json.loads(capsys.readouterr().out)["N"]["best"] > 1
    assert (
        run("failure", "--inputs", measured, "-D", 30, "--threshold", 0.6, "--replicates", 50, "--json") == 0
    )
    assert json.loads(capsys.readouterr().out)["points"][0]["probability"]["high"] > 0.0
    assert run("predict", "--inputs", measured, "--alpha1", 1, "-N", 4, "-D", 9) == 2
    assert "leave out --alpha1" in capsys.readouterr().err


def test_what_is_no_table_is_refused(tmp_path, capsys):
    for p, c in (
        ([], []),
        ([0.5, 0.1], [1.0]),
        ([1.5], [1.0]),
        ([0.0], [1.0]),
        ([0.5], [-1.0]),
        (["a"], [1.0]),
    ):
        with pytest.raises(sl.InputError):
            sl.TabulatedInputs(p, c)
    for text in ("[1, 2]", "{", '{"table": {}}'):
        (tmp_path / "x.json").write_text(text)
        assert run("predict", "--inputs", tmp_path / "x.json", "-N", 4, "-D", 9) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert run("predict", "--inputs", tmp_path / "none.json", "-N", 4, "-D", 9) == 2


def test_failure_of_a_table_is_that_of_the_law():
    """Direct draws of both: within their 95 % intervals of each other."""
    power = sl.SparseInputs(alpha1=1.5, alpha2=-2.0, dimension=400)
    j = np.arange(1.0, 401.0)
    table = sl.TabulatedInputs(j**-2.5, j)
    (one,) = sl.failure_probability(power, D=50, threshold=2.0)
    (other,) = sl.failure_probability(table, D=50, threshold=2.0, replicates=600)
    assert other.spike == pytest.approx(one.spike, rel=1e-9)
    assert other.probability.low <= one.probability.high
    assert one.probability.low <= other.probability.high
    (alone,) = sl.failure_probability(table, D=50, threshold=2.0, method="exact-spike")
    assert alone.spike == other.spike
    with pytest.raises(sl.InputError, match="importance"):
        sl.failure_probability(table, D=50, threshold=2.0, method="importance")
    (enough,) = sl.failure_probability(table, D=50, threshold=2.0, replicates=600, failures=3)
    assert (enough.status, enough.reason) == ("ok", "")
    (rare,) = sl.failure_probability(table, D=2000, threshold=2.0, replicates=40)
    assert rare.status == "few-failures"
    assert "no importance sampling" in rare.reason
    assert rare.bulk.best == 0.0
    assert rare.bulk.high > 0.05  # all that forty data sets can exclude


def test_amplitudes_are_refused_by_the_name_that_does_not_say_squared():
    assert sl.TabulatedInputs([0.5, 0.1], squared_amplitudes=[1.0, 2.0]).dimension == 2
    for given in ({"amplitudes": [1.0, 2.0]}, {}):
        with pytest.raises(sl.InputError, match="write squared_amplitudes"):
            sl.TabulatedInputs([0.5, 0.1], **given)


@pytest.mark.parametrize("text", ["[" * 90_000, '{"x":' * 5_000 + "1" + "}" * 5_000, "\0", "", "[1e999]"])
def test_a_file_that_is_no_measurement_is_refused(text, tmp_path):
    file = tmp_path / "inputs.json"
    file.write_text(text)
    with pytest.raises(InputError, match="is no"):
        sl.TabulatedInputs.from_file(file)


@pytest.mark.parametrize(
    "changed",
    [{"features": [1.5, 1]}, {"features": ["1", "2"]}, {"features": [[1], [2]]}, {"features": [-1, 2]},
     {"features": []}, {"rows": -3}, {"rows": 2}, {"squares": [1.0]}, {"squares": [1e308, 1e-320]}],
)  # fmt: skip
def test_a_table_that_cannot_be_is_refused(changed, tmp_path):
    table = {"rows": 100, "count": [5, 2], "squares": [5.0, 2.0], "features": [3, 4]}
    file = tmp_path / "inputs.json"
    file.write_text(json.dumps({"table": table}))
    assert sl.TabulatedInputs.from_file(file).dimension == 7
    file.write_text(json.dumps({"table": table | changed}))
    with pytest.raises(InputError):
        sl.TabulatedInputs.from_file(file)


def test_a_measurement_of_version_0_2_is_read(tmp_path):
    found = sl.measure(np.eye(40, 12) * np.arange(1.0, 13.0)).as_dict()
    assert found["energy"] == found["variance"]
    found["table"]["energy"] = found["table"].pop("squares")
    (tmp_path / "old.json").write_text(json.dumps(found))
    old = sl.TabulatedInputs.from_file(tmp_path / "old.json")
    assert old == sl.TabulatedInputs(np.full(12, 1 / 40), np.arange(1.0, 13.0) ** 2)


@pytest.mark.parametrize("size", [1e-140, 1e140])
def test_amplitudes_at_the_ends_of_what_they_may_be(size):
    with pytest.raises(InputError, match="another unit"):
        sl.TabulatedInputs([0.5, 0.1], [size**1.1, size**1.1])
    assert sl.predict(sl.TabulatedInputs([0.5, 0.1], [size, size]), N=1, D=20).loss > 0.0


def test_a_file_larger_than_any_measurement_is_not_read(tmp_path):
    file = tmp_path / "inputs.json"
    with file.open("wb") as opened:
        opened.truncate(1 << 28)
    with pytest.raises(InputError, match="larger than any measurement"):
        sl.TabulatedInputs.from_file(file)
