"""What a model costs: parameters, operations, memory and time, measured apart from any score."""
