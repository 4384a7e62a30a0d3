"""Turns τ²-bench's retail tasks, run live on its own environment, into a table: every task cut at every point."""
