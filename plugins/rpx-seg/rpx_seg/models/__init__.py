"""Segmentation models, one module per model or family."""
