"""The program of the kernel that searches: for one world, and it ends when that world is done.

The method is that of `interior_point`, which is the reference and runs everywhere else. Vectors over the dofs and the
system in the velocity are in registers; slacks and impulses are in the program's part of the results, and are visited
block by block: once to move and to write the system there, then once with each of its two solutions. No world waits for
another, and rows that are not in use cost nothing.

Triton's compiler takes time with the square of the program's length and with the number of its loads, so that what is
done several times is written once: loops begin with what would come before them.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas

from mjx_like.hard.interior_point import LEFT_BEHIND, LOOSER, NOISE, RELEASED, SHORT, TO_BOUNDARY, tolerance
from mjx_like.hard.kernel_block import Block, System
from mjx_like.hard.kernel_pairs import Given, Limits, Sides, finite
from mjx_like.hard.kernel_rows import PLACES, Groups, Part, Rows
from mjx_like.hard.kernel_rows import Inputs as RowInputs
from mjx_like.math import kernel, safe

Array = jax.Array

_CHANGES = PLACES - 1  # the place of the changes of a step


class Inputs(NamedTuple):
    """What the kernel reads, arrays of all worlds."""

    A: Any  # transposed
    b: Any
    h: Any
    nu: Any  # to start from
    wanted: Any  # 1 where a world is to be searched, else 0
    rows: RowInputs
    limits: Given
    first: Sides  # of limits, to start from
    places: Any  # as of Outputs: where the search starts, and changes of zero


class Outputs(NamedTuple):
    """What the kernel writes."""

    places: Any  # shape (PLACES, fields, rows)
    best: Any  # the place of the best point
    systems: tuple[Any, Any]  # only used within
    nu: Any
    limits: Sides
    error: Any
    iterations: Any


class _World(NamedTuple):
    """The problem of one world, as a program sees it."""

    given: Inputs
    dofs: kernel.Dofs
    rows: Rows
    limits: Given
    b: Array
    h: Array
    systems: tuple[Any, Any]  # memory for matrices
    vector: Any  # memory for a vector over the dofs
    settled: Any  # () -> None: what was written can be read

    def metric(self, x: Array) -> Array:
        """Return A x."""
        return jnp.sum(self.dofs.matrix(self.given.A) * x[:, None], axis=0)

    def spread(self, x: Array) -> Array:
        """Return a vector with one entry in each thread, by way of memory; the compiler would keep several."""
        self.settled()
        self.dofs.store(self.vector, x)
        self.settled()
        return self.dofs.load(self.vector)


class _State(NamedTuple):
    """Where a world stands before it makes a step: at the start, one of length 0."""

    nu: Array
    place: Array
    limits: Sides
    step: Array
    change: Sides  # of limits
    length: Array
    mean: Array  # of the products over their targets
    best: Array  # velocity
    error: Array  # of the best
    best_place: Array
    best_limits: Sides
    iterations: Array
    done: Array


class _Reached(NamedTuple):
    """What is found where a step ends."""

    push: Array  # J' impulse, by row
    side: Array  # the right-hand side of the system toward products of zero, by row
    bend: Array  # the system, but for the metric
    worst: Array  # residual over its natural size
    largest: Array  # impulse


class _Aim(NamedTuple):
    """What is solved for, and what is found on the way there."""

    more: Array  # right-hand side beyond that toward products of zero
    target: Array  # of the products
    weight: Array  # of the second order
    away: Array  # solution toward products of zero
    step: Array
    change: Sides  # of limits
    whole: Array  # room of all rows, and of those that are not cones of contacts
    others: Array
    mean: Array


def program(iterations: int, tree: Any, out_tree: Any, groups: Groups, nv: int, interpret: bool, *refs: Any) -> None:
    """Search for the world of this program.

    tree, out_tree: structures of `Inputs` and `Outputs`; refs: memory of the inputs, then of the outputs.
    """
    given, found = tree.unflatten(refs[: tree.num_leaves]), out_tree.unflatten(refs[tree.num_leaves :])
    number = pallas.program_id(0)
    dofs = kernel.Dofs(number, nv)
    rows = Rows(given.rows, groups, found.places, number, dofs)
    settled = (lambda: None) if interpret else kernel.triton.debug_barrier
    limits = _of_world(dofs, given.limits, (1, 1, 0))
    w = _World(given, dofs, rows, limits, dofs.load(given.b), given.h[number], found.systems, found.nu, settled)
    nu, zero, first = dofs.load(given.nu), jnp.zeros_like(w.h), jnp.int32(0)
    sides, still = _of_world(dofs, given.first, (1, 1)), jnp.zeros_like(nu)
    s = _State(
        nu=nu,
        place=first,
        limits=sides,
        step=still,
        change=jax.tree.map(jnp.zeros_like, sides),
        length=zero,
        mean=zero,
        best=nu,
        error=zero + jnp.inf,
        best_place=first,
        best_limits=sides,
        iterations=jnp.int32(-1),
        done=given.wanted[number] == 0,
    )
    s = lax.while_loop(lambda s: ~s.done, functools.partial(_iterate, w, iterations), s)
    dofs.store(found.nu, s.best)
    jax.tree.map(dofs.store, found.limits, s.best_limits)
    found.best[number] = s.best_place
    found.error[number] = s.error
    found.iterations[number] = s.iterations


def _of_world(dofs: kernel.Dofs, by_field: Any, rest: tuple[float, ...]) -> Any:
    """Return what limits have in the world of a program; rest: what they have beyond nv, by field."""

    def sides(refs: tuple[Any, ...], other: float) -> tuple[Array, ...]:
        return tuple(jnp.where(dofs.used, dofs.load(x), other) for x in refs)

    return type(by_field)(*(sides(*x) for x in zip(by_field, rest, strict=True)))


def _iterate(w: _World, iterations: int, s: _State) -> _State:
    """Return the state one step later; a step that is not finite ends the search where it stood."""
    nu, place = s.nu + s.length * s.step, jnp.where(s.best_place == s.place, 1 - s.place, s.place)
    sides = jax.tree.map(lambda x, d: x + s.length * d, s.limits, s.change)
    limits = Limits(w.limits, sides, w.h, nu)
    at = _reached(w, s, nu, place, limits)
    still = w.b - w.metric(nu)
    natural = jnp.max(jnp.abs(w.b)) + at.largest
    residual = still + jnp.sum(at.push, axis=1) + limits.impulse()
    motion = jnp.max(finite(jnp.abs(residual))) / jnp.maximum(natural, safe.tiny(natural))
    error = finite(jnp.maximum(at.worst, motion))
    better, count = error < s.error, s.iterations + 1
    least = jnp.where(better, error, s.error)
    done = (least <= tolerance(nu.dtype)) | (count >= iterations) | (error == jnp.inf)
    side = still + jnp.sum(at.side, axis=1) + limits.impulse() + limits.push(limits.away())
    step, change, length, mean = lax.cond(
        done,
        lambda: (s.step, s.change, s.length, s.mean),
        lambda: _step(w, nu, place, limits, at.bend, side),
    )
    return _State(
        nu=nu,
        place=place,
        limits=sides,
        step=step,
        change=change,
        length=length,
        mean=mean,
        best=jnp.where(better, nu, s.best),
        error=least,
        best_place=jnp.where(better, place, s.best_place),
        best_limits=jax.tree.map(lambda a, b: jnp.where(better, a, b), sides, s.best_limits),
        iterations=count,
        done=done,
    )


def _reached(w: _World, s: _State, nu: Array, place: Array, limits: Limits) -> _Reached:
    """Write the point after a step, whose changes are written, and return what is found there.

    Of limits it has what is largest, but neither impulses nor their part of the system.
    """
    released, noise = jnp.maximum(RELEASED * s.mean, 1.0), NOISE * float(jnp.finfo(nu.dtype).eps)

    def move(total: _Reached, part: Part) -> _Reached:
        before = Block(part.condition(), part.values(s.place), w.h, s.nu)
        d = part.values(jnp.int32(_CHANGES))
        z = before.moved(d, before.along(s.step), s.length, LEFT_BEHIND, released)
        part.write(place, z)
        block = System(before.given, z, w.h, nu)
        worst, largest = block.error(nu, noise, LOOSER)
        return _Reached(
            push=total.push + block.impulse(),
            side=total.side + block.push(block.away(), impulse=True),
            bend=total.bend + block.bend(),
            worst=jnp.maximum(total.worst, worst),
            largest=jnp.maximum(total.largest, largest),
        )

    worst, largest = (jnp.max(x) for x in limits.error(noise))
    none, size = w.rows.none(), w.dofs.size
    found = w.rows.fold(move, _Reached(none, none, jnp.zeros((size, size), nu.dtype), worst, largest))
    w.settled()
    return found


def _step(
    w: _World, nu: Array, place: Array, limits: Limits, bend: Array, side: Array
) -> tuple[Array, Sides, Array, Array]:
    """Return the step from a point, the changes of its limits, how much to make of both, and the mean of the products.

    Write the changes of rows.
    """
    dofs = w.dofs
    transposed, system = w.systems
    bend = dofs.matrix(w.given.A) + bend + jnp.where(dofs.diagonal, limits.stiff()[None, :], 0)
    dofs.store_matrix(transposed, bend)
    dofs.store_transposed(system, bend)
    w.settled()
    factors = dofs.factored(dofs.matrix(system), dofs.matrix(transposed))

    def aim(turn: Array, a: _Aim) -> _Aim:
        step = dofs.upper_solution(factors, dofs.lower_solution(factors, w.spread(side + a.more)))
        return _aimed(w, nu, place, limits, a._replace(step=step, away=jnp.where(turn == 0, step, a.away)))

    zero, none = jnp.zeros_like(w.h), jnp.zeros_like(nu)
    still = Sides(*((none,) * len(side) for side in w.given.first))
    begin = _Aim(none, zero, zero, none, none, still, zero, zero, zero)
    a = lax.fori_loop(jnp.int32(0), jnp.int32(2), aim, begin)
    whole, others = (jnp.minimum(1.0, TO_BOUNDARY * x) for x in (a.whole, a.others))
    return a.step, a.change, jnp.maximum(whole, jnp.minimum(others, SHORT)), a.mean


def _aimed(w: _World, nu: Array, place: Array, limits: Limits, a: _Aim) -> _Aim:
    """Return the aim that follows from a step; write the changes of rows that go with it."""

    def attempt(total: Any, part: Part) -> Any:
        block = System(part.condition(), part.values(place), w.h, nu)
        first, back = block.away(), block.back()
        d, slide = block.change(first, a.away)
        bent = block.bent(d, slide)
        products = block.products(d, slide)
        d, slide = block.change(first.combined(a.target, back).combined(a.weight, bent), a.step)
        part.write(jnp.int32(_CHANGES), d)
        room = tuple(jnp.minimum(x, y) for x, y in zip(total[0], block.room(d, slide), strict=True))
        return room, *jax.tree.map(jnp.add, total[1:], (block.count(), products, block.push(back), block.push(bent)))

    first = limits.away()
    away = limits.change(first, a.away)
    toward = [(limits.back(), a.target), (limits.bent(away), a.weight)]
    change = limits.change(tuple(x + sum(f * y[i] for y, f in toward) for i, x in enumerate(first)), a.step)
    none, far = w.rows.none(), limits.room(change)
    (whole, others), count, powers, back, bent = w.rows.fold(
        attempt, ((far, far), limits.count(), limits.products(away), none, none)
    )
    w.settled()
    length, most = jnp.minimum(whole, 1.0), jnp.maximum(count, 1.0)
    mean, left = powers[0] / most, (powers[0] + length * (powers[1] + length * powers[2])) / most
    share = safe.clip(left / jnp.maximum(mean, safe.tiny(mean)), 0.0, 1.0)
    target = jnp.maximum(share * share * share * mean, 1.0)
    weight = jnp.where(target > 1.0, length, 0.0)
    back, bent = (jnp.sum(x, axis=1) + limits.push(own) for x, (own, _) in zip((back, bent), toward, strict=True))
    return _Aim(target * back + weight * bent, target, weight, a.away, a.step, change, whole, others, mean)
