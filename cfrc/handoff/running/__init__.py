"""Turns an admitted proposal and live tools into an outcome with evidence, journaled so that a crash loses nothing."""
