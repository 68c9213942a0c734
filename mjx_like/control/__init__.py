"""Trajectory optimisation on any model: controllers that know the simulator.

Read `cost` first (what is minimised), then `ilqr`, which goes round by `linearisation`, `backward` (with `box_qp` for
limits) and `follow`; `solution` is what it returns. `sampling` and `shooting` are the other ways, on the knots of
`spline`; `plan` says what controls cost. `mpc` runs any of them against the simulator. `guess`, `limits` and `states`
are what all share. `gradient_report` tells when to trust a gradient. `tasks/` has problems with models, costs and what
counts as solved.
"""

from mjx_like.control.cost import Cost
from mjx_like.control.gradient_report import gradient_report
from mjx_like.control.ilqr import ilqr
from mjx_like.control.linearisation import linearise
from mjx_like.control.mpc import controller_of, mpc
from mjx_like.control.plan import plan_costs
from mjx_like.control.sampling import mppi, predictive_sampling
from mjx_like.control.shooting import shoot
from mjx_like.control.solution import Solution, best
from mjx_like.control.spline import knots_of, spline_matrix

__all__ = [
    "Cost",
    "Solution",
    "best",
    "controller_of",
    "gradient_report",
    "ilqr",
    "knots_of",
    "linearise",
    "mpc",
    "mppi",
    "plan_costs",
    "predictive_sampling",
    "shoot",
    "spline_matrix",
]
