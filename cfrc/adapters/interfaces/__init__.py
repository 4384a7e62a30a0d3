"""Turns published tool interfaces into domain files to fill in, and tells when one has drifted from its domain."""

from cfrc.adapters.interfaces.digests import accepted, interface_digest, own_names
from cfrc.adapters.interfaces.drift import Drift, drifted
from cfrc.adapters.interfaces.read import KINDS, Hints, Interface, Kind, PublishedTool, read_interface
from cfrc.adapters.interfaces.scaffold import scaffold

__all__ = [
    "KINDS",
    "Drift",
    "Hints",
    "Interface",
    "Kind",
    "PublishedTool",
    "accepted",
    "drifted",
    "interface_digest",
    "own_names",
    "read_interface",
    "scaffold",
]
