"""Turns a contract and a proposal into the exact verdict: every world, order, branch, failure and receipt is tried.

Written straight from semantics §2 and §3 for small cases, apart from the kernel on purpose: the tests compare the two.
It shares only the data structures of ``cfrc.model``.
"""

from __future__ import annotations

from tests.verify.brute.explore import Report, TooLarge, decide

__all__ = ["Report", "TooLarge", "decide"]
