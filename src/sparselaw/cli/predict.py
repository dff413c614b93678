def predict() -> None:
    """Exponents, regime and the loss surface."""
