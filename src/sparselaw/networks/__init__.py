"""Networks trained end to end on sparse inputs: the record, the compiled trainer, what they are taught."""

from __future__ import annotations

from sparselaw.networks.adam import Adam
from sparselaw.networks.momentum import Momentum
from sparselaw.networks.network import TARGETS, Network

__all__ = ["TARGETS", "Adam", "Momentum", "Network"]
