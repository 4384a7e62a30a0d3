"""Turns counts of trials into rates with exact bounds (Clopper and Pearson).

SciPy computes them, and is loaded when the first bound is asked for (extra ``stats``).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rate:
    """``hits`` of ``total`` trials. Bounds are probabilities; with no trials they are 0 and 1."""

    hits: int
    total: int

    @property
    def value(self) -> float | None:
        """``None`` without trials: no rate, not a rate of nothing."""
        return self.hits / self.total if self.total else None

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The exact two-sided interval."""
        return _bounds(self, confidence, "two-sided")

    def upper(self, confidence: float = 0.95) -> float:
        """The exact one-sided upper bound: 0 of 50 gives 5.8 %, as in the residual-completion paper, section 4.3."""
        return _bounds(self, confidence, "less")[1]


def _bounds(rate: Rate, confidence: float, alternative: str) -> tuple[float, float]:
    if not rate.total:
        return 0.0, 1.0
    from scipy.stats import binomtest

    found = binomtest(rate.hits, rate.total, alternative=alternative).proportion_ci(confidence, method="exact")
    return float(found.low), float(found.high)
