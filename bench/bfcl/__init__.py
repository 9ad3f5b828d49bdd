"""The guard on the Berkeley multi-turn tasks, and on recorded runs of real models."""
