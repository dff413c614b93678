"""Many trials: the grid, the store that keeps every record, the loop that runs what is missing, the table."""
