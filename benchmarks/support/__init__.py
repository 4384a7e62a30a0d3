"""Turns recorded runs of a support desk, cut at every point, into a table: what is left, what counts as done."""
