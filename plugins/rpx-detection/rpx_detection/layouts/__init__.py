"""Folder layouts in which detection data is usually kept."""
