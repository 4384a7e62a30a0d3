"""Turns symbolic runs into verification conditions: one module per finding kind, pure functions, no solver in sight."""
