"""Learning curves of real rows and their predictors, each against its naive twin."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

import sparselaw as sl
from oracles import measure as naive
from sparselaw.cli import main
from sparselaw.measuring.counting import load
from sparselaw.measuring.learning_curve import in_words, limited_by, verdict
from sparselaw.measuring.measured_losses import (
    Factored,
    left_open,
    projected_loss,
    random_signs,
    shuffled_columns,
)
from sparselaw.measuring.nonzeros import Values
from sparselaw.measuring.predicted_losses import RIDGE, Spectrum, cavity_loss, sparse_loss, spectrum
from sparselaw.measuring.readers.base import Reading
from sparselaw.plotting import figures

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "features"


def rows_of(seed, n, features, low=0.02, high=0.4):
    rng = np.random.default_rng(seed)
    dense = (rng.random((n, features)) < np.geomspace(high, low, features)) * rng.standard_normal(
        (n, features)
    )
    return sparse.csr_matrix(dense)


@pytest.mark.parametrize(("D", "features"), [(20, 60), (60, 20), (40, 40), (1, 30)])
def test_what_is_left_open_is_outside_of_the_span(D, features):
    x = rows_of(D, D + 30, features)
    train, test = x[:D], x[D:]
    expected = naive.projection_loss(train.toarray(), test.toarray())
    found = left_open(train, test)
    scale = found.squares.mean()
    np.testing.assert_allclose(found.open, expected, atol=1e-5 * scale)
    np.testing.assert_allclose(found.squares, (test.toarray() ** 2).sum(axis=1))


def test_rows_without_nonzeros_leave_all_open():
    x = rows_of(0, 20, 10)
    found = left_open(sparse.csr_matrix((5, 10)), x)
    assert (found.open == found.squares).all()


@pytest.mark.parametrize(("D", "features"), [(15, 40), (60, 12)])
def test_a_target_is_learnt_by_least_squares_of_smallest_norm(D, features):
    x = rows_of(3, D + 10, features)
    y = np.random.default_rng(0).standard_normal(D)
    weights = np.linalg.pinv(x[:D].toarray(), rcond=1e-8) @ y
    found = Factored(x[:D]).prediction(y, x[D:])
    np.testing.assert_allclose(found, x[D:].toarray() @ weights, atol=1e-4 * np.abs(weights).max())


def test_cavity_is_that_of_messages_one_by_one():
    x = rows_of(1, 12, 10, low=0.1, high=0.5)
    variance = np.linspace(1.0, 2.0, 10)
    ridge = RIDGE * float((x.data**2).mean())
    assert cavity_loss(x, variance) == pytest.approx(
        naive.cavity(x.toarray(), variance, ridge, 120), rel=1e-4
    )
    assert cavity_loss(sparse.csr_matrix((3, 10)), variance) == variance.sum()


def test_cavity_is_exact_on_a_tree():
    """Rows that share one feature: the graph is a star, and the mean over signs is what the cavity says."""
    x = sparse.csr_matrix(np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 2.0, 0.0]]))
    variance = np.array([1.0, 0.5, 0.3, 0.2])
    ridge = RIDGE * float((x.data**2).mean())
    losses = []
    for bits in range(16):
        signs = np.array([1.0 if bits >> i & 1 else -1.0 for i in range(4)])
        turned = x.copy()
        turned.data = x.data * signs
        dense = turned.toarray()
        inverse = np.linalg.inv(np.eye(4) + dense.T @ dense / ridge)
        losses.append(variance @ np.diag(inverse))
    assert cavity_loss(x, variance) == pytest.approx(np.mean(losses), rel=1e-4)


@pytest.mark.parametrize("D", [5, 20, 60])
def test_sparse_equivalent_is_the_sum_over_every_count(D):
    p, c = np.geomspace(0.5, 0.01, 50), np.linspace(0.5, 3.0, 50)
    assert sparse_loss(p, c, float(D)) == pytest.approx(naive.sparse_equivalent(p, c, D), rel=1e-6)


def test_the_density_of_eigenvalues_is_that_of_all(monkeypatch):
    x = rows_of(7, 900, 400, low=0.01, high=0.3)
    exact = spectrum(x)
    np.testing.assert_allclose(exact.total, (x.data**2).sum() / 900, rtol=1e-10)
    monkeypatch.setattr("sparselaw.measuring.predicted_losses.DENSE", 10)
    by_starts = spectrum(x)
    assert by_starts.weight.sum() == pytest.approx(400, rel=1e-6)
    for size in (10, 50, 150):
        assert by_starts.loss(size) == pytest.approx(exact.loss(size), rel=0.03)
    assert exact.loss(400) == 0.0


def test_gaussian_loss_is_that_of_the_dense_surface():
    j = np.arange(1.0, 3001.0)
    found = Spectrum(j**-2.3, np.ones(3000)).loss(40.0)
    surface = sl.predict(sl.DenseInputs(alpha=1.3, dimension=3000), N=10**7, D=40)
    assert found == pytest.approx(surface.loss, rel=0.01)


def test_random_projections_are_those_of_the_surface():
    """Gaussian rows of known eigenvalues, forty draws: within 5 %, where one draw scatters by 10 %."""
    rng = np.random.default_rng(0)
    scale = np.arange(1.0, 61.0) ** -0.9
    x = sparse.csr_matrix(rng.standard_normal((6000, 60)) * scale)
    found = [projected_loss(x[:5000], x[5000:], 12, np.random.default_rng(i)) for i in range(40)]
    losses = [part.open.sum() / part.squares.sum() for part in found]
    expected = Spectrum(scale**2, np.ones(60)).loss(12.0) / (scale**2).sum() * 5000 / (5000 - 13)
    assert np.mean(losses) == pytest.approx(expected, rel=0.05)


def test_scrambled_features_keep_what_they_should():
    x = rows_of(2, 300, 40)
    rng = np.random.default_rng(1)
    turned, moved = random_signs(x, rng), shuffled_columns(x, rng)
    np.testing.assert_array_equal(np.abs(turned.toarray()), np.abs(x.toarray()))
    assert (turned.data < 0).sum() not in (0, x.nnz)
    np.testing.assert_array_equal(np.sort(moved.toarray(), axis=0), np.sort(x.toarray(), axis=0))
    assert (moved.toarray() != x.toarray()).any(axis=0).sum() > 30


def test_the_cavity_is_right_on_both_sides_where_signs_are_fair():
    """Independent features with fair signs: measured and cavity within 4 % at each D, two draws of the rows.

    A draw of 3,000 test rows scatters by 1 %; the unseen variance alone, far too low at small D, would fail.
    """
    rng = np.random.default_rng(5)
    p = np.minimum(0.5, 3.0 / np.arange(1.0, 1001.0))
    dense = (rng.random((3500, 1000)) < p) * rng.choice([-1.0, 1.0], (3500, 1000))
    found = sl.learn(sparse.csr_matrix(dense), D=[60, 800], N=[], seeds=2)
    for point in found.curve:
        assert point.cavity == pytest.approx(point.measured.best, rel=0.04)
    assert found.curve[0].unseen < 0.7 * found.curve[0].measured.best
    assert found.sign_change < 0.03
    assert found.verdict in ("sparse", "unseen")


def test_features_that_act_together_are_told_by_the_verdict():
    rng = np.random.default_rng(0)
    hidden = (rng.random((3000, 12)) < 0.15) * rng.standard_normal((3000, 12))
    mixing = (
        (rng.random((12, 150)) < 0.3) * rng.standard_normal((12, 150)) * np.arange(1.0, 13.0)[:, None] ** -0.5
    )
    x = sparse.csr_matrix(hidden @ mixing + (rng.random((3000, 150)) < 0.05) * 0.3)
    found = sl.learn(x, D=[3, 8], N=[3], seeds=4)
    assert found.sign_change > 0.2
    assert found.verdict in ("covariance", "none")
    assert found.errors["gaussian"] < found.errors["cavity"]
    assert found.widths[0].gaussian == pytest.approx(found.widths[0].measured.best, rel=0.1)


def test_verdicts():
    assert verdict({"unseen": 0.05, "cavity": 0.01, "gaussian": 1.0}) == "unseen"
    assert verdict({"unseen": 0.6, "cavity": 0.03, "gaussian": 0.01}) == "sparse"
    assert verdict({"unseen": 0.6, "cavity": 0.09, "gaussian": 0.3}) == "sparse"
    assert verdict({"unseen": 0.6, "cavity": 0.3, "gaussian": 0.4}) == "none"
    assert "covariance" in in_words("sparse", {"cavity": 0.03, "gaussian": 0.01})
    assert "covariance" not in in_words("sparse", {"cavity": 0.03, "gaussian": 0.3})
    assert limited_by(0.3, 0.2, None) == "unseen"
    assert limited_by(0.3, 0.1, None) == "undetermined"
    assert limited_by(0.3, 0.2, 0.5) == "model-size"


def run(*arguments):
    with pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    return stop.value.code


def test_the_same_bytes_whatever_the_number_of_threads():
    x = sparse.random(400, 300, density=0.02, rng=1, format="csr")
    found = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads, user_api="blas"):
            found.append(json.dumps(sl.learn(x, seeds=2).as_dict()))
    assert found[0] == found[1] == found[2]


def test_the_command(tmp_path, capsys, monkeypatch):
    sparse.save_npz(tmp_path / "x.npz", rows_of(4, 400, 60))
    path = tmp_path / "x.npz"
    picture, page = tmp_path / "x.svg", tmp_path / "x.html"
    command = ("learn", path, "-D", "20,100", "-N", 8, "--seeds", 2, "--target", 3)
    assert run(*command, "--plot", picture, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert [p["D"] for p in said["curve"]] == [20, 100]
    for key in ("measured", "unseen", "sparse", "cavity", "gaussian", "signs", "shuffled", "target"):
        assert key in said["curve"][0]
    assert said["verdict"] in ("unseen", "sparse", "covariance", "none")
    assert said["features"] == 59
    assert picture.read_bytes().startswith(b"<?xml")
    monkeypatch.setattr(figures, "draw", lambda *_, **__: b"<svg/>")  # drawn above
    assert run("learn", path, "-D", 20, "--seeds", 1, "--report", page) == 0
    assert "limited by" in capsys.readouterr().out
    assert "Learning curve" in page.read_text()
    again = sl.learn(path, D=[20, 100], N=[8], seeds=2, target=3)
    assert json.loads(json.dumps(again.as_dict())) == said
    assert len(again.to_frame()) == 2
    assert "Learning curve" in again._repr_html_()


def test_what_cannot_be_learnt_is_refused(tmp_path, capsys):
    sparse.save_npz(tmp_path / "x.npz", rows_of(4, 400, 60))
    sparse.save_npz(tmp_path / "few.npz", rows_of(4, 40, 60))
    for arguments in (
        ("x.npz", "-D", 400), ("x.npz", "-N", 200, "-D", 20), ("x.npz", "--target", "nothing"), ("few.npz",),
        ("none.npz",), ("x.npz", "--target", 99),
    ):  # fmt: skip
        assert run("learn", tmp_path / arguments[0], *arguments[1:]) == 2, arguments
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.skipif(not SHARED.exists(), reason="the shared feature matrices are not here")
def test_latents_of_an_autoencoder_are_described_by_their_covariance():
    found = sl.learn(SHARED / "sae_charlm_20000x1024.npz", D=[32, 128, 512], N=[], seeds=4)
    assert found.verdict == "covariance"
    assert found.sign_errors["cavity"] < 0.05
    at = found.curve[1]
    assert at.measured.best == pytest.approx(0.491, rel=0.05)
    assert at.cavity / at.measured.best == pytest.approx(1.38, abs=0.08)


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.exists(), reason="the shared feature matrices are not here")
def test_words_of_sentences_are_described_by_the_cavity_on_both_sides():
    x = sparse.load_npz(SHARED / "review_sentences.npz")
    whole = sl.learn(x, D=[64, 256, 1024], N=[], seeds=3)
    some = x.tocsc()[:, np.random.default_rng(1).random(x.shape[1]) < 1 / 16].tocsr()
    few = sl.learn(some, D=[256, 1024, 4096], N=[], seeds=10)
    for found in (whole, few):
        for point in found.curve:
            assert point.cavity == pytest.approx(point.signs.best, rel=0.05)
    assert whole.curve[-1].measured.best == pytest.approx(0.336, rel=0.05)
    assert whole.verdict == "sparse"
    assert few.verdict in ("unseen", "sparse")


@pytest.mark.slow
def test_tokens_of_the_standard_library_are_described_by_the_cavity():
    found = sl.learn("stdlib", D=[64, 512, 4096], N=[], seeds=2)
    for point in found.curve:
        assert point.cavity == pytest.approx(point.signs.best, rel=0.05)
    assert found.verdict in ("sparse", "unseen")


@pytest.mark.slow
def test_half_of_the_tokens_are_described_on_both_sides():
    """A random half of the tokens: rows outnumber the tokens seen from D = 256 on."""
    x = load("stdlib", values=Values(), reading=Reading()).x.tocsr()
    half = x[:, np.sort(np.random.default_rng(0).permutation(x.shape[1])[: x.shape[1] // 2])]
    found = sl.learn(half[np.diff(half.indptr) > 0], D=[16, 64, 256, 1024, 2048], N=[], seeds=6)
    assert found.curve[0].K > 1.8 * found.curve[0].D
    assert found.curve[-1].K < 0.7 * found.curve[-1].D
    for point in found.curve:
        assert point.cavity == pytest.approx(point.signs.best, rel=0.05)
    assert found.verdict == "sparse"


@pytest.mark.parametrize("size", [1e140, 1e-140])
def test_the_size_of_the_values_does_not_matter(size):
    """Losses are shares: squares near the ends of what a number can be do not change them."""
    x = sparse.random_array((200, 60), density=0.05, rng=np.random.default_rng(0), format="csr")
    usual, other = (sl.learn(x * factor, D=[20], N=[4], seeds=2) for factor in (1.0, size))
    for name in ("unseen", "sparse", "cavity", "gaussian"):
        assert getattr(other.curve[0], name) == pytest.approx(getattr(usual.curve[0], name), rel=1e-6)
    assert other.curve[0].measured.high == pytest.approx(usual.curve[0].measured.high, rel=1e-6)
    assert other.widths[0].measured.best == pytest.approx(usual.widths[0].measured.best, rel=1e-6)


def test_the_smallest_numbers_are_learned_as_ones():
    """2^-1074 has no reciprocal: values are scaled by their exponents."""
    x = (np.random.default_rng(0).random((200, 40)) < 0.05) * 1.0
    one, tiny = (sl.learn(x * size, D=[20], N=[2], seeds=2) for size in (1.0, 5e-324))
    assert tiny.curve[0].measured == one.curve[0].measured
