"""Running learned networks: devices, number formats, batches that fit into memory.

torch and transformers are imported by the functions that need them, never by these modules.
"""
