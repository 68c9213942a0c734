"""The largest models: plans and inertia have a cell for every two bodies or degrees of freedom."""

MAX_BODIES = 10_000
MAX_DOFS = 6_000
