"""Trackers that need no learned weights, and the reader of trackers' files."""
