"""Functions that XLA compiles for a CPU as one kernel, loops and all: `one_kernel`.

XLA's CPU backend makes a kernel of each fused loop, and compiles and calls each by itself: a search of a few hundred
short loops takes longer to compile, and to call, than to run. A call with the attribute `xla_cpu_small_call`, which
XLA's own pass for small loops sets, becomes a single kernel instead.

The attribute is not documented, and XLA ends the process where a call is not what its emitter expects: an argument that
nothing reads, a constant of more than 10,000 bytes, an operation that needs a library. So each argument is read here,
none is a constant for XLA, and functions with anything else, or releases that the tests do not cover, compile as ever.
Source: ComputationKernelEmitter and SmallWhileLoopHoistingPass in XLA's CPU backend.
"""

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jaxlib
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, Primitive, jaxpr_as_fun
from jax.interpreters import ad, batching, mlir
from jax.interpreters.mlir import ir
from jaxlib.mlir.dialects import func, stablehlo

Array = jax.Array

_LARGEST_CONSTANT = 10_000  # bytes, as in XLA's CPU backend
TESTED = frozenset({"0.10.1"})  # releases of jaxlib; in 0.12 XLA makes calls of a library of some sums as well
_ATTRIBUTES = {"inlineable": "false", "xla_cpu_small_call": "true"}
# What the emitter of such kernels is known to take: a dot may need a library, others a sort or a scatter.
_ALLOWED = frozenset("""
    abs add add_any and argmax argmin broadcast_in_dim clamp concatenate convert_element_type copy copy_p cos
    cumsum div dynamic_slice dynamic_update_slice eq exp floor gather ge gt integer_pow iota is_finite le
    limited_quotient log lt max min mul ne neg not or pad pow quotient reduce_and reduce_max reduce_min
    reduce_or reduce_prod reduce_sum rem reshape rev root rsqrt scaled select_n shift_left
    shift_right_arithmetic shift_right_logical sign sin slice split sqrt square squeeze stack stop_gradient sub
    tan tanh transpose unstack xor
    closed_call cond custom_jvp_call custom_vmap_call custom_vjp_call jit pjit scan while
""".split())  # fmt: skip


def one_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is one kernel on a CPU, if all that it does is known to be possible there.

    function: of arrays and pytrees of them. What it returns has no other derivative than that of its operations.
    """

    def call(*args: Any) -> Any:
        program, result = _traced(function, *args)
        if not _fits(program):
            return jax.tree.unflatten(result, jaxpr_as_fun(program)(*jax.tree.leaves(args)))
        return _kernel(program, result)(*args)

    return call


def kernel_of(function: Callable[..., Any], *args: Any) -> Callable[..., Any] | None:
    """Return a function of arguments like these as `one_kernel` makes it, None where that is no kernel."""
    program, result = _traced(function, *args)
    return _kernel(program, result) if _fits(program) else None


def _traced(function: Callable[..., Any], *args: Any) -> tuple[ClosedJaxpr, Any]:
    """Return the program of a function, of leaves and not of pytrees, and the structure of its result."""
    leaves, tree = jax.tree.flatten(args)
    program, shapes = jax.make_jaxpr(lambda *x: function(*tree.unflatten(x)), return_shape=True)(*leaves)
    return program, jax.tree.structure(shapes)


def _kernel(program: ClosedJaxpr, result: Any) -> Callable[..., Any]:
    """Return the function of a program that fits; what it takes from outside becomes an argument of the kernel."""
    traced = [isinstance(x, jax.core.Tracer) for x in program.consts]
    own = [x for x, is_traced in zip(program.consts, traced, strict=True) if is_traced]
    if not own:
        return lambda *args: jax.tree.unflatten(result, _one_kernel.bind(*jax.tree.leaves(args), program=program))

    def whole(*values: Array) -> list[Array]:
        moved = iter(values[: len(own)])
        consts = [next(moved) if is_traced else x for x, is_traced in zip(program.consts, traced, strict=True)]
        return jax.core.eval_jaxpr(program.jaxpr, consts, *values[len(own) :])

    closed = jax.make_jaxpr(whole)(*own, *(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in program.in_avals))
    return lambda *args: jax.tree.unflatten(result, _one_kernel.bind(*own, *jax.tree.leaves(args), program=closed))


def _fits(program: ClosedJaxpr) -> bool:
    """Return whether a program can be one kernel."""
    if jaxlib.__version__ not in TESTED:
        return False
    if any(x.size == 0 for x in (*program.in_avals, *program.out_avals)):
        return False
    if any(np.size(x) == 0 or np.size(x) * x.dtype.itemsize > _LARGEST_CONSTANT for x in program.consts):
        return False
    return all(_known(jaxpr) for jaxpr in _jaxprs(program.jaxpr))


def _known(jaxpr: Jaxpr) -> bool:
    literals = (x.val for e in jaxpr.eqns for x in e.invars if isinstance(x, Literal))
    return all(e.primitive.name in _ALLOWED for e in jaxpr.eqns) and all(
        np.size(x) * np.asarray(x).itemsize <= _LARGEST_CONSTANT for x in literals
    )


def _jaxprs(jaxpr: Jaxpr) -> Iterator[Jaxpr]:
    """Yield a program and all programs that its operations hold."""
    yield jaxpr
    for eqn in jaxpr.eqns:
        for value in eqn.params.values():
            for inner in value if isinstance(value, tuple | list) else (value,):
                inner = inner.jaxpr if isinstance(inner, ClosedJaxpr) else inner
                if isinstance(inner, Jaxpr):
                    yield from _jaxprs(inner)


def _run(*args: Array, program: ClosedJaxpr) -> list[Array]:
    return jaxpr_as_fun(program)(*args)


def _called(ctx: mlir.LoweringRuleContext, *args: Any, program: ClosedJaxpr) -> list[Any]:
    """Lower to a call of a function of its own; the barrier keeps constants outside."""

    def reading_all(*values: Array) -> list[Array]:
        return [*_run(*values, program=program), *(x.ravel()[:1] for x in values)]

    given = [x.type for x in args]
    with ir.InsertionPoint.at_block_begin(ctx.module_context.module.body):
        function = func.FuncOp("one_kernel", ir.FunctionType.get(given, []), visibility="private")
    ctx.module_context.symbol_table.insert(function)  # under a name of its own
    with ir.InsertionPoint(function.add_entry_block()):
        shapes = [*program.out_avals, *(x.update(shape=(1,)) for x in program.in_avals)]
        out = mlir.lower_fun(reading_all)(ctx.replace(const_lowering={}, avals_out=shapes), *function.arguments)
        func.ReturnOp(out)
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(given, [x.type for x in out]))
    call = func.CallOp(function, list(stablehlo.OptimizationBarrierOp(list(args)).results))
    attributes = {key: ir.StringAttr.get(value) for key, value in _ATTRIBUTES.items()}
    call.operation.attributes["mhlo.frontend_attributes"] = ir.DictAttr.get(attributes)
    return list(call.results)[: len(program.out_avals)]


def _batched(args: list[Array], axes: list[int | None], **params: Any) -> tuple[list[Array], list[int]]:
    out = jax.vmap(lambda *x: _run(*x, **params), in_axes=tuple(axes))(*args)
    return out, [0] * len(out)


def _derivative(primals: list[Array], tangents: list[Any], **params: Any) -> tuple[list[Array], list[Array]]:
    return jax.jvp(lambda *x: _run(*x, **params), tuple(primals), tuple(map(ad.instantiate_zeros, tangents)))


_one_kernel = Primitive("one_kernel")
_one_kernel.multiple_results = True
_one_kernel.def_impl(_run)
_one_kernel.def_abstract_eval(lambda *avals, program: program.out_avals)
ad.primitive_jvps[_one_kernel] = _derivative
batching.primitive_batchers[_one_kernel] = _batched
mlir.register_lowering(_one_kernel, mlir.lower_fun(_run))
mlir.register_lowering(_one_kernel, _called, platform="cpu")
