"""Many steps: `rollout` scans and blocks worlds, `sharding` spreads them over devices, `replay` runs one again."""
