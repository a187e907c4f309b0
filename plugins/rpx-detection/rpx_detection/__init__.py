"""Detection, visual grounding and tracking for rpx: tasks, metrics, models."""
