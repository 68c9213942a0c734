"""Where the worlds of a batch stand beside each other."""

import numpy as np

SPACING = 1.5  # between worlds, in units of the size of what moves


def offsets(worlds: int, spacing: float) -> np.ndarray:
    """Return where worlds stand in a square grid around the origin, shape (worlds, 3) [m].

    spacing: between neighbours [m].
    """
    side = int(np.ceil(np.sqrt(worlds)))
    row, column = np.divmod(np.arange(worlds), side)
    rows = -(-worlds // side)
    cell = np.stack([column - (side - 1) / 2, (rows - 1) / 2 - row, np.zeros(worlds)], axis=1)
    return spacing * cell
