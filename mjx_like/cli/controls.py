"""Controls for the command line and the benchmark."""

import numpy as np

from mjx_like.types.model import Model

HOLD = 5  # steps that a random control stays the same


def random_controls(m: Model, seed: int, batch: int, start: int, stop: int) -> np.ndarray:
    """Return the controls of steps `start` to `stop`, shape (batch, stop - start, nu).

    They are drawn evenly from their ranges ([-1, 1] where there is none), new every 5 steps, and depend on the seed
    and the step alone.
    """
    limits = np.asarray(m.actuator_ctrlrange, float).T.reshape(2, m.nu)
    low, high = np.where(np.asarray(m.actuator_ctrllimited), limits, [[-1.0], [1.0]])
    blocks = np.arange(start, stop) // HOLD
    drawn = {b: np.random.default_rng([seed, b]).uniform(low, high, (batch, m.nu)) for b in np.unique(blocks)}
    return np.stack([drawn[b] for b in blocks], axis=1)


def zero_controls(m: Model, seed: int, batch: int, start: int, stop: int) -> np.ndarray:
    """Return controls that are zero, clamped into their ranges; arguments as `random_controls`."""
    limits = np.asarray(m.actuator_ctrlrange, float).T.reshape(2, m.nu)
    still = np.where(np.asarray(m.actuator_ctrllimited), np.clip(0.0, *limits), 0.0)
    return np.broadcast_to(still, (batch, stop - start, m.nu))


CONTROLS = {"random": random_controls, "zero": zero_controls}
