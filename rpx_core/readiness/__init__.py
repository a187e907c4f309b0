"""Deployment readiness: pure functions of cells, under versioned rules."""
