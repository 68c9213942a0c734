"""One step differentiated by every float leaf of the Model at once: finite in singular states, right in smooth ones."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.interop.convert import put_model
from mjx_like.state.initial import make_data
from mjx_like.step import step
from mjx_like.types.model import Model

XML = """
<mujoco><option timestep="0.005" cone="{cone}" solver="{solver}" integrator="{integrator}" density="1.2"
 viscosity="1e-3" wind="1 0 0" tolerance="0" iterations="{iterations}" {option}><flag energy="enable"/></option>
<worldbody><geom type="plane" size="5 5 .1" friction=".8 .01 .001" solimp=".9 .95 .01 .4 3"/>
<body name="free" pos="0 0 .19"><freejoint/><geom type="capsule" size=".1 .2" euler="0 80 0" condim="6"/>
 <site name="a" pos="0 0 .1"/>
 <body pos=".3 0 .1" gravcomp=".1"><joint type="ball" damping=".1" stiffness="1" range="0 1" limited="true"/>
  <geom size=".08" pos=".2 0 0"/>
  <body pos=".4 0 0"><joint name="j" axis="0 1 0" range="-10 10" damping=".2 .1" frictionloss=".1" stiffness="2"
   springref="5" armature=".01"/><geom type="ellipsoid" size=".05 .06 .07"
   fluidshape="ellipsoid" contype="0" conaffinity="0"/>
   <site name="b" pos=".1 0 0"/></body></body></body>
<body name="arm" pos="1 0 1"><joint name="k" axis="0 1 0"/><geom name="drum" type="cylinder"
 size=".1 .3" euler="90 0 0" contype="0" conaffinity="0"/>
 <geom type="box" size=".1 .1 .1" pos=".3 0 0" contype="0" conaffinity="0"/><site name="c" pos=".3 0 .2"/></body>
<site name="w" pos="1.2 0 1.6"/></worldbody>
<equality><weld body1="arm" body2="free" solref=".1 1"/><joint joint1="j" joint2="k" polycoef="0 1 .1 0 0"/></equality>
<tendon><spatial name="t" stiffness="3" damping=".1" range="0 .2" limited="true" frictionloss=".05">
 <site site="w"/><geom geom="drum"/><site site="c"/></spatial></tendon>
<actuator><motor joint="j" gear="2"/><muscle tendon="t" lengthrange=".1 1"/><position joint="k" kp="3" kv=".1"
 ctrlrange="-1 1" ctrllimited="true"/><general joint="j" dyntype="filter" dynprm=".1" gainprm="3"/></actuator>
<sensor><accelerometer site="b"/><framepos objtype="site" objname="b"/></sensor></mujoco>
"""


def _combination(cone, solver, integrator, iterations=100, noslip=0):
    option = f'noslip_iterations="{noslip}" noslip_tolerance="-1"' if noslip else ""  # all of its sweeps
    return dict(cone=cone, solver=solver, integrator=integrator, option=option, iterations=iterations)


# Differences need solvers that end at the optimum, which takes noslip over 600 sweeps here; the derivative does not.
# CG ends where its cost stops falling in the last bit, up to 5e-6 from there: its differences are those by Newton.
CASES = {
    "ellipse": _combination("elliptic", "Newton", "implicitfast"),
    "pyramid": _combination("pyramidal", "Newton", "Euler"),
    "ellipse-cg-implicit": _combination("elliptic", "CG", "implicit", 400),
    "pyramid-discrete": _combination("pyramidal", "Newton", "discrete"),
    "ellipse-pgs-euler": _combination("elliptic", "PGS", "Euler", 4000),
    "pyramid-pgs-implicitfast": _combination("pyramidal", "PGS", "implicitfast", 4000),
    "ellipse-rk4": _combination("elliptic", "Newton", "RK4"),
    "ellipse-noslip": _combination("elliptic", "Newton", "Euler", noslip=1500),
    "pyramid-noslip": _combination("pyramidal", "Newton", "implicitfast", noslip=1500),
}
# Of noslip, whose sweeps are slow, by these alone.
SOME = ("body_pos", "body_mass", "dof_damping", "dof_frictionloss", "geom_friction", "geom_size", "geom_solref",
        "geom_solimp", "actuator_gear", "eq_solref", "tendon_stiffness", "opt.timestep", "opt.gravity")  # fmt: skip


def _leaves(m: Model) -> dict[str, jax.Array]:
    """Return the float leaves of a model that are not empty, options among them."""
    out = {f.name: getattr(m, f.name) for f in dataclasses.fields(Model) if f.metadata.get("shape")}
    out |= {f"opt.{name}": getattr(m.opt_floats, name) for name in m.opt_floats.__dataclass_fields__}
    return {name: value for name, value in out.items() if value.size}


def _with(m: Model, leaves: dict[str, jax.Array]) -> Model:
    options = {name[4:]: value for name, value in leaves.items() if name.startswith("opt.")}
    plain = {name: value for name, value in leaves.items() if not name.startswith("opt.")}
    return m.replace(**plain, opt_floats=m.opt_floats.replace(**options))


@functools.cache
def _case(name, **changes):
    mj = mujoco.MjModel.from_xml_string(XML.format(**CASES[name] | changes))
    m = put_model(mj)
    rng = np.random.default_rng(0)
    weight = [jnp.asarray(rng.normal(size=n)) for n in (m.nq, m.nv, m.na, m.nsensordata)]

    def loss(leaves, state):
        d = step(_with(m, leaves), make_data(m).replace(**state))
        fields = (d.qpos, d.qvel, d.act, 1e-2 * d.sensordata)
        return sum(jnp.sum(w * x) for w, x in zip(weight, fields, strict=True)) + 1e-2 * jnp.sum(d.energy)

    return mj, m, loss


def _states(mj):
    """Return a moving state, and one at rest in which everything that can be singular is."""
    rng, data = np.random.default_rng(3), mujoco.MjData(mj)
    mujoco.mj_integratePos(mj, data.qpos, 0.2 * rng.normal(size=mj.nv) * (np.arange(mj.nv) > 2), 1)
    data.qvel[:], data.ctrl[:], data.act[:] = 0.3 * rng.normal(size=mj.nv), (0.3, 0.4, 0.5, 0.2), 0.3
    for _ in range(10):
        mujoco.mj_step(mj, data)
    mujoco.mj_forward(mj, data)
    assert data.ncon > 0 and data.nefc > 10
    names = ("qpos", "qvel", "act", "ctrl", "qacc_warmstart")
    moving = {name: getattr(data, name).copy() for name in names}
    mujoco.mj_resetData(mj, data)
    data.ctrl[2] = 1  # at its limit
    return moving, {name: getattr(data, name).copy() for name in names}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_leaf(name, monkeypatch):
    if "noslip" in name:  # a step at a cone ends at 1e-10, which leaves 1e-5 of the derivative to differences
        monkeypatch.setattr("mjx_like.solver.dual._SINGULAR", 1e-18)
    mj, m, loss = _case(name)
    leaves, (moving, resting) = _leaves(m), _states(mj)
    gradient = jax.jit(jax.grad(loss, argnums=(0, 1)))
    assert all(np.isfinite(x).all() for x in jax.tree.leaves(gradient(leaves, resting)))
    pulled, _ = gradient(leaves, moving)
    assert all(np.isfinite(x).all() for x in jax.tree.leaves(pulled))
    exact = _case(name, solver="Newton")[2] if CASES[name]["solver"] == "CG" else loss
    rng, value = np.random.default_rng(1), jax.jit(exact)
    wrong, seen = {}, 0
    chosen = SOME if "noslip" in name else leaves
    for leaf in chosen:
        x = leaves[leaf]
        way = rng.normal(size=x.shape) * (np.asarray(x) != 0)  # a term that does not exist has no derivative
        if not way.any():
            continue
        eps = 1e-6 * max(float(np.abs(x).max()), 1e-2)
        along = float(np.sum(way * np.asarray(pulled[leaf])))
        ends = [value(leaves | {leaf: x + k * eps * way}, moving) for k in (-1, 0, 1)]
        numeric = float(ends[2] - ends[0]) / (2 * eps)
        bend = float(ends[2] - 2 * ends[1] + ends[0]) / eps
        seen += numeric != 0
        if abs(along - numeric) > 1e-5 * (1 + abs(numeric)) and abs(bend) < 1e-3 * (1 + abs(numeric)):
            wrong[leaf] = (along, numeric)
    assert not wrong, wrong
    assert seen > min(40, len(chosen) - 3)
