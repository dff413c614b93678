"""The random features: linear and ReLU."""
