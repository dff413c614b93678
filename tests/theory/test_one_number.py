"""One number however it is asked: alone, in lists of any length and order, along N and along D."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sparselaw as sl
from sparselaw.theory import curve

TABLE = sl.TabulatedInputs([0.9, *[0.2] * 30, *[0.01] * 60], [1.0] * 91)
INPUTS = st.one_of(
    st.builds(
        sl.SparseInputs,
        alpha1=st.floats(0.2, 2.5),
        alpha2=st.floats(-0.9, 1.5),
        dimension=st.sampled_from([300.0, math.inf]),
    ),
    st.builds(sl.DenseInputs, alpha=st.floats(0.3, 2.0), dimension=st.just(500.0)),
    st.just(TABLE),
)


@settings(max_examples=8, deadline=None, derandomize=True)
@given(
    inputs=INPUTS,
    D=st.lists(st.integers(20, 3000), min_size=2, max_size=2, unique=True),
    ridge=st.sampled_from([0.0, 1e-4, 0.3]),
    noise=st.sampled_from([0.0, 0.1]),
    seed=st.integers(0, 99),
)
def test_a_point_is_a_list_of_length_one(inputs, D, ridge, noise, seed):
    rng = np.random.default_rng(seed)
    how = {"ridge": ridge, "noise": noise}
    sizes = rng.permutation(np.unique(np.geomspace(3, 2000, 40).round().astype(int))).tolist()
    whole = sl.predict(inputs, N=sizes, D=D[0], **how).set_index("N")["loss"]
    some = sl.predict(inputs, N=sizes[:13], D=D, **how).set_index(["N", "D"])["loss"]
    for n in sizes[:2]:
        alone = sl.predict(inputs, N=n, D=D[0], **how).loss
        along = curve(inputs, N=float(n), D=[float(d) for d in D[::-1]], **how)[1]
        for other in (whole[n], some[n, D[0]], along):
            assert other == alone or other == pytest.approx(alone, rel=1e-9)


def test_lists_from_one_sample_on_are_their_points():
    """Once 2.1 times off at D = 9, and label noise 13 times off above the rank."""
    for inputs, N, noise in (
        (sl.SparseInputs(alpha1=2.0, alpha2=0.3), 500, 0.0),
        (sl.SparseInputs(alpha1=1.0, alpha2=0.3, dimension=10), 50, 0.1),
    ):
        D = np.unique(np.geomspace(1, 1e6, 16).round().astype(int)).tolist()
        listed = sl.predict(inputs, N=N, D=D, noise=noise)["loss"]
        for i in (1, 4, 9, 14):
            own = sl.predict(inputs, N=N, D=D[i], noise=noise).loss
            assert listed[i] == own or listed[i] == pytest.approx(own, rel=1e-9)
