"""Files that lie: index arrays, shapes and headers are checked before use, in every format alike.

A wrong index array once ended the interpreter, so that the first test of a kind runs in a process of its own.
"""

import gzip
import io
import json
import resource
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from scipy import sparse

import sparselaw as sl
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
    names = {"indptr": "crow_indices", "indices": "col_indices", "data": "values"}
    return tensors(path, {names[name]: arrays[name] for name in names})


def tensors(path, arrays, header=None):
    kinds = {"<f8": "F64", "<f4": "F32", "<i8": "I64", "<i4": "I32", "<u8": "U64", "|u1": "U8", "<u4": "U32"}
    contents, data = {}, b""
    for name, array in arrays.items():
        start, data = len(data), data + np.ascontiguousarray(array).tobytes()
        contents[name] = {
            "dtype": kinds[array.dtype.str], "shape": list(array.shape), "data_offsets": [start, len(data)],
        }  # fmt: skip
    text = json.dumps(contents if header is None else header(contents)).encode()
    path = path.with_suffix(".safetensors")
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


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
NOT_IN_TENSORS = {complex_values, words_as_values, negative_shape, three_sides, scalar_shape,
                  more_rows_declared, index_far_out, index_just_out}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("write", [write_npz, write_h5ad, write_safetensors])
def test_wrong_arrays_are_refused(matrix, wrong, by_rows, write, tmp_path):
    if write is write_safetensors and (wrong in NOT_IN_TENSORS or not by_rows):
        return  # it has no columns first, declares no shape, and no such types
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
    np.testing.assert_allclose(sorted(twice.table.energy), sorted(once.table.energy), rtol=1e-12)
    share, other = once.curve[-1].unseen.best, twice.curve[-1].unseen.best
    assert other == pytest.approx(share, rel=1e-9)


def test_a_large_unsorted_matrix_market_file_is_refused(matrix, tmp_path, monkeypatch):
    from sparselaw.measuring.readers import matrix_market

    monkeypatch.setattr(matrix_market, "PART", 100)
    arrays = arrays_of(matrix)
    with limited_to(1 << 12):
        assert sl.measure(write_mtx(tmp_path / "x", arrays)).nonzeros == matrix.nnz  # in order
        with pytest.raises(InputError, match="too large to be read in any order"):
            sl.measure(write_mtx(tmp_path / "y", doubled(matrix)))


def measured(path, *options, memory=3 * GIB, command="measure"):
    """The command in a process that may not have more memory than this."""

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    done = subprocess.run(
        [sys.executable, "-m", "sparselaw", command, str(path), *options],
        capture_output=True, text=True, preexec_fn=limit, timeout=120,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 2), done.stderr
    assert done.stderr.count("\n") <= 1 or done.returncode == 0
    return done


def far_svmlight(path):
    lines = [f"1 {j % 7}:1 {j % 5 + 20}:1" for j in range(50)]
    path = path.with_suffix(".svm")
    path.write_text("\n".join([*lines, "1 2000000000:1"]) + "\n")
    return path


def wide_mtx(path):
    path = path.with_suffix(".mtx")
    entries = "".join(f"{i % 40 + 1} {i % 9 * 10**8 + 1} 1\n" for i in range(200))
    path.write_text(f"%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 200\n{entries}")
    return path


def wide_npz(path):
    a = {"indptr": np.arange(0, 41), "indices": np.arange(40) % 9 * 10**8, "data": np.ones(40)}
    return write_npz(path, a | {"shape": np.array([40, 2 * 10**9]), "by_rows": True})


def far_locations(path):
    where = np.array([[i % 40 * 10**9, i % 9 * 10**8] for i in range(200)], np.int64)
    return tensors(path, {"locations": where, "activations": np.ones(200)})


@pytest.mark.parametrize("make", [far_svmlight, wide_mtx, wide_npz, far_locations])
def test_memory_is_for_columns_that_occur(make, tmp_path):
    path = make(tmp_path / "x")
    done = measured(path, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["seen"] <= 13
    measured(path, command="learn")  # an answer, or a refusal of too many rows


def packed_line(path):
    path = path.with_suffix(".csv.gz")
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(700):
            file.write(b"7" * (1 << 20))
    return path


def packed_rows(path):
    path = path.with_suffix(".csv.gz")
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"sample,feature,value\n")
        for _ in range(700):
            file.write(b"1,2,3\n" * (1 << 18))
    return path


def promised_cells(path):
    path = path.with_suffix(".h5ad")
    with h5py.File(path, "w") as file:
        file.create_dataset("X", shape=(10**6, 10**6), chunks=(1000, 1000), dtype="f8")
    return path


def promised_row(path):
    path = path.with_suffix(".h5ad")
    with h5py.File(path, "w") as file:
        file.create_dataset("X", shape=(3, 10**11), chunks=(1, 10**6), dtype="f8")
    return path


def promised_array(path):
    """An .npz whose header promises more than there is."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<i8", "fortran_order": False, "shape": (10**12,)})
    path = path.with_suffix(".npz")
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in (("format", np.array(b"csr")), ("shape", np.array([10, 10]))):
            content = io.BytesIO()
            np.save(content, array)
            archive.writestr(f"{name}.npy", content.getvalue())
        for name in ("indptr", "indices", "data"):
            archive.writestr(f"{name}.npy", header.getvalue())
    return path


def packed_zeros(path):
    a = {"indptr": np.zeros(10**8 + 1, np.int64), "indices": np.zeros(0, np.int64), "data": np.zeros(0)}
    np.savez_compressed(path.with_suffix(".npz"), format=b"csr", shape=[10**8, 5], **a)
    return path.with_suffix(".npz")


def empty_tensor(path):
    def header(_contents):
        return {"x": {"dtype": "F32", "shape": [10**9, 10**9], "data_offsets": [0, 0]}}

    return tensors(path, {"x": np.zeros(2)}, header)


@pytest.mark.parametrize(
    "make",
    [packed_line, packed_rows, promised_cells, promised_row, promised_array, packed_zeros, empty_tensor],
)
def test_memory_is_asked_for_before_it_is_taken(make, tmp_path):
    done = measured(make(tmp_path / "x"))
    assert done.returncode == 2
    if make not in (promised_array, empty_tensor):
        assert "--max-size" in done.stderr


def test_text_without_a_line_break(tmp_path):
    path = tmp_path / "x.txt"
    with path.open("wb") as file:
        for _ in range(100):
            file.write(b"word " * (1 << 18))
    for options in ([], ["--split", "file"], ["--split", "blank"], ["--split", "x+y"]):
        done = measured(path, *options)
        assert done.returncode == 2
        assert "--max-size" in done.stderr


def test_the_option_raises_the_limit(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("\n".join(f"a{i} b{i % 3} c{i % 7} d" for i in range(100)))
    assert measured(path, "--split", "file", "--max-size", "1kB").returncode == 2
    assert measured(path, "--max-size", "100kB").returncode == 0
    with pytest.raises(InputError, match="a document needs"), limited_to(1 << 10):
        sl.measure(path, split="file")
    with pytest.raises(InputError, match="a document needs"):
        sl.measure(path, split="file", max_size=1 << 10)


ODD_HEADERS = [
    lambda _: [], lambda _: 3, lambda _: "x", lambda _: None, lambda _: {"x": 3}, lambda _: {"x": None},
    lambda _: {"x": []}, lambda _: {"x": {}}, lambda c: {"x": c["x"] | {"dtype": 4}},
    lambda c: {"x": c["x"] | {"dtype": ["F32"]}}, lambda c: {"x": c["x"] | {"dtype": "F99"}},
    lambda c: {"x": c["x"] | {"shape": 4}}, lambda c: {"x": c["x"] | {"shape": "ab"}},
    lambda c: {"x": c["x"] | {"shape": [-1, 4]}}, lambda c: {"x": c["x"] | {"shape": [2.0, 4.0]}},
    lambda c: {"x": c["x"] | {"shape": [True, 4]}}, lambda c: {"x": c["x"] | {"shape": [None]}},
    lambda c: {"x": c["x"] | {"data_offsets": 1}}, lambda c: {"x": c["x"] | {"data_offsets": [0]}},
    lambda c: {"x": c["x"] | {"data_offsets": [8, 0]}}, lambda c: {"x": c["x"] | {"data_offsets": ["a", 2]}},
    lambda c: {"x": c["x"] | {"data_offsets": {"a": 1}}},
    lambda c: {"x": c["x"] | {"data_offsets": [0, 10**30]}},
    lambda c: {"x": c["x"] | {"data_offsets": [-8, 0]}}, lambda _: {"__metadata__": 3},
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(ODD_HEADERS)))
def test_headers_of_another_type(number, tmp_path):
    path = tensors(tmp_path / "x", {"x": np.eye(6)}, ODD_HEADERS[number])
    with pytest.raises(InputError):
        sl.measure(path)


def nested(depth=100_000):
    return b"[" * depth + b"]" * depth


@pytest.mark.parametrize("text", [nested(), b'{"x":' * 50_000 + b"1" + b"}" * 50_000])
def test_deeply_nested_headers(text, tmp_path):
    path = tmp_path / "x.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text)
    with pytest.raises(InputError):
        sl.measure(path)


def scalar_x(file):
    file["X"] = 3.0


def list_x(file):
    file["X"] = np.arange(9.0)


def three_dimensions(file):
    file["X"] = np.zeros((3, 3, 3))


def no_x(file):
    file["Y"] = np.zeros((3, 3))


def empty_x(file):
    file["X"] = h5py.Empty("f8")


def empty_group(file):
    file.create_group("X")


def looped_x(file):
    file["X"] = h5py.SoftLink("/X")


def looped_group(file):
    group = file.create_group("X")
    group.attrs["shape"] = np.array([9, 9])
    for name in ("data", "indices", "indptr"):
        group[name] = group


def outside_x(file):
    file["X"] = h5py.ExternalLink("other.h5", "/X")


def words_x(file):
    file["X"] = np.array([[b"a", b"b"]] * 9)


def odd_shape(file):
    group = file.create_group("X")
    group.attrs["shape"] = "nine"
    group["data"], group["indices"], group["indptr"] = np.ones(2), np.arange(2), np.arange(3)


def odd_encoding(file):
    group = file.create_group("X")
    group.attrs["shape"], group.attrs["encoding-type"] = [2, 3], np.arange(4)
    group["data"], group["indices"], group["indptr"] = np.ones(2), np.arange(2), np.arange(3)


@pytest.mark.parametrize(
    "make",
    [scalar_x, list_x, three_dimensions, no_x, empty_x, empty_group, looped_x, looped_group, outside_x,
     words_x, odd_shape, odd_encoding],
)  # fmt: skip
def test_h5ad_of_another_form(make, tmp_path):
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        make(file)
    with pytest.raises(InputError):
        sl.measure(tmp_path / "x.h5ad")


@pytest.mark.parametrize(
    "arrays",
    [
        {"format": np.array(3), "shape": np.array([3, 3])},
        {"format": np.array("xyz"), "shape": np.array([3, 3])},
        {"format": np.array(["csr", "csc"]), "shape": np.array([3, 3])},
        {"format": np.array("csr"), "shape": np.array(3)},
        {"format": np.array("csr"), "shape": np.array([3.0, 3.0])},
        {"format": np.array("csr"), "shape": np.array([3, 3])},
        {"format": np.array("csr"), "shape": np.array(["a", "b"])},
        {"format": np.array("dia"), "shape": np.array([3, 3]), "data": np.eye(3), "offsets": np.arange(2)},
        {"format": np.array("bsr"), "shape": np.array([3, 3]), "data": np.ones((1, 2, 2)),
         "indptr": np.arange(3), "indices": np.array([7])},
        {"format": np.array("coo"), "shape": np.array([3, 3]), "row": np.array([0, 9]),
         "col": np.array([0, 1]), "data": np.ones(2)},
        {"format": np.array("coo"), "shape": np.array([3, 3]), "row": np.array([0]), "col": np.array([0, 1]),
         "data": np.ones(2)},
        {"other": np.eye(3)},
    ],
)  # fmt: skip
def test_npz_of_another_form(arrays, tmp_path):
    np.savez(tmp_path / "x.npz", **arrays)
    with pytest.raises(InputError):
        sl.measure(tmp_path / "x.npz")


def test_coordinates_that_are_not_equally_many(tmp_path):
    arrays = {"row": np.arange(80) % 70, "col": np.arange(80) % 9, "data": np.ones(79)}
    np.savez(tmp_path / "x.npz", format=np.array("coo"), shape=np.array([70, 9]), **arrays)
    for ask in (sl.measure, sl.learn):
        with pytest.raises(InputError, match="not equally many"):
            ask(tmp_path / "x.npz")


def test_pickles_are_not_opened(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "x.npz", format=np.array({}, dtype=object), shape=np.array([3, 3]))
    for name in ("x.npy", "x.npz"):
        with pytest.raises(InputError):
            sl.measure(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.svm", "1 nan:1\n"), ("x.svm", "1 1e300:1\n"), ("x.svm", "1 inf:2 3:4\n"), ("x.svm", "1 -1:2\n"),
        ("x.svm", "1 1.5:2\n"), ("x.svm", "3:1 4:1\n"), ("x.svm", "1 1_0:2\n"), ("x.svm", "1 2:nan\n"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 1\n1 1 1 5\n"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 1\n1 1\n"),
        ("x.mtx", "%%MatrixMarket matrix coordinate complex general\n9 9 1\n1 1 1 1\n"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 0\n1 1 1\n"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n1_0 9 1\n1 1 1\n"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 1\n1.5 1 1\n"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n-9 9 1\n1 1 1\n"),
        ("x.mtx", f"%%MatrixMarket matrix coordinate real general\n{10**30} 9 1\n1 1 1\n"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n9 9 1\n1 99999999999999999999 1\n"),
        ("x.csv", "sample,feature,value\n1,2,3\n1,2\n\n,,\n"), ("x.csv", ""), ("x.csv", "\n\n\n"),
        ("x.csv", "a,a,a\n1,2,3\n"), ("x.csv", 'sample,feature\n"1,2\n'),
        ("x.csv", "sample,feature,value\n1,2,x\n"),
        ("x.txt", ""), ("x.txt", "a\n"), ("x.txt", "a\nb\n"), ("x.dat", "\n\n"),
        ("x.py", "def f(:\n"), ("x.py", "'"),
    ],
)  # fmt: skip
def test_text_that_is_wrong(name, text, tmp_path, recwarn):
    (tmp_path / name).write_text(text)
    for ask in (sl.measure, sl.learn):
        with pytest.raises(InputError) as refused:
            ask(tmp_path / name)
        assert "\n" not in str(refused.value)
    assert not recwarn.list


@pytest.mark.parametrize("encoding", ["zlib", "hex", "base64", "rot13", "no-such", "", "\udcff", "x" * 999])
@pytest.mark.parametrize("name", ["x.txt", "x.csv", "x.dat"])
def test_encodings_that_are_none(encoding, name, tmp_path):
    (tmp_path / name).write_text("a b\nc d\n")
    with pytest.raises(InputError, match="is no encoding of text"):
        sl.measure(tmp_path / name, encoding=encoding)


@pytest.mark.parametrize("cut", [1, 10, 20, 30, -1])
@pytest.mark.parametrize("name", ["x.txt.gz", "x.svm.gz", "x.csv.gz", "x.mtx.gz", "x.dat.gz"])
def test_damaged_gz(name, cut, tmp_path):
    content = gzip.compress(b"sample,feature,value\n" + b"1,2,3\n" * 50)
    (tmp_path / name).write_bytes(content[:cut])
    with pytest.raises(InputError):
        sl.measure(tmp_path / name)
    (tmp_path / name).write_bytes(content[:15] + b"\xff\xff" + content[17:])
    with pytest.raises(InputError):
        sl.measure(tmp_path / name)


def test_nested_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    lists = pyarrow.array([[1, 2], [3]])
    records = pyarrow.array([{"a": 1}, {"a": 2}])
    for columns in ({"sample": lists, "feature": [1, 2]}, {"sample": [1, 2], "feature": records},
                    {"sample": [1, 2], "feature": [1, 2], "value": lists}):  # fmt: skip
        parquet.write_table(pyarrow.table(columns), tmp_path / "x.parquet")
        with pytest.raises(InputError):
            sl.measure(tmp_path / "x.parquet")


@pytest.mark.parametrize("rows", [1, 2])
def test_too_few_rows(rows):
    with pytest.raises(InputError, match="too few"):
        sl.measure(np.eye(rows, 5))
    assert sl.measure(np.eye(3, 5)).rows == 3


def test_a_folder_that_may_not_be_read_is_not_left_out(tmp_path, monkeypatch):
    """Permissions do not stop the administrator, so that the system's answer is put in its place."""
    import os

    (tmp_path / "a").mkdir()
    (tmp_path / "locked").mkdir()
    (tmp_path / "a" / "x.txt").write_text("a b\nb c\nc d\nd e\n")
    scandir = os.scandir

    def refusing(path):
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(InputError, match=r"locked: may not be read \(Permission denied\)"):
        sl.measure(tmp_path)
