"""Detectors, one module per model or family."""
