"""What is known only after the solver: `rne_postconstraint` (forces between bodies), with `tendon_force`."""
