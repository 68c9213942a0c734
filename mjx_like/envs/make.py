"""The tasks by name, and environments of them."""

from collections.abc import Callable, Mapping
from typing import Any

from mjx_like.envs.env import Env
from mjx_like.envs.randomise import Distribution
from mjx_like.envs.tasks.ant import ANT
from mjx_like.envs.tasks.arm import PUSH, REACH
from mjx_like.envs.tasks.cartpole import CARTPOLE, SWING_UP
from mjx_like.envs.tasks.half_cheetah import HALF_CHEETAH
from mjx_like.envs.tasks.hopper import HOPPER
from mjx_like.envs.tasks.humanoid import HUMANOID
from mjx_like.envs.tasks.quadruped import TROT, WALK
from mjx_like.envs.tasks.task import Task
from mjx_like.errors import InputError, closest
from mjx_like.scenes import scene_spec
from mjx_like.types.model import Model

TASKS: dict[str, Task] = {
    "cartpole": CARTPOLE,
    "cartpole_swing_up": SWING_UP,
    "hopper": HOPPER,
    "half_cheetah": HALF_CHEETAH,
    "ant": ANT,
    "humanoid": HUMANOID,
    "quadruped_walk": WALK,
    "quadruped_trot": TROT,
    "arm_reach": REACH,
    "arm_push": PUSH,
}


def make(
    name: str,
    *,
    n_frames: int | None = None,
    episode_length: int | None = None,
    randomise: Mapping[str, Distribution] | None = None,
    change: Callable[[Model], Model] | None = None,
    **options: Any,
) -> Env:
    """Return the environment of a task by its name, such as "ant"; TASKS has them all.

    Args:
      name: of the task.
      n_frames: physics steps of one step; None for the task's own. Likewise `episode_length`.
      randomise: leaves of the model that each episode draws anew, as for Env.
      change: what to do to the model, such as `lambda m: mjx.with_smoothing(m, 1e-3)`.
      options: of `Spec.compile`, such as `nconmax`, or `contact="hard"`.

    Raises:
      InputError: there is no such task.
    """
    if name not in TASKS:
        raise InputError(f"no task '{name}'{closest(str(name), TASKS)}; there are: {', '.join(TASKS)}")
    task = TASKS[name]
    spec = scene_spec(task.scene)
    if task.edit is not None:
        task.edit(spec)
    model = spec.compile(**options)
    return Env(
        model if change is None else change(model),
        reset=task.reset,
        observe=task.observe,
        reward=task.reward,
        control=task.control,
        action_size=task.action_size,
        n_frames=task.n_frames if n_frames is None else n_frames,
        episode_length=task.episode_length if episode_length is None else episode_length,
        randomise=randomise,
    )
