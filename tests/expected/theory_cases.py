"""Exponents and the leading surface."""

from __future__ import annotations

from typing import Any

from case_list import SPARSE, add

import sparselaw as sl


def predictions(model: Any, N: list[int], D: list[int], **settings: Any) -> dict[str, Any]:
    points = [sl.predict(model, N=n, D=d, surface="leading", **settings) for n in N for d in D]
    return {name: [float(getattr(p, name)) for p in points] for name in ("loss", "K", "xi")}


MODELS = {
    "sparse": SPARSE,
    "sparse finite": sl.SparseInputs(alpha1=1.0, alpha2=0.3, dimension=1000),
    "sparse small alpha1": sl.SparseInputs(alpha1=0.3, alpha2=0.5),
    "sparse growing": sl.SparseInputs(alpha1=1.5, alpha2=-1.4),
    "sparse steep": sl.SparseInputs(alpha1=0.5, alpha2=3.0),
    "symmetric": sl.SparseInputs(alpha1=-0.5, alpha2=1.0),
    "symmetric edge": sl.SparseInputs(alpha1=0.0, alpha2=0.5, dimension=500),
    "dense": sl.DenseInputs(alpha=1.3),
    "dense small": sl.DenseInputs(alpha=1.3, dimension=100),
}


def exponents_of(model: Any) -> dict[str, Any]:
    """What the paper predicts, by name: further fields may come beside these."""
    names = ("regime", "alpha_N", "alpha_D", "alpha_C", "xi_crit", "nu")
    return {name: getattr(model.exponents, name) for name in names}


for name, model in MODELS.items():
    for words, settings in {
        "": {},
        " ridge": {"ridge": 0.1},
        " noise": {"noise": 0.2},
        " ridge noise": {"ridge": 1.0, "noise": 0.2},
    }.items():
        add(f"predict {name}{words}", predictions, model, [4, 60, 700], [50, 5000], **settings)
    add(f"exponents {name}", exponents_of, model)
