"""Turns syntax trees into the model: what every name means, which type every expression has.

``domains``, ``contracts``, ``proposals``, ``ledgers`` and ``checks`` each resolve one kind of declaration; they share
``expressions`` (the typed expression language), ``patterns`` (argument lists) and ``problems`` (many errors at once).
"""
