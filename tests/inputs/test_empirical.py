"""Somebody's own rows: their law, training on them, files, refusals."""

import itertools
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import sparselaw as sl
from sparselaw.errors import InputError
from sparselaw.files import limited_to
from sparselaw.gram.empirical import law_of_rows
from sparselaw.nonlinear.width_limit import total_variance

FEATURES = Path(__file__).parents[2].parent / "shared" / "data" / "features"


def some_rows(rows=600, columns=80, seed=0):
    """Correlated columns, heavy tails, half of the entries zero."""
    rng = np.random.default_rng(seed)
    mixing = rng.standard_normal((columns, columns)) * np.arange(1.0, columns + 1.0) ** -0.7
    scale = rng.standard_exponential((rows, 1))
    values = scale * (rng.standard_normal((rows, columns)) @ mixing.T) / math.sqrt(columns)
    return values * (rng.random((rows, columns)) < 0.5)


def trained(inputs, N, D, steps, step, noise, rng):
    """The loss on other rows of one draw of rows and of one embedding, averaged over teachers and noise."""
    train, other = (np.asarray(part) for part in inputs.draw(D, rng))
    u = rng.standard_normal((N, train.shape[1])) / math.sqrt(N)
    curvature, V = np.linalg.eigh(u @ (train.T @ train / D) @ u.T)
    rest = (1.0 - step * np.maximum(curvature, 0.0)) ** steps
    fitted = np.where(curvature > 1e-12, (1.0 - rest) / np.where(curvature > 1e-12, curvature, 1.0), 0.0)
    readout = (V * fitted) @ V.T @ (u @ (train.T @ train / D))
    sigma = other.T @ other / len(other)
    error = np.eye(len(sigma)) - u.T @ readout
    loss = float(np.trace(error.T @ sigma @ error))
    moved = (V * (noise / D * fitted**2 * np.maximum(curvature, 0.0))) @ V.T
    return loss + float(np.trace(u @ sigma @ u.T @ moved))


@pytest.mark.parametrize("D", [1, 4, 9])
@pytest.mark.parametrize("sparse", [False, True])
def test_features_seen_are_the_mean_over_every_choice_of_rows(D, sparse):
    rows = some_rows(rows=10, columns=7)
    choices = list(itertools.combinations(range(10), D))
    seen = sum(int((rows[list(chosen)] != 0).any(axis=0).sum()) for chosen in choices)
    inputs = sl.EmpiricalInputs(scipy.sparse.csr_array(rows) if sparse else rows)
    assert inputs.expected_seen(float(D)) == pytest.approx(seen / len(choices), rel=1e-12)


class TestLaw:
    @pytest.mark.parametrize("D", [40, 200])
    @pytest.mark.parametrize("sparse", [False, True])
    def test_the_law_is_that_of_the_matrix(self, D, sparse):
        rows = some_rows()
        train, other = rows[:D], rows[D:]
        law = law_of_rows(*(map(scipy.sparse.csr_array, (train, other)) if sparse else (train, other)))
        G, sigma = train.T @ train, other.T @ other / len(other)
        for kappa in (1e-3, 1.0, 50.0):
            inverse = np.linalg.inv(G + kappa * np.eye(80))
            m = law.at(np.array([math.log(kappa)]))
            assert m.S[0] == pytest.approx(np.trace(G @ inverse), rel=1e-8)
            assert m.t[0] == pytest.approx(kappa * np.trace(sigma @ inverse), rel=1e-7)
        single = np.exp(law.log_single)
        values, vectors = np.linalg.eigh(G)
        along = train @ vectors[:, -1]
        assert single[np.argmax(law.log_g)] == pytest.approx((along**4).sum() / (along**2).sum(), rel=1e-8)
        assert values[-1] == pytest.approx(math.exp(law.log_g.max()))

    def test_sparse_and_dense_are_the_same_inputs_to_the_theory(self):
        rows = some_rows()
        both = [sl.EmpiricalInputs(rows), sl.EmpiricalInputs(scipy.sparse.csr_array(rows))]
        solver = sl.GradientDescent(steps=100, step=0.05)
        losses = [sl.predict(inputs, N=30, D=200, solver=solver).loss for inputs in both]
        assert losses[0] == pytest.approx(losses[1], rel=1e-9)


@pytest.mark.parametrize(
    ("N", "D", "steps", "noise"),
    [(20, 100, 50, 0.0), (20, 300, 3000, 0.2), (200, 60, 400, 0.1), (60, 60, 30, 0)],
)
def test_gradient_descent_on_rows_is_predicted(N, D, steps, noise):
    """60 draws of rows and embeddings: within 4 standard errors (1 in 10,000) and the stated error."""
    inputs = sl.EmpiricalInputs(some_rows())
    step = 0.3 / float(inputs.variances(np.array([1.0]))[0])
    rng = np.random.default_rng(3)
    runs = np.array([trained(inputs, N, D, steps, step, noise, rng) for _ in range(60)])
    solver = sl.GradientDescent(steps=steps, step=step)
    found = sl.predict(inputs, N=N, D=D, solver=solver, noise=noise)
    off = abs(found.loss - runs.mean())
    assert off < 4.0 * runs.std(ddof=1) / math.sqrt(60) + found.loss_error * found.loss
    assert abs(1.3 * found.loss - runs.mean()) > off


class TestFilesAndRefusals:
    def test_a_file_is_the_matrix(self, tmp_path):
        rows = some_rows(100, 12)
        scipy.sparse.save_npz(tmp_path / "sparse.npz", scipy.sparse.csr_matrix(rows))
        np.save(tmp_path / "dense.npy", rows)
        np.savez(tmp_path / "one.npz", rows=rows)
        for name in ("sparse.npz", "dense.npy", "one.npz"):
            assert sl.EmpiricalInputs.from_file(tmp_path / name).rows == 100
        assert sl.EmpiricalInputs.from_file(tmp_path / "dense.npy") == sl.EmpiricalInputs(rows)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert sl.EmpiricalInputs(scipy.sparse.csr_matrix(rows.astype(np.float32))).rows == 100

    def test_what_is_no_matrix_is_refused_in_one_line(self, tmp_path):
        (tmp_path / "broken.npz").write_bytes(b"PK\\x03\\x04 no archive")
        np.savez(tmp_path / "two.npz", a=np.eye(20), b=np.eye(20))
        np.save(tmp_path / "objects.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
        for name in ("broken.npz", "two.npz", "objects.npy", "absent.npz"):
            with pytest.raises(InputError) as said:
                sl.EmpiricalInputs.from_file(tmp_path / name)
            assert "\\n" not in str(said.value)
        dates = np.ones((20, 3)).astype("M8[s]")
        huge, words = np.full((20, 3), 1e200), np.full((20, 3), "1.5")
        for wrong in (
            np.zeros((20, 3)),
            np.full((20, 3), np.nan),
            np.ones(5),
            "no matrix",
            dates,
            huge,
            words,
        ):
            with pytest.raises(InputError):
                sl.EmpiricalInputs(wrong)

    def test_more_rows_than_there_are(self):
        inputs = sl.EmpiricalInputs(some_rows(100, 12))
        with pytest.raises(InputError, match="at most 80"):
            sl.predict(inputs, N=5, D=90, solver=sl.GradientDescent(steps=3, step=0.1))

    def test_a_matrix_too_large_for_memory(self):
        big = scipy.sparse.eye_array(12_000, 9000, format="csr")
        with pytest.raises(InputError, match="at most 4096"):
            sl.EmpiricalInputs(big).gram(5000.0)

    def test_rows_are_not_drawn(self):
        with pytest.raises(InputError):
            sl.simulate(sl.EmpiricalInputs(some_rows(100, 12)), N=5, D=50, seeds=1, workers=1)


@pytest.mark.slow
def test_shared_features_beside_their_measured_curve():
    """Training to the end of real features, N infinite: the curve of ``learn``, within 3 %."""
    path = FEATURES / "sae_charlm_20000x1024.npz"
    if not path.exists():
        pytest.skip(f"{path} is absent: no real features to compare with")
    inputs = sl.EmpiricalInputs.from_file(path)
    total = total_variance(inputs)
    curve = sl.learn(str(path), D=[128, 512], seeds=3)
    for point in curve.curve:
        law = inputs.gram(float(point.D))
        assert law.at(np.array([-np.inf])).t[0] / total == pytest.approx(point.measured.best, rel=0.03)


def stored(path, **changed):
    """A small matrix as scipy stores it, with some of its arrays changed."""
    x = scipy.sparse.random_array((80, 50), density=0.08, rng=np.random.default_rng(1)).tocsr()
    arrays = {"indptr": x.indptr, "indices": x.indices, "data": x.data, "shape": np.array(x.shape)}
    np.savez(path, **(arrays | {"format": np.array(b"csr")} | {k: f(arrays[k]) for k, f in changed.items()}))
    return str(path)


@pytest.mark.parametrize(
    "changed",
    [
        {"data": lambda a: a.astype(str)},
        {"data": lambda a: a.view("M8[ns]")},
        {"data": lambda a: a * 1e300},
        {"indptr": lambda a: a[::-1].copy()},
        {"indptr": lambda a: np.append(a[:-1], 10**9)},
        {"indptr": lambda a: a[:0]},
        {"indices": lambda a: a.astype(np.int64) - 2**40},
        {"indices": lambda a: a + 2**20},
        {"indices": lambda a: a.astype(np.float32)},
        {"indices": lambda a: a[:-3]},
        {"data": lambda a: a + 1j},
        {"data": lambda a: a.astype(object)},
        {"data": lambda a: np.full(a.size, np.nan)},
        {"shape": lambda a: a[:1]},
        {"shape": lambda a: a // 5},
        {"shape": lambda a: a.astype(np.uint64) + 2**63},
    ],
)
def test_index_arrays_of_a_file_are_checked_before_use(changed, tmp_path):
    """Without the check the first of these end the interpreter, or give an answer from other memory."""
    assert sl.EmpiricalInputs.from_file(stored(tmp_path / "good.npz")).rows == 80
    with pytest.raises(InputError):
        sl.EmpiricalInputs.from_file(stored(tmp_path / "bad.npz", **changed))


def test_an_archive_is_not_unpacked_beyond_the_limit(tmp_path):
    np.savez_compressed(tmp_path / "zeros.npz", a=np.zeros((2_000, 200)))
    with limited_to(1 << 20), pytest.raises(InputError, match="more than the limit"):
        sl.EmpiricalInputs.from_file(tmp_path / "zeros.npz")


def test_numbers_whose_squares_are_none_are_refused():
    for size in (1e-160, 1e160):
        with pytest.raises(InputError, match="matrix="):
            sl.EmpiricalInputs(some_rows(60, 8) * size)


def test_memory_is_for_columns_that_occur():
    """Columns far out, and rows of which hardly one has an entry: neither is asked memory for."""
    rows = scipy.sparse.csr_array(some_rows(60, 8))
    far = scipy.sparse.csr_array((rows.data, rows.indices * 200_000_003, rows.indptr), shape=(60, 2 * 10**9))
    near, wide = sl.EmpiricalInputs(rows), sl.EmpiricalInputs(far)
    assert wide.dimension == near.dimension
    assert sl.predict(wide, N=4, D=10).loss == sl.predict(near, N=4, D=10).loss
    starts = np.array([0, 1, 2])
    tall = scipy.sparse.csc_array((np.ones(2), np.array([0, 5]), starts), shape=(10**12, 2))
    with pytest.raises(InputError, match="hardly a row with an entry"):
        sl.EmpiricalInputs(tall)
