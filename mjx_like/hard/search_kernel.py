"""The search as one kernel of a GPU, with a program for each world (`kernel_program`)."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas

from mjx_like.hard.interior_point import Found, start
from mjx_like.hard.kernel_pairs import limits_at, limits_given, limits_in_order
from mjx_like.hard.kernel_program import Inputs, Outputs, program
from mjx_like.hard.kernel_rows import PLACES, inputs, point, sizes
from mjx_like.hard.problem import Problem, rates
from mjx_like.hard.sample import sample_problems
from mjx_like.hard.search import search
from mjx_like.math import kernel
from mjx_like.math.batching import whole_batch

Array = jax.Array


def search_kernel(
    iterations: int, p: Problem, nu: Array, wanted: Array | bool = True, *, interpret: bool = False
) -> Found:
    """Return the point of the central path of one world; under `vmap` one kernel searches for all, each for itself.

    wanted: as in `search`. interpret: whether to run the kernel's operations one by one, on any platform, to test it.
    """
    return whole_batch(functools.partial(_searched, iterations, interpret))(p, nu, jnp.asarray(wanted))


def _searched(iterations: int, interpret: bool, p: Problem, nu: Array, wanted: Array) -> Found:
    """Return the searches of a batch of worlds."""
    z = jax.vmap(lambda p, nu: start(p, nu, rates(p, nu)))(p, nu)
    rows, groups = inputs(p, z), sizes(p)
    places = jnp.stack([rows.start, *(jnp.zeros_like(rows.start) for _ in range(PLACES - 1))], axis=1)
    first = limits_at(p, z.s, z.gamma)
    flag, rest = wanted.astype(nu.dtype), rows._replace(start=None)
    given = Inputs(p.A.mT, p.b, p.h, nu, flag, rest, limits_given(p), first, places)
    leaves, tree = jax.tree.flatten(given)
    batch, nv = nu.shape
    like = functools.partial(jax.ShapeDtypeStruct, dtype=nu.dtype)
    shapes, out_tree = jax.tree.flatten(
        Outputs(
            places=like(places.shape),
            best=jax.ShapeDtypeStruct((batch,), jnp.int32),
            systems=(like((batch, nv, nv)),) * 2,
            nu=like((batch, nv)),
            limits=jax.tree.map(lambda x: like(x.shape), first),
            error=like((batch,)),
            iterations=jax.ShapeDtypeStruct((batch,), jnp.int32),
        )
    )
    call = pallas.pallas_call(
        functools.partial(program, iterations, tree, out_tree, groups, nv, interpret),
        grid=(batch,),
        out_shape=tuple(shapes),
        input_output_aliases={len(leaves) - 1: 0},
        compiler_params=kernel.parameters(nv),
        interpret=interpret,
        name="hard_search",
    )
    found = out_tree.unflatten(call(*leaves))
    table = jnp.where((found.best > 0)[:, None, None], found.places[:, 1], found.places[:, 0])
    limits = tuple(limits_in_order(p, sides, nu) for sides in found.limits)
    best = point(groups, z, found.nu, rows.counts, table, limits)
    return Found(best, found.error, found.iterations, jnp.zeros(batch, bool))


def search_trial(*, interpret: bool = False) -> tuple[Any, Any, tuple[Problem, Array]]:
    """Return the kernel, the plain operations, and a few problems in single precision.

    They stop short of the end, where rounding would decide who takes one step more.
    """
    given = jax.tree.map(lambda x: x.astype(jnp.float32), sample_problems(nv=6, ncone=8, limited=(1, 2, 4)))
    own, plain = (functools.partial(f, 6) for f in (search_kernel, search))
    return (
        (lambda *args: jax.vmap(functools.partial(own, interpret=interpret))(*args).best.nu),
        (lambda *args: jax.vmap(plain)(*args).best.nu),
        given,
    )
