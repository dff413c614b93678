"""The loss surface: a law of the Gram matrix in, losses out."""
