"""Newton's method as one kernel of a GPU: a program solves one world, and ends when that world is done.

The method and its tests of when to end are those of `newton`, which is the reference and runs everywhere else. A
program visits the rows in use block by block, and takes the residuals of a block anew from its part of J, so that it
keeps vectors over the dofs alone. J comes from memory once; later visits find it in a cache. No world waits for
another, rows that are not in use cost nothing, and there is no capacity to choose.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas

from mjx_like.constants import MINVAL
from mjx_like.math import kernel
from mjx_like.math.batching import whole_batch
from mjx_like.solver.capacity import split
from mjx_like.solver.kernel_rows import Block, Inputs, Outputs, Rows
from mjx_like.solver.law import Cone, Law
from mjx_like.solver.linesearch import REDUCTION, Bracket, longest_search, next_step, overshoots
from mjx_like.solver.newton import Taken, ended, newton
from mjx_like.solver.problem import Problem, Settings, Solution, Start, most_iterations

Array = jax.Array


class _State(NamedTuple):
    """Where a world stands."""

    x: Array
    smooth: Array  # M x - q
    decrement: Array
    done: Array
    iterations: Array


def newton_kernel(settings: Settings, p: Problem, start: Start, *, interpret: bool = False) -> Solution:
    """Return the optimum of one world; under `vmap` all worlds are solved by one kernel, each for itself.

    interpret: whether to run the kernel's operations one by one, on any platform, to test it.
    """
    return whole_batch(functools.partial(_solved, settings, interpret))(p, start)


def _solved(settings: Settings, interpret: bool, p: Problem, start: Start) -> Solution:
    """Return the optima of a batch of worlds."""
    limit = jnp.broadcast_to(most_iterations(settings, start.limit), start.nrow.shape).astype(jnp.int32)
    nplain, *cones = split(p.law)
    given = Inputs(
        M=p.M, q=p.q, J=p.J[:, :nplain].mT, aref=p.aref, D=p.law.D, low=p.law.low, high=p.law.high, loss=p.law.loss,
        smooth=start.smooth, warm=start.warm, nrow=start.nrow, tolerance=start.tolerance, limit=limit,
    )  # fmt: skip
    if p.law.cone is not None:
        J = jnp.moveaxis(p.J[:, nplain:].reshape(-1, *cones, p.J.shape[-1]), 1, -1)
        given = given._replace(J_cone=J, scale=p.law.cone.scale, mu=p.law.cone.mu, ncone=start.ncone)
    leaves, tree = jax.tree.flatten(given)
    count = start.nrow.shape[0]
    like = functools.partial(jax.ShapeDtypeStruct, dtype=p.M.dtype)
    integer = functools.partial(jax.ShapeDtypeStruct, dtype=jnp.int32)
    found = Outputs(
        qacc=like(p.q.shape),
        force=like(p.aref.shape),
        constraint=like(p.q.shape),
        state=integer(p.aref.shape),
        iterations=integer((count,)),
        residual=like((count,)),
    )
    call = pallas.pallas_call(
        functools.partial(_program, settings, tree, nplain, tuple(cones), p.M.shape[-1]),
        grid=(count,),
        out_shape=tuple(found),
        compiler_params=kernel.parameters(p.M.shape[-1]),
        interpret=interpret,
        name="newton",
    )
    return Solution(**Outputs(*call(*leaves))._asdict())


class _World(NamedTuple):
    """The problem of one world, as a program sees it."""

    settings: Settings
    given: Inputs
    dofs: kernel.Dofs
    rows: Rows
    q: Array
    tolerance: Array
    scale: Array  # inverse of the trace of M

    def metric(self, x: Array) -> Array:
        """Return M x; M is read again, which is cheaper than to keep it."""
        return jnp.sum(self.dofs.matrix(self.given.M) * x[:, None], axis=0)


def _program(settings: Settings, tree: Any, nplain: int, cones: tuple[int, int], nv: int, *refs: Any) -> None:
    """Solve the world of this program.

    Args:
      tree: structure of `Inputs`.
      nplain: plain rows that exist; cones: how many cones exist, and their axes; nv: dofs.
      refs: memory of the inputs, then of `Outputs`.
    """
    given, found = tree.unflatten(refs[: tree.num_leaves]), Outputs(*refs[tree.num_leaves :])
    number = pallas.program_id(0)
    dofs = kernel.Dofs(number, nv)
    trace = jnp.sum(jnp.where(dofs.diagonal, dofs.matrix(given.M), 0))
    w = _World(
        settings=settings,
        given=given,
        dofs=dofs,
        rows=Rows(given, number, nplain, cones, dofs),
        q=dofs.load(given.q),
        tolerance=given.tolerance[number],
        scale=1 / jnp.maximum(trace, MINVAL),
    )
    limit = given.limit[number]
    s = lax.while_loop(lambda s: ~s.done & (s.iterations < limit), functools.partial(_iterate, w), _start(w))
    constraint = w.rows.write(found, s.x)
    dofs.store(found.qacc, s.x)
    dofs.store(found.constraint, constraint)
    found.iterations[number] = s.iterations
    found.residual[number] = w.scale * _norm(s.smooth - constraint)


def _norm(x: Array) -> Array:
    return jnp.sqrt(jnp.sum(x * x))


def _start(w: _World) -> _State:
    """Return the better of the two starting points."""
    x = w.dofs.load(w.given.smooth)
    smooth = jnp.zeros_like(x)
    if w.settings.warmstart:
        warm = w.dofs.load(w.given.warm)
        warm_smooth = w.metric(warm) - w.q
        change = w.rows.sums(lambda b: b.change(b.residual(x), b.residual(warm)), jnp.zeros_like(w.scale))
        better = change + 0.5 * jnp.sum((warm - x) * warm_smooth) < 0
        x, smooth = (jnp.where(better, a, b) for a, b in ((warm, x), (warm_smooth, smooth)))
    return _State(x, smooth, jnp.full_like(w.scale, jnp.inf), w.scale < 0, jnp.int32(0))


def _iterate(w: _World, s: _State) -> _State:
    """Return the state after one Newton step; as it was, but done, where the gradient at the start is small."""

    def model(b: Block) -> tuple[Array, Array]:
        residual = b.residual(s.x)
        return b.push(residual), b.bend(residual)

    size, dtype = w.dofs.size, s.x.dtype
    pushes, bend = w.rows.sums(model, (w.rows.pushes(), jnp.zeros((size, size), dtype)))
    gradient = s.smooth - jnp.sum(pushes, axis=1)
    step = -w.dofs.solution(w.dofs.matrix(w.given.M) + bend + w.dofs.ones_beyond(dtype), gradient)
    along = w.metric(step)
    decrement, norm = -0.5 * jnp.sum(step * gradient), _norm(gradient)
    p = _searched(w, s, step, along, decrement)
    taken = Taken(
        alpha=p.alpha,
        gain=p.gain,
        decrement=decrement,
        norm=jnp.full_like(norm, jnp.inf),  # that at its end is not known yet: the next step begins with it
        same=p.moved == 0,
        curved=p.curved > 0,
        energy=jnp.abs(jnp.sum(s.x * w.q)) + 0.5 * jnp.abs(jnp.sum(s.x * (s.smooth + w.q))),
    )
    still = (w.scale * norm < w.tolerance) | (norm == 0)
    alpha = jnp.where(still, 0, p.alpha)
    return _State(
        x=s.x + alpha * step,
        smooth=s.smooth + alpha * along,
        decrement=decrement,
        done=still | ended(taken, s.decrement, w.tolerance, w.scale),
        iterations=jnp.where(still, s.iterations, s.iterations + 1),
    )


class _Probe(NamedTuple):
    """A share of a step, and what is found there."""

    alpha: Array
    gain: Array  # change of the cost
    moved: Array  # rows and cones in other zones than at the start
    curved: Array  # cones that start in a zone within which their Hessian changes
    bracket: Bracket
    count: Array  # shares tried
    done: Array
    following: Array  # the share to try next


def _searched(w: _World, s: _State, step: Array, along: Array, decrement: Array) -> _Probe:
    """Return the full step; or, where that overshoots, the share that `step_length` finds, found in one loop."""
    slope, bend, most = jnp.sum(step * s.smooth), jnp.sum(step * along), longest_search(w.settings)
    zero, none = jnp.zeros_like(slope), jnp.int32(0)

    def probe(last: _Probe) -> _Probe:
        alpha = last.following

        def of_rows(b: Block) -> tuple[Array, ...]:
            start, direction = b.residual(s.x), b.along(step)
            end = jax.tree.map(lambda r, x: r + alpha * x, start, direction)
            return b.change(start, end), *b.slope(end, direction), b.moved(start, end), b.curved(start)

        cost, first, second, moved, curved = w.rows.sums(of_rows, (zero, zero, zero, none, none))
        gain, first, second = (
            alpha * slope + 0.5 * alpha * alpha * bend + cost,
            slope + alpha * bend + first,
            bend + second,
        )
        following, bracket = next_step(alpha, last.bracket, first, second)
        flat = jnp.abs(first) <= 2 * REDUCTION * decrement  # the derivative at the start is -2 decrement
        done = flat | (last.count >= most) | ((last.count == 0) & ~overshoots(gain, slope, bend))
        return _Probe(alpha, gain, moved, curved, bracket, last.count + 1, done, following)

    bracket = Bracket(zero, zero + jnp.inf)
    first = _Probe(zero, zero, none, none, bracket, none, decrement != decrement, jnp.ones_like(zero))
    return lax.while_loop(lambda p: ~p.done, probe, first)


def newton_trial(*, interpret: bool = False) -> tuple[Any, Any, tuple[Problem, Start]]:
    """Return the kernel, `newton`, and a problem in single precision."""
    given = jax.tree.map(lambda x: x.astype(jnp.float32) if x.dtype == float else x, sample_problem(ncone=5))
    settings = Settings(iterations=20, ls_iterations=20, warmstart=True)
    own, plain = functools.partial(newton_kernel, settings, interpret=interpret), functools.partial(newton, settings)
    return (lambda *args: own(*args).qacc), (lambda *args: plain(*args).qacc), given


def sample_problem(nv: int = 20, nrow: int = 40, ncone: int = 0, axes: int = 3, seed: int = 0) -> tuple[Problem, Start]:
    """Return a problem of one world with rows of all kinds, to try a solver on.  nrow: plain rows."""
    rng = np.random.default_rng(seed)
    root, total = rng.normal(size=(nv, nv)), nrow + ncone * axes
    M, q = root @ root.T + np.eye(nv), rng.normal(size=nv)
    kind = np.where(np.arange(total) < nrow, np.arange(total) % 3, 2)  # an equality, friction loss, a contact
    D = rng.uniform(1, 100, total)
    loss = np.where(kind == 1, 2.0, 0.0)
    high = np.where(kind == 0, np.inf, loss / D)
    low = np.where(kind == 2, -np.inf, -high)
    J, aref = rng.normal(size=(total, nv)), rng.normal(size=total) * 5
    cone = None
    if ncone:
        scale = rng.uniform(0.3, 1, (ncone, axes))
        cone = Cone(scale=jnp.asarray(scale), mu=jnp.asarray(scale[:, 0]))
    law = Law(D=jnp.asarray(D), low=jnp.asarray(low), high=jnp.asarray(high), loss=jnp.asarray(loss), cone=cone)
    p = Problem(M=jnp.asarray(M), q=jnp.asarray(q), J=jnp.asarray(J), aref=jnp.asarray(aref), law=law)
    smooth = jnp.asarray(np.linalg.solve(M, q))
    start = Start(
        smooth=smooth,
        warm=0 * smooth,
        nrow=jnp.int32(nrow),
        ncone=jnp.int32(ncone),
        tolerance=smooth.dtype.type(1e-8),
    )
    return p, start
