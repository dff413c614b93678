"""Everything the paper states and what its closed forms add: exponents, counts, loss surface, frontier."""
