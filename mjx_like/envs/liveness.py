"""Which arrays a traced function reads, and which of its results depend on its arguments."""

from collections.abc import Callable
from typing import Any

import jax
from jax.extend import core


def arguments_read(function: Callable[..., Any], *args: Any) -> list[bool]:
    """Return, for each leaf of `args`, whether the results of the function depend on it."""
    program = jax.make_jaxpr(function)(*args).jaxpr
    needed = _variables(program.outvars)
    for equation in reversed(program.eqns):
        if not needed.isdisjoint(equation.outvars):
            needed |= _variables(equation.invars)
    return [v in needed for v in program.invars]


def results_reached(function: Callable[..., Any], *args: Any) -> list[bool]:
    """Return, for each leaf of the function's result, whether it depends on `args`."""
    program = jax.make_jaxpr(function)(*args).jaxpr
    reached = set(program.invars)
    for equation in program.eqns:
        if not reached.isdisjoint(_variables(equation.invars)):
            reached |= set(equation.outvars)
    return [isinstance(v, core.Var) and v in reached for v in program.outvars]


def _variables(atoms: list[Any]) -> set[Any]:
    return {v for v in atoms if isinstance(v, core.Var)}
