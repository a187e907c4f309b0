"""The pose tasks, one module per task."""
