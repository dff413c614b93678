"""Every law keeps its own promises: terms and formula agree, arrays pass through, names are in order."""

import numpy as np
import pytest

from oracles_fitting import CHINCHILLA_TRUTH, TWO_POWER_TRUTH, noisy_runs
from sparselaw.errors import InputError
from sparselaw.fitting import fit
from sparselaw.laws import LAWS, ChinchillaLaw, PowerLaw, law_named, register

RECORDS = [CHINCHILLA_TRUTH, TWO_POWER_TRUTH, PowerLaw(A=2.0, alpha=1.5)]


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
    with pytest.raises(InputError, match="another law"):
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
