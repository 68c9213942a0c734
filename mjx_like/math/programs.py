"""Programs as JAX traces them: calls that stand for their own program, what depends on what, and what is not used."""

from typing import Any

from jax.extend import core
from jax.interpreters import partial_eval

_CALLS = frozenset(("pjit", "jit", "closed_call", "core_call"))


def closed(program: Any) -> core.ClosedJaxpr:
    """Return a program with its constants; parameters of some equations have none, by the release of JAX."""
    return program if isinstance(program, core.ClosedJaxpr) else core.ClosedJaxpr(program, ())


def inlined(equation: Any) -> core.ClosedJaxpr | None:
    """Return the program that a call stands for, None for anything else."""
    params = equation.params
    return closed(params.get("jaxpr") or params["call_jaxpr"]) if equation.primitive.name in _CALLS else None


def depends(program: core.ClosedJaxpr, inputs: list[bool]) -> list[bool]:
    """Return which results of a program depend on inputs that are flagged."""
    jaxpr = program.jaxpr
    known = dict(zip(jaxpr.invars, inputs, strict=True))

    def flagged(v: Any) -> bool:
        return not isinstance(v, core.Literal) and known.get(v, False)  # constants of the program are in no dict

    for equation in jaxpr.eqns:
        own, inner = list(map(flagged, equation.invars)), inlined(equation)
        out = [any(own)] * len(equation.outvars) if inner is None else depends(inner, own)
        known.update(zip(equation.outvars, out, strict=True))
    return list(map(flagged, jaxpr.outvars))


def without_unused(
    program: core.ClosedJaxpr, used: list[bool], every_input: bool = False
) -> tuple[core.ClosedJaxpr, list[bool]]:
    """Return a program with the results that are flagged, and which inputs it takes: those it needs, or every one."""
    jaxpr, kept = partial_eval.dce_jaxpr(program.jaxpr, used, every_input)
    return core.ClosedJaxpr(jaxpr, program.consts), list(kept)
