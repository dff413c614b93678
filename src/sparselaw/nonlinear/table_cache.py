"""Tables that take seconds to make, kept in the user's cache folder under a hash of what they are of."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sparselaw.files import write_atomically
from sparselaw.inputs import Inputs

Arrays = dict[str, Any]

VERSION = 4  # of the tables; another number makes them anew


def cached_arrays(
    what: str, inputs: Inputs, digests: list[str], settings: Sequence[Any], make: Callable[[], Arrays]
) -> Arrays:
    """What was made of these inputs and of activations of these digests, or else is made now and kept."""
    parameters = {name: repr(value) for name, value in inputs.parameters().items()}
    text = json.dumps([VERSION, what, inputs.kind, parameters, digests, settings], sort_keys=True)
    path = cache_folder() / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.npz"
    try:
        with np.load(path, allow_pickle=False) as found:
            if str(found["identity"]) == text:
                return {key: found[key] for key in found.files if key != "identity"}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):  # not there, or spoilt: it is made anew
        pass
    arrays = make()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with write_atomically(path) as file:
            np.savez(file, identity=np.array(text), **arrays)
    except OSError:  # a full disk or a read-only home
        pass
    return arrays


def cache_folder() -> Path:
    """In the user's cache folder, or where the environment variable SPARSELAW_CACHE says."""
    named = os.environ.get("SPARSELAW_CACHE")
    if named:
        return Path(named) / "nonlinear"
    from platformdirs import user_cache_path

    return user_cache_path("sparselaw", appauthor=False) / "nonlinear"
