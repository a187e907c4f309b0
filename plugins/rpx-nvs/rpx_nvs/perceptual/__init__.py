"""LPIPS: a distance between images in the features of a network, and where its weights are."""
