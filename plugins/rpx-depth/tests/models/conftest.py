"""Tests that need torch; `nox -s models` runs them."""

from __future__ import annotations

from tests.workshop import workshop

__all__ = ["workshop"]
