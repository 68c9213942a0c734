"""Environments: three functions over a model, stepped as Brax's and Playground's are."""

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.arguments import whole_number
from mjx_like.collision.convex.derivative import FOUND
from mjx_like.envs.liveness import arguments_read
from mjx_like.envs.randomise import Distribution, Randomisation, model_of
from mjx_like.envs.state import State, WorldState, with_world_state, world_state
from mjx_like.errors import InputError
from mjx_like.forward import forward
from mjx_like.smooth.camlight import camlight
from mjx_like.smooth.com import com_pos
from mjx_like.smooth.com_vel import com_vel
from mjx_like.smooth.kinematics import kinematics
from mjx_like.solver.implicit_gradient import OPTIMUM
from mjx_like.state.initial import make_data
from mjx_like.step import step
from mjx_like.types.data import Data
from mjx_like.types.enums import WarningType
from mjx_like.types.model import Model
from mjx_like.worlds import one_model

Array = jax.Array

# Counters of states from which a step begins anew: the episode is lost.
_LOST = np.isin(np.arange(len(WarningType)), (WarningType.BADQPOS, WarningType.BADQVEL, WarningType.BADQACC))


class Outcome(NamedTuple):
    """What a reward function returns.

    reward: shape (); terminated: whether the episode ends for a reason of its own, shape (); metrics: what else to
    show, by name, shapes ().
    """

    reward: Array
    terminated: Array | bool = False
    metrics: Mapping[str, Array] = {}


Reset = Callable[[Model, Data, Array], Data]
Observe = Callable[[Model, Data], Array]
Reward = Callable[[Model, Data, Data], Outcome]
Control = Callable[[Model, Data, Array], Data]


def scaled(m: Model, d: Data, action: Array) -> Data:
    """Return Data with controls from actions: -1 and 1 are the ends of a control's range, 0 its middle.

    Controls without a range are the actions themselves.
    """
    low, high = m.actuator_ctrlrange.T
    reached = (low + high + (high - low) * jnp.clip(action, -1, 1)) / 2
    return d.replace(ctrl=jnp.where(m.actuator_ctrllimited, reached, action).astype(d.ctrl.dtype))


class Env:
    """A task over a model: where worlds start, what is observed, what is rewarded.

    `reset` and `step` are pure functions of one world, to be jitted, mapped and differentiated; `vectorise` makes an
    environment of many worlds with automatic resets of it.

    Args:
      model: one model, without a batch axis.
      reset: `reset(m, d, rng) -> d`, the start of an episode; `d` is `make_data(m)`. Without it, episodes start there.
      observe: `observe(m, d) -> obs`, shape (observation_size,).
      reward: `reward(m, before, d) -> Outcome`, of the Data at the start and at the end of a step.
      control: `control(m, d, action) -> d`, which sets `ctrl`; by default actions from -1 to 1 span its range.
      n_frames: physics steps of one step.
      episode_length: steps after which an episode is truncated.
      action_size: length of an action; by default that of `ctrl`.
      randomise: leaves of the model that each episode draws anew, by name: `{"body_mass@torso": scale(0.9, 1.1)}`.

    In the Data that the functions get, poses, velocities of bodies and centres of mass are those of its state. Sensors,
    contacts, constraint rows and forces are those that the last physics step found at its start, as MuJoCo leaves them.
    A state that the engine had to reset, because it was not finite, ends the episode with reward 0.

    Raises:
      InputError: sizes that are no whole numbers, an observation that is no vector, wrong names of leaves.
    """

    def __init__(
        self,
        model: Model,
        *,
        observe: Observe,
        reward: Reward,
        reset: Reset | None = None,
        control: Control = scaled,
        n_frames: int = 1,
        episode_length: int = 1000,
        action_size: int | None = None,
        randomise: Mapping[str, Distribution] | None = None,
    ) -> None:
        one_model("Env", model)
        self.model = model
        self.n_frames = whole_number("n_frames", n_frames, least=1)
        self.episode_length = whole_number("episode_length", episode_length, least=1)
        self.action_size = model.nu if action_size is None else whole_number("action_size", action_size, least=1)
        self._reset, self._observe, self._reward, self._control = reset, observe, reward, control
        self._blank = make_data(model)
        self._randomisation = Randomisation(model, randomise) if randomise else None
        self._metrics = self._check_functions()
        self._read = arguments_read(self._shown, self._blank, self._blank)[len(jax.tree.leaves(self._blank)) :]
        self._observes_results = self._reads_results()

    @property
    def dt(self) -> float:
        """Time of one step [s]."""
        return self.n_frames * float(self.model.opt.timestep)

    def reset(self, rng: Array) -> State:
        """Return the start of an episode.  rng: a key of jax.random, of either kind."""
        rng = jax.random.key_data(rng) if jnp.issubdtype(rng.dtype, jax.dtypes.prng_key) else rng
        rng, of_leaves, of_start = jax.random.split(rng, 3)
        info = {} if self._randomisation is None else {"leaves": self._randomisation.sample(of_leaves)}
        m, d = model_of(self.model, info), self._blank
        d = d if self._reset is None else self._reset(m, d, of_start)
        d = forward(m, d) if self._observes_results else _refreshed(m, d)
        zero = jnp.zeros((), d.qpos.dtype)
        info |= {"rng": rng, "steps": jnp.zeros((), jnp.int32), "terminated": zero, "truncated": zero}
        return State(world_state(d), self._observe(m, d), zero, zero, dict.fromkeys(self._metrics, zero), info)

    def step(self, state: State, action: Array) -> State:
        """Return the state after `n_frames` physics steps.  action: shape (action_size,)."""
        if np.shape(action) != (self.action_size,):
            raise InputError(f"step: action has shape {np.shape(action)}, one world's is ({self.action_size},)")
        start = self.begin(state, action)
        end = self.frames(functools.partial(self.advance, state.info), start, self.nothing_seen())
        return self.finish(state, *end)

    def data(self, state: State) -> Data:
        """Return the full Data of one world, after `forward`."""
        return forward(model_of(self.model, state.info), with_world_state(self._blank, state.data))

    # The parts of a step, each of one world: `vectorise` maps them one by one.

    def begin(self, state: State, action: Array) -> Any:
        """Return the WorldState from which the physics steps start."""
        m = model_of(self.model, state.info)
        d = _refreshed(m, with_world_state(self._blank, state.data))
        return world_state(self._control(m, d, action))

    def advance(self, info: Mapping[str, Any], start: Any) -> tuple[Any, list[Array]]:
        """Return the WorldState after one physics step, and of its Data what the functions read."""
        d = step(model_of(self.model, info), with_world_state(self._blank, start))
        return world_state(d), [x for x, read in zip(jax.tree.leaves(d), self._read, strict=True) if read]

    def nothing_seen(self) -> list[Array]:
        """Return what `advance` returns besides, before the first physics step."""
        return [x for x, read in zip(jax.tree.leaves(self._blank), self._read, strict=True) if read]

    def frames(self, advance: Callable[[Any], Any], start: Any, seen: list[Array]) -> tuple[Any, list[Array]]:
        """Return what `advance` returns after `n_frames` steps; reverse mode stores their starts alone."""
        kept = jax.checkpoint_policies.save_only_these_names(OPTIMUM, FOUND)
        advance = jax.checkpoint(advance, prevent_cse=False, policy=kept)
        return lax.scan(lambda carry, _: (advance(carry[0]), None), (start, seen), length=self.n_frames)[0]

    def finish(self, state: State, end: Any, seen: list[Array]) -> State:
        """Return the State at the end of a step that began at `state`."""
        m = model_of(self.model, state.info)
        leaves, structure = jax.tree.flatten(self._blank)
        shown = iter(seen)
        after = structure.unflatten([next(shown) if read else x for x, read in zip(leaves, self._read, strict=True)])
        before, after = with_world_state(self._blank, state.data), with_world_state(after, end)
        before, after = _refreshed(m, before), _refreshed(m, after)
        obs, outcome = self._observe(m, after), Outcome(*self._reward(m, before, after))
        self._check_observation(obs)
        kind = state.reward.dtype
        lost = jnp.any((after.warning > before.warning) & _LOST)
        terminated = (jnp.asarray(outcome.terminated, bool) | lost).astype(kind)
        steps = state.info["steps"] + 1
        truncated = (steps >= self.episode_length).astype(kind) * (1 - terminated)
        info = state.info | {"steps": steps, "terminated": terminated, "truncated": truncated}
        reward = jnp.where(lost, 0, outcome.reward).astype(kind)
        metrics = {name: jnp.asarray(x, kind) for name, x in outcome.metrics.items()}
        return State(end, obs.astype(state.obs.dtype), reward, jnp.maximum(terminated, truncated), metrics, info)

    def _shown(self, before: Data, d: Data) -> Any:
        """Return all that the user's functions make of two Datas."""
        before, d = _refreshed(self.model, before), _refreshed(self.model, d)
        return self._observe(self.model, d), tuple(self._reward(self.model, before, d))

    def _reads_results(self) -> bool:
        """Return whether the observation depends on what forward dynamics alone computes, such as sensors."""
        read = arguments_read(lambda d: self._observe(self.model, _refreshed(self.model, d)), self._blank)
        paths = jax.tree_util.tree_flatten_with_path(self._blank)[0]
        names = {path[0].name for (path, _), is_read in zip(paths, read, strict=True) if is_read}
        return not names <= WorldState.__dataclass_fields__.keys()

    def _check_functions(self) -> list[str]:
        """Return the names of the metrics; raise where the functions return what a step cannot use."""
        obs, outcome = jax.eval_shape(self._shown, self._blank, self._blank)
        if getattr(obs, "ndim", None) != 1 or not jnp.issubdtype(obs.dtype, jnp.floating):
            raise InputError(f"observe returns {_described(obs)}: must be an array of floats of shape (n,)")
        self.observation_size = obs.shape[0]
        outcome = Outcome(*outcome)
        for name, x in {"reward": outcome.reward, **outcome.metrics}.items():
            if np.shape(x) != ():
                raise InputError(f"reward: {name} has shape {np.shape(x)}: must be a number, of shape ()")
        return list(outcome.metrics)

    def _check_observation(self, obs: Array) -> None:
        if obs.shape != (self.observation_size,):
            raise InputError(f"observe returns shape {obs.shape} after a step, ({self.observation_size},) at the reset")


def _refreshed(m: Model, d: Data) -> Data:
    """Return Data with poses and velocities of bodies that are those of its state; what is not read is not computed."""
    return com_vel(m, camlight(m, com_pos(m, kinematics(m, d))))


def _described(value: Any) -> str:
    return f"shape {value.shape} of {value.dtype}" if hasattr(value, "shape") else type(value).__name__
