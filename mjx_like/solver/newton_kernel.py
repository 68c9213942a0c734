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
from mjx_like.solver.linesearch import step_length
from mjx_like.solver.newton import Taken, ended, longest_search, newton, overshoots
from mjx_like.solver.problem import Problem, Settings, Solution, Start, most_iterations

Array = jax.Array


class _State(NamedTuple):
    """Where a world stands."""

    x: Array
    smooth: Array  # M x - q
    decrement: Array
    done: Array
    iterations: Array


def newton_anywhere(settings: Settings, p: Problem, start: Start) -> Solution:
    """Return what `newton` does, by the kernel where the program is compiled for a GPU of NVIDIA and it takes `p`."""
    solvers = (functools.partial(f, settings) for f in (newton_kernel, newton))
    return kernel.anywhere(*solvers, newton_trial, p, start) if takes(p) else newton(settings, p, start)


def takes(p: Problem) -> bool:
    """Return whether the kernel takes problems of this kind: single precision and few dofs."""
    return p.M.dtype == jnp.float32 and 0 < p.M.shape[-1] <= kernel.MOST and p.J.shape[-2] > 0


def newton_kernel(settings: Settings, p: Problem, start: Start, *, interpret: bool = False) -> Solution:
    """Return the optimum of one world; under `vmap` all worlds are solved by one kernel, each for itself.

    interpret: whether to run the kernel's operations one by one, on any platform, to test it.
    """
    return whole_batch(functools.partial(_solved, settings, interpret))(p, start)


def _solved(settings: Settings, interpret: bool, p: Problem, start: Start) -> Solution:
    """Return the optima of a batch of worlds."""
    limit = jnp.broadcast_to(most_iterations(settings, start.limit), start.nrow.shape).astype(jnp.int32)
    given = Inputs(
        M=p.M, q=p.q, J=p.J, aref=p.aref, D=p.law.D, low=p.law.low, high=p.law.high, loss=p.law.loss,
        smooth=start.smooth, warm=start.warm, nrow=start.nrow, tolerance=start.tolerance, limit=limit,
    )  # fmt: skip
    nplain, *cones = split(p.law)
    if p.law.cone is not None:
        given = given._replace(scale=p.law.cone.scale, mu=p.law.cone.mu, ncone=start.ncone)
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
        return jnp.sum(self.dofs.matrix(self.given.M) * x[None, :], axis=1)


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
    w.rows.write(found, s.x)
    constraint = w.rows.sums(lambda b: b.push(b.residual(s.x)), jnp.zeros_like(s.x))
    dofs.store(found.qacc, s.x)
    dofs.store(found.constraint, constraint)
    found.iterations[number] = s.iterations
    found.residual[number] = w.scale * _norm(s.smooth - constraint)


def _norm(x: Array) -> Array:
    return jnp.sqrt(jnp.sum(x * x))


def _start(w: _World) -> _State:
    """Return the better of the two starting points; done where its gradient is below the tolerance."""
    x = w.dofs.load(w.given.smooth)
    smooth = jnp.zeros_like(x)
    if w.settings.warmstart:
        warm = w.dofs.load(w.given.warm)
        warm_smooth = w.metric(warm) - w.q

        def cost(b: Block) -> Array:
            return b.change(b.residual(x), b.residual(warm))

        change = 0.5 * jnp.sum((warm - x) * warm_smooth) + w.rows.sums(cost, jnp.zeros_like(w.scale))
        x, smooth = (jnp.where(change < 0, a, b) for a, b in ((warm, x), (warm_smooth, smooth)))
    push = w.rows.sums(lambda b: b.push(b.residual(x)), jnp.zeros_like(x))
    norm = w.scale * _norm(smooth - push)
    done = (norm < w.tolerance) | (norm == 0)
    return _State(x, smooth, jnp.full_like(norm, jnp.inf), done, jnp.int32(0))


class _Model(NamedTuple):
    """What a step begins with."""

    gradient: Array
    hessian: Array


def _model(w: _World, s: _State) -> _Model:
    """Return gradient and Hessian of the cost."""

    def of_rows(b: Block) -> tuple[Array, Array]:
        residual = b.residual(s.x)
        return b.push(residual), b.bend(residual)

    size = w.dofs.size
    push, bend = w.rows.sums(of_rows, (jnp.zeros_like(s.x), jnp.zeros((size, size), s.x.dtype)))
    return _Model(s.smooth - push, w.dofs.matrix(w.given.M) + bend + w.dofs.ones_beyond(s.x.dtype))


def _moved(residual: Any, alpha: Array, direction: Any) -> Any:
    return jax.tree.map(lambda r, x: r + alpha * x, residual, direction)


def _iterate(w: _World, s: _State) -> _State:
    """Return the state after one Newton step."""
    gradient, hessian = _model(w, s)
    step = -w.dofs.solution(hessian, gradient)
    along = w.metric(step)
    slope, bend = jnp.sum(step * s.smooth), jnp.sum(step * along)

    def change(alpha: Array) -> Array:
        def of_rows(b: Block) -> Array:
            start = b.residual(s.x)
            return b.change(start, _moved(start, alpha, b.along(step)))

        return alpha * slope + 0.5 * alpha * alpha * bend + w.rows.sums(of_rows, jnp.zeros_like(slope))

    def derivatives(alpha: Array) -> tuple[Array, Array]:
        def of_rows(b: Block) -> tuple[Array, Array]:
            direction = b.along(step)
            return b.slope(_moved(b.residual(s.x), alpha, direction), direction)

        first, second = w.rows.sums(of_rows, (jnp.zeros_like(slope), jnp.zeros_like(slope)))
        return slope + alpha * bend + first, bend + second

    def zones_changed(alpha: Array) -> tuple[Array, Array]:
        """Return how many rows and cones change their zone, and how many cones begin in one that is curved."""

        def of_rows(b: Block) -> tuple[Array, Array]:
            start = b.residual(s.x)
            return b.moved(start, _moved(start, alpha, b.along(step))), b.curved(start)

        return w.rows.sums(of_rows, (jnp.int32(0), jnp.int32(0)))

    full = change(jnp.ones_like(slope))
    one = 1 + 0 * full  # branches of Triton cannot return constants
    trips = overshoots(full, slope, bend)

    def search() -> tuple[Array, Array]:
        alpha = step_length(derivatives, one, trips, longest_search(w.settings))
        return alpha, change(alpha)

    alpha, gain = lax.cond(trips, search, lambda: (one, full))
    moved, bent = zones_changed(alpha)
    taken = Taken(
        alpha=alpha,
        gain=gain,
        decrement=-0.5 * jnp.sum(step * gradient),
        norm=_norm(gradient),
        same=moved == 0,
        curved=bent > 0,
        energy=jnp.abs(jnp.sum(s.x * w.q)) + 0.5 * jnp.abs(jnp.sum(s.x * (s.smooth + w.q))),
    )
    return _State(
        x=s.x + alpha * step,
        smooth=s.smooth + alpha * along,
        decrement=taken.decrement,
        done=ended(taken, s.decrement, w.tolerance, w.scale),
        iterations=s.iterations + 1,
    )


def newton_trial() -> tuple[Problem, Start]:
    """Return a problem in single precision to try the kernel on."""
    return jax.tree.map(lambda x: x.astype(jnp.float32) if x.dtype == float else x, sample_problem(ncone=5))


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
