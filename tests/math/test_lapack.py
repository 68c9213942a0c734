"""One matrix at a time gives what batched calls give, in values and derivatives, and makes no batched call."""

import itertools
import pathlib
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.math import lapack

N, COLUMNS, WORLDS = 8, 3, 5
RNG = np.random.default_rng(0)
SQUARE = RNG.normal(size=(WORLDS, N, N))
DEFINITE = jnp.asarray(SQUARE @ SQUARE.transpose(0, 2, 1) + N * np.eye(N))
GENERAL = jnp.asarray(SQUARE + N * np.eye(N))
RIGHT = jnp.asarray(RNG.normal(size=(WORLDS, N, COLUMNS)))
VECTOR = RIGHT[..., 0]


def _definite(a, b):
    """Return L and the solutions of L L' x = b and L x = b."""
    factor = lapack.cholesky(a)
    half = lapack.solve_triangular(factor, b)
    return factor, lapack.solve_triangular(factor, half, transposed=True), half


CASES = {
    "definite": (_definite, DEFINITE, RIGHT),
    "general": (lapack.solve, GENERAL, VECTOR),
    "one matrix": (lambda b: _definite(DEFINITE[0], b), RIGHT),
    "one right-hand side": (lambda a: _definite(a, RIGHT[0]), DEFINITE),
}


def _both(monkeypatch, run):
    results = []
    for one_at_a_time in (False, True):
        monkeypatch.setattr(lapack, "one_at_a_time", lambda own=one_at_a_time: own)
        results.append(run())
    return results


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives_equal_those_of_batched_calls(monkeypatch, name):
    function, *args = CASES[name]
    part = _symmetric if function is not lapack.solve else lambda x: x

    def run():
        f = jax.jit(jax.vmap(lambda *x: function(*x)))
        values, tangents = jax.jvp(f, args, [part(jnp.cos(x)) for x in args])
        slopes = jax.grad(lambda *x: sum(jnp.sum(jnp.sin(y)) for y in jax.tree.leaves(f(*x))), range(len(args)))(*args)
        return values, tangents, [part(s) for s in slopes]

    batched, alone = _both(monkeypatch, run)
    for ours, theirs in zip(jax.tree.leaves(alone), jax.tree.leaves(batched), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


def _symmetric(x):
    """Return the symmetric part: derivatives of a symmetric matrix mean nothing in the rest."""
    return x + x.swapaxes(-1, -2) if x.shape[-1] == x.shape[-2] else x


LEVELS = ((0, 0), (0, None), (None, 0))


@pytest.mark.parametrize(
    ("n", "dtype", "tolerance"), [(1, "float64", 1e-12), (9, "float64", 1e-10), (64, "float32", 2e-2)]
)
def test_a_matrix_solves_again(n, dtype, tolerance):
    a = RNG.normal(size=(WORLDS, n, n)).astype(dtype)  # rows trade places
    b, more = RNG.normal(size=(2, WORLDS, n)).astype(dtype)

    def twice(a, b, more):
        x, again = lapack.solve_and_again(a, b)
        return x, again(more)

    program = jax.jit(jax.vmap(twice)).lower(a, b, more).compile()
    assert " while(" not in program.as_text()
    for x, side in zip(program(a, b, more), (b, more), strict=True):
        assert x.dtype == dtype
        np.testing.assert_allclose(
            x, np.linalg.solve(a.astype(float), side.astype(float)[..., None])[..., 0], rtol=tolerance, atol=tolerance
        )


@pytest.mark.parametrize("levels", [(), *itertools.product(LEVELS, repeat=1), *itertools.product(LEVELS, repeat=2)])
def test_matrices_and_right_hand_sides_mapped_apart(monkeypatch, levels):
    """levels: in_axes of each vmap, the innermost first."""
    monkeypatch.setattr(lapack, "one_at_a_time", lambda: True)
    rng, sizes = np.random.default_rng(1), [2, 3][: len(levels)]
    lead = [[size for size, level in zip(sizes, levels, strict=True) if level[i] == 0][::-1] for i in range(2)]
    factor = np.tril(rng.normal(size=(*lead[0], N, N))) + N * np.eye(N)
    b = rng.normal(size=(*lead[1], N, COLUMNS))
    ours, theirs = lapack.solve_triangular, jnp.linalg.solve
    for axes in levels:
        ours, theirs = (jax.vmap(function, in_axes=axes) for function in (ours, theirs))
    np.testing.assert_allclose(ours(factor, b), theirs(factor, b), atol=1e-12)


def test_no_call_holds_several_matrices(monkeypatch):
    def calls():
        lowered = jax.jit(jax.vmap(lambda *x: _definite(*x))).lower(DEFINITE, RIGHT)
        return re.findall(r"lapack_\w+.*?tensor<([\dx]+)xf64>", lowered.as_text())

    batched, alone = _both(monkeypatch, calls)
    assert len(batched) == len(alone) == 3
    assert all(shape.startswith(f"{WORLDS}x") for shape in batched) and all(shape.count("x") == 1 for shape in alone)


def test_many_calls_at_once_end():
    """With jaxlib 0.10.1 on two cores, eight batched calls at once waited for each other for ever."""
    many = jax.jit(lambda a, b: [lapack.solve_triangular(a + k * jnp.eye(N), b) for k in range(8)])
    for _ in range(200):
        jax.block_until_ready(many(DEFINITE, RIGHT))


def test_the_workaround_goes_when_no_release_needs_it():
    """The oldest jax that may be installed has the fault; once it has not, `one_at_a_time` and its branches go."""
    text = (pathlib.Path(__file__).parents[2] / "pyproject.toml").read_text()
    oldest = tuple(map(int, re.search(r'"jax>=([0-9.]+)', text)[1].split(".")))
    assert oldest < lapack._MENDED, "math/lapack.py: take jax.lax.linalg as it is"
