"""Unfinished training: what the theory says of a run that cannot be trusted, refusals, steps that fall."""

import math

import numpy as np
import pytest

import sparselaw as sl
from sparselaw.errors import InputError
from sparselaw.experiments.dynamics import sgd_loss
from sparselaw.nonlinear.width_limit import total_variance
from sparselaw.theory.training.schedule import Descent


def sparse(alpha1, alpha2):
    return sl.SparseInputs(alpha1=alpha1, alpha2=alpha2)


class TestWhatItSays:
    def test_parts_and_cautions(self):
        found = sl.predict(sparse(1.0, 0.3), N=8, D=1000, solver=sl.SGD(passes=4, step=1.0), noise=0.1)
        assert "kappa" in found.caution
        assert 0.02 < found.loss_error < 1.0
        assert found.pi == pytest.approx(4.0 * 1000.0**-0.65)
        row = found.as_dict()
        assert set(row["parts"]) == {"descent", "minibatch", "label_noise"}
        crowded, not_yet = (
            sl.predict(sparse(0.3, 0.3), N=100, D=300, solver=sl.GradientDescent(steps=steps, step=0.5))
            for steps in (10**6, 100)
        )
        assert crowded.loss_error > 0.015 > 0.01 > not_yet.loss_error  # shared samples matter in the end

    def test_an_unstable_step_has_no_loss(self):
        for solver in (sl.SGD(passes=2, step=1.9), sl.GradientDescent(steps=100, step=2.5)):
            found = sl.predict(sparse(1.0, 0.3), N=100, D=1000, solver=solver)
            assert math.isinf(found.loss)
            assert "step" in found.loss_reason
            assert found.as_dict()["loss"] is None

    def test_no_step_given(self):
        found = sl.predict(sparse(1.0, 0.3), N=100, D=1000, solver=sl.SGD(passes=2))
        usual = 1.0 / total_variance(sparse(1.0, 0.3))
        given = sl.predict(sparse(1.0, 0.3), N=100, D=1000, solver=sl.SGD(passes=2, step=usual))
        assert found.loss == given.loss
        assert sl.predict(sparse(1.0, 0.3), N=100, D=1000, solver=sl.GradientDescent(steps=0)).loss > 1.0

    def test_solvers_that_finish(self):
        inputs = sparse(1.0, 0.3)
        assert sl.predict(inputs, N=50, D=900, solver=sl.MinNorm()) == sl.predict(inputs, N=50, D=900)
        ridge = sl.predict(inputs, N=50, D=900, solver=sl.Ridge(ridge=0.1))
        assert ridge == sl.predict(inputs, N=50, D=900, ridge=0.1)

    @pytest.mark.parametrize(
        ("settings", "said"),
        [
            ({"solver": "sgd"}, "passes=: is needed by the solver sgd"),
            ({"solver": sl.Nesterov(tolerance=1e-3)}, "has no closed form"),
            ({"solver": sl.SGD(passes=1), "ridge": 0.1}, "beside a solver"),
            ({"solver": sl.SGD(passes=1), "form": "half"}, "form=half"),
            ({"solver": sl.SGD(passes=1), "noise": -1.0}, "noise=-1"),
        ],
    )
    def test_refusals(self, settings, said):
        with pytest.raises(InputError, match=said):
            sl.predict(sparse(1.0, 0.3), N=10, D=100, **settings)

    def test_an_infinite_width(self):
        inputs = sparse(1.0, 0.3)
        wide, endless = sl.predict(inputs, N=10**15, D=900), sl.predict(inputs, N=math.inf, D=900)
        assert endless.loss == pytest.approx(wide.loss, rel=1e-9)
        assert endless.as_dict()["N"] is None
        frame = sl.predict(inputs, N=[64, math.inf], D=900, solver=sl.SGD(passes=4))
        assert list(frame["descent"] + frame["minibatch"] + frame["label_noise"]) == pytest.approx(
            list(frame["loss"])
        )


class TestSchedule:
    def test_equal_segments_are_one(self):
        whole = sl.predict(sparse(1.0, 0.3), N=64, D=2000, solver=sl.SGD(passes=8, step=0.3, batch=4))
        parts = Descent(segments=((3.0, 0.3), (5.0, 0.3)), batch=4)
        split = sl.predict(sparse(1.0, 0.3), N=64, D=2000, solver=parts)
        assert split.loss == pytest.approx(whole.loss, rel=1e-9)

    def test_a_falling_step_damps_the_noise_as_simulated(self):
        """40 seeds: within 4 standard errors (1 in 10,000) and 3 %; a constant step is seen to be wrong."""
        inputs = sparse(1.0, 0.3)
        falling = [0.5] * 8 + [0.05] * 8
        runs = [
            sgd_loss(inputs, math.inf, 400, sl.SGD(passes=16, step=0.5), 0.05, seed, steps=falling)
            for seed in range(40)
        ]
        mean, spread = np.mean(runs), np.std(runs, ddof=1) / math.sqrt(40)
        plan = Descent(segments=((8.0, 0.5), (8.0, 0.05)))
        found = sl.predict(inputs, N=math.inf, D=400, solver=plan, noise=0.05)
        assert abs(found.loss - mean) < 4.0 * spread + 0.03 * mean
        constant = sl.predict(inputs, N=math.inf, D=400, solver=sl.SGD(passes=16, step=0.5), noise=0.05)
        assert constant.loss > 2.0 * mean
