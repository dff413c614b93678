"""Trained linear features: the first layer of a two-layer linear network, at its optimum, for m outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from sparselaw.features.base import AnyFloats, FeatureMap, register

if TYPE_CHECKING:
    from sparselaw.inputs import Inputs


@register
class Trained(FeatureMap):
    """f(z) = z, with an embedding that is fitted to the targets and not drawn."""

    name: ClassVar[str] = "trained"
    kind: ClassVar[str] = "trained"
    several_outputs: ClassVar[bool] = True
    optimal: ClassVar[bool] = True
    homogeneous: ClassVar[bool] = True
    odd_slope: ClassVar[float | None] = 1.0

    def apply(self, z: AnyFloats) -> AnyFloats:
        return z

    @property
    def response(self) -> None:
        return None

    def own_loss(self, inputs: Inputs, N: int, D: int, outputs: int) -> float | None:
        from sparselaw.inputs import ActivationInputs
        from sparselaw.theory.reduced_rank import trained_loss

        if inputs.sampling != "activations":
            return None
        return trained_loss(cast(ActivationInputs, inputs), N, D, outputs)
