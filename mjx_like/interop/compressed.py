"""Compressed rows, as MuJoCo stores sparse matrices: row lengths, row addresses and columns of the entries."""

import numpy as np


def dense_rows(value: np.ndarray, nnz: np.ndarray, adr: np.ndarray, col: np.ndarray, width: int) -> np.ndarray:
    """Return the dense matrix of compressed rows."""
    rows, entries = entries_of(nnz, adr)
    dense = np.zeros((len(nnz), width))
    dense[rows, col[entries]] = value[entries]
    return dense


def entries_of(nnz: np.ndarray, adr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the row and the address of every entry of compressed rows."""
    rows = np.repeat(np.arange(len(nnz)), nnz)
    return rows, np.repeat(adr, nnz) + np.arange(len(rows)) - np.repeat(np.cumsum(nnz) - nnz, nnz)
