"""Depth metrics, one module per family."""
