"""A simulation of one world as dm_control's `Physics` shows it: stateful, with NumPy arrays and names."""

import contextlib
import functools
from collections.abc import Iterator
from typing import Any, Self

import jax
import numpy as np
from jax import lax

from mjx_like.arguments import whole_number
from mjx_like.compat.named import Mirror, ModelMirror, Named
from mjx_like.errors import InputError, MjxLikeError
from mjx_like.forward import forward
from mjx_like.leaves.entries import axes_of
from mjx_like.render.image import render
from mjx_like.state.initial import make_data, reset, reset_to_key
from mjx_like.step import step, step1, step2
from mjx_like.types.data import Data
from mjx_like.types.enums import DisableBit, IntegratorType, ObjType, WarningType
from mjx_like.types.model import Model


class PhysicsError(MjxLikeError, RuntimeError):
    """The simulation is in a bad state: it is not finite, or a buffer is full."""


class _Views:
    """`model` and `data`, each indexed by names."""

    def __init__(self, model: Named, data: Named) -> None:
        self.model, self.data = model, data


class Physics:
    """One world with the methods of dm_control's `Physics`, for tasks and programs written for that.

    `data` and `model` have the fields of MuJoCo as NumPy arrays, to read and to write; `named.data` and `named.model`
    are the same, indexed by names. As in dm_control, a step begins with what the last one left: after writing
    positions, velocities or the model, call `forward`, or write within `reset_context`. One world on the host: arrays
    are converted at every step. For many worlds, or derivatives, use `mjx_like.rollout`.
    """

    legacy_step = True  # a step ends with what depends on position and velocity up to date

    def __init__(self, m: Model) -> None:
        self._raises = True
        self._show(m, make_data(m))
        self.after_reset()

    @classmethod
    def from_model(cls, m: Model) -> Self:
        """Return the simulation of a Model."""
        return cls(m)

    @classmethod
    def from_xml_path(cls, file_path: str) -> Self:
        """Return the simulation of an MJCF or URDF file; raises as `Model.from_xml_path`."""
        return cls(Model.from_xml_path(str(file_path)))

    @classmethod
    def from_xml_string(cls, xml_string: str | bytes, assets: dict[str, Any] | None = None) -> Self:
        """Return the simulation of an MJCF or URDF text; raises as `Model.from_xml_string`."""
        assets = {name: _bytes(content) for name, content in (assets or {}).items()}
        return cls(Model.from_xml_string(_bytes(xml_string).decode(), assets))

    @classmethod
    def like(cls, kind: type) -> type[Self]:
        """Return a subclass that also has the methods of another class, such as `dm_control.suite.hopper.Physics`."""
        own = set(dir(cls))
        methods = {name: value for name, value in vars(kind).items() if name not in own}
        return type(f"{kind.__name__}Here", (cls,), methods)

    def step(self, nstep: int = 1) -> None:
        """Advance by `nstep` time steps.

        Raises:
          PhysicsError: the state became bad, or a buffer was too small.
        """
        count = whole_number("nstep", nstep)
        if count < 1:
            raise InputError(f"nstep={nstep}: must be positive")
        self._call(_advanced, self.model.record(), count, self.legacy_step)

    def forward(self) -> None:
        """Make all derived fields anew; raises as `step`."""
        self._call(_forward, self.model.record())

    def reset(self, keyframe_id: int | None = None) -> None:
        """Go to qpos0, or to a keyframe."""
        m = self.model.record()
        d = self.data.record()
        self._show(m, reset(m, d) if keyframe_id is None else reset_to_key(m, d, keyframe_id))
        self.after_reset()

    def after_reset(self) -> None:
        """Make all derived fields anew, as if there were no actuators: no controls are set yet."""
        m = self.model.record()
        without = m.opt.replace(disableflags=int(m.opt.disableflags) | DisableBit.ACTUATION)
        self._call(_forward, m.replace(opt=without))

    @contextlib.contextmanager
    def reset_context(self) -> Iterator[Self]:
        """Reset; the state may be set within; derived fields follow at the end."""
        self.reset()
        yield self
        self.after_reset()

    @contextlib.contextmanager
    def suppress_physics_errors(self) -> Iterator[None]:
        """Do not raise PhysicsError within."""
        before, self._raises = self._raises, False
        try:
            yield
        finally:
            self._raises = before

    def check_divergence(self) -> None:
        """Raise PhysicsError if a position or velocity is not finite."""
        if not np.all(np.isfinite(self.state())):
            raise PhysicsError("the state is not finite")

    def set_control(self, control: Any) -> None:
        """Set the controls, shape (nu,)."""
        np.copyto(self.data.ctrl, control)

    def control(self) -> np.ndarray:
        """Return a copy of the controls, shape (nu,)."""
        return self.data.ctrl.copy()

    def activation(self) -> np.ndarray:
        """Return a copy of the activations, shape (na,)."""
        return self.data.act.copy()

    def position(self) -> np.ndarray:
        """Return a copy of the positions, shape (nq,) [m or rad]."""
        return self.data.qpos.copy()

    def velocity(self) -> np.ndarray:
        """Return a copy of the velocities, shape (nv,) [m/s or rad/s]."""
        return self.data.qvel.copy()

    def state(self) -> np.ndarray:
        """Return positions, velocities and activations, shape (nq + nv + na,)."""
        return np.concatenate([self.data.qpos, self.data.qvel, self.data.act])

    get_state = state

    def set_state(self, physics_state: Any) -> None:
        """Set positions, velocities and activations, shape (nq + nv + na,); `forward` makes the derived fields."""
        state, m = np.asarray(physics_state), self.model
        if state.shape != (m.nq + m.nv + m.na,):
            raise ValueError(f"physics_state has shape {state.shape}, the model needs ({m.nq + m.nv + m.na},)")
        self.data.qpos, self.data.qvel, self.data.act = np.split(state, [m.nq, m.nq + m.nv])

    def timestep(self) -> float:
        """Return the time step [s]."""
        return float(self.model.opt.timestep)

    def time(self) -> float:
        """Return the time since the reset [s]."""
        return self.data.time

    def copy(self) -> Self:
        """Return a simulation in the same state that goes its own way."""
        other = object.__new__(type(self))
        other._raises = self._raises
        other._show(self.model.record(), self.data.record())
        return other

    def render(
        self,
        height: int = 240,
        width: int = 320,
        camera_id: int | str = -1,
        *,
        depth: bool = False,
        segmentation: bool = False,
    ) -> np.ndarray:
        """Return what a camera sees, by `mjx_like.render`.

        Colours, shape (height, width, 3), uint8; or depth, shape (height, width) [m]; or, by segmentation, id and type
        of what is seen, shape (height, width, 2), int32, -1 for nothing.
        """
        image = _picture(self.model.record(), self.data.record(), camera_id, width, height)
        if depth:
            return np.array(image.depth)
        if segmentation:
            geom = np.array(image.geom)
            return np.stack([geom, np.where(geom >= 0, ObjType.GEOM, -1)], axis=-1).astype(np.int32)
        return np.round(255 * np.clip(np.asarray(image.rgb), 0, 1)).astype(np.uint8)

    def _call(self, function: Any, m: Model, *how: Any) -> None:
        before = np.asarray(self.data.warning)
        d = jax.block_until_ready(function(m, self.data.record(), *how))
        self._show(self.model.record(), d)
        raised = [WarningType(i).name.lower() for i in np.flatnonzero(np.asarray(d.warning) > before)]
        if raised and self._raises:
            raise PhysicsError(f"the simulation warns of: {', '.join(raised)}; mjx_like.check tells more")

    def _show(self, m: Model, d: Data) -> None:
        self.model, self.data = ModelMirror(m), Mirror(d)
        axes = _axes(m.topology)
        self.named = _Views(Named(self.model, Model, axes), Named(self.data, Data, axes))


_forward = jax.jit(forward)


@functools.partial(jax.jit, static_argnums=(2, 3))
def _advanced(m: Model, d: Data, count: int, in_sync: bool) -> Data:
    """Return `d` some steps later; in_sync: what depends on position and velocity belongs to the state at both ends."""
    first = in_sync and m.opt.integrator != IntegratorType.RK4
    if first:
        d = step2(m, d)
    if count > first:
        d = lax.fori_loop(0, count - first, lambda _, d: step(m, d), d)
    return step1(m, d) if in_sync else d


_picture = jax.jit(render, static_argnums=(2, 3, 4))


@functools.lru_cache(maxsize=64)
def _axes(topology: Any) -> Any:
    return axes_of(topology)


def _bytes(content: Any) -> bytes:
    return content.encode() if isinstance(content, str) else bytes(content)
