"""Random draws of attribute values, the base of generators of random models."""

import numpy as np

SITE_SENSORS = ("touch", "accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer", "rangefinder")
FRAME_SENSORS = tuple(f"frame{what}" for what in "pos quat xaxis yaxis zaxis linvel angvel linacc angacc".split())


class Draws:
    """Draws from a seed; tables map names of attributes to functions of the generator."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def numbers(self, count: int, low: float, high: float) -> str:
        return " ".join(f"{value:.3g}" for value in self.rng.uniform(low, high, count))

    def one(self, *choices: str) -> str:
        return str(choices[self.rng.integers(len(choices))])

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def some(self, table, share: float) -> str:
        """Some of the attributes of a table."""
        found = ((name, make(self)) for name, make in table.items() if self.chance(share))
        return " ".join(f'{name}="{value}"' for name, value in found if value is not None)
