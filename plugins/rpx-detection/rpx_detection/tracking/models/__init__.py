"""Trackers that need no learned weights."""
