"""Metrics of synthesised views, one module per family."""
