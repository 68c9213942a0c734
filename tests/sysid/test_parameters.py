"""Parameters: maps and their inverses, leaves they set, constants that follow, derivatives, messages."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.compiler.load import from_xml_string
from mjx_like.errors import InputError
from mjx_like.leaves.change import leaf_value, with_leaves
from mjx_like.set_const import set_const
from mjx_like.sysid.inertia import from_pseudo_inertia, inertia, pseudo_inertia
from mjx_like.sysid.leaf import bounded, free, positive, scaled
from mjx_like.sysid.parameters import Parameters
from mjx_like.sysid.transform import interval, linear, logarithm

XML = """
<mujoco><option timestep=".002"/><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
<body name="upper" pos="0 0 1"><joint name="shoulder" axis="0 1 0" damping=".3"/>
  <geom name="upper" type="capsule" size=".03" fromto="0 0 0 0 0 -.4" mass="2"/>
  <body name="lower" pos="0 0 -.4"><joint name="elbow" axis="1 0 0" damping=".1"/><site name="tip" pos="0 0 -.3"/>
    <inertial pos=".01 .02 -.2" mass="1.5" fullinertia=".02 .018 .004 .001 -.002 .0005"/>
    <geom name="lower" type="sphere" size=".05" pos="0 0 -.3"/></body></body>
</worldbody></mujoco>
"""


@pytest.fixture(scope="module")
def m():
    return from_xml_string(XML)


@pytest.mark.parametrize("transform, value", [(logarithm(), 0.3), (interval(-1, 2), 1.7), (linear(0.01), -0.4)])
def test_a_map_and_its_inverse(transform, value):
    assert abs(transform.to_value(transform.to_coordinate(jnp.asarray(value))) - value) < 1e-14
    values = transform.to_value(jnp.linspace(-30, 30, 7))
    assert (values >= transform.low).all() and (values <= transform.high).all() and (jnp.diff(values) > 0).all()


PARTS = [
    positive("body_mass@upper"),
    bounded("geom_friction@*[0]", 0.1, 2.0),
    free("site_pos@tip", scale=0.01),
    positive("dof_damping", shared=True),
    scaled("body_inertia@upper"),
]


def test_the_start_is_the_model(m):
    p = Parameters(m, PARTS)
    at = jax.jit(p.apply)(m, p.start)
    for name in ("body_mass", "geom_friction", "site_pos", "body_inertia", "body_invweight0", "dof_M0"):
        np.testing.assert_allclose(getattr(at, name), getattr(m, name), rtol=1e-12, atol=1e-15, err_msg=name)
    assert np.allclose(at.dof_damping, 0.2), "shared: the mean to start from"


def test_values_labels_and_leaves(m):
    p = Parameters(m, PARTS)
    theta = p.start + np.linspace(-0.3, 0.4, p.start.size)
    values, found = np.asarray(p.values(theta)), p.apply(m, theta)
    named = dict(zip(p.labels, values, strict=True))
    assert named["body_mass@upper"] == leaf_value(found, "body_mass@upper") == pytest.approx(2 * np.exp(-0.3))
    assert named["geom_friction@*[0] (1,)"] == leaf_value(found, "geom_friction@upper[0]")
    assert named["site_pos@tip (2,)"] == leaf_value(found, "site_pos@tip[2]")
    assert (found.dof_damping == named["dof_damping"]).all()
    ratio = found.body_inertia[1] / m.body_inertia[1]
    assert np.allclose(ratio, named["factor of body_inertia@upper"])
    assert p.coordinates == p.labels


def test_derived_constants_follow(m):
    p = Parameters(m, [positive("body_mass@lower"), free("body_pos@lower[2]")])
    found = p.apply(m, p.start + np.array([0.2, -0.1]))
    oracle = mujoco.MjModel.from_xml_string(XML)
    oracle.body_mass[2] *= np.exp(0.2)
    oracle.body_pos[2, 2] -= 0.1
    mujoco.mj_setConst(oracle, mujoco.MjData(oracle))
    np.testing.assert_allclose(found.body_invweight0, oracle.body_invweight0, rtol=1e-10)
    np.testing.assert_allclose(found.dof_M0, oracle.dof_M0, rtol=1e-10)


@pytest.mark.slow
def test_derivatives_are_those_of_differences(m):
    p = Parameters(m, [*PARTS[:-1], inertia("lower")])
    theta = p.start + 0.1 * np.random.default_rng(0).normal(size=p.start.size)
    way = np.random.default_rng(1).normal(size=p.start.size)

    @jax.jit
    def read(theta):
        x = p.apply(m, theta)
        return jnp.concatenate([x.body_mass, x.dof_M0, x.body_invweight0.ravel(), x.site_pos.ravel(), p.values(theta)])

    slope = jax.jvp(read, (jnp.asarray(theta),), (jnp.asarray(way),))[1]
    difference = (read(theta + 1e-6 * way) - read(theta - 1e-6 * way)) / 2e-6
    np.testing.assert_allclose(slope, difference, rtol=1e-6, atol=1e-7)


def tensor(m, body):
    """Return the inertia about the centre of mass in the body's axes, by MuJoCo's own rotation matrix."""
    axes = np.zeros(9)
    mujoco.mju_quat2Mat(axes, np.asarray(m.body_iquat[body], float))
    axes = axes.reshape(3, 3)
    return axes @ np.diag(m.body_inertia[body]) @ axes.T


class TestInertia:
    def test_the_start_is_the_model(self, m):
        p = Parameters(m, [inertia("lower")])
        values = p.values(p.start)
        full = [1.5, 0.01, 0.02, -0.2, 0.02, 0.018, 0.004, 0.001, -0.002, 0.0005]
        np.testing.assert_allclose(values, full, atol=1e-12)
        np.testing.assert_allclose(tensor(p.apply(m, p.start), 2), tensor(m, 2), rtol=1e-6, atol=1e-9)

    def test_pseudo_inertia_and_back(self):
        rng = np.random.default_rng(0)
        points, weight = rng.normal(size=(9, 3)), rng.uniform(size=9)
        mass, com = weight.sum(), weight @ points / weight.sum()
        off = points - com
        about = sum(w * (x @ x * np.eye(3) - np.outer(x, x)) for w, x in zip(weight, off, strict=True))
        pseudo = pseudo_inertia(jnp.asarray(mass), jnp.asarray(com), jnp.asarray(about))
        ones = np.c_[points, np.ones(9)]
        np.testing.assert_allclose(pseudo, ones.T @ (weight[:, None] * ones), rtol=1e-12)
        for found, given in zip(from_pseudo_inertia(pseudo), (mass, com, about), strict=True):
            np.testing.assert_allclose(found, given, rtol=1e-12, atol=1e-14)

    @pytest.mark.slow
    def test_far_away_it_is_still_physical(self, m):
        p = Parameters(m, [inertia("upper")])
        for theta in np.random.default_rng(1).normal(size=(20, 10)) * 2:
            found = p.apply(m, theta)
            moments = np.sort(found.body_inertia[1])
            assert found.body_mass[1] > 0 and moments[0] > 0 and moments[0] + moments[1] > moments[2] * (1 - 1e-6)
            values = np.asarray(p.values(theta))
            allowed = 1e-7 * values[4:7].sum()  # moments are set apart by 1.5e-8 of their sum
            upper = tensor(found, 1)[np.triu_indices(3)]
            np.testing.assert_allclose(upper, values[[4, 7, 8, 5, 9, 6]], rtol=1e-9, atol=allowed)

    def test_products_of_inertia_have_derivatives_where_moments_are_equal(self, m):
        """A capsule's axes are not defined: their derivative must not be lost."""
        p = Parameters(m, [inertia("upper")])
        assert np.isclose(m.body_inertia[1, 0], m.body_inertia[1, 1], rtol=1e-9)

        def off(theta):
            x = p.apply(m, theta)
            w, x_, y, z = x.body_iquat[1]
            axes = jnp.array([
                [1 - 2 * (y * y + z * z), 2 * (x_ * y - w * z), 2 * (x_ * z + w * y)],
                [2 * (x_ * y + w * z), 1 - 2 * (x_ * x_ + z * z), 2 * (y * z - w * x_)],
                [2 * (x_ * z - w * y), 2 * (y * z + w * x_), 1 - 2 * (x_ * x_ + y * y)],
            ])  # fmt: skip
            return ((axes * x.body_inertia[1]) @ axes.T)[(0, 0, 1), (1, 2, 2)]

        slopes = jax.jit(jax.jacfwd(off))(jnp.asarray(p.start))
        expected = jax.jit(jax.jacfwd(lambda theta: p.values(theta)[7:]))(jnp.asarray(p.start))
        assert np.abs(expected).max() > 1e-4
        np.testing.assert_allclose(slopes, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize(
    "parts, message",
    [
        ([], "must be a list of positive"),
        ([positive("body_mas@upper")], "no float parameter 'body_mas'; did you mean 'body_mass'"),
        ([positive("body_mass@uper")], "nothing is named 'uper'; did you mean 'upper'"),
        ([positive("site_pos@tip[2]")], "starts at -0.3, must be above 0"),
        ([bounded("geom_friction@floor[0]", 0.1, 0.5)], "starts at 1, must be between 0.1 and 0.5"),
        ([positive("body_mass@upper"), inertia("upper")], "both set an entry of body_mass"),
        ([positive("body_mass"), positive("body_mass@upper")], "starts at 0, must be above 0"),
        ([positive("dof_damping"), positive("dof_damping@elbow")], "both set an entry of dof_damping: leave one out"),
        ([inertia("*er")], "must name one body"),
        ([inertia("hand")], "nothing is named 'hand'"),
        ([bounded("geom_solref@floor[0]", 1e-3, 0.1)], "below two time steps, 0.004 s, is raised to that in silence"),
        ([positive("geom_solref@floor[0]")], r"bounded\('geom_solref@floor\[0\]', 0.004, high\)"),
        ([positive("dof_frictionloss@elbow", start=0.1)], "was zero when the model was compiled"),
    ],
)
def test_messages(m, parts, message):
    with pytest.raises(InputError, match=message) as raised:
        Parameters(m, parts)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: bounded("geom_size", 2, 1), "needs two finite numbers, low < high"),
        (lambda: free("site_pos", scale=0), "scale=0.0: must be a positive number"),
        (lambda: scaled("body_inertia", 0.5), "needs 0 <= low < high, or no bounds"),
        (lambda: positive("body_mass", prior=0), "prior=0: must be a positive number"),
        (lambda: positive("body_mass", start="heavy"), "start='heavy': must be a number"),
    ],
)
def test_messages_without_a_model(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_time_constants_within_the_bounds_are_allowed(m):
    Parameters(m, [bounded("geom_solref@floor[0]", 0.004, 0.1), bounded("geom_solref@floor[1]", 0.05, 2)])
    direct = with_leaves(m, {"geom_solref": [-1000.0, -10.0]})
    Parameters(direct, [bounded("geom_solref@floor[0]", -5000, -100)])


def test_set_const_is_called_once_for_all(m, monkeypatch):
    calls = []
    monkeypatch.setattr("mjx_like.leaves.change.set_const", lambda m: calls.append(1) or set_const(m))
    p = Parameters(m, PARTS)
    p.apply(m, p.start)
    assert len(calls) == 1
