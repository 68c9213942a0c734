"""Checkpoints by orbax: what training goes on from, the policy, and which settings they are of."""

import pathlib
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
import orbax.checkpoint as ocp

from mjx_like.errors import InputError
from mjx_like.learning.algorithm import Training

_KEPT = 2


class Checkpoints:
    """The checkpoints of one run; the latest two are kept.

    Args:
      folder: of the run.
      new: whether it may be one without checkpoints, which is then made.

    Raises:
      InputError: there are none.
    """

    def __init__(self, folder: str | pathlib.Path, new: bool = False) -> None:
        self.folder = pathlib.Path(folder).absolute()
        if not new and not (self.folder / "checkpoints").is_dir():
            raise InputError(f"{folder}: no checkpoint there; give the folder of a run of the command train")
        options = ocp.CheckpointManagerOptions(max_to_keep=_KEPT, enable_async_checkpointing=False)
        handlers = {"training": ocp.StandardCheckpointHandler(), "policy": ocp.StandardCheckpointHandler()}
        self._manager = ocp.CheckpointManager(
            self.folder / "checkpoints",
            options=options,
            item_handlers=handlers | {"about": ocp.JsonCheckpointHandler()},
        )

    def latest(self) -> int | None:
        """Return the iteration of the latest checkpoint, None if there is none."""
        return self._manager.latest_step()

    def save(self, training: Training, about: Mapping[str, Any]) -> None:
        """Write a checkpoint, unless there is one of that iteration.  about: what JSON can hold."""
        iteration = int(training.iteration)
        if iteration in self._manager.all_steps():
            return
        policy = {"params": training.params["actor"], "normaliser": training.normaliser._asdict()}
        items = ocp.args.Composite(
            training=ocp.args.StandardSave(_by_name(training)),
            policy=ocp.args.StandardSave(policy),
            about=ocp.args.JsonSave(dict(about)),
        )
        self._manager.save(iteration, args=items, force=True)

    def training(self, like: Training) -> Training:
        """Return the latest Training, as arrays of NumPy.  like: one with its shapes.

        Raises:
          InputError: it has others.
        """
        wanted, there = _by_name(like), self._shapes("training")
        for name, x in wanted.items():
            if name not in there or there[name].shape != x.shape or there[name].dtype != x.dtype:
                found = f"has shape {there[name].shape} of {there[name].dtype}" if name in there else "is not there"
                raise InputError(
                    f"{self.folder}: the checkpoint is of other settings or another environment: {name} {found}, "
                    f"needs {x.shape} of {x.dtype}"
                )
        found = self._read("training", ocp.args.StandardRestore({name: there[name] for name in wanted}))
        leaves = [np.asarray(found[n]) if x.size else np.zeros(x.shape, x.dtype) for n, x in _named_leaves(like)]
        return jax.tree.unflatten(jax.tree.structure(like), leaves)

    def policy(self) -> dict[str, Any]:
        """Return "params" of the latest policy, and "normaliser"."""
        return self._read("policy", ocp.args.StandardRestore(self._shapes("policy")))

    def about(self) -> dict[str, Any]:
        """Return what was written about the latest."""
        return self._read("about", ocp.args.JsonRestore())

    def _shapes(self, item: str) -> Any:
        """Return the shapes of an item, all for one device, whatever wrote it."""
        device = jax.sharding.SingleDeviceSharding(jax.devices()[0])
        found = self._manager.item_metadata(self._step())[item]
        return jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=device), found.tree)

    def _read(self, item: str, how: Any) -> Any:
        return self._manager.restore(self._step(), args=ocp.args.Composite(**{item: how}))[item]

    def _step(self) -> int:
        step = self.latest()
        if step is None:
            raise InputError(f"{self.folder}: no checkpoint there; give the folder of a run of the command train")
        return step


def _named_leaves(tree: Any) -> list[tuple[str, Any]]:
    paths = jax.tree_util.tree_flatten_with_path(tree)[0]
    return [(jax.tree_util.keystr(path, simple=True, separator="."), x) for path, x in paths]


def _by_name(tree: Any) -> dict[str, Any]:
    """Return the arrays of a tree by their paths; no empty ones, which orbax cannot write."""
    return {name: x for name, x in _named_leaves(tree) if x.size}
