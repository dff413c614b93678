"""Drawing sparse and dense inputs, and the factors of their second moments."""
