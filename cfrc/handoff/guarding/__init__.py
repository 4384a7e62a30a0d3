"""Turns an admitted proposal into a proxy between a client and a server that lets through only its calls."""
