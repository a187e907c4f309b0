"""`python -m rpx_core.cli`: the same as `rpx`."""

from rpx_core.cli import main

if __name__ == "__main__":
    main()
