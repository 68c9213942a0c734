"""Trajectory optimisation: `python -m benchmarks.control` for the table, `... .pictures` for the figure."""
