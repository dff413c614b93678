"""Files that lie: index arrays, shapes and headers are checked before use, in every format alike.

A wrong index array once ended the interpreter, so that the first test of a kind runs in a process of its own.
"""

import numpy as np
import pytest
from scipy import sparse

import sparselaw as sl
from measuring.helpers import tensors
from sparselaw.errors import InputError
from sparselaw.files import limited_to

h5py = pytest.importorskip("h5py", reason="the extra h5ad is not installed")

ROWS, COLUMNS = 60, 40
GIB = 1 << 30


@pytest.fixture(scope="module")
def matrix():
    found = sparse.random_array((ROWS, COLUMNS), density=0.1, rng=np.random.default_rng(0)).toarray()
    found[np.arange(ROWS), np.arange(ROWS) % COLUMNS] = 0.5  # no row is empty
    return sparse.csr_array(found)


def arrays_of(matrix, by_rows=True):
    made = matrix.tocsr() if by_rows else matrix.tocsc()
    return {
        "indptr": made.indptr.copy(),
        "indices": made.indices.copy(),
        "data": made.data.copy(),
        "shape": np.array(made.shape),
        "by_rows": by_rows,
    }


def write_npz(path, arrays):
    kind = b"csr" if arrays["by_rows"] else b"csc"
    kept = {name: value for name, value in arrays.items() if name != "by_rows"}
    np.savez(path.with_suffix(".npz"), format=np.array(kind), **kept)
    return path.with_suffix(".npz")


def write_h5ad(path, arrays):
    with h5py.File(path.with_suffix(".h5ad"), "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"] = "csr_matrix" if arrays["by_rows"] else "csc_matrix"
        group.attrs["shape"] = arrays["shape"]
        for name in ("indptr", "indices", "data"):
            group.create_dataset(name, data=arrays[name])
    return path.with_suffix(".h5ad")


def write_safetensors(path, arrays):
    names = {"indptr": "crow_indices", "indices": "col_indices", "data": "values", "shape": "shape"}
    return tensors(path, {names[name]: arrays[name] for name in names})


def beyond_the_data(a):
    a["indptr"][-1] += 1000


def falling(a):
    a["indptr"][5] = a["indptr"][-1]


def negative_start(a):
    a["indptr"][0] = -4


def too_few_starts(a):
    a["indptr"] = a["indptr"][:-1]


def starts_with_fractions(a):
    a["indptr"] = a["indptr"].astype(float)


def index_far_out(a):
    a["indices"][3] = 10**6


def index_just_out(a):
    a["indices"][-1] = COLUMNS if a["by_rows"] else ROWS


def negative_index(a):
    a["indices"][3] = -1


def indices_with_fractions(a):
    a["indices"] = a["indices"] + 0.5


def indices_as_floats(a):
    a["indices"] = a["indices"].astype(float)


def fewer_indices(a):
    a["indices"] = a["indices"][:-2]


def fewer_values(a):
    a["data"] = a["data"][:-2]


def complex_values(a):
    a["data"] = a["data"] + 1j


def words_as_values(a):
    a["data"] = np.array([b"x"] * a["data"].size)


def huge_unsigned(a):
    a["indices"] = np.full(a["indices"].size, 2**63 + 5, np.uint64)


def negative_shape(a):
    a["shape"] = np.array([ROWS, -3])


def three_sides(a):
    a["shape"] = np.array([ROWS, COLUMNS, 2])


def scalar_shape(a):
    a["shape"] = np.array(ROWS)


def more_rows_declared(a):
    a["shape"] = np.array([10**9, COLUMNS])


WRONG = [
    beyond_the_data, falling, negative_start, too_few_starts, starts_with_fractions, index_far_out,
    index_just_out, negative_index, indices_with_fractions, indices_as_floats, fewer_indices, fewer_values,
    complex_values, words_as_values, huge_unsigned, negative_shape, three_sides, scalar_shape,
    more_rows_declared,
]  # fmt: skip
NOT_IN_TENSORS = {complex_values, words_as_values}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("write", [write_npz, write_h5ad, write_safetensors])
def test_wrong_arrays_are_refused(matrix, wrong, by_rows, write, tmp_path):
    if write is write_safetensors and (wrong in NOT_IN_TENSORS or not by_rows):
        return  # it has no columns first, and no such types
    if wrong is more_rows_declared and not by_rows:
        return  # rows without entries: there may be so many
    arrays = arrays_of(matrix, by_rows)
    wrong(arrays)
    path = write(tmp_path / "x", arrays)
    for ask in (sl.measure, sl.learn):
        with pytest.raises(InputError) as refused:
            ask(path)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("write", [write_npz, write_h5ad, write_safetensors])
def test_right_arrays_are_read(matrix, write, tmp_path):
    found = sl.measure(write(tmp_path / "x", arrays_of(matrix)))
    assert found.nonzeros == matrix.nnz
    if write is not write_safetensors:
        assert sl.measure(write(tmp_path / "y", arrays_of(matrix, False))).nonzeros == matrix.nnz


def doubled(matrix):
    """Every entry cut in two that are given apart, and out of order: the matrix is the same."""
    arrays = arrays_of(matrix)
    starts = 2 * arrays["indptr"]
    indices, data = np.empty(2 * matrix.nnz, np.int32), np.empty(2 * matrix.nnz)
    for r in range(ROWS):
        own = slice(arrays["indptr"][r], arrays["indptr"][r + 1])
        both = slice(starts[r], starts[r + 1])
        indices[both] = np.concatenate([arrays["indices"][own], arrays["indices"][own][::-1]])
        half = arrays["data"][own] / 2
        data[both] = np.concatenate([half, half[::-1]])
    return arrays | {"indptr": starts, "indices": indices, "data": data}


def write_svmlight(path, arrays):
    lines = []
    for r in range(ROWS):
        own = range(arrays["indptr"][r], arrays["indptr"][r + 1])
        pairs = [f"{arrays['indices'][i]}:{float(arrays['data'][i])!r}" for i in own]
        lines.append(" ".join(["1", *pairs]))
    path.with_suffix(".svm").write_text("\n".join(lines) + "\n")
    return path.with_suffix(".svm")


def entries(arrays):
    row = np.repeat(np.arange(ROWS), np.diff(arrays["indptr"]))
    return zip(row, arrays["indices"], arrays["data"], strict=True)


def write_mtx(path, arrays):
    lines = ["%%MatrixMarket matrix coordinate real general", f"{ROWS} {COLUMNS} {len(arrays['data'])}"]
    lines += [f"{r + 1} {c + 1} {float(v)!r}" for r, c, v in entries(arrays)]
    path.with_suffix(".mtx").write_text("\n".join(lines) + "\n")
    return path.with_suffix(".mtx")


def write_triplets(path, arrays):
    lines = ["sample,feature,value", *(f"{r},{c},{float(v)!r}" for r, c, v in entries(arrays))]
    path.with_suffix(".csv").write_text("\n".join(lines) + "\n")
    return path.with_suffix(".csv")


def write_locations(path, arrays):
    where = np.array([[r, c] for r, c, _ in entries(arrays)], np.int64)
    return tensors(path, {"locations": where, "activations": arrays["data"]})


def in_memory(_path, arrays):
    made = sparse.csr_array((ROWS, COLUMNS))
    made.indptr, made.indices, made.data = arrays["indptr"], arrays["indices"], arrays["data"]
    return made


def coordinates(path, arrays):
    row, column, value = (np.array(part) for part in zip(*entries(arrays), strict=True))
    np.savez(path.with_suffix(".npz"), format=b"coo", shape=arrays["shape"], row=row, col=column, data=value)
    return path.with_suffix(".npz")


@pytest.mark.parametrize(
    "write",
    [write_npz, write_h5ad, write_safetensors, write_svmlight, write_mtx, write_triplets, write_locations,
     in_memory, coordinates],
)  # fmt: skip
def test_entries_given_twice_are_added_up_in_every_format(matrix, write, tmp_path):
    once, twice = sl.measure(matrix), sl.measure(write(tmp_path / "x", doubled(matrix)))
    assert twice.nonzeros == once.nonzeros
    assert sorted(twice.table.count) == sorted(once.table.count)
    np.testing.assert_allclose(sorted(twice.table.squares), sorted(once.table.squares), rtol=1e-12)
    share, other = once.curve[-1].unseen.best, twice.curve[-1].unseen.best
    assert other == pytest.approx(share, rel=1e-9)


def test_a_large_unsorted_matrix_market_file_is_refused(matrix, tmp_path, monkeypatch):
    from sparselaw.measuring.readers import line_files

    monkeypatch.setattr(line_files, "PART", 100)
    arrays = arrays_of(matrix)
    with limited_to(1 << 12):
        assert sl.measure(write_mtx(tmp_path / "x", arrays)).nonzeros == matrix.nnz  # in order
        with pytest.raises(InputError, match="too large to be read in any order"):
            sl.measure(write_mtx(tmp_path / "y", doubled(matrix)))
