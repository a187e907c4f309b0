"""Folder layouts of tracking data."""
