"""Matrices of 0 and 1 that are blocks: what belongs to different kinematic trees is not coupled."""

import dataclasses
import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

Array = jax.Array


@dataclasses.dataclass(frozen=True)
class Blocks:
    """Equal blocks at several places of a matrix.

    matrix: shape (r, c); rows, columns: where each of n blocks stands, shapes (n, r) and (n, c).
    """

    matrix: np.ndarray
    rows: np.ndarray
    columns: np.ndarray

    @property
    def T(self) -> "Blocks":
        """The transpose."""
        return Blocks(self.matrix.T, self.columns, self.rows)


@dataclasses.dataclass(frozen=True)
class BlockMask:
    """A matrix that is zero outside of its blocks; where two overlap, the entry is 1."""

    shape: tuple[int, int]
    blocks: tuple[Blocks, ...]

    @property
    def T(self) -> "BlockMask":
        """The transpose."""
        return BlockMask(self.shape[::-1], tuple(b.T for b in self.blocks))

    @functools.cached_property
    def dense(self) -> np.ndarray:
        """The whole matrix, float64."""
        out = np.zeros(self.shape)
        for b in self.blocks:
            at = b.rows[:, :, None], b.columns[:, None, :]
            out[at] = np.maximum(out[at], b.matrix)
        return out

    def __getitem__(self, key) -> np.ndarray:
        """Return what NumPy's indexing gives of the whole matrix."""
        return self.dense[key]

    @functools.cached_property
    def occupied(self) -> np.ndarray:
        """Which rows have an entry, shape (shape[0],)."""
        out = np.zeros(self.shape[0], bool)
        for b in self.blocks:
            out[b.rows[:, b.matrix.any(axis=1)]] = True
        return out

    @functools.cached_property
    def order(self) -> np.ndarray:
        """Which row of all blocks, one after the other, stands at each row; one past them for none.

        Raises ValueError for two blocks in one row.
        """
        rows = np.concatenate([np.zeros(0, np.int64), *(b.rows.ravel() for b in self.blocks)])
        if np.unique(rows).size < rows.size:
            raise ValueError("two blocks in one row: transpose the matrix")
        out = np.full(self.shape[0], rows.size)
        out[rows] = np.arange(rows.size)
        return out


Mask = np.ndarray | BlockMask


def dense(mask: Mask) -> np.ndarray:
    """Return a mask as one array."""
    return mask.dense if isinstance(mask, BlockMask) else mask


def occupied(mask: Mask) -> np.ndarray:
    """Return which rows of a mask have an entry."""
    return mask.occupied if isinstance(mask, BlockMask) else mask.any(axis=1)


def rows_of(x: Array, index: np.ndarray) -> Array:
    """Return the rows of x, shape (n, ...), at a static index; a slice where the index is a range."""
    index = np.ravel(index)
    if index.size and np.array_equal(index, np.arange(index[0], index[0] + index.size)):
        return x if index.size == x.shape[0] else x[int(index[0]) : int(index[0]) + index.size]
    return x.at[index].get(mode="promise_in_bounds", unique_indices=np.unique(index).size == index.size)


def block_product(mask: BlockMask, x: Array) -> Array:
    """Return mask @ x for rows x, shape (n, k)."""
    parts = []
    for b in mask.blocks:
        own = rows_of(x, b.columns).reshape(*b.columns.shape, x.shape[1])
        if math.prod(b.matrix.shape) > 1 or b.matrix.item() != 1:
            own = jnp.matmul(jnp.asarray(b.matrix, x.dtype), own, precision="highest")
        parts.append(own.reshape(-1, x.shape[1]))
    if np.any(mask.order == sum(p.shape[0] for p in parts)):
        parts.append(jnp.zeros((1, x.shape[1]), x.dtype))
    return rows_of(jnp.concatenate(parts), mask.order)


def alike(parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> tuple[Blocks, ...]:
    """Return blocks (matrix, rows, columns) with those of equal matrices together."""
    found: dict[tuple, list] = {}
    for matrix, rows, columns in parts:
        if matrix.size:
            found.setdefault((matrix.shape, matrix.tobytes()), []).append((matrix, rows, columns))
    return tuple(
        Blocks(same[0][0], np.stack([rows for _, rows, _ in same]), np.stack([columns for *_, columns in same]))
        for same in found.values()
    )
