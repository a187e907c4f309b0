"""Specs of what rpx-seg offers, by task; nothing heavy is imported."""
