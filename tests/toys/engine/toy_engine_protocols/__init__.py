"""Protocols of the toy task."""
