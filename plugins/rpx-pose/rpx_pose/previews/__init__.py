"""Pictures of pose predictions, one module per task; lines and dots come from Pillow."""
