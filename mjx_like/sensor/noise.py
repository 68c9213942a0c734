"""Noise of sensors, added on request."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.math import quaternion, safe
from mjx_like.sensor.table import SENSORS
from mjx_like.types.data import Data
from mjx_like.types.enums import DataType
from mjx_like.types.model import Model

Array = jax.Array


def sensor_noise(m: Model, d: Data, key: Array) -> Data:
    """Return `d` with Gaussian noise of standard deviation `sensor_noise` added to `sensordata`.

    Positive values stay positive, rangefinders that miss stay as they are; axes and quaternions stay unit, the latter
    rotated by a random vector.
    key: a JAX random key. Reads and writes sensordata.
    """
    if not m.nsensor:
        return d
    owner = np.repeat(np.arange(m.nsensor), m.sensor_dim)
    kind, value = m.sensor_datatype[owner], d.sensordata
    draw = jax.random.normal(key, value.shape, value.dtype) * m.sensor_noise[owner]
    noisy = value + draw
    noisy = jnp.where(kind == DataType.POSITIVE, jnp.maximum(noisy, 0), noisy)
    misses = np.isin(m.sensor_type[owner], [kind for kind, row in SENSORS.items() if row.misses])
    noisy = jnp.where(misses & (value < 0), value, noisy)
    axis, quat = (m.sensor_adr[np.flatnonzero(m.sensor_datatype == k)] for k in (DataType.AXIS, DataType.QUATERNION))
    if axis.size:
        cells = axis[:, None] + np.arange(3)
        noisy = noisy.at[cells].set(safe.normalize(noisy[cells])[0])
    if quat.size:
        cells = quat[:, None] + np.arange(4)
        rotation = quaternion.from_rotation_vector(draw[cells[:, 1:]])
        noisy = noisy.at[cells].set(quaternion.multiply(value[cells], rotation))
    return d.replace(sensordata=noisy)
