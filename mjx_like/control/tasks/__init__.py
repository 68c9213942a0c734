"""Problems of trajectory optimisation, one a file: `task` says what one is; `cartpole`, `acrobot`, `arm_reach`,
`pusher`, `planar_box`, `hopper`, `quadruped`."""

import functools
from collections.abc import Callable

from mjx_like.control.tasks.acrobot import acrobot
from mjx_like.control.tasks.arm_reach import arm_reach
from mjx_like.control.tasks.cartpole import cartpole
from mjx_like.control.tasks.hopper import hopper
from mjx_like.control.tasks.planar_box import planar_box
from mjx_like.control.tasks.pusher import pusher
from mjx_like.control.tasks.quadruped import quadruped
from mjx_like.control.tasks.task import Task, is_solved

TASKS: dict[str, Callable[..., Task]] = {
    "cartpole": cartpole,
    "acrobot": acrobot,
    "box_right": functools.partial(planar_box, "right"),
    "box_up": functools.partial(planar_box, "up"),
    "pusher": pusher,
    "hopper": hopper,
    "arm_reach": arm_reach,
    "quadruped": quadruped,
}

__all__ = ["TASKS", "Task", "is_solved"]
