"""Folder layouts in which segmentation data is usually kept."""
