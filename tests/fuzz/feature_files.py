"""Feature matrices in every format, with index arrays, headers and bytes that lie."""

from __future__ import annotations

import gzip
import io
import json

import numpy as np
from scipy import sparse

from fuzz.cases import NUMBERS, WORDS, Case, Draw

ODD_INTEGERS = (-1, 0, 1, 10**6, 2**31 - 1, 2**31, 2**40, -(2**31))
OPTIONS = ("--binary", "--log1p", "--center", "--threshold=0.5", "--keep-case", "--ngram=2", "--split=blank",
           "--split=file", "--tokens=characters", "--pattern=[a-z]+", "--encoding=latin-1", "--encoding=zlib",
           "--columns=a,b,c", "-D=4", "--format=text", "--format=npz", "--format=svmlight", "--max-size=10MB",
           "--format=transactions", "--format=python", "--threshold=nan", "--split=(",
           "--out=out.json")  # fmt: skip


def matrix(draw: Draw) -> sparse.csr_array:
    shape = draw.whole(1 if draw.chance(0.1) else 66, 120), draw.whole(1 if draw.chance(0.1) else 9, 40)
    found = sparse.random_array(shape, density=draw.pick([0.05, 0.1, 0.3]), rng=draw.rng, format="csr")
    found.sort_indices()
    return found


def lied(draw: Draw, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Some of the arrays changed: values, lengths, types, dimensions."""
    for _ in range(draw.whole(0, 3) if draw.chance(0.7) else 0):
        name = draw.pick([*arrays])
        array, way = np.array(arrays[name]), draw.whole(0, 8)
        if way == 0 and array.size and array.dtype.kind in "iu":
            array.reshape(-1)[draw.whole(0, array.size)] = draw.pick(ODD_INTEGERS) % 2**31
        elif way == 1 and array.size and array.dtype.kind in "if":
            array.reshape(-1)[draw.whole(0, array.size)] = -draw.whole(1, 100)
        elif way == 2:
            array = array.reshape(-1)[: draw.whole(0, array.size + 1)]
        elif way == 3 and array.dtype.kind in "iuf":
            array = array.astype(draw.pick(["f4", "f8", "i4", "i8", "u8", "c16", "?", "S4", "f2", "u1"]))
        elif way == 4:
            array = array.reshape(-1, 1) if array.ndim == 1 else array.reshape(-1)
        elif way == 5:
            array = np.concatenate([array.reshape(-1)] * 2)
        elif way == 6:
            array = np.array(draw.pick([3, 2.5, b"csr", "csc", "bsr", "dia", "coo", "x"]))
        elif array.dtype.kind == "f" and array.size:
            array.reshape(-1)[draw.whole(0, array.size)] = draw.pick([np.nan, np.inf, 1e300, -1e200, 1e-320])
        arrays[name] = array
    return arrays


def npz(draw: Draw) -> tuple[str, bytes]:
    kind = draw.pick(["csr", "csr", "csc", "coo", "bsr", "dia"])
    file = io.BytesIO()
    sparse.save_npz(file, matrix(draw).asformat(kind), compressed=draw.chance(0.5))
    file.seek(0)
    with np.load(file) as kept:
        arrays = {name: kept[name] for name in kept.files}
    changed = io.BytesIO()
    np.savez(changed, **lied(draw, arrays))
    return "x.npz", changed.getvalue()


def npy(draw: Draw) -> tuple[str, bytes]:
    file = io.BytesIO()
    np.save(file, lied(draw, {"x": matrix(draw).toarray()})["x"])
    return "x.npy", file.getvalue()


def h5ad(draw: Draw) -> tuple[str, bytes]:
    import h5py

    made = matrix(draw).asformat(kind := draw.pick(["csr", "csc"]))
    arrays = {
        "data": made.data,
        "indices": made.indices,
        "indptr": made.indptr,
        "shape": np.array(made.shape),
    }
    arrays = {
        name: array.astype("S") if array.dtype.kind == "U" else array
        for name, array in lied(draw, arrays).items()
    }
    file = io.BytesIO()
    with h5py.File(file, "w") as opened:
        if draw.chance(0.3):
            opened["X"] = np.asarray(draw.pick([*arrays.values()]))
        else:
            group = opened.create_group("X")
            group.attrs["encoding-type"], group.attrs["shape"] = f"{kind}_matrix", arrays["shape"]
            for name in draw.some(["data", "indices", "indptr"], 3) if draw.chance(0.1) else arrays:
                group[name] = arrays[name]
    return "x.h5ad", file.getvalue()


KINDS = {
    "<f8": "F64",
    "<f4": "F32",
    "<f2": "F16",
    "<i8": "I64",
    "<i4": "I32",
    "<u8": "U64",
    "|u1": "U8",
    "|b1": "BOOL",
}


def safetensors(draw: Draw) -> tuple[str, bytes]:
    made = matrix(draw)
    row = np.repeat(np.arange(made.shape[0]), np.diff(made.indptr))
    arrays = draw.pick([
        {"crow_indices": made.indptr, "col_indices": made.indices, "values": made.data},
        {"locations": np.stack([row, made.indices], axis=1).astype(np.int64), "activations": made.data},
        {"x": made.toarray()},
        {"indices": np.argsort(made.toarray())[:, -3:], "values": np.sort(made.toarray())[:, -3:]},
    ])  # fmt: skip
    contents, data = {}, b""
    for name, array in lied(draw, arrays).items():
        start, data = len(data), data + np.ascontiguousarray(array).tobytes()
        contents[name] = {"dtype": KINDS.get(array.dtype.str, "X"), "shape": list(array.shape),
                          "data_offsets": [start, len(data)]}  # fmt: skip
    if draw.chance(0.3):
        entry = contents[draw.pick([*contents])]
        entry[draw.pick([*entry])] = draw.pick(
            [None, 3, -1, [], {}, "x", [1e9, 1e9], [10**12, 10**12], [0, 0], [[1]]]
        )
    text = json.dumps(contents).encode() if draw.chance(0.95) else b"[" * 5000
    return "x.safetensors", len(text).to_bytes(8, "little") + text + data


def entry(draw: Draw, ordinary: float) -> str:
    return repr(ordinary) if draw.chance(0.9995) else draw.pick(NUMBERS)


def lines(draw: Draw) -> tuple[str, bytes]:
    """svmlight, Matrix Market, triplets, baskets and text."""
    made = matrix(draw).tocoo()
    triples = [*zip(made.row.tolist(), made.col.tolist(), made.data.tolist(), strict=True)]
    form = draw.pick(["svm", "mtx", "csv", "dat", "txt", "py"])
    if form == "mtx":
        head = (
            f"%%MatrixMarket matrix coordinate real general\n{made.shape[0]} {made.shape[1]} {len(triples)}\n"
        )
        body = "".join(f"{r + 1} {c + 1} {entry(draw, v)}\n" for r, c, v in triples)
        text = head + body
    elif form == "csv":
        body = "".join(f"{r},{c},{entry(draw, v)}\n" for r, c, v in triples)
        text = draw.pick(["sample,feature,value\n", "doc,word,count\n", "a,b,c\n", ""]) + body
    elif form == "py":
        text = "def f(x):\n    return x + 1\n\n" * draw.whole(1, 9) + draw.pick(["", "x = (", "'''"])
    else:
        rows: dict[int, list[str]] = {}
        for r, c, v in triples:
            rows.setdefault(r, []).append(f"{c}:{entry(draw, v)}" if form == "svm" else str(c))
        mark = "1 " if form == "svm" else ""
        text = "\n".join(mark + " ".join(row) for row in rows.values())
        if draw.chance(0.2):
            text += "\n" + draw.pick(WORDS) + "\n"
    return f"x.{form}", text.encode("utf-8", "surrogatepass")


def feature_file(draw: Draw) -> Case:
    """measure or learn on one such file."""
    name, content = draw.pick([npz, npy, h5ad, safetensors, lines, lines])(draw)
    if draw.chance(0.2):
        content = draw.noise(content)
    if name.rsplit(".", 1)[1] in ("svm", "mtx", "csv", "dat", "txt") and draw.chance(0.15):
        content, name = gzip.compress(content), f"{name}.gz"
        content = draw.noise(content) if draw.chance(0.5) else content
    command = ["measure"] if draw.chance(0.75) else ["learn", "-D", "4", "-N", "2", "--seeds", "2"]
    given = [command[0], name, *command[1:]]
    for option in draw.some(OPTIONS, 2) if draw.chance(0.4) else []:
        if not (command[0] == "learn" and option.startswith("--out")):
            given += option.split("=", 1)
    if draw.chance(0.4):
        given.append("--json")
    return Case(kind="feature files", arguments=tuple(given), files={name: content})
