"""Geometric coherence: do the outlines of masks lie where depth jumps?"""
