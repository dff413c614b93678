import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import zeta

from oracles import theory as oracles
from sparselaw.gram.law import Atoms
from sparselaw.gram.nodes import coordinate_nodes, power_integral
from sparselaw.inputs import SparseInputs
from sparselaw.search import solve_decreasing


@settings(max_examples=60, deadline=None)
@given(a=st.floats(1.01, 25.0), M=st.integers(1, 5000))
def test_node_sums_equal_plain_sums(a, M):
    nodes = coordinate_nodes(M, math.inf, a)
    assert nodes.weight @ nodes.j**-a == pytest.approx(np.sum(np.arange(1.0, M + 1) ** -a), rel=1e-9)


@pytest.mark.parametrize("a", [1.05, 2.0, 3.3, 20.0])
def test_nodes_and_a_closed_tail_equal_the_zeta_function(a):
    nodes = coordinate_nodes(math.inf, 12.0, a)
    total = nodes.weight @ nodes.j**-a + power_integral(1.0 - a, nodes.log_end)
    assert total == pytest.approx(zeta(a), rel=1e-9)


@pytest.mark.parametrize(
    ("exponent", "start", "stop"), [(-0.7, 1.0, math.inf), (0.5, -1.0, 2.0), (0.0, 1.0, 4.0)]
)
def test_power_integral(exponent, start, stop):
    assert power_integral(exponent, start, stop) == pytest.approx(
        quad(lambda y: math.exp(exponent * y), start, min(stop, 80.0))[0], rel=1e-9
    )


@pytest.mark.parametrize("alpha1", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("alpha2", [-0.9, 0.3, 3.0])
@pytest.mark.parametrize(("D", "k"), [(30, 0.5), (700, 1e-3)])
def test_spectral_sums_equal_plain_sums(alpha1, alpha2, D, k):
    M = 900
    law = SparseInputs(alpha1=alpha1, alpha2=alpha2, dimension=M).gram(D, sharp=False)
    m = law.at(np.log([k]))
    found = [(m.S - m.P)[0], m.P[0], m.A0[0], m.T[0] / k]
    np.testing.assert_allclose(found, oracles.sums(alpha1, alpha2, M, D, k), rtol=1e-8)


@pytest.mark.parametrize(
    ("alpha1", "alpha2"), [(0.2, 0.5), (1.0, 0.3), (1.5, -2.0), (0.5, -1.0), (0.05, 2.0)]
)
@pytest.mark.parametrize("log_k", [-60.0, -12.0, 0.0, 8.0])
def test_far_coordinates_of_infinite_dimension_equal_numerical_integration(alpha1, alpha2, log_k):
    nodes = SparseInputs(alpha1=alpha1, alpha2=alpha2).nodes(500.0)
    far = Atoms(nodes.beyond, nodes.log_beyond, np.zeros_like(nodes.beyond))
    b, start = alpha2 + 1.0, (math.ceil(math.log(500.0)) - math.log(1e-11)) / (alpha1 + 1.0)

    def mean(y):
        return 500.0 * math.exp(-alpha1 * y)

    def cut(y):
        return math.exp(min(log_k + b * y, 300.0))

    crossing = [x for x in [-log_k / b if b else start] if x > start]
    stop = start + 60.0 / alpha1
    points = sorted(min(x + d, stop) for x in crossing for d in (-8.0, -2.0, 0.0, 2.0, 8.0) if x + d > start)
    options = {"limit": 2000, "points": points or None, "epsrel": 1e-11, "epsabs": 0.0}
    resolved = quad(lambda y: mean(y) / (1 + cut(y)) ** 2, start, stop, **options)[0]
    partial = quad(lambda y: mean(y) * cut(y) / (1 + cut(y)) ** 2, start, stop, **options)[0]
    m = far.at(np.array([log_k]))
    np.testing.assert_allclose([m.S[0], m.P[0]], (resolved + partial, partial), rtol=1e-7)


def test_infinite_dimension_is_the_limit_of_large_ones():
    values = []
    for M in (1e4, 1e6, 1e8, math.inf):
        law = SparseInputs(alpha1=0.8, alpha2=0.3, dimension=M).gram(1e4, sharp=False)
        values.append((law.rank, law.unseen, law.at(np.array([-3.0])).S[0]))
    gaps = np.abs(np.array(values[:-1]) / np.array(values[-1]) - 1.0)
    assert np.all(gaps[1:] < gaps[:-1])
    assert np.all(gaps[-1] < 1e-3)


@settings(max_examples=50, deadline=None)
@given(root=st.floats(-50, 50), slope=st.floats(0.05, 20), start=st.floats(-80, 80))
def test_root_of_a_decreasing_function(root, slope, start):
    def function(x):
        value = 3.0 / (1.0 + math.exp(min(slope * (x - root), 700.0)))
        return value, -slope * value * (1.0 - value / 3.0)

    assert solve_decreasing(function, 1.5, start) == pytest.approx(root, abs=1e-8)
