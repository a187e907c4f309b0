"""Datasets made from folders that users already have."""
