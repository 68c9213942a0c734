"""The table of integrators: a row for each that the engine has."""

from collections.abc import Callable
from typing import NamedTuple

import jax

from mjx_like.errors import UnsupportedError
from mjx_like.integrator import discrete, rk4
from mjx_like.integrator.euler import euler, euler_metric
from mjx_like.integrator.implicit import implicit, implicit_metric
from mjx_like.integrator.implicitfast import implicitfast, implicitfast_metric
from mjx_like.integrator.variational import smooth_problem, variational, variational_to_end
from mjx_like.smooth.crb import full_m
from mjx_like.types.data import Data
from mjx_like.types.enums import IntegratorType
from mjx_like.types.model import Model
from mjx_like.variational.midpoint import Problem

Array = jax.Array
Advance = Callable[[Model, Data], Data]


class StepDynamics(NamedTuple):
    """Dynamics whose acceleration is the velocity change of a step over the time step.

    smooth_acceleration: that without constraints, shape (nv,). constraint: `d` with the constrained acceleration and
    the constraint forces. inertia: `d` with the constraint rows regularised by the inertia of the step. force: the
    force that an acceleration takes, without bias and passive forces, shape (nv,).
    """

    smooth_acceleration: Callable[[Model, Data], Array]
    constraint: Advance
    inertia: Advance
    force: Callable[[Model, Data], Array]


class Stages(NamedTuple):
    """A step that calls forward dynamics several times.

    stages: (m, d, forward) -> `d` after forward dynamics at the step's start, and what else `finish` takes.
    finish: (m, d with sensors, *what `stages` returned) -> `d` one time step later.
    """

    stages: Callable[..., tuple[Data, *tuple[object, ...]]]
    finish: Callable[..., Data]


class Integrator(NamedTuple):
    """What the engine must know of an integrator.

    advance: `d` one time step later, after forward dynamics; None where a step has stages.
    metric: the matrix N, shape (nv, nv), of N qacc = M a, with the mean acceleration `qacc` of a step and the
    acceleration `a` at its start, or None where they are equal; without it, a step has no inverse.
    in_stages: what makes a step of several calls of forward dynamics.
    in_step: dynamics in discrete time; None: in continuous time. Springs of constraints then act at the step's end.
    problem: conditions of a step without constraints that are not linear in the velocity; None: `metric` has them.
    """

    advance: Advance | None = None
    metric: Callable[[Model, Data], Array | None] | None = None
    in_stages: Stages | None = None
    in_step: StepDynamics | None = None
    problem: Callable[[Model, Data], Problem] | None = None


INTEGRATORS = {
    IntegratorType.EULER: Integrator(euler, euler_metric),
    IntegratorType.RK4: Integrator(in_stages=Stages(rk4.stages, rk4.finish)),
    IntegratorType.IMPLICIT: Integrator(implicit, implicit_metric),
    IntegratorType.IMPLICITFAST: Integrator(implicitfast, implicitfast_metric),
    IntegratorType.DISCRETE: Integrator(
        discrete.discrete,
        in_step=StepDynamics(
            discrete.smooth_acceleration,
            discrete.discrete_constraint,
            discrete.constraint_inertia,
            discrete.discrete_force,
        ),
    ),
    IntegratorType.VARIATIONAL: Integrator(variational, problem=smooth_problem),
}


HARD = Integrator(discrete.discrete)
HARD_VARIATIONAL = Integrator(variational_to_end)
REBOUNDING = Integrator(discrete.rebounding)  # with restitution


def step_metric(m: Model, d: Data) -> Array:
    """Return the matrix, shape (nv, nv), that takes the mean acceleration of a step to the force at its start.

    Runge-Kutta counts as Euler, for it has no one end of a step.

    Raises:
      UnsupportedError: an integrator whose force is not linear in the acceleration.
    """
    metric = implicit_metric(m, d)
    return full_m(m, d) if metric is None else metric


def implicit_metric(m: Model, d: Data) -> Array | None:
    """Return what `step_metric` does, None where it is the inertia matrix; likewise raises."""
    kind = IntegratorType(m.flags.integrator)
    row = INTEGRATORS[IntegratorType.EULER if kind == IntegratorType.RK4 else kind]
    if row.metric is None:
        raise UnsupportedError(f"hard contact cannot invert a step of {kind.keyword}; take implicitfast")
    return row.metric(m, d)


def conditions(m: Model, d: Data) -> Problem | None:
    """Return the conditions of a step without constraints; None where `step_metric` has them."""
    of_step = INTEGRATORS[IntegratorType(m.flags.integrator)].problem
    return None if of_step is None else of_step(m, d)


def integrator_of(m: Model) -> Integrator:
    """Return the row of a model's integrator; with hard contact that of a step to whose end it is solved."""
    if m.hard is not None and m.flags.integrator == IntegratorType.VARIATIONAL:
        return HARD_VARIATIONAL
    if m.hard is not None:
        return REBOUNDING if m.hard.rebounds else HARD
    return INTEGRATORS[IntegratorType(m.flags.integrator)]
