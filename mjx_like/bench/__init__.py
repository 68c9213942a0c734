"""Benchmarks beside other engines: `engines` starts each as a process of its own, from the scripts in `peers/`."""
