"""A kernel, sector by sector and type by type: everything N features need.

Random units u differ in how much they look at the most common coordinates: their types. A unit's type is
|u_1|, or |u_1| and one other |u_j|, each half-normal; Gauss nodes stand for their law (``unit_types``).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.inputs import Inputs
from sparselaw.nonlinear.parity_sectors import SHARED, Block, Sectors, coordinate_cells, parity_sectors
from sparselaw.nonlinear.response import Part

NODES = (6, 4)  # for |u_1| and for |u_j|
FAR = 9.0  # beyond it a half-normal variable has no weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Types:
    """A grid of types. An axis that is not resolved has one node, of weight one."""

    first: bool  # whether |u_1| is told apart
    other: int  # the coordinate j whose |u_j| is too; 0 if there is none
    nodes: tuple[FloatArray, FloatArray]
    weights: FloatArray  # (n_1, n_j), they add up to one


@functools.cache
def unit_types(first: bool = True, other: int = 0, nodes: tuple[int, int] = NODES) -> Types:
    one = (np.zeros(1), np.ones(1))
    (x, v), (y, w) = half_normal(nodes[0]) if first else one, half_normal(nodes[1]) if other else one
    return Types(first=first, other=other, nodes=(x, y), weights=np.outer(v, w))


@functools.cache
def half_normal(n: int) -> tuple[FloatArray, FloatArray]:
    """n Gauss nodes and weights for |u|, u standard normal, by Lanczos on a fine rule.

    >>> x, w = half_normal(3)
    >>> [round(float(w @ x**k), 6) for k in (0, 2, 4)]
    [1.0, 1.0, 3.0]
    """
    x, fine = np.polynomial.legendre.leggauss(300)
    x = 0.5 * FAR * (x + 1.0)
    fine = fine * np.exp(-0.5 * x * x)
    basis = [np.sqrt(fine / fine.sum())]
    matrix = np.zeros((n, n))
    for i in range(n):
        image = x * basis[-1]
        matrix[i, i] = basis[-1] @ image
        for _ in range(2):
            for vector in basis:
                image = image - vector * (vector @ image)
        size = float(np.linalg.norm(image))
        if i + 1 < n:
            matrix[i, i + 1] = matrix[i + 1, i] = size
        basis.append(image / size)
    nodes, vectors = np.linalg.eigh(matrix)
    return nodes, vectors[0] ** 2


class Signed(NamedTuple):
    """Of each matrix of even functions, where units with u_1 > 0 alone are looked at.

    Such a unit's features of either parity go together; where u_1 < 0 they do so with the other sign.
    """

    along: FloatArray  # (C, n, n_1): the kernel between its functions and the coordinate of its sector
    straight: FloatArray  # (C, n_1): that of the coordinate with itself; zero where the sector has none


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Group:
    """Matrices of one size: ``kernel`` is (C, n, n, n_1, n_j), n_j = 1 where none depends on u_j."""

    alike: FloatArray  # (C,) how many sectors have this matrix
    kernel: FloatArray
    target: FloatArray | None = None  # (C, n) the coordinate among their functions, where one can be
    signed: Signed | None = None  # what u_1 > 0 lets them have in common with the coordinates

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
class SectorTable:
    """The parts of the kernel that have no closed form, good for cut-offs down to ``cutoff``."""

    cutoff: float
    types: Types
    groups: tuple[Group, ...]

    @property
    def has_targets(self) -> bool:
        return any(group.target is not None for group in self.groups)

    def without_types(self) -> SectorTable:
        """The mean over types in the place of each."""
        weights = self.types.weights
        groups = [
            Group(alike=g.alike, kernel=g.mean(weights)[..., None, None], target=g.target)
            for g in self.groups
        ]
        return SectorTable(cutoff=self.cutoff, types=unit_types(False), groups=tuple(groups))

    def spectrum(self) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues of the mean over types, and how often each occurs."""
        values, often = [], []
        for group in self.groups:
            matrices = group.mean(self.types.weights)
            values.append(np.linalg.eigvalsh(matrices).ravel())
            often.append(np.repeat(group.alike, matrices.shape[1]))
        return np.concatenate(values), np.concatenate(often)


def sector_table(
    inputs: Inputs,
    parts: tuple[Part, ...],
    cutoff: float,
    types: Types,
    whole: float,
    least: float,
) -> SectorTable:
    """The table for cut-offs from ``cutoff`` upwards.

    Sets above the share ``whole`` of it are in the matrix of their sector; sectors below ``least`` are not.
    """
    groups: list[Group] = []
    for part in parts:
        open_ = _open_values(inputs, part, cutoff, whole, least, types.first, len(types.nodes[0]))
        groups += _groups(open_.sectors, _Values(open_, part, types), part, types)
    return SectorTable(cutoff=cutoff, types=types, groups=tuple(groups))


def table_work(
    inputs: Inputs, parts: tuple[Part, ...], cutoff: float, whole: float, least: float, most: float
) -> float:
    """Sums over signs that a table takes, for one type; at least ``most`` where it is more."""
    cells = coordinate_cells(inputs, least * cutoff)
    jump = any(part.jump for part in parts)
    sectors = parity_sectors(cells, whole * cutoff, least * cutoff, most, jump)
    start, part = np.array(sectors.start), np.array(sectors.part)
    shared = np.add.reduceat((part <= SHARED).astype(float), start[1:-1]) if len(start) > 2 else np.zeros(1)
    return most if sectors.full else float(np.sum(2.0**shared))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Open:
    """Configurations, and their kernel where no |u_j| is known but perhaps |u_1|: (E, n_1)."""

    sectors: Sectors
    start: IntArray
    cell: IntArray
    part: IntArray
    c: FloatArray
    kernel: FloatArray


@functools.lru_cache(maxsize=2)
def _open_values(
    inputs: Inputs,
    of: Part,
    cutoff: float,
    whole: float,
    least: float,
    first: bool,
    nodes: int,
) -> _Open:
    """Kept for the tables of several |u_j| that are made one after the other."""
    cells = coordinate_cells(inputs, least * cutoff)
    sectors = parity_sectors(cells, whole * cutoff, least * cutoff, jump=of.jump)
    start, cell, part = (np.array(x, dtype=np.int64) for x in (sectors.start, sectors.cell, sectors.part))
    u = half_normal(nodes)[0] if first else np.zeros(1)
    types = np.stack([u, np.zeros_like(u)], axis=1)
    kernel = of.sums(start, cells.c[cell], part, np.zeros_like(cell), types, first)
    return _Open(sectors=sectors, start=start, cell=cell, part=part, c=cells.c[cell], kernel=kernel)


class _Values:
    """The kernel of every configuration, on the types that it depends on."""

    def __init__(self, given: _Open, part: Part, types: Types) -> None:
        typed = (given.cell == types.other - 2).astype(np.int64)  # cell 0 is coordinate 2
        length = np.diff(given.start)
        owner = np.repeat(np.arange(length.size), length)
        self.depends = np.zeros(length.size, dtype=bool)
        self.depends[owner[typed == 1]] = True
        self.shape = types.weights.shape
        self.place = np.cumsum(self.depends) - 1
        self.open = given.kernel[:, :, None]
        grid = np.stack([x.ravel() for x in np.meshgrid(*types.nodes, indexing="ij")], axis=1)
        inside = self.depends[owner]
        starts = np.concatenate([[0], np.cumsum(length[self.depends])])
        arrays = (starts, given.c[inside], given.part[inside], typed[inside])
        self.known = part.sums(*arrays, grid, types.first).reshape(-1, *self.shape)

    def of(self, configurations: IntArray, key: bool) -> FloatArray:
        """Their values (E, n_1, n_j), n_j = 1 where none of them depends on u_j."""
        out = np.empty((configurations.size, self.shape[0], self.shape[1] if key else 1))
        out[:] = self.open[configurations]
        if key:
            mask = self.depends[configurations]
            out[mask] = self.known[self.place[configurations[mask]]]
        return out


def _groups(sectors: Sectors, values: _Values, part: Part, types: Types) -> Iterator[Group]:
    alone = types.first and not types.other
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
            target=np.array([block.target for block in blocks]) if part.targets else None,
            signed=_signed(blocks, part, types.nodes[0]) if alone and not part.targets else None,
        )


def _signed(blocks: list[Block], part: Part, u: FloatArray) -> Signed:
    """E u_1 f(X)/2 for x_1, and for x_j a_j E f'(X)/2 (Stein); X has the mean u_1, the variance norms."""
    along = np.zeros((len(blocks), blocks[0].size, u.size))
    straight = np.zeros((len(blocks), u.size))
    for place, block in enumerate(blocks):
        target = np.array(block.target)
        s = float(target @ target)
        if s == 0.0:
            continue
        mean, slope = part.mean_and_slope(u, np.sqrt(block.norms))
        along[place] = 0.5 * (u * mean if block.first else s * slope) * (target / math.sqrt(s))[:, None]
        straight[place] = 0.25 * (u**2 if block.first else s)
    return Signed(along, straight)
