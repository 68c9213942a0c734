"""Figures of the Dojo paper and of hard contact's design, each by one command: `python -m benchmarks.dojo ROW`."""
