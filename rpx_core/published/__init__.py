"""The published names of core, with their published signatures; one module per family."""
