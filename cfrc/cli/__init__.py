"""Turns a command line into calls of the rooms below, an exit code, and output in the right place."""
