"""Turns the record of what happened into the frozen contract of what is left, before any proposal is seen."""
