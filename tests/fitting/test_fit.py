"""The public fit: invariances, statuses, the equality test, the leave-out table, sweeps, bad input."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import sparselaw as sl
from oracles.runs import CHINCHILLA_TRUTH, TWO_POWER_TRUTH, noisy_runs
from sparselaw.errors import InputError
from sparselaw.fitting import exponent_profile, fit
from sparselaw.fitting.draws import stream
from sparselaw.fitting.sparsity import invert
from sparselaw.inputs import SparseInputs
from sparselaw.laws import ChinchillaLaw, TwoPowerLaw


@pytest.mark.parametrize(("law", "truth"), [("chinchilla", CHINCHILLA_TRUTH), ("two-power", TWO_POWER_TRUTH)])
@pytest.mark.parametrize("objective", ["huber", "l1", "least-squares"])
def test_exact_losses_give_the_law_back(law, truth, objective):
    found = fit(noisy_runs(truth, 0, noise=0.0), law=law, objective=objective, bootstrap=0)
    for name, value in found.params.items():
        assert value.best == pytest.approx(getattr(truth, name), rel=1e-4)
    assert found.status == "ok"


@pytest.mark.parametrize(("loss", "size"), [(1e-6, 1.0), (1e6, 1.0), (1.0, 1e-9), (1e-300, 1e130)])
def test_units_do_not_matter(loss, size):
    table = noisy_runs(CHINCHILLA_TRUTH, 2, 60)
    plain = fit(table, bootstrap=40)
    scaled = fit(table.assign(N=table.N * size, loss=table.loss * loss), bootstrap=40)
    assert scaled.value == pytest.approx(plain.value, rel=1e-8)
    for name in ("alpha", "beta"):
        assert scaled.params[name].as_dict() == pytest.approx(plain.params[name].as_dict(), rel=1e-6)
    assert scaled.params["E"].best == pytest.approx(loss * plain.params["E"].best, rel=1e-8)
    factor = loss * size ** plain.params["alpha"].best
    assert scaled.params["A"].best == pytest.approx(factor * plain.params["A"].best, rel=1e-5)


def test_ten_rows_are_enough_and_three_are_not():
    table = noisy_runs(CHINCHILLA_TRUTH, 2, 10, noise=1e-4)
    found = fit(table, bootstrap=50)
    assert found.params["E"].best == pytest.approx(CHINCHILLA_TRUTH.E, rel=0.02)
    with pytest.raises(InputError, match="rows=3: chinchilla has 5 parameters and needs 6"):
        fit(table.head(3))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"N": 1e9}, "N=1e.09: is the same in every row"),
        ({"D": 1e9}, "D=1e.09: is the same in every row"),
        ({"loss": 3.0}, "loss=3: is the same in every row"),
    ],
)
def test_columns_without_variation_are_refused(change, words):
    with pytest.raises(InputError, match=words):
        fit(noisy_runs(CHINCHILLA_TRUTH, 0, 40).assign(**change))


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"law": "cubic"}, "law"),
        ({"objective": "l2"}, "objective"),
        ({"bootstrap": -1}, "bootstrap"),
        ({"bootstrap": 5}, "bootstrap"),
        ({"bootstrap": 2.5}, "bootstrap"),
        ({"seed": -1}, "seed"),
        ({"workers": 0}, "workers"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1e-3, "objective": "l1"}, "delta"),
        ({"group": "nothing"}, "group"),
        ({"last": 4}, "last"),
        ({"variable": "N"}, "variable"),
        ({"law": "power"}, "variable"),
        ({"law": "power", "variable": "Q"}, "variable"),
        ({"drop_peak": True}, "drop-peak"),
    ],
)
def test_bad_settings_are_refused(settings, name):
    with pytest.raises(InputError) as error:
        fit(noisy_runs(CHINCHILLA_TRUTH, 0, 40), **settings)
    assert error.value.name == name


def test_status_when_n_and_d_rise_together():
    N = np.geomspace(1e7, 1e10, 60)
    found = fit({"N": N, "D": 20 * N, "loss": CHINCHILLA_TRUTH.loss(N, 20 * N)}, bootstrap=0)
    assert found.status == "collinear"


def test_status_when_there_is_no_floor():
    law = TwoPowerLaw(A=480.0, B=2100.0, alpha_N=0.35, alpha_D=0.37)
    found = fit(noisy_runs(law, 1, noise=0.01), bootstrap=0)
    assert found.status in {"bound", "E-not-identified"}
    weak = ChinchillaLaw(E=0.02, A=480.0, B=2100.0, alpha=0.35, beta=0.37)
    assert fit(noisy_runs(weak, 1, noise=0.03), bootstrap=0).status in {"bound", "E-not-identified"}


def test_status_when_the_loss_rises_with_size():
    table = noisy_runs(CHINCHILLA_TRUTH, 0, 60)
    found = fit(table.assign(loss=(2.0 + 2e3 * table.D**-0.37) * table.N**0.001), bootstrap=0)
    assert found.status == "bound"
    assert found.sparsity is None
    assert "bound" in found.sparsity_reason


def test_sparsity_inverts_the_paper():
    for alpha1, alpha2 in [(1.0, 0.3), (0.2, -0.5), (2.0, -1.2)]:
        exponents = SparseInputs(alpha1=alpha1, alpha2=alpha2).exponents
        assert invert(exponents.alpha_N, exponents.alpha_D) == pytest.approx((alpha1, alpha2))
    found = fit(noisy_runs(TWO_POWER_TRUTH, 0, 80), law="two-power", bootstrap=100)
    alpha1 = found.draws[:, 2] / found.draws[:, 3] - 1.0
    assert found.sparsity["alpha1"].low == pytest.approx(np.quantile(alpha1, 0.025))
    assert found.sparsity["alpha2"].best == pytest.approx(
        found.params["alpha_N"].best - found.sparsity["alpha1"].best - 1.0
    )


def test_equality_test_has_its_size_and_its_power():
    """Equal exponents: 20 p-values are uniform, so 5 or more below 0.05 have chance 0.3 %."""
    equal = TwoPowerLaw(A=1e9, B=1e10, alpha_N=1.1, alpha_D=1.1)
    settings = {"law": "two-power", "objective": "least-squares", "bootstrap": 99}
    values = [fit(noisy_runs(equal, s, 60), **settings).equal_exponents.p_value for s in range(20)]
    assert sum(p < 0.05 for p in values) < 5
    assert max(values) > 0.3
    planted = [fit(noisy_runs(TWO_POWER_TRUTH, s, 60), **settings).equal_exponents.p_value for s in range(3)]
    assert planted == [0.01] * 3


@pytest.mark.parametrize("seed", range(4))
def test_signs_that_change_nothing_are_ties(seed):
    """Three groups: about every eighth draw is the data themselves, and must count whatever the rounding."""
    table = noisy_runs(TWO_POWER_TRUTH, seed, 60)
    table["run"] = np.arange(len(table)) % 3
    settings = {"law": "two-power", "bootstrap": 40, "group": "run"}
    found = [
        fit(table.assign(loss=table.loss * factor), seed=seed, **settings).equal_exponents.p_value
        for factor in (1.0, 1.1, 1.7, 3.3)  # which moves nothing but the last digits of the statistic
    ]
    unchanged = sum(bool(np.all(stream(seed, 1, draw).integers(0, 2, 3) == 1)) for draw in range(40))
    assert unchanged >= 2
    assert found[0] >= (1 + unchanged) / 41
    assert found == [found[0]] * 4


def test_leave_out_table_shows_the_runs_that_carry_the_answer():
    """The tenth with the smallest N gets another law: leaving it out must bring the truth back."""
    table = noisy_runs(TWO_POWER_TRUTH, 0, 120, noise=0.002)
    spoiled = table.copy()
    small = table.N <= np.quantile(table.N, 0.1)
    spoiled.loc[small, "loss"] *= 2.0
    found = fit(spoiled, law="two-power", objective="least-squares", bootstrap=50, leave_out=True)
    truth = TWO_POWER_TRUTH.alpha_N / TWO_POWER_TRUTH.alpha_D - 1.0
    lines = {line.left_out: line for line in found.leave_out}
    assert set(lines) == {
        "smallest N", "largest N", "smallest D", "largest D", "smallest D/N", "largest D/N", "worst-fitting",
    }  # fmt: skip
    assert abs(lines["smallest N"].alpha1.best - truth) < 0.02
    assert abs(found.sparsity["alpha1"].best - truth) > 0.05
    assert lines["smallest N"].rows_used == 108


def test_power_law_with_sweeps():
    x = np.geomspace(8, 512, 7).round()
    rows = [
        pd.DataFrame({"N": x, "D": D, "loss": A * x**-1.8 * (1 + 3 / x)})
        for D, A in ((1e4, 3.0), (1e5, 1.0), (1e6, 0.7))
    ]
    found = fit(pd.concat(rows), law="power", variable="N", last=4, objective="least-squares", bootstrap=50)
    assert found.rows_used == 12
    assert list(found.params) == ["A[D=10000]", "A[D=100000]", "A[D=1e+06]", "alpha"]
    assert found.params["alpha"].best == pytest.approx(1.82, abs=0.02)
    assert found.params["A[D=10000]"].best / found.params["A[D=100000]"].best == pytest.approx(3.0)
    assert found.sparsity is None
    alone = fit(rows[0], law="power", bootstrap=50)
    assert list(alone.params) == ["A", "alpha"]
    assert alone.loss(64.0) == pytest.approx(alone.law.A * 64.0**-alone.law.alpha)
    only = fit({"tokens": x, "loss": 2.0 * x**-0.5}, law="power", bootstrap=0)
    assert only.params["alpha"].best == pytest.approx(0.5)


def test_profile_has_its_lowest_point_at_the_optimum():
    found = fit(noisy_runs(CHINCHILLA_TRUTH, 0, 60), bootstrap=100)
    profile = exponent_profile(found, points=9)
    assert profile.values.min() >= found.value * (1 - 1e-9)
    i, j = np.unravel_index(np.argmin(profile.values), profile.values.shape)
    pinned = np.array([profile.alpha_N[i], profile.alpha_D[j]])
    best = np.array([found.params["alpha"].best, found.params["beta"].best])
    assert np.all(
        np.abs(pinned - best) <= 1.5 * np.array([np.diff(profile.alpha_N)[0], np.diff(profile.alpha_D)[0]])
    )


def test_warnings_have_a_category_and_go_to_the_log(caplog):
    """Nine rows for five parameters: said once by ``warnings``, by logging and by the result."""
    size = np.geomspace(1e7, 1e9, 9)
    table = {
        "N": size,
        "D": 20 * size[::-1] ** 1.1,
        "loss": 1.8 + 480 * size**-0.35 + 100 / size[::-1] ** 0.3,
    }
    with caplog.at_level("WARNING", logger="sparselaw"), pytest.warns(sl.SparselawWarning) as told:
        law = sl.fit(table, bootstrap=0)
    ours = [str(one.message) for one in told if issubclass(one.category, sl.SparselawWarning)]
    assert ours == list(law.warnings) == caplog.messages
    assert any("rows are few" in words for words in law.warnings)
    assert told[0].filename == __file__  # the call of the user, not a line of ours
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sl.fit(table, bootstrap=0, warn=False)


def test_the_command_prints_a_warning_once(tmp_path):
    size = np.geomspace(1e7, 1e9, 9)
    loss = 1.8 + 480 * size**-0.35 + 100 / size[::-1] ** 0.3
    rows = [f"{n},{20 * d**1.1},{y}" for n, d, y in zip(size, size[::-1], loss, strict=True)]
    file = tmp_path / "runs.csv"
    file.write_text("\n".join(["N,D,loss", *rows]), encoding="ascii")
    done = subprocess.run(
        [sys.executable, "-m", "sparselaw", "fit", str(file), "--bootstrap", "0", "--json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    said = json.loads(done.stdout)["warnings"]
    assert said
    assert all(done.stderr.count(words) == 1 for words in said)
