"""Nonlinear features: exact facts by brute force, fast sums and naive twins, limits against draws."""

import itertools
import math

import numpy as np
import pytest
from scipy import optimize

import sparselaw as sl
from oracles import bent
from sparselaw.errors import InputError
from sparselaw.features import FEATURES
from sparselaw.inputs import DenseInputs, SparseInputs
from sparselaw.nonlinear.data_limit import SQUARES, data_limit, interpolation_errors
from sparselaw.nonlinear.features_limit import features_limit
from sparselaw.nonlinear.gaussian_tables import gaussian_points, sector_kernels
from sparselaw.nonlinear.kernel_loops import POINTS, WEIGHTS, mean_sign, mean_size, sign_sums
from sparselaw.nonlinear.kernel_loops import mean_product as fast_product
from sparselaw.nonlinear.response import KINK, kinked
from sparselaw.nonlinear.samples import distinct_samples
from sparselaw.nonlinear.sector_tables import sector_table, unit_types
from sparselaw.nonlinear.table_cache import cache_folder, cached_arrays
from sparselaw.nonlinear.width_limit import width_limit
from sparselaw.predicting import prediction

FEW = SparseInputs(alpha1=1.0, alpha2=0.3, dimension=5)
INPUTS = SparseInputs(alpha1=1.0, alpha2=0.3)
RELU = kinked(slope=0.5, kink=0.5)


@pytest.mark.parametrize("inputs", [FEW, SparseInputs(alpha1=0.4, alpha2=-0.5, dimension=4)])
def test_a_coordinate_is_an_eigenfunction_of_the_kernel(inputs):
    X, chance, kernel = bent.whole_kernel(inputs)
    s = inputs.variances(np.arange(1.0, inputs.dimension + 1.0))
    for x_j, s_j in zip(X, s, strict=True):
        function = x_j * np.sqrt(chance)
        assert kernel @ function == pytest.approx(s_j / 4.0 * function, abs=1e-14)


def test_sectors_of_parity_do_not_mix():
    """Functions odd in one set of coordinates have images odd in the same set."""
    X, chance, kernel = bent.whole_kernel(FEW)
    rng = np.random.default_rng(1)
    signs = np.sign(X)
    for odd in ([0], [1, 2], [0, 3], [2, 3, 4]):
        even = (np.abs(X) * rng.standard_normal((5, 1))).sum(axis=0) + np.abs(signs).sum(axis=0) ** 2
        function = np.prod(signs[odd], axis=0) * even * np.sqrt(chance)
        image = kernel @ function
        for j in range(5):
            flipped = signs.copy()
            flipped[j] *= -1.0
            where = {tuple(column): i for i, column in enumerate(signs.T)}
            order = [where[tuple(column)] for column in flipped.T]
            assert image[order] == pytest.approx((-1.0 if j in odd else 1.0) * image, abs=1e-13)


def test_the_sectors_have_the_spectrum_of_the_even_kernel():
    """All of it: even functions are those of x_1 = 1, and the trace is sum_j s_j / 4."""
    table = sector_table(FEW, RELU.parts, 1.0, unit_types(False), whole=1e-300, least=1e-300)
    values, often = table.spectrum()
    X, chance, _ = bent.whole_kernel(FEW)
    half = X[0] > 0.0
    x, root = X[:, half], np.sqrt(2.0 * chance[half])
    kernel = np.array([[bent.even_kernel(a, b) for a in x.T] for b in x.T]) * np.outer(root, root)
    expected = np.sort(np.linalg.eigvalsh(kernel))
    assert np.sort(np.repeat(values, often.astype(int))) == pytest.approx(expected, abs=1e-13)
    s = FEW.variances(np.arange(1.0, 6.0))
    assert float(values @ often) == pytest.approx(s.sum() / 4.0, rel=1e-12)


@pytest.mark.parametrize("first", [False, True])
def test_types_average_to_the_kernel_without_them(first):
    """Gauss nodes do not know where the kink is, so a per cent or two are left between them."""
    plain = sector_table(FEW, RELU.parts, 1.0, unit_types(False), 1e-300, 1e-300).spectrum()[0]
    typed = sector_table(FEW, RELU.parts, 1.0, unit_types(True, 2 if first else 0, (24, 16)), 1e-300, 1e-300)
    assert np.sort(typed.spectrum()[0])[-12:] == pytest.approx(np.sort(plain)[-12:], rel=0.02)


@pytest.mark.parametrize(
    "case", [(0.7, 0.7, 0.5, 0.3, 0.35), (0.2, -0.4, 0.5, 0.3, -0.2), (1.5, 1.1, 0.2, 0.6, 0.1)]
)
def test_the_mean_product_is_its_integral(case):
    m, n, v, w, c = case
    apart = mean_size(m, v) * mean_size(n, w)
    signs = mean_sign(m, v) * mean_sign(n, w)
    found = fast_product(m, n, v, w, c, apart, signs, False, POINTS, WEIGHTS)
    assert found == pytest.approx(bent.mean_product(m, n, v, w, c), abs=1e-6)


def test_sign_sums_are_those_over_all_signs():
    odd, left, right = {3: 0.5, 5: 0.3}, {2: 0.7, 4: 0.4}, {4: 0.4, 7: 0.2}
    amplitudes = [0.5, 0.3, 0.7, 0.4, 0.2]
    parts = np.array([0, 0, 2, 1, 3])
    start, c = np.array([0, 5]), np.array(amplitudes) ** 2
    found = sign_sums(KINK, start, c, parts, np.zeros(5, dtype=np.int64), unit_types(False))
    assert found[0, 0] == pytest.approx(bent.sector_entry(odd, left, right), abs=1e-15)


@pytest.mark.parametrize(("cutoff", "expected"), [(1e-3, 7.68), (1e-4, 22.2), (1e-5, 65.4)])
def test_the_truncated_spectrum_resolves_what_all_patterns_of_a_large_sample_do(cutoff, expected):
    """Against 1e5 samples' distinct patterns, weighted by count: good to a per cent, and so is this."""
    values, often = sector_table(INPUTS, RELU.parts, cutoff, unit_types(False), 0.03, 1e-3).spectrum()
    assert float(often @ (values / (values + cutoff))) == pytest.approx(expected, rel=0.015)


def test_without_types_the_features_are_shared_as_the_plain_equation_says():
    """T_lin(4 nu) + T_even(nu) = N, loss = 4 nu T_lin, before the term of order 1/N."""
    table = sector_table(INPUTS, RELU.parts, 1e-4, unit_types(False), 0.1, 1e-2)
    values, often = table.spectrum()
    s = INPUTS.variances(np.arange(1.0, 2e5))

    def spent(log_nu):
        nu = math.exp(log_nu)
        return float(np.sum(s / (s + 4.0 * nu)) + often @ (values / (values + nu))) - 30.0

    nu = math.exp(optimize.brentq(spent, math.log(1e-6), math.log(1e-1)))
    found = width_limit(INPUTS, table, 30.0)
    assert found.cutoff == pytest.approx(nu, rel=1e-4)
    plain = 4.0 * nu * np.sum(s / (s + 4.0 * nu))
    assert found.loss / (1.0 + found.correction) == pytest.approx(plain, rel=1e-4)


def test_the_loss_of_features_is_that_of_projections():
    """4 standard errors (one false alarm in 16,000) and 3 %; a planted error of 15 % in N is seen."""
    inputs, N = SparseInputs(alpha1=1.5, alpha2=0.0, dimension=60), 48.0
    losses = bent.projection_losses(inputs, int(N), 20_000, 150, np.random.default_rng(1))
    mean = losses.mean()
    allowed = 4.0 * losses.std(ddof=1) / math.sqrt(losses.size) + 0.03 * mean
    assert abs(features_limit(inputs, RELU, N).loss - mean) < allowed
    assert abs(features_limit(inputs, RELU, 1.15 * N).loss - mean) > allowed


def test_a_coordinate_shown_with_both_signs_is_known():
    errors = interpolation_errors(INPUTS, RELU).table
    assert errors[:, 0] == pytest.approx(np.ones(SQUARES.size))
    assert (np.diff(errors, axis=1) < 0.0).all()
    assert errors[-1, 1] == pytest.approx(0.40, abs=0.02)
    # One sample of each sign and nothing else active: the constant is interpolated exactly.
    alone = interpolation_errors(SparseInputs(alpha1=1.0, alpha2=0.3, dimension=1), RELU).table
    assert alone[-1, 1:] == pytest.approx(0.25 * 2.0 ** -np.arange(14.0) * 2.0, rel=0.5, abs=2e-3)


def test_the_data_limit_keeps_the_exponent_of_linear_features():
    """A constant times the unseen variance."""
    ratios = [data_limit(INPUTS, RELU, D) / INPUTS.expected_unseen(D) for D in (80.0, 640.0, 5e3, 1e6)]
    assert ratios == pytest.approx([1.82, 1.90, 1.96, 1.99], rel=0.08)
    linear = interpolation_errors(INPUTS, kinked(slope=1.0, kink=0.0)).table
    assert linear[:, 1:] == pytest.approx(np.zeros((SQUARES.size, 14)), abs=1e-12)  # one sample is enough


def test_the_number_of_different_samples():
    """Against draws: 5 standard errors, one false alarm in a million."""
    inputs = SparseInputs(alpha1=1.0, alpha2=0.3, dimension=300)
    rng, counts = np.random.default_rng(5), []
    p = inputs.probabilities(np.arange(2.0, 301.0))
    for _ in range(20):
        X = (rng.random((1000, p.size)) < p) * np.where(rng.random((1000, p.size)) < 0.5, -1, 1)
        counts.append(len({row.tobytes() for row in X.astype(np.int8)}))
    stderr = np.std(counts, ddof=1) / math.sqrt(len(counts))
    assert abs(distinct_samples(inputs, 1000.0) - np.mean(counts)) < 5.0 * stderr + 0.03 * np.mean(counts)


def test_predict_takes_features_by_name_and_says_what_it_cannot():
    wide = sl.predict(INPUTS, N=math.inf, D=1280, features="relu")
    assert wide.loss / INPUTS.expected_unseen(1280) == pytest.approx(1.96, rel=0.04)
    narrow = sl.predict(INPUTS, N=64, D=10**9, features="relu")
    assert narrow.loss == pytest.approx(1.59e-3, rel=0.05)  # simulated at D = 300,000: 1.61e-3 +- 2 %
    assert narrow.caution == ""
    leaky = features_limit(INPUTS, FEATURES["leaky-relu"].response, 64.0).loss
    assert leaky == pytest.approx(1.08e-3, rel=0.05)  # simulated at D = 100,000: 1.082e-3 +- 2 %
    frame = sl.predict(INPUTS, N=[16, 64], D=[10**9], features=FEATURES["relu"])
    assert frame["loss"][1] == narrow.loss
    assert "fewer than" in frame["caution"][0]
    assert sl.predict(INPUTS, N=64, D=500, features="linear") == sl.predict(INPUTS, N=64, D=500)
    for settings in ({"ridge": 0.1}, {"noise": 0.1}, {"solver": sl.SGD(passes=1)}):
        with pytest.raises(InputError, match="no closed form with nonlinear features"):
            sl.predict(INPUTS, N=64, D=500, features="relu", **settings)
    with pytest.raises(InputError, match="features=trained: have no closed form"):
        sl.predict(INPUTS, N=64, D=500, features="trained")
    with pytest.raises(InputError, match="have no theory of nonlinear features"):
        sl.predict(SparseInputs(alpha1=-0.5, alpha2=1.0), N=64, D=500, features="relu")


def test_so_few_coordinates_that_all_are_known():
    assert (
        sl.predict(SparseInputs(alpha1=1.0, alpha2=0.3, dimension=2), N=60, D=10_000, features="relu").loss
        < 1e-12
    )


def test_tables_are_kept_and_made_anew_when_spoilt():
    made = []

    def make():
        made.append(1)
        return {"x": np.arange(3.0)}

    for _ in range(2):
        assert cached_arrays("test", INPUTS, [], [1], make)["x"].tolist() == [0.0, 1.0, 2.0]
    assert len(made) == 1
    for path in cache_folder().glob("*.npz"):
        if path.stat().st_size < 2000:
            path.write_bytes(b"spoilt")
    assert cached_arrays("test", INPUTS, [], [1], make)["x"].size == 3
    assert len(made) == 2


@pytest.mark.parametrize("typed", [(False, 0), (True, 0), (True, 2)])
def test_sectors_of_gaussian_points_are_those_of_all_their_reflections(typed):
    """The eigenvalues are those of the kernel between every reflection of every point."""
    inputs, n, q = DenseInputs(alpha=1.5, dimension=12), 3, 2
    types = unit_types(*typed, (2, 2))
    found = np.linalg.eigvalsh(
        sector_kernels(KINK, gaussian_points(inputs, n), q, types) @ types.weights.ravel()
    ).ravel()
    X = gaussian_points(inputs, n)
    signs = np.array(list(itertools.product((1.0, -1.0), repeat=q)))
    every = np.concatenate([np.concatenate([np.abs(X[:, :q]) * e, X[:, q:]], axis=1) for e in signs])
    if typed == (False, 0):
        kernel = np.array([[bent.even_kernel(x, y) for x in every] for y in every])
    else:
        kernel = bent.typed_kernel(every, typed[1] - 1, types)
    expected = np.linalg.eigvalsh(kernel / len(every))
    assert np.sort(found) == pytest.approx(expected, abs=2e-6)


def test_a_line_of_many_sizes_runs_through_its_points():
    sizes = [int(N) for N in np.geomspace(16, 90, 20)]
    frame = sl.predict(INPUTS, N=sizes, D=10**8, features="relu")
    for i in (3, 11):
        assert frame["loss"][i] == pytest.approx(
            sl.predict(INPUTS, N=sizes[i], D=10**8, features="relu").loss, rel=3e-3
        )
    shown = prediction(INPUTS, [45, 90, math.inf], [10**8], features=FEATURES["relu"]).as_dict()
    assert shown["exponents_of"] == "linear features"
    assert [row["N"] for row in shown["local_exponents"]] == [[45, 90]]
    assert shown["local_exponents"][0]["exponent"] == pytest.approx(1.78, abs=0.06)
