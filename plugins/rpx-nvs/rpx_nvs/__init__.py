"""Novel view synthesis for rpx: task, metrics, models, protocols; see `rpx_nvs.plugin`."""
