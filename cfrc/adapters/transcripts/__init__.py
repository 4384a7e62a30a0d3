"""Turns recorded conversations of several providers into one neutral transcript: see :func:`read_transcript`."""

from cfrc.adapters.transcripts.read import FORMATS, Format, read_transcript

__all__ = ["FORMATS", "Format", "read_transcript"]
