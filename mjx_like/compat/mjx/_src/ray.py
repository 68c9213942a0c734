"""Rays."""

from mjx_like.compat.mjx._src.types import adapted
from mjx_like.ray.stage import ray as _ray

ray = adapted(_ray)
