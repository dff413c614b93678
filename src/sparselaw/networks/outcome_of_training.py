"""What limits a trained network: its data, its optimiser, or its width.

ok                  training loss below 5 % of the loss: the data limit it;
not-converged       above, and the training loss was still falling: the optimiser limits it;
not-data-limited    above, and it had settled: the width limits it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sparselaw.networks.lesson import Trained

DATA_LIMITED = 0.05  # training loss over population loss
ROUNDING = 1e-12  # of the first training loss: nothing is left to learn
SETTLED = 0.1  # fall of the training loss over the second half of the steps, below which it has settled,
STEEP = 0.1  # unless the gradient is still this part of the first


def record_values(trained: Trained, loss: float, error_rate: float | None = None) -> dict[str, Any]:
    """The fields of a record that training decides.

    ``error_rate`` on the training samples takes the place of the training loss where the loss is one too.
    Whether it still falls is seen by the cross-entropy behind it.
    """
    losses = trained.losses
    final = float(losses[-1]) if error_rate is None else error_rate
    status, reason = "ok", ""
    if not np.isfinite(losses[-1]):
        status, reason, loss = "diverged", "the training loss is not finite", math.inf
    elif final > DATA_LIMITED * loss and final > ROUNDING * losses[0]:
        falling = losses[-1] < (1.0 - SETTLED) * losses[losses.size // 2]
        limited = falling or trained.gradient > STEEP
        status = "not-converged" if limited else "not-data-limited"
        reason = f"training loss {final:.2g}, loss {loss:.2g}"
    return {
        "loss": loss,
        "status": status,
        "reason": reason,
        "iterations": losses.size - 1,
        "gradient": trained.gradient,
        "train": final if math.isfinite(final) else None,
    }
