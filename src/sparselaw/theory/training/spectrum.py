"""TEMPORARY adapter: the modes of inputs."""
from __future__ import annotations
import functools, math
import numpy as np
from typing import cast
from sparselaw.inputs import ActivationInputs, Inputs
from sparselaw.sums.coordinates import coordinate_nodes, power_integral
from sparselaw.sums.count_nodes import count_nodes
from sparselaw.theory.training.modes import Spectrum


@functools.lru_cache(maxsize=8)
def data_spectrum(inputs: Inputs, D: float) -> tuple[Spectrum, float]:
    if inputs.closed_form == "gaussian":
        return population_spectrum(inputs, D), D
    pts = count_nodes(*cast(ActivationInputs, inputs).pair_nodes(D), D, every=12.0)
    c = pts.c[pts.coordinate]; s = pts.p[pts.coordinate] * c
    h, w = pts.n / D * c, pts.point_weight
    un = h == 0.0
    return Spectrum(w[~un], h[~un], c[~un], (w * s)[~un], float((w * s)[un].sum())), D


@functools.lru_cache(maxsize=8)
def population_spectrum(inputs: Inputs, D: float) -> Spectrum:
    if inputs.closed_form == "gaussian":
        a = inputs.spectrum
        reach = math.log(max(D, 1.0) * 1e20) / a
        nodes = coordinate_nodes(inputs.dimension, reach, a)
        v, weight = inputs.variances(nodes.j), nodes.weight
        if nodes.log_end < math.log(inputs.dimension + 0.5):
            far = power_integral(1.0 - a, nodes.log_end, math.log(inputs.dimension + 0.5))
            weight = np.append(weight, far / (1e-3 * v[-1]))
            v = np.append(v, 1e-3 * v[-1])
        return Spectrum(weight, v, 3.0 * v, weight * v, 0.0)
    w, p, c = cast(ActivationInputs, inputs).pair_nodes(D)
    return Spectrum(w, p * c, c, w * p * c, 0.0)
