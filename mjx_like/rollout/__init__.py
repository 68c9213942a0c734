"""Many steps: `rollout` scans and blocks worlds, driven by `inputs` (controls or a policy), `sharding` spreads them
over devices and hosts, `replay` runs one again, `step_worlds` is one step for loops of users."""
