"""Turns AgentDojo's banking suite, run live, into a table: every task cut at every point, every attack on it."""
