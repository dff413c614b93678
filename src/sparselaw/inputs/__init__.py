"""What the samples are like: one file for each law of the inputs."""

from sparselaw.inputs.sparse import DEFAULT_DIMENSION, DenseInputs, Inputs, SparseInputs

__all__ = ["DEFAULT_DIMENSION", "DenseInputs", "Inputs", "SparseInputs"]
