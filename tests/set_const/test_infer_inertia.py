"""Masses and inertias from geoms equal those of MuJoCo's compiler, and are differentiable."""

import re

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.errors import InputError
from mjx_like.infer_inertia import infer_inertia, principal_axes
from mjx_like.interop.convert import put_model
from mjx_like.math import quaternion
from tests.support.oracle import error

XML = """
<mujoco><compiler boundmass="0"/><default><geom density="700"/></default><worldbody><geom type="plane" size="1 1 1"/>
<body><freejoint/><geom type="capsule" size="{0} .2" euler="10 20 30" pos=".1 0 0"/></body>
<body pos="1 0 0"><freejoint/><geom type="box" size="{0} .2 .3" pos=".3 0 0" euler="20 0 40"/>
  <geom size="{0}"/><geom type="cylinder" size="{0} .2" pos="0 .2 .1" euler="0 40 0"/></body>
<body pos="2 0 0"><freejoint/><geom type="ellipsoid" size="{0} .2 .3" shellinertia="true"/>
  <geom type="box" size=".1 {0} .2" pos=".2 .1 0" shellinertia="true"/><geom type="capsule" size="{0} .3" pos="0 0 .2"
  shellinertia="true"/><geom type="cylinder" size="{0} .3" pos="0 .3 .2" euler="30 0 0" shellinertia="true"/></body>
</worldbody></mujoco>
"""
SHELL = (5, 6, 7, 8)


def _tensors(m):
    axes = quaternion.matrix(jnp.asarray(m.body_iquat))
    return (axes * jnp.asarray(m.body_inertia)[:, None]) @ jnp.swapaxes(axes, 1, 2)


def test_equal_to_the_compiler_with_derivatives():
    m = put_model(mujoco.MjModel.from_xml_string(XML.format(0.1)))
    small, large = (mujoco.MjModel.from_xml_string(XML.format(0.13 + eps)) for eps in (-1e-6, 1e-6))
    other = mujoco.MjModel.from_xml_string(XML.format(0.13))
    way = jnp.asarray((large.geom_size - small.geom_size) / 2e-6)

    def inferred(size):
        out = infer_inertia(m.replace(geom_size=size), 700, shell=SHELL)
        return {"mass": out.body_mass, "center": out.body_ipos, "tensor": _tensors(out)}

    size = jnp.asarray(other.geom_size)
    out, rate = jax.jit(lambda size, way: jax.jvp(inferred, (size,), (way,)))(size, way)
    fields = [{"mass": x.body_mass, "center": x.body_ipos, "tensor": _tensors(x)} for x in (other, small, large)]
    for name in out:
        assert error(out[name], fields[0][name]) < 1e-10
        assert error(rate[name], (fields[2][name] - fields[1][name]) / 2e-6) < 1e-6
    assert error(m.body_mass, other.body_mass) > 1e-2


def test_equal_moments_have_finite_derivatives():
    _, (moments, axes) = jax.jvp(principal_axes, (jnp.eye(3),), (jnp.ones((3, 3)),))
    assert np.isfinite(moments).all() and not np.any(axes)


def test_bodies_of_other_shapes_are_named():
    mesh = '<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset><worldbody>'
    source = re.sub("<worldbody>", mesh, XML.format(0.1)).replace("</worldbody>", """<body>
      <freejoint/><geom type="mesh" mesh="m"/></body></worldbody>""")  # fmt: skip
    m = put_model(mujoco.MjModel.from_xml_string(source))
    with pytest.raises(InputError, match="body 4 has a geom of type mesh"):
        infer_inertia(m)
