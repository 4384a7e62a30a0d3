"""Turns graphs, contracts and texts of many sizes into one table of what cfrc costs, beside its peers and its aims.

Run it with ``python -m benchmarks``; ``docs/benchmark.md`` says what every row means.
"""
