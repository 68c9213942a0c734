"""The operations that are written for accelerators, compiled for a CPU, against those that are written for CPUs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like import JointType
from tests.models import MAIN

COMPARED = ("qpos", "qvel", "qacc", "efc_J", "efc_aref", "efc_force", "qfrc_bias", "sensordata", "subtree_com")
SLOW = ("humanoid", "quadruped")
DROP = {"half_cheetah": 0.2, "humanoid": 0.2, "quadruped": 0.1}  # [m], below where the file has it: into the floor


def start_of(name):
    m = mjx.Model.from_xml_path(next(str(path) for path in MAIN if path.stem == name))
    rng = np.random.default_rng(0)
    d = mjx.make_data(m)
    height = m.jnt_qposadr[0] + (2 if m.jnt_type[0] == JointType.FREE else 1)
    qpos = d.qpos.at[height].add(-DROP[name]) + 0.02 * rng.normal(size=m.nq)
    return m, d.replace(qpos=qpos, qvel=jnp.asarray(rng.normal(size=m.nv)), ctrl=jnp.asarray(rng.uniform(-1, 1, m.nu)))


def results(m, d):
    """Fields after a step, and their rates with the velocities."""

    def of_velocity(qvel):
        after = mjx.step(m, d.replace(qvel=qvel))
        return {name: getattr(after, name) for name in (*COMPARED, "nefc")}

    return jax.jit(lambda qvel: jax.jvp(of_velocity, (qvel,), (jnp.ones(m.nv),)))(d.qvel)


@pytest.mark.parametrize("name", ["half_cheetah", *(pytest.param(x, marks=pytest.mark.slow) for x in SLOW)])
def test_steps_do_not_depend_on_the_platform_that_they_are_written_for(name, monkeypatch):
    m, d = start_of(name)
    expected = results(m, d)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    found = results(m, d)
    assert found[0]["nefc"] > 4
    for kind, a, b in zip(("value", "rate"), found, expected, strict=True):
        for name in COMPARED:
            assert np.allclose(a[name], b[name], rtol=1e-9, atol=1e-9 * np.abs(b[name]).max(initial=1)), (kind, name)


def sums_at_repeated_indices(jaxpr):
    """What adds to memory at indices that may repeat, in a program and all that it calls."""
    found = [e for e in jaxpr.eqns if e.primitive.name == "scatter-add" and not e.params["unique_indices"]]
    for equation in jaxpr.eqns:
        for value in equation.params.values():
            for inner in value if isinstance(value, list | tuple) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                found += sums_at_repeated_indices(inner) if hasattr(inner, "eqns") else []
    return found


@pytest.mark.parametrize("name", ["half_cheetah", *(pytest.param(x, marks=pytest.mark.slow) for x in SLOW)])
def test_accelerators_add_nothing_at_indices_that_may_repeat(name, monkeypatch):
    m, d = start_of(name)

    def end(ctrl, qvel):
        return jnp.sum(mjx.rollout(m, d.replace(qvel=qvel), ctrl, record=lambda d: d.qpos))

    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    program = jax.make_jaxpr(jax.grad(end, (0, 1)))(jnp.zeros((3, m.nu)), d.qvel)
    assert not sums_at_repeated_indices(program.jaxpr)
