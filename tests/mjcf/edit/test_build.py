"""Models built by the same calls in MuJoCo's MjSpec and in ours compile to the same arrays."""

import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.compiler.compile import compile_spec
from mjx_like.interop.convert import arrays_from_mjmodel
from tests.compiler.compare import array_differences

T = mujoco.mjtTrn
O = mujoco.mjtObj  # noqa: E741
S = mujoco.mjtSensor
G = mujoco.mjtGeom


def pendulum(spec):
    spec.modelname = "pendulum"
    spec.option.timestep = 0.001
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.gravity = [0, 0, -1.62]
    spec.worldbody.add_geom(name="floor", type=G.mjGEOM_PLANE, size=[1, 1, 0.1])
    body = spec.worldbody.add_body(name="rod", pos=[0, 0, 1], quat=[1, 1, 0, 0])
    body.add_joint(name="hinge", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0], range=[-90, 90], damping=[0.1, 0, 0])
    geom = body.add_geom(type=G.mjGEOM_CAPSULE, fromto=[0, 0, 0, 0, 0, -0.5], size=[0.05, 0, 0], rgba=[1, 0, 0, 1])
    geom.friction = [0.8, 0.01, 0.001]
    tip = body.add_body(name="tip", pos=[0, 0, -0.5])
    tip.add_geom(type=G.mjGEOM_BOX, size=[0.1, 0.2, 0.3], mass=2)
    tip.add_site(name="end", pos=[0.1, 0, 0])
    spec.worldbody.add_camera(name="eye", pos=[0, -2, 1], xyaxes=[1, 0, 0, 0, 0, 1], fovy=60)
    spec.worldbody.add_light(pos=[0, 0, 3], dir=[0, 0.1, -1])


def frames(spec):
    outer = spec.worldbody.add_frame(pos=[1, 0, 0], euler=[0, 0, 90])
    inner = outer.add_frame(pos=[0, 1, 0])
    body = inner.add_body(name="b", pos=[0, 0, 1], mass=2, inertia=[1, 2, 3], ipos=[0.1, 0, 0])
    body.add_freejoint(name="free")
    body.add_geom(type=G.mjGEOM_SPHERE, size=[0.1, 0, 0])
    outer.add_geom(type=G.mjGEOM_ELLIPSOID, size=[0.1, 0.2, 0.3])
    mocap = spec.worldbody.add_body(name="target", mocap=True, pos=[0, 0, 2])
    mocap.add_geom(type=G.mjGEOM_SPHERE, size=[0.1, 0, 0], contype=0, conaffinity=0)


def chain(spec):
    parent = spec.worldbody
    for i in range(4):
        parent = parent.add_body(name=f"link{i}", pos=[0, 0, 0.3])
        parent.add_joint(name=f"j{i}", axis=[1, i, 0], limited=True, range=[-30, 40], armature=0.01)
        parent.add_geom(name=f"g{i}", type=G.mjGEOM_CAPSULE, size=[0.04, 0.15, 0])
        parent.add_site(name=f"s{i}", pos=[0, 0.05, 0.1])


def actuation(spec):
    chain(spec)
    spec.add_actuator(name="motor", trntype=T.mjTRN_JOINT, target="j0", gear=[2, 0, 0, 0, 0, 0], ctrlrange=[-1, 1])
    spec.add_actuator(name="servo", trntype=T.mjTRN_JOINT, target="j1").set_to_position(kp=5, kv=0.5)
    spec.add_actuator(name="speed", trntype=T.mjTRN_JOINTINPARENT, target="j2").set_to_velocity(kv=3)
    spec.add_actuator(name="thrust", trntype=T.mjTRN_SITE, target="s3", gear=[0, 0, 1, 0, 0, 0], forcerange=[-2, 3])
    spec.add_actuator(name="stick", trntype=T.mjTRN_BODY, target="link3", ctrlrange=[0, 1]).set_to_adhesion(gain=4)


def sensing(spec):
    actuation(spec)
    spec.add_sensor(name="a", type=S.mjSENS_GYRO, objtype=O.mjOBJ_SITE, objname="s1")
    spec.add_sensor(name="b", type=S.mjSENS_JOINTPOS, objtype=O.mjOBJ_JOINT, objname="j2", cutoff=1.5)
    spec.add_sensor(name="c", type=S.mjSENS_ACTUATORFRC, objtype=O.mjOBJ_ACTUATOR, objname="motor", noise=0.1)
    spec.add_sensor(
        name="d", type=S.mjSENS_FRAMEPOS, objtype=O.mjOBJ_GEOM, objname="g1", reftype=O.mjOBJ_XBODY, refname="link0"
    )
    spec.add_sensor(
        name="e", type=S.mjSENS_GEOMDIST, objtype=O.mjOBJ_GEOM, objname="g0", reftype=O.mjOBJ_BODY, refname="link3"
    )
    spec.add_sensor(name="f", type=S.mjSENS_CLOCK)


def constraints(spec):
    chain(spec)
    tendon = spec.add_tendon(name="t", stiffness=[3, 0, 0], range=[0.1, 0.5], width=0.01)
    for i in range(3):
        tendon.wrap_site(f"s{i}")
    fixed = spec.add_tendon(name="f", armature=0.1)
    fixed.wrap_joint("j0", 1)
    fixed.wrap_joint("j1", -0.5)
    data = np.zeros(12)
    data[[0, 1, 2, 10]] = 0.1, 0.2, 0.3, 1
    spec.add_equality(
        type=mujoco.mjtEq.mjEQ_CONNECT, objtype=O.mjOBJ_BODY, name1="link3", name2="world", data=data, name="c"
    )
    data = np.zeros(12)
    data[[1, 10]] = 2, 1
    spec.add_equality(type=mujoco.mjtEq.mjEQ_JOINT, name1="j2", name2="j3", data=data, solref=[0.1, 1])
    spec.add_pair(name="p", geomname1="g0", geomname2="g2", condim=4)
    spec.add_exclude(bodyname1="link0", bodyname2="link3")
    spec.add_key(name="home", qpos=[0.1, 0.2, 0.3, 0.4], time=2)


def assets(spec):
    spec.add_texture(name="checks", type=mujoco.mjtTexture.mjTEXTURE_2D, width=8, height=8, builtin=2)
    spec.add_material(name="m", rgba=[1, 0, 0, 1], specular=0.25)
    spec.worldbody.add_geom(type=G.mjGEOM_BOX, size=[1, 1, 1], material="m")
    spec.add_numeric(name="n", data=[1, 2, 3], size=3)
    spec.add_text(name="t", data="words")


@pytest.mark.parametrize("build", [pendulum, frames, chain, actuation, sensing, constraints, assets])
def test_as_mujoco_builds_it(build):
    theirs, ours = mujoco.MjSpec(), mjx.Spec()
    build(theirs)
    build(ours)
    assert array_differences(compile_spec(ours.checked()), arrays_from_mjmodel(theirs.compile())) == {}


def test_default_classes():
    def build(spec, use):
        spec.default.geom.rgba = [0, 1, 0, 1]
        spec.default.joint.damping = [0.5, 0, 0]
        red = spec.add_default("red", spec.default)
        red.geom.rgba = [1, 0, 0, 1]
        red.geom.size = [0.3, 0.3, 0.3]
        body = spec.worldbody.add_body(name="b")
        body.add_joint(*use(spec.default))
        body.add_geom(red, type=G.mjGEOM_BOX)
        body.add_geom(*use(spec.default), type=G.mjGEOM_BOX, size=[0.1, 0.1, 0.1])

    theirs, ours = mujoco.MjSpec(), mjx.Spec()
    build(theirs, lambda default: (default,))
    build(ours, lambda default: ())
    model, reference = ours.compile(dtype=np.float64), theirs.compile()
    np.testing.assert_array_equal(np.float32(model.geom_rgba), reference.geom_rgba)
    np.testing.assert_array_equal(model.geom_size, reference.geom_size)
    np.testing.assert_array_equal(model.dof_damping, reference.dof_damping)
    np.testing.assert_allclose(model.body_mass, reference.body_mass, rtol=1e-12)


def test_settings():
    def change(spec):
        spec.compiler.degree = False
        spec.option.disableflags = 1 << 4 | 1 << 7
        spec.option.enableflags = int(mujoco.mjtEnableBit.mjENBL_ENERGY)
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        spec.stat.meanmass = 3
        spec.stat.center = [1, 2, 3]
        spec.visual.map.znear = 0.02
        spec.worldbody.add_body(euler=[1, 0, 0]).add_geom(size=[0.1, 0.1, 0.1])
        spec.worldbody.add_camera()

    theirs, ours = mujoco.MjSpec(), mjx.Spec()
    change(theirs)
    change(ours)
    model, reference = ours.compile(dtype=np.float64), theirs.compile()
    for name in ("disableflags", "enableflags", "cone"):
        assert getattr(model.opt, name) == getattr(reference.opt, name)
        assert getattr(ours.option, name, None) is not None
    assert model.stat.meanmass == 3
    np.testing.assert_array_equal(model.stat.center, [1, 2, 3])
    np.testing.assert_allclose(model.body_quat, reference.body_quat, atol=1e-15)
    np.testing.assert_allclose(model.cam_intrinsic, reference.cam_intrinsic, rtol=1e-6)
