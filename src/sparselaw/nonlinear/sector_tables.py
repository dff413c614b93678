"""A kernel, sector by sector and type by type: everything N features need.

Random units u differ in how much they look at the most common coordinates: their types. A unit's type is
|u_1|, or |u_1| and one other |u_j|, each half-normal; Gauss nodes stand for their law (``unit_types``).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sparselaw.arrays import FloatArray, IntArray
from sparselaw.inputs import Inputs
from sparselaw.nonlinear.parity_sectors import SHARED, Block, ParitySectors, coordinate_cells
from sparselaw.nonlinear.response import Part

NODES = (6, 4)  # for |u_1| and for |u_j|
HALF_NORMAL_END = 9.0  # beyond it a half-normal variable has no weight


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Types:
    """A grid of types. An axis that is not resolved has one node, at zero, of weight one."""

    first: bool  # whether |u_1| is told apart
    other: int  # the coordinate j whose |u_j| is too; 0 if there is none
    nodes: tuple[FloatArray, FloatArray]
    weights: FloatArray  # (n_1, n_j), they add up to one

    @property
    def grid(self) -> FloatArray:
        """(Q, 2): |u_1| and |u_j| of each type."""
        return np.stack([x.ravel() for x in np.meshgrid(*self.nodes, indexing="ij")], axis=1)


@functools.cache
def unit_types(first: bool = True, other: int = 0, nodes: tuple[int, int] = NODES) -> Types:
    one = (np.zeros(1), np.ones(1))
    (x, v), (y, w) = half_normal(nodes[0]) if first else one, half_normal(nodes[1]) if other else one
    return Types(first=first, other=other, nodes=(x, y), weights=np.outer(v, w))


@functools.cache
def half_normal(n: int) -> tuple[FloatArray, FloatArray]:
    """n Gauss nodes and weights for |u|, u standard normal: multiplication by x among n polynomials.

    >>> x, w = half_normal(3)
    >>> [round(float(w @ x**k), 6) for k in (0, 2, 4)]
    [1.0, 1.0, 3.0]
    """
    y, fine = np.polynomial.legendre.leggauss(300)
    x = 0.5 * HALF_NORMAL_END * (y + 1.0)
    root = np.sqrt(fine * np.exp(-0.5 * x * x))
    basis = np.linalg.qr(root[:, None] * np.polynomial.legendre.legvander(y, n - 1))[0]
    nodes, vectors = np.linalg.eigh(basis.T @ (x[:, None] * basis))
    return nodes, vectors[0] ** 2


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Group:
    """Matrices of one size: ``kernel`` is (C, n, n, n_1, n_j), n_j = 1 where none depends on u_j.

    Of even functions there is also what units with u_1 > 0 alone let them have in common with the coordinate
    of their sector: such a unit's features of either parity go together; where u_1 < 0 they do so with the
    other sign.
    """

    alike: FloatArray  # (C,) how many sectors have this matrix
    kernel: FloatArray
    target: FloatArray | None = None  # (C, n) the coordinate among their functions, where one can be
    along: FloatArray | None = None  # (C, n, n_1): the kernel between even functions and the coordinate
    straight: FloatArray | None = None  # (C, n_1): of the coordinate with itself; zero where there is none

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
        groups = [
            Group(alike=g.alike, kernel=g.mean(self.types.weights)[..., None, None], target=g.target)
            for g in self.groups
        ]
        return SectorTable(cutoff=self.cutoff, types=unit_types(False), groups=tuple(groups))

    def spectrum(self) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues of the mean over types, and how often each occurs."""
        means = [group.mean(self.types.weights) for group in self.groups]
        often = [
            np.repeat(group.alike, mean.shape[1]) for group, mean in zip(self.groups, means, strict=True)
        ]
        return np.concatenate([np.linalg.eigvalsh(mean).ravel() for mean in means]), np.concatenate(often)


def sector_table(
    inputs: Inputs, parts: tuple[Part, ...], cutoff: float, types: Types, whole: float, least: float
) -> SectorTable:
    """The table for cut-offs from ``cutoff`` upwards.

    Sets above the share ``whole`` of it are in the matrix of their sector; sectors below ``least`` are not.
    """
    groups = [group for part in parts for group in _groups(inputs, part, cutoff, types, whole, least)]
    return SectorTable(cutoff=cutoff, types=types, groups=tuple(groups))


def table_work(
    inputs: Inputs, parts: tuple[Part, ...], cutoff: float, whole: float, least: float, most: float
) -> float:
    """Sums over signs that a table takes, for one type; at least ``most`` where it is more."""
    cells = coordinate_cells(inputs, least * cutoff)
    jump = any(part.form == "jump" for part in parts)
    sectors = ParitySectors(cells, whole * cutoff, least * cutoff, most, jump)
    start, part = np.array(sectors.start), np.array(sectors.part)
    shared = np.add.reduceat((part <= SHARED).astype(float), start[1:-1]) if len(start) > 2 else np.zeros(1)
    return most if sectors.full else float(np.sum(2.0**shared))


@functools.lru_cache(maxsize=2)
def _open_values(
    inputs: Inputs, of: Part, cutoff: float, whole: float, least: float, types: Types
) -> tuple[list[Block], tuple[IntArray, IntArray, IntArray, FloatArray], FloatArray]:
    """Sectors, their configurations, and the kernel of these where no |u_j| is known: (E, n_1).

    Kept for the tables of several |u_j| that are made one after the other.
    """
    from sparselaw.nonlinear.kernel_loops import sign_sums  # numba: only where it is needed

    cells = coordinate_cells(inputs, least * cutoff)
    sectors = ParitySectors(cells, whole * cutoff, least * cutoff, jump=of.form == "jump")
    start, cell, part = (np.array(x, dtype=np.int64) for x in (sectors.start, sectors.cell, sectors.part))
    kernel = sign_sums(of, start, cells.c[cell], part, np.zeros_like(cell), types)
    return sectors.blocks, (start, cell, part, cells.c[cell]), kernel


def _groups(
    inputs: Inputs, of: Part, cutoff: float, types: Types, whole: float, least: float
) -> Iterator[Group]:
    from sparselaw.nonlinear.kernel_loops import sign_sums

    plain = unit_types(types.first, 0, (len(types.nodes[0]), 1))
    every, (start, cell, part, c), open_ = _open_values(inputs, of, cutoff, whole, least, plain)
    typed = (cell == types.other - 2).astype(np.int64)  # cell 0 is coordinate 2
    length = np.diff(start)
    owner = np.repeat(np.arange(length.size), length)
    depends = np.bincount(owner, typed, minlength=length.size) > 0.0
    inside, starts = depends[owner], np.concatenate([[0], np.cumsum(length[depends])])
    known = sign_sums(of, starts, c[inside], part[inside], typed[inside], types)
    place = np.cumsum(depends) - 1
    by_kind: dict[tuple[int, bool], list[Block]] = {}
    for block in every:
        key = bool(depends[[entry[3] for entry in block.entries]].any())
        by_kind.setdefault((block.size, key), []).append(block)
    for (size, key), blocks in by_kind.items():
        rows = [(place, *entry) for place, block in enumerate(blocks) for entry in block.entries]
        block_of, i, j, factor, ids = (np.array(column) for column in zip(*rows, strict=True))
        found = np.repeat(open_[ids][:, :, None], types.weights.shape[1] if key else 1, axis=2)
        if key:
            mask = depends[ids]
            found[mask] = known[place[ids[mask]]].reshape(-1, *types.weights.shape)
        kernel = np.zeros((len(blocks), size, size, *found.shape[1:]))
        np.add.at(kernel, (block_of, i, j), factor[:, None, None] * found)
        upper = np.triu(np.ones((size, size)), 1)[None, :, :, None, None]
        kernel += np.swapaxes(kernel * upper, 1, 2)
        alike, target = (
            np.array([block.alike for block in blocks]),
            np.array([block.target for block in blocks]),
        )
        if of.targets:
            yield Group(alike=alike, kernel=kernel, target=target)
        elif types.first and not types.other:
            along, straight = _signed(blocks, of, types.nodes[0])
            yield Group(alike=alike, kernel=kernel, along=along, straight=straight)
        else:
            yield Group(alike=alike, kernel=kernel)


def _signed(blocks: list[Block], part: Part, u: FloatArray) -> tuple[FloatArray, FloatArray]:
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
    return along, straight
