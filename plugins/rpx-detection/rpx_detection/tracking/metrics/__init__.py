"""Tracking metrics over whole sequences, one module per family."""
