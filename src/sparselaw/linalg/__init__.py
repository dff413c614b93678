"""Linear algebra the trials share: factors, tolerances, random roots."""
