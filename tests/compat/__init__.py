"""Programs written for MJX, on this engine."""
