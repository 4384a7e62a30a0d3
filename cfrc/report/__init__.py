"""Turns verdicts, diagnostics and check results into text for a terminal and into JSON with a published schema.

Everything that comes from an input is hostile until it has passed through :mod:`cfrc.report.escape`.
"""
