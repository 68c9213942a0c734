"""Many steps: `rollout` scans and blocks worlds, driven by `inputs` (controls or a policy); `recording` is what it
keeps, `layout` how many worlds run together and how their arrays lie, `sharding` spreads them over devices and hosts,
`replay` runs one again, `step_worlds` is one step for loops of users.
"""
