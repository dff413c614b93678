"""One number however it is asked: alone, in any list, along N and D, by command, by page."""

import contextlib
import io
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sparselaw as sl
from sparselaw.cli import main
from sparselaw.explore.call import input_options
from sparselaw.explore.session import Session
from sparselaw.theory.surface import curve

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


@pytest.mark.parametrize("surface", ["sharp", "leading"])
@pytest.mark.parametrize(
    "inputs",
    [
        sl.SparseInputs(alpha1=0.6, alpha2=0.4),
        sl.SparseInputs(alpha1=-0.3, alpha2=0.5, dimension=30.0),
        sl.SparseInputs(alpha1=-0.3, alpha2=0.5, dimension=300.0),
        sl.DenseInputs(alpha=0.8, dimension=200.0),
        TABLE,
    ],
)
def test_laws_of_several_D_side_by_side_are_those_of_each(inputs, surface):
    """In any order, and with a D that is asked twice; ridge and noise on either side of the rank."""
    D = [900.0, 40.0, 250.0, 40.0, 3000.0, 90.0]
    for N, ridge, noise in ((25.0, 0.0, 0.0), (150.0, 0.0, 0.1), (60.0, 0.01, 0.1)):
        how = {"ridge": ridge, "noise": noise, "surface": surface}
        alone = [curve(inputs, N=N, D=d, **how)[0] for d in D]
        np.testing.assert_allclose(curve(inputs, N=N, D=D, **how), alone, rtol=1e-9)


def same(found, wanted):
    """JSON and the page have no infinity: null stands for it."""
    return (found is None and math.isinf(wanted)) or found == pytest.approx(wanted, rel=1e-9)


def by_command(inputs, N, D, ridge, noise):
    """The losses that ``sparselaw predict --json`` prints."""
    options = input_options(inputs) | {"ridge": ridge, "noise": noise}
    words = [word for name, value in options.items() for word in (f"--{name}", f"{value!r}".strip("'"))]
    sizes = [",".join(map(str, N)), str(D)]
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(SystemExit):
        main(["predict", *words, "-N", sizes[0], "-D", sizes[1], "--json"])
    return {point["N"]: point["loss"] for point in json.loads(out.getvalue())["points"]}


def by_page(inputs, D, low, high, ridge, noise):
    """The curve along N that the page draws."""
    options = input_options(inputs) | {"ridge": ridge, "noise": noise, "low": low, "high": high}
    given = {name: f"{value!r}".strip("'") for name, value in options.items()}
    answer = Session().values("surface", {**given, "along": "N", "D": str(D)})
    line = answer["chart"]["series"][0]
    return dict(zip(line["x"], line["y"], strict=True))


@settings(max_examples=6, deadline=None, derandomize=True)
@given(
    inputs=st.one_of(
        st.builds(sl.SparseInputs, alpha1=st.floats(0.3, 2.5), alpha2=st.floats(-0.9, 1.5)),
        st.builds(sl.DenseInputs, alpha=st.floats(0.3, 2.0), dimension=st.just(500.0)),
    ),
    D=st.integers(20, 3000),
    ridge=st.sampled_from([0.0, 1e-4, 0.3]),
    noise=st.sampled_from([0.0, 0.1]),
)
def test_command_and_page_give_the_same_number(inputs, D, ridge, noise):
    drawn = by_page(inputs, D, 4, 400, ridge, noise)
    sizes = list(drawn)[::25]
    printed = by_command(inputs, sizes, D, ridge, noise)
    for N in sizes:
        alone = sl.predict(inputs, N=N, D=D, ridge=ridge, noise=noise).loss
        assert same(printed[N], alone)
        assert same(drawn[N], alone)


def test_a_table_by_command_is_the_table(tmp_path):
    p, c = [0.9, *[0.2] * 30, *[0.01] * 60], [1.0] * 91
    (tmp_path / "table.json").write_text(json.dumps({"probabilities": p, "amplitudes": c}))
    inputs = sl.TabulatedInputs.from_file(tmp_path / "table.json")
    printed = by_command(inputs, [10, 300], 60, 0.1, 0.0)
    for N, loss in printed.items():
        assert same(loss, sl.predict(TABLE, N=N, D=60, ridge=0.1).loss)


# Largest second difference of log loss along 200 sizes, which a jump of one part in a hundred would exceed.
# Each line crosses switches of the code: every count a point or a lattice of counts, mean data or the law
# of the rank, the closure asked or not, its scatter or that of single coordinates, K below and above D.
@pytest.mark.parametrize(
    ("inputs", "sizes"),
    [
        (sl.SparseInputs(alpha1=1.0, alpha2=0.3), {"N": 20.0, "D": np.geomspace(3e3, 3e5, 40)}),
        (sl.SparseInputs(alpha1=2.0, alpha2=0.3), {"N": 8.0, "D": np.geomspace(2e3, 1e6, 40)}),
        (sl.SparseInputs(alpha1=0.4, alpha2=0.5), {"N": 20.0, "D": np.geomspace(300.0, 1e6, 40)}),
        (TABLE, {"N": 20.0, "D": np.geomspace(60.0, 3000.0, 40)}),
        (
            sl.SparseInputs(alpha1=1.0, alpha2=0.3),
            {"N": np.geomspace(3.0, 600.0, 200), "D": 2000.0, "ridge": 1e-3},
        ),
        (TABLE, {"N": np.geomspace(3.0, 600.0, 200), "D": 60.0, "ridge": 0.1}),
    ],
)
def test_nothing_jumps_where_the_code_switches(inputs, sizes):
    logs = np.log(curve(inputs, **sizes))
    assert np.abs(np.diff(logs, 2)).max() < 0.01
