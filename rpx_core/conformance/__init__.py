"""Does a plugin keep its contracts? `rpx check` and `rpx_core.testing` ask the same questions.

A check is one law of one subject ("metric depth-errors": "folds do not depend on order"). Checks
use the public contracts only, so they hold for any plugin. Nothing heavy is imported here.
"""
