"""The even part of the kernel of |z|/2, sector by sector and type by type: everything N features need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.inputs import Inputs
from sparselaw.theory.nonlinear.bend_kernel import alternating_sums
from sparselaw.theory.nonlinear.coordinate_cells import EXACT, coordinate_cells
from sparselaw.theory.nonlinear.parity_sectors import SHARED, Sectors, parity_sectors
from sparselaw.theory.nonlinear.unit_types import Types

WHOLE = 0.1  # of the cut-off: sets above it are in the matrix of their sector
LEAST = 1e-3  # of the cut-off: sectors below it are left out


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Group:
    """Matrices of one size: ``kernel`` is (C, n, n, n_1, n_j), n_j = 1 where none depends on u_j."""

    alike: FloatArray  # (C,) how many sectors have this matrix
    kernel: FloatArray

    def mean(self, weights: FloatArray) -> FloatArray:
        """The matrices (C, n, n), summed over types with these weights (n_1, n_j)."""
        shape = self.kernel.shape
        known = weights.sum(axis=1) if shape[4] < weights.shape[1] else weights.ravel()
        summed: FloatArray = (self.kernel.reshape(-1, known.size) @ known).reshape(shape[:3])
        return summed

    def products(self, resolvents: FloatArray) -> FloatArray:
        """sum over sectors of tr(K_t r), by type, for matrices r (C, n, n)."""
        flat = (resolvents * self.alike[:, None, None]).ravel()
        found: FloatArray = (flat @ self.kernel.reshape(flat.size, -1)).reshape(self.kernel.shape[3:])
        return found


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EvenTable:
    """The even part of the kernel, good for cut-offs down to ``cutoff``."""

    cutoff: float
    types: Types
    groups: tuple[Group, ...]

    def spectrum(self) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues of the mean over types, and how often each occurs."""
        values, often = [], []
        for group in self.groups:
            matrices = group.mean(self.types.weights)
            values.append(np.linalg.eigvalsh(matrices).ravel())
            often.append(np.repeat(group.alike, matrices.shape[1]))
        return np.concatenate(values), np.concatenate(often)


def even_table(
    inputs: Inputs,
    cutoff: float,
    types: Types,
    whole: float = WHOLE,
    least: float = LEAST,
    exact: int = EXACT,
) -> EvenTable:
    """The table for cut-offs from ``cutoff`` upwards; ``whole`` and ``least`` are shares of it."""
    cells = coordinate_cells(inputs, least * cutoff, exact)
    sectors = parity_sectors(cells, whole * cutoff, least * cutoff)
    values = _Values(sectors, cells.c, types)
    return EvenTable(cutoff=cutoff, types=types, groups=tuple(_groups(sectors, values)))


def table_work(inputs: Inputs, cutoff: float, whole: float, least: float, most: float) -> float:
    """Sums over signs that a table takes, for one type; at least ``most`` where it is more."""
    cells = coordinate_cells(inputs, least * cutoff)
    sectors = parity_sectors(cells, whole * cutoff, least * cutoff, most=int(most / 20.0))
    start, part = np.array(sectors.start), np.array(sectors.part)
    shared = np.add.reduceat((part <= SHARED).astype(float), start[1:-1]) if len(start) > 2 else np.zeros(1)
    return most if sectors.full else float(np.sum(2.0**shared))


class _Values:
    """The kernel of every configuration, on the types that it depends on."""

    def __init__(self, sectors: Sectors, c: FloatArray, types: Types) -> None:
        start, cell, part = (np.array(x, dtype=np.int64) for x in (sectors.start, sectors.cell, sectors.part))
        typed = (cell == types.other - 2).astype(np.int64)  # cell 0 is coordinate 2
        length = np.diff(start)
        owner = np.repeat(np.arange(length.size), length)
        self.depends = np.zeros(length.size, dtype=bool)
        self.depends[owner[typed == 1]] = True
        self.place = np.zeros(length.size, dtype=np.int64)
        self.shape = types.weights.shape
        self.values: dict[bool, FloatArray] = {}
        for key in (False, True):
            chosen = np.flatnonzero(self.depends == key)
            second = types.nodes[1] if key else np.zeros(1)
            grid = np.stack([x.ravel() for x in np.meshgrid(types.nodes[0], second, indexing="ij")], axis=1)
            inside = self.depends[owner] == key
            starts = np.concatenate([[0], np.cumsum(length[chosen])])
            arrays = (starts, c[cell[inside]], part[inside], typed[inside])
            found = alternating_sums(*arrays, grid, types.first)
            self.values[key] = found.reshape(chosen.size, self.shape[0], second.size)
            self.place[chosen] = np.arange(chosen.size)

    def of(self, configurations: IntArray, key: bool) -> FloatArray:
        """Their values (E, n_1, n_j), n_j = 1 where none of them depends on u_j."""
        out = np.empty((configurations.size, self.shape[0], self.shape[1] if key else 1))
        for own, values in self.values.items():
            mask = self.depends[configurations] == own
            if mask.any():
                out[mask] = values[self.place[configurations[mask]]]
        return out


def _groups(sectors: Sectors, values: _Values) -> Iterator[Group]:
    by_kind: dict[tuple[int, bool], list[int]] = {}
    for b, block in enumerate(sectors.blocks):
        key = bool(values.depends[[entry[3] for entry in block.entries]].any())
        by_kind.setdefault((block.size, key), []).append(b)
    for (size, key), members in by_kind.items():
        blocks = [sectors.blocks[b] for b in members]
        rows = [(place, *entry) for place, block in enumerate(blocks) for entry in block.entries]
        owner, i, j, factor, ids = (np.array(column) for column in zip(*rows, strict=True))
        found = factor[:, None, None] * values.of(ids, key)
        kernel = np.zeros((len(blocks), size, size, *found.shape[1:]))
        np.add.at(kernel, (owner, i, j), found)
        upper = np.triu(np.ones((size, size)), 1)[None, :, :, None, None]
        kernel += np.swapaxes(kernel * upper, 1, 2)
        yield Group(
            alike=np.array([block.alike for block in blocks]),
            kernel=kernel,
        )
