"""Turns what a successor did on a replica into a closed proposal whose arguments name their sources."""
