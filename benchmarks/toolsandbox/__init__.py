"""Turns ToolSandbox's recorded calls, cut at every point, into a table: milestones owed, guardrails kept."""
