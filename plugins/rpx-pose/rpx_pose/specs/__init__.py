"""Specs of what rpx-pose offers, by task; nothing heavy is imported."""
