"""Environments for reinforcement learning: three functions over a model, one world or many.

Read `state`, `env`, then `vector` for many worlds; `randomise` draws models, `liveness` finds what a traced function
reads, `make` has the tasks by name, `tasks/` defines them, `adapters/` are for gymnasium, Brax and torch.
"""

from mjx_like.envs.env import Env, Outcome, scaled
from mjx_like.envs.make import TASKS, make
from mjx_like.envs.randomise import Randomisation, add, log_uniform, normal, scale, uniform
from mjx_like.envs.state import State, WorldState
from mjx_like.envs.vector import VectorEnv, vectorise

__all__ = [
    "TASKS",
    "Env",
    "Outcome",
    "Randomisation",
    "State",
    "VectorEnv",
    "WorldState",
    "add",
    "log_uniform",
    "make",
    "normal",
    "scale",
    "scaled",
    "uniform",
    "vectorise",
]
