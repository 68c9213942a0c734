"""Length ranges of actuators: given, from limits, or found by pushing the actuator to both ends in a simulation."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import tqdm

from mjx_like.compiler.context import Context, keyword
from mjx_like.compiler.finalize import Arrays, finalize
from mjx_like.constants import MINVAL
from mjx_like.math import safe
from mjx_like.mjcf.spec import Element
from mjx_like.smooth.crb import solve_m
from mjx_like.state.initial import make_data
from mjx_like.step import step1, step2
from mjx_like.types.data import Data
from mjx_like.types.enums import BiasType, DisableBit, GainType, LRMode, ObjType, TrnType
from mjx_like.types.model import Model

Fields = dict[str, Any]
Carry = tuple[jax.Array, ...]
_OFF = (
    DisableBit.FRICTIONLOSS, DisableBit.CONTACT, DisableBit.SPRING, DisableBit.DAMPER, DisableBit.GRAVITY,
    DisableBit.ACTUATION, DisableBit.SENSOR,
)  # fmt: skip
_FAST_TO_COMPILE = {"xla_backend_optimization_level": 0}
_PARTS = 20  # of a simulation, after each of which the progress is shown
_LEAST_TIMECONST = 0.01  # of the decay of velocities [s]


def set_length_ranges(ctx: Context, arrays: Arrays) -> tuple[str, ...]:
    """Write actuator_lengthrange of the actuators that <lengthrange> chooses; return what could not be simulated.

    Args:
      arrays: the compiled model, derived constants included.

    Raises:
      ModelError: a simulation is unstable, does not settle, or finds no range.
    Source: mj_setLengthRange, mjCModel::LengthRange.
    """
    options, fields = ctx.spec.compiler["lengthrange"], arrays.fields
    wanted = []
    for i in _chosen(fields, LRMode(keyword(LRMode, options["mode"]))):
        out = fields["actuator_outadr"][i]
        low, high = fields["actuator_lengthrange"][out]
        if options["useexisting"] and low < high:
            continue
        limits = _limits(fields, i) if options["uselimit"] else None
        if limits is None:
            wanted.append(i)
        else:
            fields["actuator_lengthrange"][out] = limits
    if not wanted:
        return ()
    with jax.enable_x64(True), jax.default_device(jax.devices("cpu")[0]):
        elements = [ctx.names.elements[ObjType.ACTUATOR][i] for i in wanted]
        return _simulate(arrays, np.array(wanted), options, elements)


def _chosen(f: Fields, mode: LRMode) -> list[int]:
    """Return the actuators that a mode applies to."""
    kinds = list(zip(f["actuator_gaintype"], f["actuator_biastype"], strict=True))
    muscle = [i for i, (gain, bias) in enumerate(kinds) if gain == GainType.MUSCLE or bias == BiasType.MUSCLE]
    user = [i for i, (gain, bias) in enumerate(kinds) if gain == GainType.USER or bias == BiasType.USER]
    return {
        LRMode.NONE: [],
        LRMode.MUSCLE: muscle,
        LRMode.MUSCLEUSER: sorted({*muscle, *user}),
        LRMode.ALL: list(range(len(kinds))),
    }[mode]


def _limits(f: Fields, i: int) -> np.ndarray | None:
    """Return the range of the limited joint or tendon that an actuator acts on."""
    kind, target = f["actuator_trntype"][i], f["actuator_trnid"][i, 0]
    if kind in (TrnType.JOINT, TrnType.JOINTINPARENT) and f["jnt_limited"][target]:
        return f["jnt_range"][target]
    if kind == TrnType.TENDON and f["tendon_limited"][target]:
        return f["tendon_range"][target]
    return None


def _simulate(arrays: Arrays, wanted: np.ndarray, options: dict[str, Any], elements: list[Element]) -> tuple[str, ...]:
    """Write the ranges that simulations find, or return what the engine lacks for them."""
    settings = arrays.options | {"disableflags": sum(int(bit) for bit in _OFF)}
    if options["timestep"] > 0:
        settings["timestep"] = np.array(options["timestep"], float)
    m = finalize(dataclasses.replace(arrays, options=settings, unsupported=()), nconmax=0)
    names = [_label(arrays, i) for i in wanted]
    if m.unsupported:
        lacks = "; ".join(m.unsupported)
        return tuple(f"actuator {name}: its lengthrange needs a simulation, and that needs: {lacks}" for name in names)
    timestep = float(settings["timestep"])
    if not timestep * _MAX_STEPS > options["inttotal"]:
        raise elements[0].error(
            f"its lengthrange needs a simulation of {options['inttotal']:g} s in steps of {timestep:g} s; "
            f"more than {_MAX_STEPS} steps are not done: change timestep or inttotal of lengthrange"
        )
    times = _times(timestep, options["inttotal"])
    late = times > options["inttotal"] - options["interval"]
    out = arrays.fields["actuator_outadr"][wanted]
    lengths, stable = _lengths(m, out, options, len(times))
    for k, element in enumerate(elements):
        if not stable[k].all():
            raise element.error("the simulation for its lengthrange is unstable; give lengthrange")
        arrays.fields["actuator_lengthrange"][out[k]] = _range(lengths[k][:, late], element, options["tolrange"])
    return ()


_MAX_STEPS = 1_000_000


def _label(arrays: Arrays, actuator: int) -> str:
    name = arrays.names[ObjType.ACTUATOR][actuator]
    return f"'{name}'" if name else str(actuator)


def _times(timestep: float, total: float) -> np.ndarray:
    """Return the time after each step, summed up as the simulation does it."""
    times = [0.0]
    while times[-1] < total:
        times.append(times[-1] + timestep)
    return np.array(times[1:])


def _range(lengths: np.ndarray, element: Element, tolerance: float) -> tuple[float, float]:
    """Return the shortest and the longest length.

    Args:
      lengths: of the last part of both simulations, shape (2, n).

    Raises:
      ModelError: they do not make a range, or still change.
    """
    if not lengths.size:
        raise element.error("no length is measured: inttotal and interval of lengthrange must be more than 0")
    low, high = lengths[0].min(), lengths[1].max()
    spread = np.ptp(lengths, axis=1).max()
    if high - low <= 0:
        raise element.error(f"the lengthrange found, ({low:g}, {high:g}), is empty; give lengthrange")
    if spread > tolerance * (high - low):
        raise element.error(
            f"the lengthrange ({low:g}, {high:g}) has not settled, lengths still change by {spread:g}; "
            "limit the joints, change inttotal or tolrange, or give lengthrange"
        )
    return low, high


def _lengths(m: Model, out: np.ndarray, options: dict[str, Any], steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lengths of all steps, shape (k, 2, steps), and whether each simulation is stable, shape (k, 2).

    All simulations run side by side in one program, which is compiled without optimisation: that takes far longer
    than running it. A bar shows the progress on a terminal.

    Args:
      out: outputs of the actuators, shape (k,); each is pushed to its shortest and to its longest.
    """
    start = make_data(m)
    accel = jnp.asarray(np.tile([-1.0, 1.0], len(out)) * options["accel"])
    rows = jnp.asarray(np.repeat(np.eye(m.nout)[out], 2, axis=0))
    decay = np.exp(-float(m.opt.timestep) / max(_LEAST_TIMECONST, options["timeconst"]))

    def advance(carry: Carry, row: jax.Array, accel: jax.Array) -> tuple[Carry, tuple[jax.Array, jax.Array]]:
        d = start.replace(**dict(zip(_CARRIED, carry, strict=True)))
        d = _pushed(m, d.replace(qvel=decay * d.qvel), row, accel, options["maxforce"])
        length, d = row @ d.actuator_length, step2(m, d)
        return tuple(getattr(d, name) for name in _CARRIED), (length, d.time > 0)

    def part(carry: Carry) -> tuple[Carry, tuple[jax.Array, jax.Array]]:
        return jax.lax.scan(lambda carry, _: jax.vmap(advance)(carry, rows, accel), carry, length=-(-steps // _PARTS))

    first = (getattr(start, name) for name in _CARRIED)
    carry = tuple(jnp.broadcast_to(value, (len(rows), *value.shape)) for value in first)
    found = []
    with tqdm.tqdm(total=_PARTS, desc="lengthrange", leave=False, disable=None) as bar:
        program = jax.jit(part).lower(carry).compile(compiler_options=_FAST_TO_COMPILE)
        for _ in range(_PARTS):
            carry, lengths = program(carry)
            found.append(jax.device_get(lengths))
            bar.update()
    lengths, stable = (
        np.concatenate(values)[:steps].T.reshape(len(out), 2, steps) for values in zip(*found, strict=True)
    )
    return lengths, stable.all(axis=2)


_CARRIED = ("time", "qpos", "qvel", "qacc_warmstart")


def _pushed(m: Model, d: Data, row: jax.Array, accel: jax.Array, maxforce: float) -> Data:
    """Return d after step1 with the joint forces that push an actuator with a joint acceleration of norm `accel`."""
    d = step1(m, d)
    moment = row @ d.actuator_moment
    force = accel * moment / jnp.maximum(MINVAL, safe.norm(solve_m(m, d, moment)))
    if maxforce > 0:
        force = force * jnp.minimum(1, maxforce / jnp.maximum(MINVAL, safe.norm(force)))
    return d.replace(qfrc_applied=force)
