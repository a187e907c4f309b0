"""Depth errors within a robot's reach."""

__version__ = "0.1.0"
