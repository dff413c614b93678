"""Laws of the Gram matrix: what the loss surface needs to know of the data."""
