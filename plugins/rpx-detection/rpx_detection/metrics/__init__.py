"""Metrics of detection and grounding, one module per family."""
