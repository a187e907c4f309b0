"""Instance and semantic segmentation for rpx."""
