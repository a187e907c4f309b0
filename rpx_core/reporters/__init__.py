"""Reporters: one `Results` rendered as files, each format by one module's `render`."""
