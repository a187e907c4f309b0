"""Metrics of the pose tasks, one module per family."""
