"""Segmentation metrics, one module per family."""
