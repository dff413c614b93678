"""The same features without what joins them: random signs, and columns shuffled each on its own.

Random signs leave who is active with whom, and take means and correlations away. Shuffled columns leave how
often and how large each feature is, and take co-activation away as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def random_signs(x: Any, rng: np.random.Generator) -> Any:
    """Every nonzero with a fair sign."""
    turned = x.copy()
    turned.data = x.data * rng.choice(np.array([-1.0, 1.0]), x.data.size)
    return turned


def shuffled_columns(x: Any, rng: np.random.Generator) -> Any:
    """The values of each column at other rows, drawn without replacement; at the cost of the nonzeros.

    Each entry takes a random row; where two of a column meet, those after the first draw again.
    """
    from scipy import sparse

    columns = x.tocsc()
    rows = x.shape[0]
    column = np.repeat(np.arange(x.shape[1]), np.diff(columns.indptr))
    full = np.diff(columns.indptr) > rows // 2
    place = rng.integers(0, rows, column.size)
    for j in np.flatnonzero(full):  # frequent columns: a permutation is cheaper than trying again
        inside = slice(columns.indptr[j], columns.indptr[j + 1])
        place[inside] = rng.permutation(rows)[: inside.stop - inside.start]
    while True:
        key = column * rows + place
        order = np.argsort(key, kind="stable")
        again = order[1:][key[order][1:] == key[order][:-1]]
        if not again.size:
            break
        place[again] = rng.integers(0, rows, again.size)
    return sparse.coo_matrix((columns.data, (place, column)), shape=x.shape).tocsr()
