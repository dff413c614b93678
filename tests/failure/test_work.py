"""What sampling will take is known before it starts, and told while it runs."""

import pytest

from sparselaw.errors import InputError
from sparselaw.failure import failure_probability
from sparselaw.failure.draw import in_words
from sparselaw.failure.failure_curve import Sampling
from sparselaw.failure.probability import announcements, case_of, growing_curve, work_of
from sparselaw.inputs import SparseInputs

SPIKY = SparseInputs(alpha1=1.5, alpha2=-2.0)
SLOW = SparseInputs(alpha1=-0.5, alpha2=0.8)


def test_long_sampling_is_announced_with_its_size():
    """About 0.04 s a data set, measured; 200,000 of them take hours."""
    (line,) = announcements(SLOW, [1000], 1.1, Sampling())
    assert line.startswith("D=1000: up to 2")
    assert " h in all" in line


@pytest.mark.parametrize(
    ("inputs", "threshold", "sampling"),
    [
        (SPIKY, 2.0, Sampling()),
        (SLOW, 0.9, Sampling()),  # all data fail
        (SLOW, 1.1, Sampling(method="exact-spike")),
        (SLOW, 1.1, Sampling(replicates=100)),
    ],
)
def test_short_work_needs_no_word(inputs, threshold, sampling):
    assert announcements(inputs, [1000], threshold, sampling) == []


def test_what_is_too_large_to_draw_is_not_announced():
    assert announcements(SPIKY, [10**10], 2.0, Sampling()) == []


def test_a_day_of_sampling_is_refused_before_anything_is_drawn():
    endless = Sampling(method="direct", failures=3 * 10**10, replicates=10**12)
    told = []
    with pytest.raises(InputError, match=r"D=100: sampling would take about .* h at least"):
        next(growing_curve(SPIKY, [1, 100], 2.0, endless, progress=told.append))
    assert told == []
    next(growing_curve(SPIKY, [10, 100], 2.0, Sampling(method="direct", replicates=10**12)))


def test_limits_of_the_methods():
    def work(**how):
        return work_of(case_of(SPIKY, 100, 2.0, Sampling(replicates=1000, **how)))

    direct = work(method="direct", failures=50)
    assert (direct.least, direct.most) == (50, 1000)
    auto = work(failures=50)
    assert auto.least == 50
    assert auto.most > 1000
    assert work(method="importance").least > 200


@pytest.mark.parametrize("method", ["direct", "importance", "auto"])
def test_progress_counts_every_data_set(method):
    told = []
    (point,) = failure_probability(
        SPIKY, 100, 2.0, method=method, failures=50, replicates=2000, progress=told.append
    )
    done = [now.done for now in told]
    assert done == sorted(set(done))
    assert {now.D for now in told} == {100}
    assert done[-1] >= point.replicates
    if method == "direct":
        assert done[-1] == point.replicates
        assert told[-1].failures == point.failures
    for now in told:
        assert now.total is None or now.total >= now.done


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(3, "about 3 s"), (200, "about 3.3 min"), (8e3, "about 2.2 h"), (1e6, "about 12 days")],
)
def test_times_in_words(seconds, words):
    assert in_words(seconds) == words
