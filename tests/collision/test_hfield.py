"""Height fields against convex geoms, in both engines."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

from mjx_like.collision.driver import collision
from mjx_like.interop.convert import put_model
from mjx_like.state.initial import make_data
from tests.collision import scene
from tests.support.oracle import error

COUNT = 24


def _model(kind: str, margin: float, flags: str = "", option: str = 'ccd_tolerance="1e-10" ccd_iterations="60"'):
    """Return (MjModel, Model) of a rough, tilted field, and a free geom."""
    heights = np.random.default_rng(0).uniform(size=54)
    size = {"sphere": ".15", "capsule": ".06 .1", "ellipsoid": ".07 .1 .14", "cylinder": ".09 .12",
            "box": ".07 .1 .13"}.get(kind)  # fmt: skip
    shape = 'type="mesh" mesh="tent"' if size is None else f'type="{kind}" size="{size}"'
    xml = f"""
    <mujoco>
      <option {option}><flag {flags}/></option>
      <default><geom margin="{margin}" gap="0.01"/></default>
      <asset><hfield name="h" nrow="6" ncol="9" size="1 .6 .2 .1" elevation="{" ".join(map(str, heights))}"/>
        <mesh name="tent" vertex="0 0 .18  .15 0 -.09  -.07 .13 -.09  -.07 -.13 -.09  -.06 0 .15"/></asset>
      <worldbody>
        <geom name="a" type="hfield" hfield="h" pos=".1 .2 .3" euler="10 20 30"/>
        <body><freejoint/><geom name="b" {shape} contype="2"/></body>
      </worldbody>
    </mujoco>"""
    mj = mujoco.MjModel.from_xml_string(xml)
    return mj, put_model(mj, nconmax=40)


def _poses(mj, count: int) -> np.ndarray:
    """Return qpos over, in and beyond the field."""
    rng = np.random.default_rng(1)
    data = mujoco.MjData(mj)
    mujoco.mj_kinematics(mj, data)
    turn = data.geom_xmat[0].reshape(3, 3)
    local = rng.uniform(-1, 1, (count, 3)) * np.array([1.1, 0.7, 0.15]) + np.array([0, 0, 0.2])
    quat = rng.normal(size=(count, 4))
    return np.concatenate([data.geom_xpos[0] + local @ turn.T, quat / np.linalg.norm(quat, axis=1, keepdims=True)], 1)


EXACT = (1e-9, 1e-9, 1e-9)
CURVED = (1e-9, 1e-6, 1e-4)  # the normal of a shallow contact is a quotient of small numbers


@pytest.mark.parametrize(
    "kind, margin, limits",
    [
        ("sphere", 0.0, EXACT),
        pytest.param("capsule", 0.01, EXACT, marks=pytest.mark.slow),
        pytest.param("ellipsoid", 0.0, CURVED, marks=pytest.mark.slow),
        pytest.param("ellipsoid", 0.01, CURVED, marks=pytest.mark.slow),
        ("box", 0.01, EXACT),
        pytest.param("cylinder", 0.01, CURVED, marks=pytest.mark.slow),
        pytest.param("mesh", 0.0, EXACT, marks=pytest.mark.slow),
    ],
)
def test_contacts_equal_oracle(kind, margin, limits):
    """At MuJoCo's own tolerance: with a margin both search with a layer around the geoms."""
    mj, m = _model(kind, margin, option="")
    reference = scene.oracle(mj, _poses(mj, COUNT))
    worst = scene.compare(scene.ours(m, reference), reference)
    assert worst["wrong"] == []
    assert worst["contacts"] > 25 and worst["several"] > 8
    assert all(worst[name] <= limit for name, limit in zip(("dist", "pos", "frame"), limits, strict=True))
    assert worst["includemargin"] == worst["friction"] == worst["solref"] == worst["solimp"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind, flags",
    [
        ("sphere", ""),
        ("mesh", ""),
        ("box", 'nativeccd="disable"'),
    ],
)
def test_contacts_have_their_derivatives(kind, flags):
    """By the pose and size of the geom, and the heights and size of the field; finite where nothing touches.

    Without `nativeccd` only depths have them: points and normals lie where the search happens to end, and so, to a
    small part, do the differences.
    """
    mj, m = _model(kind, 0.01, flags)
    reference = scene.oracle(mj, _poses(mj, 12))
    xpos = jnp.array([d.geom_xpos for d in reference])
    xmat = jnp.array([d.geom_xmat.reshape(-1, 3, 3) for d in reference])
    d, rng = make_data(m), np.random.default_rng(2)
    names = ("geom_size", "mesh_vert", "hfield_data", "hfield_size")
    move = {name: jnp.asarray(rng.normal(size=getattr(m, name).shape)) for name in names}
    shift, weight = jnp.asarray(rng.normal(size=xpos.shape[1:])), jnp.asarray(rng.normal(size=7))
    weight = jnp.where(np.arange(7) == 0, weight, 0) if flags else weight

    def total(scale, p, r):
        model = m.replace(**{name: getattr(m, name) + scale * move[name] for name in names})
        out = collision(model, d.replace(geom_xpos=p + scale * shift, geom_xmat=r))
        c = out.contact
        rows = jnp.concatenate([c.dist[:, None], c.pos, c.frame[:, 0]], axis=1)
        return jnp.sum(jnp.where(jnp.arange(m.nconmax) < out.ncon, rows @ weight, 0)), out.ncon

    both = jax.jit(jax.vmap(jax.value_and_grad(total, has_aux=True), in_axes=(None, 0, 0)))
    step = 1e-5 if flags else 1e-6
    ((_, ncon), slope), ((ahead, n1), _), ((behind, n2), _) = (both(s, xpos, xmat) for s in (0.0, step, -step))
    same = np.asarray((n1 == n2) & (n1 == ncon))
    assert same.sum() > 8 and (np.asarray(ncon) > 1).sum() > 4 and (np.asarray(ncon) == 0).any()
    assert np.isfinite(slope).all()
    assert error(slope[same], (ahead - behind)[same] / (2 * step)) < (1e-2 if flags else 1e-5)


def _steep(kind: str, margin: float = 0.0):
    """Return (MjModel, Model) of cells of 0.3 m with slopes up to 70 degrees, and one free geom."""
    heights = " ".join(map(str, np.random.default_rng(0).uniform(size=30)))
    shape = {"box": 'type="box" size=".1 .15 .12"', "mesh": 'type="mesh" mesh="tent"',
             "cylinder": 'type="cylinder" size=".09 .12"'}[kind]  # fmt: skip
    xml = f"""
    <mujoco>
      <asset><hfield name="h" nrow="5" ncol="6" size=".75 .6 .8 .2" elevation="{heights}"/>
        <mesh name="tent" vertex="0 0 .18  .15 0 -.09  -.07 .13 -.09  -.07 -.13 -.09  -.06 0 .15"/></asset>
      <worldbody>
        <geom type="hfield" hfield="h"/>
        <body><freejoint/><geom {shape} margin="{margin}"/></body>
      </worldbody>
    </mujoco>"""
    mj = mujoco.MjModel.from_xml_string(xml)
    return mj, put_model(mj, nconmax=40)


def _deep(count: int) -> np.ndarray:
    """Return qpos of a geom that is mostly within the steep field."""
    rng = np.random.default_rng(0)
    quat = rng.normal(size=(count, 4))
    pos = rng.uniform(-1, 1, (count, 3)) * np.array([0.6, 0.45, 0.3]) + np.array([0, 0, 0.3])
    return np.concatenate([pos, quat / np.linalg.norm(quat, axis=1, keepdims=True)], axis=1)


def _changing(mj, qpos: np.ndarray, reference) -> int:
    """Return how many of MuJoCo's contacts change by more than 1e-6 when pose and field move by 1e-12."""
    rng, size, found = np.random.default_rng(1), mj.hfield_size.copy(), set()
    for _ in range(30):
        mj.hfield_size[:] = size + 1e-12 * rng.uniform(-1, 1, size.shape)
        for k, moved in enumerate(scene.oracle(mj, qpos + 1e-12 * rng.uniform(-1, 1, qpos.shape))):
            a, b = (scene.rows(d.contact, d.ncon) for d in (reference[k], moved))
            same = a.shape == b.shape
            found |= {(k, j) for j in range(len(a)) if not same or np.abs(a[j] - b[j]).max() > 1e-6}
    mj.hfield_size[:] = size
    return len(found)


@pytest.mark.parametrize(
    "kind, margin, limit",
    [
        pytest.param("box", 0.0, 1e-9, marks=pytest.mark.slow),
        pytest.param("box", 0.01, 1e-6, marks=pytest.mark.slow),
        pytest.param("mesh", 0.0, 1e-9, marks=pytest.mark.slow),
        pytest.param("cylinder", 0.0, 1e-4, marks=pytest.mark.slow),
        pytest.param("cylinder", 0.01, 1e-4, marks=pytest.mark.slow),
    ],
)
def test_deep_contacts_equal_oracle(kind, margin, limit):
    """Contact by contact, in the order of the prisms.

    Without margin MuJoCo's search for boxes and meshes ends early. Where two faces of its polytope lie in one plane
    rounding decides with which: no more may differ than contacts of MuJoCo itself change when pose and field move by
    1e-12, and that are few.
    """
    mj, m = _steep(kind, margin)
    qpos = _deep(60)
    reference = scene.oracle(mj, qpos)
    data = scene.ours(m, reference)
    contact, total, wrong = jax.tree.map(np.asarray, data.contact), 0, 0
    for k, theirs in enumerate(reference):
        n = int(data.ncon[k])
        assert n == theirs.ncon, k
        if n:
            mine, other = scene.rows(jax.tree.map(lambda x, k=k: x[k], contact), n), scene.rows(theirs.contact, n)
            gap = np.abs(mine - other)
            total, wrong = total + n, wrong + ((gap[:, 0] > min(limit, 1e-6)) | (gap.max(axis=1) > limit)).sum()
    changing = _changing(mj, qpos, reference) if wrong else 0
    assert total > 200 and wrong <= changing <= 0.07 * total, (total, wrong, changing)


@pytest.mark.slow
def test_deep_boxes_have_their_derivatives():
    """Of distance, point and normal where the search ended early, by pose, size and heights."""
    mj, m = _steep("box")
    reference = scene.oracle(mj, _deep(12))
    xpos = jnp.array([d.geom_xpos for d in reference])
    xmat = jnp.array([d.geom_xmat.reshape(-1, 3, 3) for d in reference])
    d, rng = make_data(m), np.random.default_rng(2)
    move = {n: jnp.asarray(0.1 * rng.normal(size=getattr(m, n).shape)) for n in ("geom_size", "hfield_data")}
    shift, turn = (jnp.asarray(0.3 * rng.normal(size=3)) for _ in range(2))

    def rows(s, p, r):
        model = m.replace(**{n: getattr(m, n) + s * x for n, x in move.items()})
        tilted = r.at[1].set(r[1] + s * jnp.cross(turn, r[1], axisb=0, axisc=0))
        out = collision(model, d.replace(geom_xpos=p.at[1].add(s * shift), geom_xmat=tilted))
        return jnp.concatenate([out.contact.dist[:, None], out.contact.pos, out.contact.frame[:, 0]], axis=1), out.ncon

    both = jax.jit(jax.vmap(lambda s, p, r: jax.jvp(lambda x: rows(x, p, r), (s,), (1.0,)), in_axes=(None, 0, 0)))
    ((_, n0), (slope, _)), ((high, n1), _), ((low, n2), _) = (both(s, xpos, xmat) for s in (0.0, 1e-6, -1e-6))
    used = np.arange(m.nconmax) < np.where((n0 == n1) & (n0 == n2), n0, 0)[:, None]
    gap = np.abs(np.asarray(slope) - np.asarray(high - low) / 2e-6).max(axis=2)
    assert np.isfinite(np.asarray(slope)).all() and used.sum() > 30
    assert (gap[used] < 1e-5).mean() > 0.9, np.sort(gap[used])  # the others jump to another face


def test_cells_under_the_bound_decide_the_layout():
    _, m = _model("capsule", 0.01)
    group = m.plans.collision.groups[0]
    assert group.cells == (3, 3) and group.slots == 18
    assert m.hfield_cells.shape == (1, 2, 2)
