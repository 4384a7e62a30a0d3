"""Turns a half-done task into a checked finish: ``freeze`` makes the contract of what is left, before any proposal."""
