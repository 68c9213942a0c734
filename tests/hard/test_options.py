"""Hard contact among the options of a Model: read, changed, put back, differentiated, and what is no option."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import InputError, UnsupportedError
from mjx_like.smoothing import smoothed
from mjx_like.types.hard import CONTACT_OPTIONS, HARD_OPTIONS

XML = """<mujoco><option timestep="0.01"/><worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 .1"><joint type="slide" axis="0 0 1"/><joint type="slide" axis="1 0 0"/><geom size=".1" mass="2"/></body>
</worldbody></mujoco>"""


@pytest.fixture(scope="module")
def soft():
    return mjx.Model.from_xml_string(XML)


@pytest.fixture(scope="module")
def hard(soft):
    return mjx.with_hard_contact(soft, 1e-3)


def rest(m, gap):
    """Where the ball is after 1.5 s, of a model whose gap is set inside the compiled function, and its velocity."""
    m = m.tree_replace({"opt.gap": gap})
    d = jax.lax.fori_loop(0, 150, lambda _, d: mjx.step(m, d), mjx.make_data(m))
    return d.qpos[0], d.qvel


def same(a, b):
    assert jax.tree.structure(a) == jax.tree.structure(b)
    jax.tree.map(np.testing.assert_array_equal, a, b)


@pytest.mark.parametrize(
    "options, arguments",
    [
        ({}, {}),
        ({"gap": 1e-4}, {"gap": 1e-4}),
        ({"gap": 1e-4, "slip": 0.2}, {"gap": 1e-4, "slip": 0.2}),
        ({"grad_gap": 1e-2, "recovery": 2.0}, {"grad_gap": 1e-2, "recovery": 2.0}),
        ({"contact_iterations": 7, "refresh": 0}, {"iterations": 7, "refresh": 0}),
    ],
)
def test_the_option_is_with_hard_contact(soft, options, arguments):
    same(soft.replace(opt=soft.opt.replace(contact="hard", **options)), mjx.with_hard_contact(soft, **arguments))


def test_reading(soft, hard):
    assert soft.opt.contact == "soft" and all(getattr(soft.opt, name) is None for name in HARD_OPTIONS)
    o = mjx.with_hard_contact(soft, 1e-4, grad_gap=1e-2, iterations=9, refresh=2).opt
    assert (o.contact, o.contact_iterations, o.refresh) == ("hard", 9, 2)
    np.testing.assert_allclose([o.gap, o.slip, o.grad_gap, o.recovery], [1e-4, 1e-3, 1e-2, 0.5])
    assert hard.opt.grad_gap is None
    assert "contact hard" in repr(hard.opt) and "gap 0.001" in repr(hard.opt) and "gap" not in repr(soft.opt)


def test_soft_again(soft, hard):
    same(hard.tree_replace({"opt.contact": "soft"}), soft)
    same(mjx.without_hard_contact(hard), soft)


def test_slip_follows_the_gap_until_it_is_given(hard):
    o = hard.opt.replace(gap=1e-4)
    np.testing.assert_allclose([o.gap, o.slip], [1e-4, 1e-3])
    o = o.replace(slip=0.5).replace(gap=1e-2)
    np.testing.assert_allclose([o.gap, o.slip], [1e-2, 0.5])
    np.testing.assert_allclose(o.replace(slip=None).slip, 0.1)
    np.testing.assert_allclose(o.replace(gap=None).gap, 1e-5)


def test_the_cone_is_that_of_soft_contact(soft, hard):
    assert hard.opt.cone == mjx.ConeType.PYRAMIDAL and hard.flags.cone == mjx.ConeType.ELLIPTIC
    elliptic = hard.tree_replace({"opt.cone": mjx.ConeType.ELLIPTIC})
    assert elliptic.flags == hard.flags and elliptic.opt.cone == mjx.ConeType.ELLIPTIC
    assert mjx.without_hard_contact(elliptic).flags.cone == mjx.ConeType.ELLIPTIC
    assert mjx.without_hard_contact(hard.tree_replace({"opt.timestep": 1e-3})).flags == soft.flags


def test_all_options_go_in_again(soft, hard):
    for m in (soft, hard):
        same(m.replace(opt=m.opt.replace(**{n: getattr(m.opt, n) for n in CONTACT_OPTIONS if n != "slip"})), m)


@pytest.mark.slow
def test_value_and_gradient_by_the_gap_in_a_batch(hard):
    gaps = jnp.array([5e-4, 1e-3, 4e-3])
    moved = jax.jit(jax.vmap(lambda m, gap: jax.jvp(lambda g: rest(m, g), (gap,), (1.0,)), (None, 0)))
    (height, speed), (slope, _) = moved(hard, gaps)
    np.testing.assert_allclose(height, gaps, rtol=1e-3)
    assert np.abs(speed).max() < 1e-6
    np.testing.assert_allclose(slope, 1.0, rtol=1e-2)


def test_a_batch_of_models(hard):
    gaps = jnp.array([5e-4, 1e-3, 4e-3])
    many = hard.tree_replace({"opt.gap": gaps})
    axes = jax.tree.map(lambda _: None, hard).tree_replace({"opt.gap": 0})
    found = jax.vmap(lambda m: (m.opt.gap, m.opt.slip), (axes,))(many)
    np.testing.assert_allclose(found, [gaps, 10 * gaps])


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"contact": "hrad"}, "contact='hrad': must be 'soft' or 'hard'; did you mean 'hard'?"),
        ({"contact": True}, "contact=True: must be 'soft' or 'hard'"),
        ({"gap": 1e-3}, "gap belongs to hard contact: give contact='hard' with it"),
        ({"contact": "soft", "refresh": 1}, "refresh belongs to hard contact"),
        ({"contact": "hard", "gap": 0}, "gap=0 must be above 0"),
        ({"contact": "hard", "gap": True}, "gap=True must be above 0"),
        ({"contact": "hard", "gap": float("inf")}, "gap=inf must be finite"),
        ({"contact": "hard", "slip": float("nan")}, "slip=nan must be above 0"),
        ({"contact": "hard", "restitution": True}, "restitution=True must be at least 0"),
        ({"contact": "hard", "recovery": "fast"}, "recovery='fast' must be above 0"),
        ({"contact": "hard", "contact_iterations": 0}, "contact_iterations=0: must be a whole number of at least 1"),
        ({"contact": "hard", "refresh": 0.5}, "refresh=0.5: must be a whole number of at least 0"),
        ({"contcat": "hard"}, "an Option has no field 'contcat'; did you mean 'contact'?"),
        ({"contact_iteration": 3}, "did you mean 'contact_iterations'?"),
    ],
)
def test_mistakes(soft, changes, message):
    with pytest.raises(InputError) as mistake:
        soft.opt.replace(**changes)
    assert message in str(mistake.value)


def test_a_leaf_that_is_an_option(hard):
    with pytest.raises(InputError, match=r"gap is an option: m.replace\(opt=m.opt.replace\(gap=...\)\)"):
        hard.replace(gap=1e-3)


@pytest.mark.parametrize("name", ["gap", "restitution"])
def test_a_field_that_follows_from_options_is_not_set_alone(hard, name):
    with pytest.raises(InputError, match=f"hard.{name} follows from the options of hard contact: give those"):
        hard.tree_replace({f"hard.{name}": 0.5})


def test_an_option_that_hard_contact_does_not_have(hard):
    with pytest.raises(UnsupportedError, match="hard contact has no integrator discrete: take implicitfast"):
        hard.tree_replace({"opt.integrator": mjx.IntegratorType.DISCRETE})


def test_smoothing_in_either_mode(soft, hard):
    wide = smoothed(hard, 1e-2)
    assert wide.smoothing is None and wide.opt.gap == 1e-2 and wide.opt.slip == 0.1
    assert smoothed(soft, 1e-2).smoothing.width == 1e-2
    with pytest.raises(InputError, match=r"hard contact is smooth by its gap: m.opt.replace\(gap=...\)"):
        mjx.with_smoothing(hard)
    with pytest.raises(InputError, match="gap=-1.0 must be above 0"):
        smoothed(hard, -1.0)
