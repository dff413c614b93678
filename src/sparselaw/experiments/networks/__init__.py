"""Networks trained end to end on sparse inputs: the record, the compiled trainer, what they are taught."""

from __future__ import annotations

from sparselaw.experiments.networks.network import TARGETS, Adam, Momentum, Network

__all__ = ["TARGETS", "Adam", "Momentum", "Network"]
