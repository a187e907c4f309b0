"""Average precision of whatever is found with a score: boxes, masks, anything that overlaps.

A task says what was there, what was found, and how much each pair overlaps (`ranked_list`). One
matching and one ranked list then serve all of them, with the arithmetic of the COCO evaluator.
"""
