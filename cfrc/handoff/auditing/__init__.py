"""Turns recorded handoffs into counts with exact bounds: what was grounded, recovered, refused, held, reproduced."""
