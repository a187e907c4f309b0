"""Specs of what rpx-depth offers, by task; nothing heavy is imported."""
