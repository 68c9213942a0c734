"""Compiled programs of the command line, kept whole: a second start neither traces nor compiles.

JAX finds programs in its own cache by what was traced, and tracing a rollout takes longer than reading its program.
Here the key is all that the trace follows from: the structure of the model, shapes, the sources of this package,
releases and flags.
"""

import contextlib
import functools
import hashlib
import os
import pathlib
import platform
import re
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jaxlib
import numpy as np
from jax.experimental import serialize_executable
from jax.experimental.compilation_cache import compilation_cache

import mjx_like
from mjx_like.types.model import Model

_SETTINGS = ("JAX_", "XLA_", "MJX_LIKE_")  # beginnings of environment variables that change programs
_ENDING = ".program"
_DIGEST = hashlib.sha256().digest_size


class Kept:
    """The place of one program in a folder.

    m: the model, first of the arguments; args: the others; result: of the structure of what the program returns.
    """

    def __init__(self, folder: pathlib.Path, purpose: str, m: Model, *args: Any, result: Any):
        self._path = folder / f"{_key(purpose, m, args)}{_ENDING}"
        self._structures = jax.tree.structure(((m, *args), {})), jax.tree.structure(result)

    def exists(self) -> bool:
        """Return whether there is a program; not for several hosts, which compile as one."""
        return jax.process_count() == 1 and self._path.is_file()

    def read(self) -> Callable[..., Any] | None:
        """Return the program, None where its file is damaged."""
        found = self._path.read_bytes()
        digest, payload = found[:_DIGEST], found[_DIGEST:]
        if hashlib.sha256(payload).digest() != digest:
            return None
        _register_lapack()
        return serialize_executable.deserialize_and_load(payload, *self._structures)

    def compile(self, lowered: jax.stages.Lowered) -> jax.stages.Compiled:
        """Return the compiled program, and keep it where that is possible; else JAX's own cache has it."""
        if not _can_be_kept(lowered):
            return lowered.compile()
        with _without_cache():  # what was read from there and is written again lacks functions
            program = lowered.compile()
        payload, *structures = serialize_executable.serialize(program)
        assert tuple(structures) == self._structures, "the result is not of the structure that was said"
        with tempfile.NamedTemporaryFile(dir=self._path.parent, delete=False) as file:
            file.write(hashlib.sha256(payload).digest() + payload)
        os.replace(file.name, self._path)  # whole or not at all, for processes beside this one
        return program


def _can_be_kept(lowered: jax.stages.Lowered) -> bool:
    """Return whether a program is one for the CPU of one host that calls no functions but LAPACK's."""
    targets = re.findall(r"custom_call @(\w+)", lowered.as_text())
    alone = jax.process_count() == 1 and jax.default_backend() == "cpu"
    return alone and all(target.startswith(("lapack_", "Sharding")) for target in targets)


@contextlib.contextmanager
def _without_cache() -> Iterator[None]:
    """Compile without JAX's own cache."""
    used = jax.config.jax_enable_compilation_cache
    jax.config.update("jax_enable_compilation_cache", False)
    compilation_cache.reset_cache()  # JAX asks once
    try:
        yield
    finally:
        jax.config.update("jax_enable_compilation_cache", used)
        compilation_cache.reset_cache()


def _key(purpose: str, m: Model, args: Any) -> str:
    """Return what names a program: a hash of all that decides it.

    A model with hooks, whose functions no hash describes, does not come from the command line.
    """
    avals = [(x.shape, str(x.dtype), getattr(x, "weak_type", False)) for x in jax.tree.leaves((m, args))]
    settings = sorted((name, value) for name, value in os.environ.items() if name.startswith(_SETTINGS))
    versions = jax.__version__, jaxlib.__version__, np.__version__, jax.devices()[0].client.platform_version
    machine = platform.node(), platform.machine(), [(x.platform, x.device_kind) for x in jax.devices()]
    parts = (purpose, jax.tree.structure((m, args)), m.topology.digest, avals, settings, versions, machine, _sources())
    return hashlib.sha256(repr(parts).encode()).hexdigest()


@functools.cache
def _sources() -> str:
    """Return a hash of the sources of this package."""
    folder, state = pathlib.Path(mjx_like.__file__).parent, hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        state.update(str(path.relative_to(folder)).encode() + path.read_bytes())
    return state.hexdigest()


def _register_lapack() -> None:
    """Let XLA know LAPACK's functions, which JAX tells it where a call is first written; without it a program ends."""
    jax.jit(jax.numpy.linalg.cholesky).lower(np.eye(1, dtype=np.float32))
