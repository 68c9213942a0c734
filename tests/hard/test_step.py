"""Steps with hard contact: what rests, slides, turns, parts and holds."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from tests.hard.scene import GAP, XML, flatness, model, run, step


@pytest.fixture(scope="module")
def m():
    return model()


@pytest.fixture(scope="module")
def rested(m):
    return run(m, mjx.make_data(m), 200)


def body(m, d, name):
    return np.asarray(step(m, d).xpos[m.body(name).id])


def test_rests_a_gap_apart_with_the_weight_as_force(m, rested):
    g = 9.81
    assert flatness(rested) < 1e-3  # of the free bodies
    dist = np.asarray(rested.contact.dist)[: int(rested.ncon)]
    assert 0 < dist.min() and dist.max() < 8 * GAP
    wrenches = np.asarray(jax.vmap(lambda i: mjx.contact_force(m, rested, i))(jnp.arange(int(rested.ncon))))
    geom = np.asarray(rested.contact.geom)[: int(rested.ncon)]
    floor = geom[:, 0] == m.geom("floor").id
    np.testing.assert_allclose(wrenches[floor, 0].sum(), (1 + 2 + 3) * g, rtol=1e-3)
    np.testing.assert_allclose(wrenches[~floor, 0].sum(), 2 * g, rtol=1e-3)


def test_limit_and_friction_loss_hold(m, rested):
    assert np.deg2rad(20) - 1e-2 < rested.qpos[m.joint("hinge").qposadr] < np.deg2rad(20)
    stuck = np.asarray(rested.qpos)[m.joint("rubbing").qposadr]
    assert abs(stuck) < 1e-2  # 1.2 N m of weight against 2 N m of friction: it creeps at less than `slip`
    loss = np.asarray(rested.efc_force)[np.asarray(rested.efc_type) == mjx.ConstraintType.FRICTION_DOF]
    np.testing.assert_allclose(np.abs(loss[0]), 0.5 * 9.81 * 0.25, rtol=1e-2)


def test_equalities_are_those_of_soft_mode(m, rested):
    hung = np.asarray(rested.xpos[m.body("hung").id])
    np.testing.assert_allclose(hung, [0, 7, 1], atol=2e-3)


def test_counts_and_residuals(rested):
    assert int(rested.unconverged) == 0 and float(rested.solver_residual) < 1e-8
    assert 0 < int(rested.solver_niter) <= 60 and not np.asarray(rested.warning).any()


def test_sliding_stops_in_line_and_where_coulomb_says(m):
    d = mjx.make_data(m)
    speed = jnp.array([4.0, 0.8])
    d = d.replace(qpos=d.qpos.at[9].set(5.0), qvel=d.qvel.at[:2].set(speed))  # the ball elsewhere
    d = run(m, d, 180)
    moved = np.asarray(d.qpos[:2])
    v = float(jnp.linalg.norm(speed))
    expected = v * v / (2 * 0.25 * 9.81) - v * 0.01 / 2  # at the ends of steps of 0.01 s
    np.testing.assert_allclose(np.linalg.norm(moved), expected, rtol=0.01)
    assert abs(np.cross(np.append(moved, 0), np.append(speed / v, 0))[2]) < 1e-6
    assert abs(2 * np.arcsin(float(d.qpos[6]))) < np.deg2rad(1e-4)


def test_a_fast_fall_does_not_penetrate(m):
    d = mjx.make_data(m)
    d = d.replace(qpos=d.qpos.at[2].set(0.6).at[3:7].set(jnp.array([0.9, 0.3, 0.2, 0.1]) / jnp.sqrt(0.95)))
    d = d.replace(qpos=d.qpos.at[9].set(5.0), qvel=d.qvel.at[2].set(-6.0).at[3:6].set(jnp.array([8.0, -6.0, 4.0])))
    height = jax.jit(lambda d: mjx.geom_distance(m, mjx.kinematics(m, d), 0, 1, 1.0)[0])
    lowest = []
    for _ in range(40):
        d = step(m, d)
        lowest.append(float(height(d)))
    assert min(lowest) > -1e-3, min(lowest)


def test_what_begins_inside_parts_at_bounded_speed(m):
    d = mjx.make_data(m)
    d = d.replace(qpos=d.qpos.at[2].set(0.05).at[9].set(5.0))
    d = step(m, d)
    np.testing.assert_allclose(d.qvel[2], 0.5, rtol=0.02)
    d = run(m, d, 40)
    assert 0.1 < float(d.qpos[2]) < 0.12 and abs(float(d.qvel[2])) < 1e-2


@pytest.mark.slow
def test_a_gap_is_one_at_any_time_step_and_mass():
    heights = []
    for h, mass in ((0.002, 1), (0.01, 1), (0.01, 50)):
        xml = f"""<mujoco><option timestep="{h}"/><worldbody><geom type="plane" size="1 1 1"/>
        <body pos="0 0 .1"><freejoint/><geom size=".1" mass="{mass}"/></body></worldbody></mujoco>"""
        m = model(1e-3, xml)
        heights.append(float(run(m, mjx.make_data(m), int(2 / h)).qpos[2]) - 0.1)
    np.testing.assert_allclose(heights, 1e-3, rtol=1e-2)


@pytest.mark.slow
def test_batches_in_single_precision(m):
    d = mjx.make_data(m)
    many = jax.vmap(lambda z: d.replace(qpos=d.qpos.at[2].add(z)))(jnp.array([0.0, 0.05, 0.3]))
    single = jax.tree.map(lambda x: x.astype(jnp.float32) if x.dtype == jnp.float64 else x, (m, many))
    end = jax.jit(jax.vmap(mjx.step, (None, 0)))(*single)
    assert end.qvel.dtype == jnp.float32 and not np.asarray(end.unconverged).any()
    for i in range(3):
        np.testing.assert_allclose(end.qvel[i], step(m, many[i]).qvel, atol=2e-4)


@pytest.mark.slow
def test_light_bodies_without_friction_in_single_precision():
    """A milligram above the floor, far beyond its weight's reach, beside a contact with friction."""
    m = model(
        xml="""<mujoco><worldbody><geom type="plane" size="9 9 .1" condim="1"/>
      <body pos="0 0 0.006"><joint type="slide" axis="0 0 1"/><geom size=".001" mass="1e-6" condim="1"/></body>
      <body pos="1 0 0.1"><joint type="slide" axis="0 0 1"/><geom size=".1" condim="6"/></body></worldbody></mujoco>"""
    )
    d = mjx.make_data(m).replace(qvel=jnp.array([-1.0, -1.0]))
    single = jax.tree.map(lambda x: x.astype(jnp.float32) if x.dtype == jnp.float64 else x, (m, d))
    end = jax.jit(mjx.step)(*single)
    assert int(end.ncon) == 2 and int(end.unconverged) == 0
    np.testing.assert_allclose(end.qvel, step(m, d).qvel, atol=1e-5)


def test_soft_again_is_as_before(m):
    plain = mjx.Model.from_xml_string(XML)
    back = mjx.without_hard_contact(m)
    assert back.flags == plain.flags and back.hard is None
    assert back.njmax == plain.njmax


@pytest.mark.slow
def test_contacts_that_no_joint_can_move_are_left_out():
    """A disc that slides in a plane alone, a little inside the floor: no force answers that distance."""
    m = model(
        xml="""<mujoco><worldbody><geom type="plane" size="9 9 .1"/>
      <body pos="0 0 0.0499999"><joint type="slide" axis="1 0 0" range="-1 0.01" limited="true"/>
        <joint type="slide" axis="0 1 0"/><joint axis="0 0 1"/><geom type="cylinder" size=".1 .05"/></body>
      </worldbody></mujoco>"""
    )
    d = mjx.make_data(m)
    d = jax.jit(lambda d: mjx.step(m, d))(d.replace(qvel=jnp.array([1.0, 0.5, 2.0])))
    assert int(d.ncon) > 0 and int(d.unconverged) == 0
    limit = np.asarray(d.efc_type) == mjx.ConstraintType.LIMIT_JOINT
    assert not np.asarray(d.efc_force)[~limit].any()
    np.testing.assert_allclose(d.qvel[1:], [0.5, 2.0], rtol=1e-12)


@pytest.mark.slow
def test_what_turns_past_its_nearest_point_does_not_penetrate():
    """Where the step ends the distance grows: at that rate the arm would have begun inside, which it did not."""
    m = model(
        1e-5,
        xml="""<mujoco><option timestep="0.005" gravity="0 0 0"/>
      <default><geom type="capsule" size="0.03" condim="1"/><joint axis="0 1 0"/></default>
      <worldbody><geom type="sphere" size="0.05" pos="0.25 0 0"/>
        <body><joint/><geom fromto="0 0 0.1 0 0 0.3"/>
          <body pos="0 0 0.4"><joint/><geom fromto="0 0 0.1 0 0 0.3"/></body></body></worldbody></mujoco>""",
    )
    d = mjx.make_data(m)
    d = d.replace(qpos=jnp.array([2.35446453, -2.17271351]), qvel=jnp.array([31.60098002, -49.24921559]))

    @jax.jit
    def after(qvel):
        jacobian = jax.jacfwd(lambda v: mjx.step(m, d.replace(qvel=v)).qvel)(qvel)
        return mjx.step(m, d.replace(qvel=qvel)), jacobian

    def apart(d):
        d = mjx.kinematics(m, d)
        return min(float(mjx.geom_distance(m, d, 0, geom, 1.0)[0]) for geom in (1, 2))

    end, jacobian = after(d.qvel)
    assert apart(d) > 3e-3 and abs(end.qvel[0] - d.qvel[0]) > 1  # it starts apart, and hits
    assert 0 < apart(end) < 1e-3, apart(end)
    rows = [(after(d.qvel + e)[0].qvel - after(d.qvel - e)[0].qvel) / 2e-6 for e in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(jacobian, np.array(rows).T, rtol=1e-6, atol=1e-6)


def test_without_rows_a_step_is_that_of_soft_contact():
    """Two joints with one axis have a singular inertia matrix, which leaves the second at rest in either mode."""
    xml = """<mujoco><worldbody><body><joint type="slide" axis="0 0 1"/><joint type="slide" axis="0 0 1"/>
      <geom size="0.1" mass="1"/></body></worldbody></mujoco>"""
    ends = []
    for contact in ("soft", "hard"):
        m = mjx.Model.from_xml_string(xml, contact=contact)
        d = mjx.make_data(m)
        end = jax.jit(jax.value_and_grad(lambda f, m=m, d=d: mjx.step(m, d.replace(qfrc_applied=f)).qvel[0]))
        ends.append(end(jnp.array([1.0, 0.0])))
    np.testing.assert_allclose(ends[0][0], 0.002 * (1 - 9.81), rtol=1e-12)
    np.testing.assert_allclose(ends[1][0], ends[0][0], rtol=1e-12)
    np.testing.assert_allclose(ends[1][1], ends[0][1], rtol=1e-12)
    assert np.abs(ends[1][1]).max() > 1e-3


LIFT = """<mujoco><option timestep="0.005"/><worldbody>
  <body mocap="true" pos="0 0 .05"><geom type="box" size=".3 .3 .05"/></body>
  <body pos="0 0 .2"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="1"/></body></worldbody></mujoco>"""


@jax.jit
def lifted(m, d, height):
    """Return Data after a lift was at each height, shape (steps,), and how far the ball is from it then."""

    def one(d, height):
        d = mjx.step(m, d.replace(mocap_pos=d.mocap_pos.at[0, 2].set(height)))
        return d, d.qpos[0] + 0.05 - height

    return jax.lax.scan(one, d, height)


@pytest.mark.parametrize("speed, recovery, stays", [(0.3, 0.5, True), (1.0, 3.0, True), (1.0, 0.5, False)])
def test_mocap_bodies_push_at_no_more_than_the_speed_of_recovery(speed, recovery, stays):
    m = model(xml=LIFT, recovery=recovery)
    end, distance = lifted(m, mjx.make_data(m), 0.05 + speed * m.opt.timestep * jnp.arange(1, 101))
    if stays:
        assert distance.min() > 0 and end.qvel[0] == pytest.approx(speed, rel=1e-3)
    else:
        assert distance[-1] < -0.1, "it went through"
