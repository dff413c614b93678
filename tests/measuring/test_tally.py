"""The pass over the nonzeros: the same to 1e-12, however it is cut."""

from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

import sparselaw as sl
from measuring.helpers import assert_alike
from sparselaw.measuring import counting, nonzeros
from sparselaw.measuring.counting import Tally, count_file, most_blocks
from sparselaw.measuring.nonzeros import Nonzeros, Values
from sparselaw.measuring.readers.base import Reading


@pytest.fixture(scope="module")
def matrix():
    rng = np.random.default_rng(3)
    dense = (rng.random((501, 40)) < np.geomspace(0.5, 0.004, 40)) * np.exp(
        2.0 * rng.standard_normal((501, 40))
    )
    return sparse.csr_array(dense)


@pytest.mark.parametrize("size", [1, 64])
@pytest.mark.parametrize("options", [{"binary": True}, {"center": True}, {"threshold": 0.5, "log1p": True}])
def test_blocks_of_any_size_give_the_same(matrix, size, options):
    cut = (matrix[start : start + size] for start in range(0, 501, size))
    positive = abs(matrix)
    cut = (abs(part) for part in cut)
    assert_alike(sl.measure(cut, **options), sl.measure(positive, **options))


def test_counts_and_squares_are_those_of_the_matrix(matrix):
    found = sl.measure(matrix)
    assert found.table.count.tolist() == (matrix != 0).sum(axis=0).tolist()
    np.testing.assert_allclose(found.table.squares, matrix.power(2).sum(axis=0), rtol=1e-13)
    centred = sl.measure(matrix, center=True)
    assert centred.variance == pytest.approx(matrix.toarray().var(axis=0, ddof=1).sum(), rel=1e-12)


@pytest.mark.parametrize("cuts", [(3, 4, 5, 200), tuple(range(20, 500, 20))])
def test_files_counted_apart_add_up_to_one_long_file(matrix, cuts, tmp_path):
    edges, merged = [0, *cuts, 501], Tally(center=True)
    for i, (start, stop) in enumerate(pairwise(edges)):
        path = tmp_path / f"part-{i}.npz"
        sparse.save_npz(path, sparse.csr_array(matrix[start:stop]))
        merged.merge(count_file(path, start, Values(center=True), Reading())[0])
    together = merged.counted()
    whole = Tally(center=True)
    rows, columns = matrix.nonzero()
    order = np.random.default_rng(0).permutation(rows.size)
    value = matrix[rows, columns]
    whole.add(Nonzeros(rows[order], columns[order], np.asarray(value)[order], 501))
    counted = whole.counted()
    assert together.length == counted.length
    assert (together.block_rows() == counted.block_rows()).all()
    for b in range(len(counted.n)):
        assert (together.n[b] == counted.n[b]).all()
        np.testing.assert_allclose(together.squares[b], counted.squares[b], rtol=1e-12)
        np.testing.assert_allclose(together.sums[b], counted.sums[b], rtol=1e-12, atol=1e-9)
    assert_alike(sl.measure(tmp_path, workers=1), sl.measure(matrix))


def test_words_of_files_counted_apart_get_the_same_columns(tmp_path):
    (tmp_path / "a-2.txt").write_text("the cat\nsat on\n")
    (tmp_path / "a-10.txt").write_text("on the mat\n\na dog and the cat\n")
    paths = [tmp_path / "a-2.txt", tmp_path / "a-10.txt"]
    parts = [count_file(path, first, Values(), Reading()) for path, first in zip(paths, (0, 2), strict=True)]
    one = sl.measure(tmp_path)
    assert list(one.table.names) == ["the", "cat", "sat", "on", "mat", "a", "dog", "and"]
    assert parts[1][1] == ["on", "the", "mat", "a", "dog", "and", "cat"]
    assert_alike(sl.measure(paths, workers=2), one)


def test_columns_far_out_are_merged():
    """One tally has columns at their own numbers, the other in the order in which they appeared."""
    row, near, far = np.arange(4), np.array([0, 5, 5, 9]), np.array([3, 2**30, 2**30, 0])
    parts = [Nonzeros(row, near, row + 1.0, 4), Nonzeros(row + 4, far, row + 2.0, 8)]
    whole, merged = Tally(), Tally()
    for part in parts:
        whole.add(part)
        own = Tally()
        own.add(part)
        merged.merge(own.counted(first=part.rows - 4))
    one, other = whole.counted(), merged.counted()
    assert one.column.tolist() == other.column.tolist() == [0, 3, 5, 9, 2**30]
    for name in ("n", "squares"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.squares.sum() == 30.0 + 54.0


def test_very_many_features_have_fewer_blocks():
    assert most_blocks(1000) == 32
    assert most_blocks(10**6) == 16
    assert most_blocks(10**8) == 8


@pytest.mark.parametrize("rows", [2, 31, 32, 33, 100, 1024, 1025])
def test_blocks_are_powers_of_two_of_rows(rows):
    tally = Tally()
    for row in range(rows):
        tally.add(Nonzeros(np.array([row]), np.array([0]), np.array([2.0]), row + 1))
    counted = tally.counted()
    assert counted.block_rows().sum() == rows
    assert 16 < len(counted.n) <= 32 or rows < 32
    assert (counted.n[:, 0] == counted.block_rows()).all()
    assert counted.squares.sum() == 4.0 * rows


def test_progress_says_how_many_rows_were_counted(monkeypatch):
    shown = []
    monkeypatch.setattr(counting, "progress", lambda _: nullcontext(lambda *said: shown.append(said)))
    monkeypatch.setattr(nonzeros, "PART", 50 * 30)
    sl.measure(np.tile([1.0, 0.0, 0.0, 1.0, 0.0], (120, 6)))
    assert [rows for rows, _, _ in shown] == [0, 50, 100, 120]
    assert {(whole, said) for _, whole, said in shown} >= {(120, "50 rows"), (120, "120 rows")}
