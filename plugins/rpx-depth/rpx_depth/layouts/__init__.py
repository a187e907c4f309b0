"""Folder layouts that users already have, one module per layout."""
