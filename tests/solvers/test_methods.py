"""Each solver in the eigenbasis against its plain iteration in theta space."""

import numpy as np
import pytest

from oracles import solvers as plain
from sparselaw.errors import InputError
from sparselaw.solvers import SGD, GradientDescent, MinNorm, Nesterov, Ridge
from sparselaw.solvers.base import NormalEquations
from sparselaw.solvers.equations import from_gram, from_rows
from sparselaw.solvers.gradient_descent import largest_stable_step
from sparselaw.solvers.nesterov import advance, nesterov_step
from sparselaw.solvers.sgd import step_pieces

sgd = SGD.solve_samples
SIZES = [(5, 40), (40, 5), (12, 12), (1, 7), (7, 1)]


def problem(N, D, seed=0, decay=1.0):
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((N, D)) * np.arange(1, N + 1)[:, None] ** -decay
    return Phi, rng.standard_normal(D)


@pytest.mark.parametrize("prepare", ["rows", "gram"])
@pytest.mark.parametrize("size", SIZES)
class TestFilters:
    def equations(self, Phi, y, prepare):
        if prepare == "rows":
            return from_rows(Phi.T, y[:, None])
        D = Phi.shape[1]
        return from_gram(Phi @ Phi.T / D, (Phi @ y)[:, None] / D, D)

    def check(self, settings, size, prepare, expected):
        Phi, y = problem(*size)
        equations, basis = self.equations(Phi, y, prepare)
        solution = settings.solve(equations)
        assert solution.status == "ok"
        want = expected(Phi, y)
        assert basis @ solution.coefficients[:, 0] == pytest.approx(want, rel=1e-8, abs=1e-9)

    def test_min_norm(self, size, prepare):
        self.check(MinNorm(), size, prepare, plain.min_norm)

    def test_ridge(self, size, prepare):
        self.check(Ridge(ridge=0.3), size, prepare, lambda Phi, y: plain.ridge(Phi, y, 0.3))

    @pytest.mark.parametrize("steps", [0, 1, 2, 37])
    def test_gradient_descent(self, size, prepare, steps):
        def expected(Phi, y):
            step = 1 / np.linalg.eigvalsh(Phi @ Phi.T / Phi.shape[1])[-1]
            return plain.gradient_descent(Phi, y, step, steps)

        self.check(GradientDescent(steps=steps), size, prepare, expected)

    @pytest.mark.parametrize("steps", [0, 1, 2, 37])
    def test_momentum(self, size, prepare, steps):
        def expected(Phi, y):
            step = 1 / np.linalg.eigvalsh(Phi @ Phi.T / Phi.shape[1])[-1]
            return plain.gradient_descent(Phi, y, step, steps, 0.8)

        self.check(GradientDescent(steps=steps, momentum=0.8), size, prepare, expected)


def test_momentum_is_stable_for_longer_steps():
    Phi, y = problem(5, 40)
    equations, _ = from_rows(Phi.T, y[:, None])
    most = largest_stable_step(equations)
    for factor, status in ((1.79, "ok"), (1.81, "diverged")):
        solution = GradientDescent(steps=9, step=factor * most, momentum=0.8).solve(equations)
        assert solution.status == status


def test_repeated_rows_equal_rows_with_counts():
    Phi, _ = problem(6, 4)
    rng = np.random.default_rng(1)
    targets, counts = rng.standard_normal((4, 3)), np.array([3, 1, 5, 2])
    short, basis = from_rows(Phi.T, targets, counts)
    long, long_basis = from_rows(np.repeat(Phi.T, counts, axis=0), np.repeat(targets, counts, axis=0))
    assert short.samples == long.samples == 11
    assert short.eigenvalues == pytest.approx(long.eigenvalues, rel=1e-12)
    for settings in (MinNorm(), Ridge(ridge=2.0), GradientDescent(steps=50)):
        theta = basis @ settings.solve(short).coefficients
        assert theta == pytest.approx(long_basis @ settings.solve(long).coefficients, rel=1e-9)


def test_rows_resolve_what_a_gram_cannot():
    rows = np.diag([1.0, 1e-9])
    y = np.array([[1.0], [1.0]])
    equations, basis = from_rows(rows, y)
    assert basis @ MinNorm().solve(equations).coefficients == pytest.approx(np.array([[1.0], [1e9]]))
    assert len(from_gram(rows.T @ rows / 2, rows.T @ y / 2, 2)[0].eigenvalues) == 1
    cut = MinNorm(rtol=1e-8).solve(equations)
    assert cut.status == "rank-deficient"
    assert basis @ cut.coefficients == pytest.approx(np.array([[1.0], [0.0]]))


def test_dependent_features_drop_out():
    Phi, y = problem(5, 30)
    Phi = np.vstack([Phi, Phi[:2] + Phi[3]])
    equations, basis = from_rows(Phi.T, y[:, None])
    assert len(equations.eigenvalues) == 5
    theta = basis @ MinNorm().solve(equations).coefficients[:, 0]
    assert theta == pytest.approx(plain.min_norm(Phi, y), rel=1e-8)


class TestGradientDescentClosedForm:
    equations = NormalEquations(
        eigenvalues=np.array([2.0, 1e-3, 1e-12]), projections=np.ones((3, 1)), samples=9
    )

    def test_huge_step_counts(self):
        got = GradientDescent(steps=10**9, step=0.5).solve(self.equations).coefficients[:, 0]
        # (1 - (1 - x)^t)/l with x t = 5e-4 for the last: 1 - exp(-5e-4) to first order in x
        assert got == pytest.approx([0.5, 1e3, -np.expm1(-5e-4) * 1e12], rel=1e-9)

    @pytest.mark.parametrize("steps", [1, 2, 3, 10, 11])
    def test_step_above_one_over_lambda_alternates(self, steps):
        got = GradientDescent(steps=steps, step=0.8).solve(self.equations)
        assert got.status == "ok"
        assert got.coefficients[0, 0] == pytest.approx((1 - (1 - 1.6) ** steps) / 2)

    def test_divergence_is_a_status(self):
        assert largest_stable_step(self.equations) == 1.0
        short = GradientDescent(steps=5, step=1.5).solve(self.equations)
        assert short.status == "diverged"
        assert short.coefficients[0, 0] == pytest.approx((1 - (1 - 3.0) ** 5) / 2)
        long = GradientDescent(steps=10**6, step=1.5).solve(self.equations)
        assert long.status == "diverged"
        assert np.isinf(long.coefficients[0, 0])
        assert np.isfinite(long.coefficients[1:]).all()
        assert long.gradient == np.inf

    def test_the_edge_of_stability_is_stable(self):
        got = GradientDescent(steps=10**6 + 1, step=1.0).solve(self.equations)
        assert got.status == "ok"
        assert got.coefficients[0, 0] == pytest.approx(1.0)

    def test_no_target_along_the_unstable_direction(self):
        quiet = NormalEquations(
            eigenvalues=np.array([2.0, 0.5]), projections=np.array([[0.0], [1.0]]), samples=2
        )
        got = GradientDescent(steps=10**5, step=1.5).solve(quiet)
        assert got.status == "ok"
        assert got.coefficients[:, 0] == pytest.approx([0.0, 2.0])


class TestNesterov:
    @pytest.mark.parametrize(
        ("size", "decay"), [((8, 60), 1.0), ((60, 8), 0.5), ((25, 40), 1.5), ((1, 5), 0.0)]
    )
    def test_the_whole_trajectory(self, size, decay):
        Phi, y = problem(*size, decay=decay)
        equations, basis = from_rows(Phi.T, y[:, None])
        start = np.random.default_rng(5).standard_normal(len(Phi))
        step = plain.power_step(Phi, start)
        assert nesterov_step(Nesterov(), equations, basis.T @ start) == pytest.approx(step, rel=1e-12)
        # far above the rounding floor, where a restart decision is never a tie
        thetas, restarted, gradients = plain.nesterov(Phi, y, step, 1e-7, 5000)
        assert len(thetas) < 5000
        b = equations.projections[:, 0]
        for count in {*range(1, min(len(thetas), 60)), len(thetas) // 2, len(thetas)} - {0}:
            theta, ahead = np.zeros_like(b), np.zeros_like(b)
            _, iterations, restarts, gradient, _ = advance(
                equations.eigenvalues, b, step, 0.0, count, theta, ahead, 1.0
            )
            assert iterations == count
            assert restarts == restarted[:count].sum()
            assert gradient == pytest.approx(gradients[count - 1], rel=1e-5)
            assert basis @ theta == pytest.approx(thetas[count - 1], rel=1e-7, abs=1e-8)

    def test_restarts_happen_and_the_limit_is_the_minimum_norm(self):
        Phi, y = problem(25, 40, decay=1.5)
        equations, _ = from_rows(Phi.T, y[:, None])
        solution = Nesterov().solve(equations)
        assert solution.status == "ok"
        assert solution.restarts > 0
        assert solution.gradient < 1e-9
        assert solution.coefficients == pytest.approx(MinNorm().solve(equations).coefficients, rel=1e-4)

    def test_a_run_in_pieces_is_the_same_run(self):
        Phi, y = problem(25, 40, decay=1.5)
        equations, _ = from_rows(Phi.T, y[:, None])
        lam, b = equations.eigenvalues, equations.projections[:, 0]
        whole, pieces = [np.zeros((2, len(b))) for _ in range(2)]
        advance(lam, b, 0.9 / lam[0], 0.0, 300, whole[0], whole[1], 1.0)
        momentum = 1.0
        for count in (1, 120, 79, 100):
            momentum = advance(lam, b, 0.9 / lam[0], 0.0, count, pieces[0], pieces[1], momentum)[-1]
        assert np.array_equal(whole, pieces)

    def test_not_converged(self):
        Phi, y = problem(25, 40, decay=1.5)
        equations, _ = from_rows(Phi.T, y[:, None])
        solution = Nesterov(max_iterations=10).solve(equations)
        assert (solution.status, solution.iterations) == ("not-converged", 10)
        assert "10 iterations" in solution.reason

    def test_a_start_without_the_top_eigenvector_diverges(self):
        equations = NormalEquations(eigenvalues=np.array([1.0, 0.1]), projections=np.ones((2, 1)), samples=2)
        solution = Nesterov().solve(equations, start=np.array([0.0, 1.0]))
        assert solution.status == "diverged"
        assert solution.iterations < 500

    def test_nothing_to_fit(self):
        equations = NormalEquations(eigenvalues=np.array([1.0]), projections=np.zeros((1, 1)), samples=1)
        assert Nesterov().solve(equations).iterations == 0


class TestSGD:
    @pytest.mark.parametrize("batch", [1, 3, 7, 100])
    def test_against_the_plain_loop_with_repeats(self, batch):
        rng = np.random.default_rng(3)
        rows, counts = rng.standard_normal((6, 4)), np.array([1, 4, 2, 1, 9, 3])
        targets = rng.standard_normal((6, 2))
        settings = SGD(passes=3, step=0.05, batch=batch)
        got = sgd(settings, rows, targets, np.random.default_rng(9), counts)
        order_rng = np.random.default_rng(9)
        orders = [order_rng.permutation(20) for _ in range(3)]
        Phi, y = np.repeat(rows, counts, axis=0).T, np.repeat(targets, counts, axis=0)
        assert got.iterations == 3 * -(-20 // batch)
        for t in range(2):
            want = plain.sgd(Phi, y[:, t], 0.05, batch, orders)
            assert got.coefficients[:, t] == pytest.approx(want, rel=1e-10)
        own = sgd(settings, rows, y, np.random.default_rng(9), counts)
        assert np.array_equal(own.coefficients, got.coefficients)

    @pytest.mark.parametrize("batch", [1, 3, 50])
    def test_momentum(self, batch):
        Phi, y = problem(7, 20)
        draw = np.random.default_rng(9)
        orders = [draw.permutation(20) for _ in range(3)]
        settings = SGD(passes=3, step=0.05, batch=batch, momentum=0.7)
        got = sgd(settings, Phi.T, y[:, None], np.random.default_rng(9))
        assert got.coefficients[:, 0] == pytest.approx(plain.sgd(Phi, y, 0.05, batch, orders, 0.7), rel=1e-10)

    @pytest.mark.parametrize("schedule", ["cosine", "wsd:0.5,end=0", "step:0.75,end=0.5"])
    def test_schedule_against_one_step_after_the_other(self, schedule):
        """40 batches: a falling step has as many pieces, the late ones half as many batches as pieces."""
        Phi, y = problem(7, 20)
        draw = np.random.default_rng(9)
        settings = SGD(passes=2, step=0.05, batch=1, schedule=schedule)
        got = sgd(settings, Phi.T, y[:, None], np.random.default_rng(9))
        shares, factors = np.array(step_pieces(schedule)).T
        ends, theta = np.round(40 * np.cumsum(shares)), np.zeros(7)
        for t, k in enumerate([k for _ in range(2) for k in draw.permutation(20)]):
            factor = factors[np.searchsorted(ends, t, side="right")]
            theta -= 0.05 * factor * (Phi[:, k] @ theta - y[k]) * Phi[:, k]
        assert got.coefficients[:, 0] == pytest.approx(theta, rel=1e-10)
        constant = sgd(SGD(passes=2, step=0.05), Phi.T, y[:, None], np.random.default_rng(9))
        assert got.coefficients[:, 0] != pytest.approx(constant.coefficients[:, 0], rel=1e-3)

    @pytest.mark.parametrize(
        ("schedule", "words"),
        [("saw", "not one of the choices"), ("wsd:2", "shares of the run"),
         ("cosine:0.5", "shares of the run"),
         ("wsd:0.8,lr=3", "shares of the run"), ("step:0.5,end=0", "shares of the run")],
    )  # fmt: skip
    def test_no_schedule(self, schedule, words):
        with pytest.raises(InputError, match=words):
            SGD(passes=1, step=0.1, schedule=schedule)

    def test_a_schedule_needs_its_first_step(self):
        with pytest.raises(InputError, match="step=: is needed by the schedule cosine"):
            SGD(passes=1, schedule="cosine")

    def test_a_rotated_basis_gives_the_same_run(self):
        Phi, y = problem(30, 12)
        equations, basis = from_rows(Phi.T, y[:, None])
        settings = SGD(passes=2)
        theta = sgd(settings, Phi.T, y[:, None], np.random.default_rng(1)).coefficients
        rotated = sgd(settings, (basis.T @ Phi).T, y[:, None], np.random.default_rng(1)).coefficients
        assert len(equations.eigenvalues) == 12
        assert basis @ rotated == pytest.approx(theta, rel=1e-9, abs=1e-12)

    def test_small_steps_follow_gradient_descent(self):
        Phi, y = problem(6, 50)
        step, passes = 1e-5, 400
        slow = sgd(SGD(passes=passes, step=step), Phi.T, y[:, None], np.random.default_rng(2)).coefficients[
            :, 0
        ]
        flow = plain.gradient_descent(Phi, y, step, passes * 50)
        # the difference is first order in the step: 1e-5 * 50 samples * eigenvalues of order one
        assert slow == pytest.approx(flow, rel=5e-3, abs=1e-5)
        assert np.linalg.norm(slow - flow) > 0

    def test_divergence_is_a_status(self):
        Phi, y = problem(6, 50)
        solution = sgd(SGD(passes=500, step=50.0), Phi.T, y[:, None], np.random.default_rng(2))
        assert solution.status == "diverged"


@pytest.mark.parametrize(
    "make",
    [
        lambda: MinNorm(rtol=-1.0),
        lambda: Ridge(ridge=-0.1),
        lambda: Ridge(ridge=np.nan),
        lambda: GradientDescent(steps=-1),
        lambda: GradientDescent(steps=1.5),
        lambda: GradientDescent(steps=3, step=0.0),
        lambda: Nesterov(max_iterations=0),
        lambda: SGD(passes=0),
        lambda: SGD(passes=1, batch=0),
        lambda: SGD(passes=1, step=np.inf),
    ],
)
def test_bad_settings_are_refused(make):
    with pytest.raises(InputError):
        make()
