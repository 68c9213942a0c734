"""What each iteration of a solve did."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.interop.convert import put_model
from tests.support.oracle import error

XML = """
<mujoco>
  <option solver="{solver}" cone="{cone}" tolerance="1e-12"/>
  <worldbody>
    <geom type="plane" size="1 1 1" euler="10 0 0"/>
    <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/>
      <body pos=".2 0 0"><joint axis="0 1 0" frictionloss=".1" limited="true" range="-20 5"/>
        <geom type="capsule" size=".04 .1" euler="0 90 0"/></body>
    </body>
  </worldbody>
</mujoco>"""


def _solved(solver: str, cone: str, count: int):
    """Return MuJoCo's data after a push, Data at the same state, and the statistics; the only island has all dofs."""
    mj = mujoco.MjModel.from_xml_string(XML.format(solver=solver, cone=cone))
    data = mujoco.MjData(mj)
    data.qpos[:] = [0, 0, 0.095, 0.99, 0.05, 0.1, 0, 0.15]
    data.qvel[:] = np.linspace(-1, 1, mj.nv)
    mujoco.mj_forward(mj, data)
    m = put_model(mj)
    start = mjx.make_data(m).replace(qpos=jnp.array(data.qpos), qvel=jnp.array(data.qvel))

    @jax.jit
    def run(start):
        d = mjx.forward(m, start)
        return d, mjx.solver_statistics(m, d.replace(qacc_warmstart=start.qacc_warmstart), count)

    return data, *run(start)


@pytest.mark.slow
def test_conjugate_gradients_equal_oracle():
    data, d, found = _solved("CG", "elliptic", 12)
    assert data.nisland == 1 and int(found.niter) == 12 < data.solver_niter[0] == d.solver_niter
    for name, ours in (("improvement", found.improvement), ("gradient", found.gradient[1:])):
        assert error(ours, getattr(data.solver, name)[:12]) < 1e-8, name
    assert found.nactive[1:].tolist() == data.solver.nactive[:12].tolist()
    assert found.nchange.tolist() == data.solver.nchange[:12].tolist()


@pytest.mark.parametrize(
    "solver, cone", [("Newton", "pyramidal"), pytest.param("PGS", "elliptic", marks=pytest.mark.slow)]
)
def test_the_last_iteration_is_the_solution(solver, cone):
    """Every iteration saves cost; after the last one nothing changes."""
    _, d, found = _solved(solver, cone, 12)
    count = int(found.niter)
    assert count == min(int(d.solver_niter), 12) > 1
    assert solver == "PGS" or (found.improvement[:count] > 0).all()
    assert (found.improvement[count:] == 0).all() and (found.nchange[count:] == 0).all()
    if count < 12:
        assert error(found.qacc[-1], d.qacc) < 1e-12 and abs(found.gradient[-1] - d.solver_residual) < 1e-12
    assert found.gradient[-1] < 1e-2 * found.gradient[0] and found.qacc.shape == (13, 7)


def test_errors():
    m = put_model(mujoco.MjModel.from_xml_string(XML.format(solver="CG", cone="elliptic")))
    with pytest.raises(mjx.InputError, match="count=0: must be a whole number of at least 1"):
        mjx.solver_statistics(m, mjx.make_data(m), 0)
    free = mjx.Model.from_xml_string(
        "<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>"  # nothing to touch
    )
    with pytest.raises(mjx.InputError, match="no constraint rows"):
        mjx.solver_statistics(free, mjx.make_data(free))
