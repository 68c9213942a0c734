"""All parameters of an identification: one vector of coordinates, and the model that it stands for."""

import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.errors import InputError, shown
from mjx_like.leaves.change import with_leaves
from mjx_like.leaves.selection import select
from mjx_like.sysid.bound import Parameter
from mjx_like.types.model import Model
from mjx_like.worlds import one_model

Array = jax.Array


class Parameters:
    """A vector theta of unconstrained coordinates, shape (n,), and the model that it stands for.

    Args:
      m: the model that it starts from.
      parts: what `positive`, `bounded`, `free`, `scaled` and `inertia` return.

    Attributes: `labels` of the values, `coordinates`, the labels of theta, `start` (n,), `prior` (n,).

    Raises:
      InputError: no part, what is none, an entry of a leaf that two parts set, or a part that does not fit the model.
    """

    def __init__(self, m: Model, parts: Sequence[Parameter]) -> None:
        one_model("Parameters", m)
        if not isinstance(parts, Sequence) or not parts or not all(hasattr(part, "bind") for part in parts):
            raise InputError(
                f"parameters={shown(parts)}: must be a list of positive(...), bounded(...), free(...), scaled(...) or "
                "inertia(...)"
            )
        self._parts = [part.bind(m) for part in parts]
        self._check_overlap(m)
        sizes = [part.start.size for part in self._parts]
        self._splits = np.cumsum(sizes)[:-1]
        self.labels = tuple(label for part in self._parts for label in part.labels)
        self.start = np.concatenate([part.start for part in self._parts])
        self.prior = np.repeat([part.prior for part in self._parts], sizes)
        self.coordinates = tuple(name for part in self._parts for name in _coordinates(part.labels, part.start.size))

    def apply(self, m: Model, theta: Array) -> Model:
        """Return the model with the parameters set, and the derived constants that follow.  Differentiable.

        m: the model of `Parameters`, or one that differs from it by smoothing or other leaves.
        """
        changes: dict[str, Array] = {}
        for part, x in zip(self._parts, self._split(theta), strict=True):
            changes |= part.changes(x)
        return with_leaves(m, changes)

    def values(self, theta: Array) -> Array:
        """Return the parameters in the user's units, in the order of `labels`, shape (k,)."""
        return jnp.concatenate([p.values(x) for p, x in zip(self._parts, self._split(theta), strict=True)])

    def found(self, m: Model, theta: np.ndarray) -> tuple[Model, np.ndarray, np.ndarray]:
        """Return the model, the values and their Jacobian by theta, shape (k, n): compiled, for repeated fits."""
        model, values, slopes = _found(self, m, jnp.asarray(theta, m.qpos0.dtype))
        return model, np.asarray(values), np.asarray(slopes)

    def _split(self, theta: Array) -> list[Array]:
        return jnp.split(jnp.asarray(theta), self._splits)

    def _check_overlap(self, m: Model) -> None:
        seen: dict[tuple[str, int], str] = {}
        for part in self._parts:
            for name in part.changes(jnp.asarray(part.start)):
                field, entries = select(m, name).field, np.unique(select(m, name).entries)
                twice = [seen[field, int(i)] for i in entries if (field, int(i)) in seen]
                if twice:
                    raise InputError(
                        f"parameters: '{twice[0]}' and '{name}' both set an entry of {field}: leave one out"
                    )
                seen |= {(field, int(i)): name for i in entries}


@functools.partial(jax.jit, static_argnums=0)
def _found(parameters: Parameters, m: Model, theta: Array) -> tuple[Model, Array, Array]:
    return parameters.apply(m, theta), parameters.values(theta), jax.jacfwd(parameters.values)(theta)


def _coordinates(labels: tuple[str, ...], size: int) -> list[str]:
    """Return names of coordinates: of the values where there are as many, else those of log-Cholesky."""
    body = labels[0].partition(":")[0]
    ten = ("log size", "log x", "log y", "log z", "xy", "xz", "com x", "yz", "com y", "com z")
    return list(labels) if len(labels) == size and not labels[0].endswith(": mass") else [f"{body}: {x}" for x in ten]
