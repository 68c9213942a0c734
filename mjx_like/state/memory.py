"""How much memory a world takes: the bytes of the fields of its Data."""

import math

import numpy as np

from mjx_like.types.data import Contact, Data
from mjx_like.types.model import Model
from mjx_like.types.pytree import leaves, shape_in


def data_bytes(m: Model) -> dict[str, int]:
    """Return the bytes of each field of the Data of one world, the largest first; those of contacts as "contact.dist".

    Nothing is allocated.
    """
    size = {float: m.qpos0.dtype.itemsize, int: np.dtype(np.int32).itemsize, bool: 1}
    found = {
        prefix + f.name: math.prod(shape_in(m.topology, f.metadata["shape"])) * size[f.metadata["dtype"]]
        for kind, prefix in ((Data, ""), (Contact, "contact."))
        for f in leaves(kind)
    }
    return dict(sorted(found.items(), key=lambda item: -item[1]))
