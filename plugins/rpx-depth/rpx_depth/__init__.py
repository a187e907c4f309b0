"""Depth for rpx: tasks, metrics, models, protocols and layouts; `rpx_depth.plugin` offers them."""
