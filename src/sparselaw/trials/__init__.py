"""One trial: a task in, a record out."""
