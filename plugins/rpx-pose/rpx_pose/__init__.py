"""Camera pose, keypoint matching and trajectories for rpx; `rpx_pose.plugin` offers them."""
