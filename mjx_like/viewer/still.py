"""A model that the engine cannot run, at rest: keyframes and joints move it by kinematics."""

import dataclasses

import jax

from mjx_like.types.model import Model
from mjx_like.viewer.session import Session
from mjx_like.visual.frames import posed


class Still(Session):
    """Worlds of a model that has unsupported parts; they are posed and never stepped.

    Arguments are those of Session. `lacks` says what is not supported.
    """

    def __init__(self, m: Model, worlds: int = 1, key: str | int | None = None):
        self.lacks = m.unsupported
        self._posed = jax.jit(jax.vmap(posed, in_axes=(None, 0)))
        supported = dataclasses.replace(m.topology, unsupported=())  # for kinematics, all of it is
        super().__init__(m.replace(topology=supported), worlds, key)

    def look(self) -> None:
        """Derive the poses from the state."""
        self.d = self._posed(self.m, self.d)

    def advance(self, seconds: float) -> int:
        """Do nothing, and return the number of steps, 0."""
        return 0


def open_session(m: Model, worlds: int = 1, key: str | int | None = None) -> Session:
    """Return a session of a model, Still where the engine cannot run it."""
    return (Still if m.unsupported else Session)(m, worlds, key)
