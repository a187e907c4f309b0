"""Models that need no learned weights, one module per model."""
