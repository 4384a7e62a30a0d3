"""Turns the name of a data folder (``grammars``, ``specs``, ``explanations``) into the place where it lies.

A wheel carries the folders inside the package; in a source tree (and an editable install) ``grammars/`` and ``specs/``
lie beside it, where people look for them.
"""

from __future__ import annotations

from pathlib import Path


def data_dir(name: str) -> Path:
    """The folder of that name. Raises ``FileNotFoundError`` when the installation is incomplete."""
    package = Path(__file__).resolve().parent
    for place in (package / name, package.parent / name):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"cfrc is not installed completely: its folder {name!r} is missing")
