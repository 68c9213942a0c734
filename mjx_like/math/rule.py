"""Functions with a derivative rule of their own, which every transformation keeps: `custom_jvp`.

`jax.custom_jvp` is forgotten by the reverse mode of `lax.scan`: when it moves what stays the same out of the loop, JAX
writes the function out. A second derivative then goes through the search that the rule was to spare, and is wrong where
the search has no derivative. Here a function is one primitive, which JAX cannot open, with the rule as its derivative.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero
from jax.extend.core import Primitive, jaxpr_as_fun
from jax.interpreters import ad, batching, mlir, partial_eval

from mjx_like.math.programs import without_unused
from mjx_like.math.tangent import still

Array = jax.Array

_Leaves = list[Any]
_FlatRule = Callable[[_Leaves, _Leaves], tuple[_Leaves, _Leaves]]  # None for a tangent that is zero


class custom_jvp:  # noqa: N801  (as in JAX)
    """A function whose derivative is the rule given by `defjvp`: as `jax.custom_jvp`, for positional arguments.

    Neither function nor rule may refer to traced arrays other than their arguments; where the function is staged, that
    raises TypeError.
    """

    def __init__(self, function: Callable[..., Any], nondiff_argnums: tuple[int, ...] = ()):
        self.function, self.fixed = function, nondiff_argnums
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self.rule: Callable[..., Any] | None = None
        self.symbolic_zeros = False

    def defjvp(self, rule: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
        """Set the rule, with the arguments and results that `jax.custom_jvp` asks for; return it."""
        self.rule, self.symbolic_zeros = rule, symbolic_zeros
        return rule

    def __call__(self, *args: Any) -> Any:
        fixed = [args[i] for i in self.fixed]
        leaves, tree = jax.tree.flatten([x for i, x in enumerate(args) if i not in self.fixed])
        results: list[Any] = []  # the tree of what was returned

        def flat(*values: Any) -> _Leaves:
            given, others = iter(fixed), iter(tree.unflatten(values))
            out = self.function(*(next(given if i in self.fixed else others) for i in range(len(args))))
            return _flattened(out, results)

        def flat_rule(values: _Leaves, rates: _Leaves) -> tuple[_Leaves, _Leaves]:
            assert self.rule is not None, f"{self.__name__} has no rule"
            zero = _symbolic if self.symbolic_zeros else still
            tangents = [zero(x) if t is None else t for x, t in zip(values, rates, strict=True)]
            out, change = self.rule(*fixed, tuple(tree.unflatten(values)), tuple(tree.unflatten(tangents)))
            return _flattened(out, results), [None if _is_zero(t) else t for t in jax.tree.leaves(change)]

        out = call_with_rule.bind(*leaves, call=Call(flat, flat_rule, self.__name__))
        return results[0].unflatten(out)


def _flattened(out: Any, trees: list[Any]) -> _Leaves:
    leaves, tree = jax.tree.flatten(out)
    trees[:] = [tree]
    return leaves


def _symbolic(x: Any) -> SymbolicZero:
    return SymbolicZero(_rate_type(x))


def _rate_type(x: Any) -> Any:
    return jax.typeof(x).to_tangent_aval()


def _is_zero(t: Any) -> bool:
    return isinstance(t, SymbolicZero) or t.dtype == jax.dtypes.float0


class Call:
    """One call of a function of flat arguments, with its rule; the function is staged once at the most."""

    def __init__(self, function: Callable[..., _Leaves], rule: _FlatRule, name: str, own: bool = False):
        """own: whether the rule is the derivative of the function itself, and needs no arguments but those it needs."""
        self.function, self.rule, self.name, self.own = function, rule, name, own
        self.program: Any = None

    def staged(self, *avals: Any) -> Any:
        """Return the function's program, which takes its place."""
        if self.program is None:
            shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype, weak_type=a.weak_type) for a in avals]
            program = jax.make_jaxpr(self.function)(*shapes)
            if any(isinstance(x, jax.core.Tracer) for x in program.consts):
                raise TypeError(f"{self.name} refers to traced arrays: make them arguments")
            self.program, _ = without_unused(program, [True] * len(program.out_avals), every_input=True)
            self.function = jaxpr_as_fun(self.program)
        return self.program

    def batched(self, axes: list[int | None]) -> "Call":
        """Return the call for a batch."""
        rule = jax.vmap(self.rule, in_axes=(list(axes), list(axes)))
        return Call(jax.vmap(self.function, in_axes=axes), rule, self.name, self.own)

    def reduced(self, used: list[bool], avals: list[Any]) -> tuple["Call", list[bool]]:
        """Return the call that has only the results that are used, and which arguments it takes."""
        program, kept = without_unused(self.staged(*avals), used)

        def rule(values: _Leaves, rates: _Leaves) -> tuple[_Leaves, _Leaves]:
            given, given_rates = iter(values), iter(rates)
            every = [next(given) if keep else jnp.zeros(a.shape, a.dtype) for keep, a in zip(kept, avals, strict=True)]
            out, change = self.rule(every, [next(given_rates) if keep else None for keep in kept])
            return _where(used, out), _where(used, change)

        return Call(jaxpr_as_fun(program), rule, self.name, self.own), kept


def _where(flags: list[bool], x: _Leaves) -> _Leaves:
    return [value for value, flag in zip(x, flags, strict=True) if flag]


def _run(*args: Any, call: Call) -> _Leaves:
    return call.function(*args)


def _derivative(primals: _Leaves, tangents: _Leaves, *, call: Call) -> tuple[_Leaves, _Leaves]:
    out, change = call.rule(list(primals), [None if type(t) is ad.Zero else t for t in tangents])
    return out, [ad.Zero(_rate_type(x)) if t is None else t for x, t in zip(out, change, strict=True)]


def _batched(args: _Leaves, axes: list[int | None], *, call: Call) -> tuple[_Leaves, list[int]]:
    out = call_with_rule.bind(*args, call=call.batched(list(axes)))
    return out, [0] * len(out)


def _reduced(used: list[bool], *more: Any) -> tuple[list[bool], Any]:
    """Return which arguments are needed for the results that are used, and the call without all others.

    more: the equation last, after what JAX 0.12 adds.
    """
    equation = more[-1]
    call = equation.params["call"]
    if not any(used):
        return [False] * len(equation.invars), None
    if all(used) or not call.own:
        return [True] * len(equation.invars), equation
    reduced, kept = call.reduced(used, [v.aval for v in equation.invars])
    given, found = _where(kept, equation.invars), _where(used, equation.outvars)
    return kept, equation.replace(invars=given, outvars=found, params={"call": reduced})


call_with_rule = Primitive("call_with_rule")
call_with_rule.multiple_results = True
call_with_rule.def_impl(_run)
call_with_rule.def_abstract_eval(lambda *avals, call: call.staged(*avals).out_avals)
ad.primitive_jvps[call_with_rule] = _derivative
batching.primitive_batchers[call_with_rule] = _batched
partial_eval.dce_rules[call_with_rule] = _reduced
mlir.register_lowering(call_with_rule, mlir.lower_fun(_run, multiple_results=True))
