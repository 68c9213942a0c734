"""Rollouts: many steps, of one world or of many, in one compiled loop."""

import contextlib
import functools
import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from mjx_like.arguments import truth, whole_number
from mjx_like.collision.convex.derivative import FOUND
from mjx_like.errors import InputError, shown
from mjx_like.math.moving import moving_with
from mjx_like.math.world_last import map_last
from mjx_like.rollout.inputs import Policy, check_inputs, check_policy, controls, controls_of
from mjx_like.rollout.layout import block_of, own_axes, worlds_are_last
from mjx_like.rollout.recording import Recorder, WithStart, check_record, record_state
from mjx_like.rollout.sharding import in_blocks, over_devices
from mjx_like.solver.implicit_gradient import OPTIMUM
from mjx_like.step import step
from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.types.pytree import Role, with_role
from mjx_like.worlds import number_of_worlds

Array = jax.Array

# What one step hands to the next: state, inputs (a reset changes them), counters that grow.
CARRIED = with_role(Data, Role.STATE, Role.MEMORY, Role.WARMSTART, Role.INPUT, Role.USERDATA, Role.COUNTER)

# Of what is carried, what a change of anything changes.
_MOVING = ("qpos", "qvel", "act", "qacc_warmstart")

Scan = Callable[..., tuple[Any, Any]]


def rollout(
    m: Model,
    d: Data,
    ctrl: Array | None = None,
    *,
    steps: int | None = None,
    policy: Policy | None = None,
    inputs: Any = None,
    record: Recorder = record_state,
    every: int = 1,
    remat: bool = True,
    unroll: int = 1,
    block: int | None = None,
    devices: Sequence[jax.Device] | None = None,
    return_data: bool = False,
) -> Any:
    """Return what was recorded at each of many steps: the Trajectory of states and sensors by default.

    One world, or a batch of them if the arrays of `d` have a leading world axis; then arrays of `m` may have one too
    (domain randomisation). Differentiable in both modes, with respect to `m`, `d` and `ctrl`. Only the state, inputs
    and counters are carried from step to step: derived fields of a Data returned are those of `d` until `forward` is
    called.

    On a CPU equal calls give equal bits, in other processes of the machine too. On the other worlds, on `block`,
    `devices` and `record` the result of a world depends by rounding only, but it does: XLA compiles other code for
    another number of worlds or another record, and the solver's sums run over the rows of the fullest world of the
    block. `replay` gives one world of a batch again in its own bits.

    Args:
      m: the model.
      d: the start.
      ctrl: controls of each step, shape (steps, nu), or (batch, steps, nu) for each world its own; None to hold
        `d.ctrl`.
      steps: number of steps; needed without `ctrl` and `inputs`.
      policy: function `(d, inputs) -> ctrl` of the Data before each step, shape (nu,), in place of `ctrl`. It sees the
        state; derived fields (`xpos`, `sensordata`) are those of the `d` given to `rollout`, at every step: compute
        what it needs, as with `kinematics(m, d)`. Each function compiles anew, and arrays that it closes over are
        constants of that program: where they change, as weights do, call `rollout` inside a `jax.jit` of which they
        are arguments.
      inputs: what the policy is given of each step: a pytree of arrays with axes (steps, ...), or for a batch
        (batch, steps, ...).
      record: function of the Data after a step, `d.xpos` and the like being those of its start. Its result, any
        pytree, is stacked over the steps. Calls with the same function share one compilation.
      every: record every so many steps, the last of each so many; the number of steps must divide by it.
      remat: in reverse mode, store only the state of each step, the solver's acceleration and what the search for
        contacts of convex geoms found, and compute the rest again.
      unroll: steps written out in the body of the loop.
      block: worlds that run together; None on a CPU for 16 to 128, as many as its cache has room for, else for all. One
        world has none.
      devices: devices that share the worlds; None for the one where the arguments are.
      return_data: return the Data at the end too, to go on from it.

    Returns:
      The records, arrays with axes (steps / every, ...) or (batch, steps / every, ...); with `return_data`,
      (records, Data).

    Raises:
      InputError: an argument of another kind, or one that does not fit the others; the message names it.
    """
    batch = number_of_worlds("rollout", m, d)
    check_types("rollout", m, d)
    check_policy(policy, ctrl, inputs)
    given = controls(m, d, batch, ctrl) if policy is None and ctrl is not None else inputs
    lengths = check_inputs(batch, given) if policy is not None else set() if ctrl is None else {given.shape[-2]}
    steps, unroll = _steps(lengths, steps), whole_number("unroll", unroll, least=1)
    every = _every(every, steps)
    check_record(record)
    remat, return_data = truth("remat", remat), truth("return_data", return_data)
    devices = None if devices is None else _devices(batch, devices)
    block = block_of(m, d, batch, block, devices)
    with _collector_paused():
        end, records = _rollout(m, d, given, policy, steps, every, record, remat, unroll, block, devices)
    return (records, end) if return_data else records


@contextlib.contextmanager
def _collector_paused() -> Iterator[None]:
    """Hold Python's cyclic garbage collector while a rollout is traced.

    A trace makes a million objects that live; the collector walked them over and over, half the time of tracing a
    gradient.
    """
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


@functools.partial(jax.jit, static_argnums=(3, 4, 5, 6, 7, 8, 9, 10))
def _rollout(m, d, given, policy, steps, every, record, remat, unroll, block, devices):
    """given: the controls of each step, or the inputs of a policy; None for neither."""
    scan = functools.partial(_scan, length=steps, every=every, remat=remat, unroll=unroll)
    advance = functools.partial(_advance, record, policy)
    if block is None:
        return _one_world(scan, advance, m, d, given)
    leaves, structure = jax.tree.flatten((m, d, given))
    mapped = own_axes(m, d, given if policy is None else None)
    mapped += [True] * (len(leaves) - len(mapped))
    worlds = [x for x, is_mapped in zip(leaves, mapped, strict=True) if is_mapped]
    shared = [x for x, is_mapped in zip(leaves, mapped, strict=True) if not is_mapped]
    many = _worlds_last if worlds_are_last(m) else _worlds_first

    def together(own: list[Array], common: list[Array]) -> tuple[Data, Any]:
        own, common = iter(own), iter(common)
        values = [next(own if is_mapped else common) for is_mapped in mapped]
        return many(scan, advance, jax.tree.unflatten(structure, mapped), *jax.tree.unflatten(structure, values))

    function = in_blocks(together, block)
    function = function if devices is None else over_devices(function, devices)
    return function(worlds, shared)


def _one_world(scan: Scan, advance: Callable[..., Any], m: Model, d: Data, given: Any) -> tuple[Data, Any]:
    state, records = scan(functools.partial(advance, m, d), _start(m, d, given), given)
    return d.replace(**state), records


def _worlds_first(
    scan: Scan, advance: Callable[..., Any], mapped: Any, m: Model, d: Data, given: Any
) -> tuple[Data, Any]:
    """Return Data and records of many worlds; `mapped` says which arrays of (m, d, given) have a leading world axis."""
    axes = jax.tree.map(lambda own: 0 if own else None, mapped)
    return jax.vmap(functools.partial(_one_world, scan, advance), in_axes=axes)(m, d, given)


def _worlds_last(
    scan: Scan, advance: Callable[..., Any], mapped: Any, m: Model, d: Data, given: Any
) -> tuple[Data, Any]:
    """Return what `_worlds_first` does, with the worlds on the last axis of every array inside."""
    m, d, given = jax.tree.map(lambda x, own: jnp.moveaxis(x, 0, -1) if own else x, (m, d, given), mapped)
    start, (own_m, own_d, own_given) = _start(m, d, given), mapped
    many = map_last(advance, (own_m, own_d, dict.fromkeys(start, True), own_given))
    state, records = scan(lambda state, u: many(m, d, state, u), start, given)
    return jax.tree.map(lambda x: jnp.moveaxis(x, -1, 0), (d.replace(**state), records))


def _start(m: Model, d: Data, given: Any) -> dict[str, Array]:
    """Return what the first step begins with; what every derivative changes has a tangent from the start."""
    state = start_of(d)
    own, ctrl = ({name: state[name] for name in names if state[name].size} for names in (_MOVING, ("ctrl",)))
    return state | moving_with(own, (m, d, given)) | moving_with(ctrl, given)


def start_of(d: Data) -> dict[str, Array]:
    """Return what one step hands to the next."""
    return {name: getattr(d, name) for name in CARRIED}


def _advance(
    record: Recorder, policy: Policy | None, m: Model, d: Data, state: dict[str, Array], u: Any
) -> tuple[Any, Any]:
    """Return the state after one step and what is recorded of it.  u: controls of the step, or inputs of the policy."""
    d = d.replace(**state)
    u = u if policy is None else controls_of(policy, m, d, u)
    x = step(m, d if u is None else d.replace(ctrl=u))
    return start_of(x), (record.record(x), state) if isinstance(record, WithStart) else record(x)


def _scan(
    advance: Callable[..., Any], start: Any, given: Any, *, length: int, every: int, remat: bool, unroll: int
) -> tuple[Any, Any]:
    advance = recomputed(advance, remat)
    if every > 1:
        given = jax.tree.map(lambda x: x.reshape(length // every, every, *x.shape[1:]), given)
        advance, unroll, length = functools.partial(_several, advance, every, unroll), 1, length // every
    return lax.scan(advance, start, given, length=length, unroll=unroll)


def recomputed(advance: Callable[..., Any], remat: bool) -> Callable[..., Any]:
    """Return a step that, with `remat`, is computed again in reverse mode but for what was searched for."""
    kept = jax.checkpoint_policies.save_only_these_names(OPTIMUM, FOUND)
    return jax.checkpoint(advance, prevent_cse=False, policy=kept) if remat else advance


def _several(advance: Callable[..., Any], every: int, unroll: int, state: Any, given: Any) -> tuple[Any, Any]:
    """Return the state after several steps and the record of the last."""
    shapes = jax.eval_shape(advance, state, jax.tree.map(lambda x: x[0], given))[1]
    blank = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes)
    return lax.scan(lambda last, u: (advance(last[0], u), None), (state, blank), given, every, unroll=unroll)[0]


def check_types(caller: str, m: Model, d: Data) -> None:
    """Raise where a step would change the dtype of what it starts from, which a loop cannot."""
    kind = jnp.promote_types(m.qpos0.dtype, d.qpos.dtype)
    for name in CARRIED:
        value, declared = getattr(d, name), Data.__dataclass_fields__[name].metadata
        if declared["dtype"] is not float or getattr(value, "weak_type", not hasattr(value, "dtype")):
            continue
        kept = jnp.promote_types(value.dtype, kind) if declared["wide"] else kind
        if value.dtype != kept:
            raise InputError(
                f"{caller}: d.{name} has dtype {value.dtype}, but a step makes it {kept}: "
                f"d.replace({name}=d.{name}.astype('{kept}'))"
            )


def _steps(lengths: set[int], steps: int | None) -> int:
    """Return the number of steps, which controls or inputs (their `lengths`) or `steps` give."""
    if steps is not None:
        steps = whole_number("steps", steps, least=0, instead=", or give ctrl= of shape (steps, nu)")
        lengths = lengths or {steps}
    if not lengths:
        raise InputError("steps=None: give the number of steps, or ctrl= of shape (steps, nu)")
    (length,) = lengths
    if steps not in (None, length):
        raise InputError(f"steps={steps}, but ctrl has {length} steps: leave steps out, or slice ctrl")
    return length


def _every(every: int, steps: int) -> int:
    every = whole_number("every", every, least=1)
    if steps % every:
        raise InputError(f"every={every}: must divide the number of steps, {steps}")
    return every


def _devices(batch: int | None, devices: Any) -> tuple[jax.Device, ...]:
    given = tuple(devices) if isinstance(devices, Iterable) else ()
    if not given or not all(isinstance(x, jax.Device) for x in given) or len(set(given)) < len(given):
        raise InputError(f"devices={shown(devices)}: must be a list of devices, each once, such as jax.devices()")
    if batch is None:
        raise InputError("devices= shares worlds, but d holds one world: give its arrays a leading world axis")
    return given
