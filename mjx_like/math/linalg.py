"""Small dense linear algebra: factor once, solve with the factor, full float32 precision."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mjx_like.math import lapack, safe
from mjx_like.math import vector as v
from mjx_like.math.batching import whole_batch
from mjx_like.math.on_gpu import MOST, Function, Trial, anywhere
from mjx_like.math.platform import on_cpu

Array = jax.Array

_LARGEST_UNROLLED, _LARGEST_ELIMINATED = 6, 16  # sizes of matrices
_SHORTEST_DOT = 6  # on an accelerator, products over up to so many entries are sums


def matmul(a: Array, b: Array) -> Array:
    """Return a @ b in full precision of the dtype (no TF32)."""
    n = a.shape[-1]
    if not on_cpu() and n:  # what is short joins the kernels around it
        if a.ndim == 1 or b.ndim == 1:
            return jnp.sum(a * b if b.ndim == 1 else a[:, None] * b, axis=-1 if b.ndim == 1 else -2)
        if n <= _SHORTEST_DOT:
            return sum(a[..., :, i, None] * b[..., i, None, :] for i in range(n))
    return jnp.matmul(a, b, precision="highest")


def dot(a: Array, b: Array) -> Array:
    """Return the scalar products along the last axis."""
    return jnp.sum(a * b, axis=-1)


def cross(a: Array, b: Array) -> Array:
    """Return the vector products along the last axis, of three; by components, which is the fastest in a loop."""
    return v.pack(v.cross(v.unpack(a), v.unpack(b)))


def gram(a: Array, b: Array) -> Array:
    """Return a' b in full precision, shapes (k, m) and (k, n)."""
    return jnp.einsum("ki,kj->ij", a, b, precision="highest") if on_cpu() else matmul(a.T, b)


def product(a: Array, b: Array) -> Array:
    """Return a @ b of matrices and vectors over a few entries, written out: unlike a dot, it joins the loops around it.

    a: shape (k,) or (..., m, k); b: shape (k,) or (..., k, n).
    """
    if b.ndim == 1:
        return sum(a[..., i] * b[i] for i in range(b.shape[0]))
    row = a[None] if a.ndim == 1 else a
    out = sum(row[..., :, i, None] * b[..., i, None, :] for i in range(b.shape[-2]))
    return out[..., 0, :] if a.ndim == 1 else out


def cholesky(a: Array, at_once: bool = False) -> Array:
    """Return the lower factor L of a symmetric positive definite matrix, shape (..., n, n); L L' = a.

    at_once: see `lapack.cholesky`.
    """
    n = a.shape[-1]
    if n == 0:
        return a
    return _cholesky_unrolled(a) if n <= _LARGEST_UNROLLED else lapack.cholesky(a, at_once)


def cho_solve(factor: Array, b: Array, at_once: bool = False) -> Array:
    """Return x with L L' x = b; factor: shape (..., n, n), b: shape (..., n) or (..., n, k)."""
    vector = b.ndim == factor.ndim - 1
    half = half_solve(factor, b[..., None] if vector else b, at_once=at_once)
    x = half_solve(factor, half, transposed=True, at_once=at_once)
    return x[..., 0] if vector else x


def half_solve(factor: Array, b: Array, transposed: bool = False, at_once: bool = False) -> Array:
    """Return x with L x = b, or L' x = b; factor: lower, shape (..., n, n), b: shape (..., n, k)."""
    n = factor.shape[-1]
    if n == 0:
        return b
    if n <= _LARGEST_UNROLLED:
        return _half_unrolled(factor, b, transposed)
    return lapack.solve_triangular(factor, b, transposed, at_once)


def solve_definite(a: Array, b: Array, factor: Array | None = None) -> Array:
    """Return x with a x = b for a symmetric positive definite matrix, shapes (n, n) and (n,); all worlds at once.

    Its derivatives are solves with the same matrix, not derivatives of the elimination.
    factor: its Cholesky factor, where there is one; not used where elimination is faster.
    """
    n = a.shape[-1]
    if n == 0:
        return b
    if n <= _LARGEST_ELIMINATED:
        plain = _eliminated
    else:

        def plain(a: Array, b: Array) -> Array:
            return cho_solve(cholesky(a) if factor is None else factor, b, at_once=True)

    def solve(y: Array) -> Array:
        if not _LARGEST_UNROLLED < n <= MOST:
            return plain(a, y)
        return anywhere(_elimination, plain, a, y)

    return lax.custom_linear_solve(lambda x: matmul(a, x), b, lambda _, y: solve(y), symmetric=True)


def _elimination() -> tuple[Function, Trial]:
    from mjx_like.math.kernel import eliminated, elimination_trial  # here: see `on_gpu`

    return whole_batch(eliminated), elimination_trial


def solve_general(a: Array, b: Array, at_once: bool = False) -> Array:
    """Return x with a x = b for a regular matrix, shapes (n, n) and (n,); all worlds at once.

    Up to n = 16 by elimination without pivots: the matrix has to be near a symmetric positive definite one.
    at_once: see `lapack.cholesky`.
    """
    if a.shape[-1] > _LARGEST_ELIMINATED:
        return lapack.solve(a, b, at_once)
    return lax.custom_linear_solve(
        lambda x: matmul(a, x),
        b,
        lambda _, y: _eliminated(a, y),
        lambda _, y: _eliminated(a.T, y),
    )


def _eliminated(a: Array, b: Array) -> Array:
    """Return x with a x = b, shapes (n, n) and (n,); all worlds at once."""

    def batch(a: Array, b: Array) -> Array:
        # in a rollout both come with the worlds last: moved apart, nothing is left to transpose
        a, b = (jnp.moveaxis(x, 0, -1) for x in (a, b))
        return _eliminate(jnp.concatenate([a, b[:, None]], axis=1))

    return whole_batch(batch)(a, b)


def solve_positive(a: Array, b: Array) -> Array:
    """Return x with a x = b for a batch of symmetric positive definite matrices, all at once.

    a: shape (batch, n, n); b: shape (batch, n). Up to n = 16 elimination without pivots, batch last,
    which on a CPU is faster than a call of LAPACK for each matrix.
    """
    n = a.shape[-1]
    if n > _LARGEST_ELIMINATED:
        return cho_solve(cholesky(a, at_once=True), b, at_once=True)
    return _eliminate(jnp.moveaxis(jnp.concatenate([a, b[..., None]], axis=-1), 0, -1))


def _eliminate(table: Array) -> Array:
    """Return x with a x = b for a table [a, b], shape (n, n + 1, batch); shape (batch, n)."""
    return _rows_in_turn(table) if table.shape[0] <= _LARGEST_UNROLLED else _gauss_jordan(table)


def _rows_in_turn(table: Array) -> Array:
    """Return what `_eliminate` does with each row written out, the later ones shorter; a zero pivot gives zeros."""
    rows, x = [], []
    for _ in range(table.shape[0]):
        row = lax.optimization_barrier(safe.divide(table[0], table[0, 0]))
        table = table[1:, 1:] - table[1:, 0, None] * row[1:]
        rows.append(row[1:])
    for row in reversed(rows):
        x.insert(0, row[-1] - sum(row[i] * known for i, known in enumerate(x)))
    return jnp.stack(x, axis=-1)


def _gauss_jordan(table: Array) -> Array:
    n = table.shape[0]

    def step(k, table):
        row = lax.dynamic_index_in_dim(table, k, 0, keepdims=False)
        pivot = lax.dynamic_index_in_dim(row, k, 0, keepdims=False)
        column = lax.dynamic_index_in_dim(table, k, 1, keepdims=False)
        column = jnp.where((jnp.arange(n) == k)[:, None], pivot - 1, column)
        column, row = lax.optimization_barrier((column, row / pivot))
        return table - column[:, None] * row

    return jnp.moveaxis(lax.fori_loop(0, n, step, table)[:, n], -1, 0)


def _cholesky_unrolled(a: Array) -> Array:
    n = a.shape[-1]
    low = [[jnp.zeros_like(a[..., 0, 0])] * n for _ in range(n)]
    for j in range(n):
        low[j][j] = safe.sqrt(a[..., j, j] - sum(low[j][k] * low[j][k] for k in range(j)))
        for i in range(j + 1, n):
            low[i][j] = safe.divide(a[..., i, j] - sum(low[i][k] * low[j][k] for k in range(j)), low[j][j])
    return jnp.stack([jnp.stack(row, axis=-1) for row in low], axis=-2)


def _half_unrolled(factor: Array, b: Array, transposed: bool) -> Array:
    n = factor.shape[-1]
    entry = [[factor[..., j, i, None] if transposed else factor[..., i, j, None] for j in range(n)] for i in range(n)]
    x: dict[int, Array] = {}
    for i in reversed(range(n)) if transposed else range(n):
        x[i] = safe.divide(b[..., i, :] - sum(entry[i][k] * known for k, known in x.items()), entry[i][i])
    return jnp.stack([x[i] for i in range(n)], axis=-2)


def solve_unrolled(a: Array, b: Array) -> Array:
    """Return x with a x = b by elimination without pivoting, column by column; for small blocks near a definite one.

    a: shape (..., n, n), need not be symmetric; b: shape (..., n). A zero pivot gives zeros, not NaN.
    """
    n = a.shape[-1]
    rows = jnp.concatenate([a, b[..., None]], axis=-1)
    for k in range(n):
        pivot = safe.divide(rows[..., k, :], rows[..., k, k, None])[..., None, :]
        own = (np.arange(n) == k)[:, None]
        rows = jnp.where(own, pivot, rows - rows[..., :, k, None] * pivot)
    return rows[..., n]
