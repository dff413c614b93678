"""Every law keeps its own promises: terms and formula agree, arrays pass through, names are in order."""

from dataclasses import replace

import numpy as np
import pytest

from oracles.runs import CHINCHILLA_TRUTH, TWO_POWER_TRUTH, noisy_runs
from sparselaw.errors import InputError
from sparselaw.fitting import fit
from sparselaw.laws import LAWS, ChinchillaLaw, CoupledLaw, PowerLaw, law_named, register

COUPLED = CoupledLaw(E=1.8, A=480.0, B=2100.0, alpha=0.35, beta=0.37, g=0.45)
RECORDS = [CHINCHILLA_TRUTH, TWO_POWER_TRUTH, PowerLaw(A=2.0, alpha=1.5), COUPLED]


@pytest.mark.parametrize("law", RECORDS, ids=lambda law: law.name)
def test_terms_are_the_formula(law):
    sizes = [np.geomspace(1e6, 1e9, 7) * (k + 1) for k in range(len(law.sizes))]
    np.testing.assert_allclose(law.loss_of_logs(*np.log(sizes)), law.loss(*sizes), rtol=1e-12)
    assert isinstance(law.loss(*(10 for _ in sizes)), float)


def test_laws_answer_for_themselves():
    assert CHINCHILLA_TRUTH.floor == CHINCHILLA_TRUTH.E
    assert CHINCHILLA_TRUTH.exponents == (CHINCHILLA_TRUTH.alpha, CHINCHILLA_TRUTH.beta)
    assert TWO_POWER_TRUTH.floor == 0.0
    assert RECORDS[2].exponents is None
    assert ChinchillaLaw.parameters() == ("E", "A", "B", "alpha", "beta")
    assert [name for name, law in LAWS.items() if law.has_one_size()] == ["power"]
    assert set(LAWS) >= {law.name for law in RECORDS}


def test_unknown_and_doubled_names_are_refused():
    with pytest.raises(InputError, match="law=cubic: is not one of the laws; choose chinchilla or"):
        law_named("cubic")
    twin = type("Twin", (PowerLaw,), {"name": "chinchilla", "__slots__": ()})
    with pytest.raises(InputError, match="law=chinchilla: is the name of ChinchillaLaw in "):
        register(twin)
    no_ranges = type("Bare", (PowerLaw,), {"name": "bare", "terms": (), "__slots__": ()})
    with pytest.raises(InputError, match="how every parameter is fitted"):
        register(no_ranges)


def test_losses_of_draws_are_the_laws_of_the_draws():
    found = fit(noisy_runs(CHINCHILLA_TRUTH, 0, 40), bootstrap=20)
    N, D = np.geomspace(1e8, 1e9, 3)[:, None], np.geomspace(1e9, 1e10, 4)
    losses = found.losses_of_draws(N, D)
    assert losses.shape == (20, 3, 4)
    for values, drawn in zip(found.draws, losses, strict=True):
        one = ChinchillaLaw(**dict(zip(found.params, values, strict=True)))
        np.testing.assert_array_equal(one.loss(N, D), drawn)
    assert found.losses_of_draws(1e8, 1e9).shape == (20,)


def test_the_coupled_law_is_its_formula():
    """Written out, at its limits (g = 1 is Chinchilla's; a small g is the larger term) and far from them."""
    N, D = np.geomspace(1e6, 1e12, 7)[:, None], np.geomspace(1e7, 1e13, 5)
    of_N, of_D = COUPLED.A * N**-COUPLED.alpha, COUPLED.B * D**-COUPLED.beta
    expected = COUPLED.E + (of_N ** (1 / COUPLED.g) + of_D ** (1 / COUPLED.g)) ** COUPLED.g
    np.testing.assert_allclose(COUPLED.loss(N, D), expected, rtol=1e-12)
    np.testing.assert_allclose(replace(COUPLED, g=1.0).loss(N, D), COUPLED.E + of_N + of_D, rtol=1e-12)
    small = replace(COUPLED, g=0.001).loss(N, D)
    np.testing.assert_allclose(small, COUPLED.E + np.maximum(of_N, of_D), rtol=1e-3)
    assert replace(COUPLED, A=0.0, B=0.0).loss(1e9, 1e9) == COUPLED.E


@pytest.mark.parametrize("g", [0.45, 1.0, 1.6])
@pytest.mark.parametrize("objective", ["huber", "least-squares"])
def test_the_coupled_law_is_found_again(g, objective):
    truth = replace(COUPLED, g=g)
    N, D = (v.ravel() for v in np.meshgrid(np.geomspace(1e7, 1e10, 8), np.geomspace(1e8, 1e12, 8)))
    found = fit({"N": N, "D": D, "loss": truth.loss(N, D)}, law="coupled", objective=objective, bootstrap=0)
    assert found.status == "ok", found.warnings
    for name, value in found.params.items():
        assert value.best == pytest.approx(getattr(truth, name), rel=1e-3)
