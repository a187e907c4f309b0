"""Specs of what rpx-detection offers, by task; nothing heavy is imported."""
