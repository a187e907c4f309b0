"""Object tracking: task, metrics, models."""
