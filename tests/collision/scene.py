"""Two geoms in free bodies at random poses near contact, in both engines."""

import jax
import jax.numpy as jnp
import mujoco
import numpy as np

from mjx_like.collision.driver import collision
from mjx_like.interop.convert import put_model
from mjx_like.state.initial import make_data

SIZES = {
    "plane": "1 1 1", "sphere": ".1", "capsule": ".06 .13", "ellipsoid": ".07 .1 .14", "cylinder": ".09 .12",
    "box": ".07 .1 .13",
}  # fmt: skip


def model(kind1: str, kind2: str, margin: float = 0.0, gap: float = 0.0, option: str = "", sizes=("", "")):
    """Return (MjModel, Model) of a fixed plane or free geom and a free geom."""
    first, second = (f'type="{k}" size="{s or SIZES[k]}"' for k, s in zip((kind1, kind2), sizes, strict=True))
    free = "" if kind1 == "plane" else "<freejoint/>"
    xml = f"""
    <mujoco>
      <option>{option}</option>
      <default><geom margin="{margin}" gap="{gap}"/></default>
      <worldbody>
        <body>{free}<geom name="a" {first} mass="1"/></body>
        <body><freejoint/><geom name="b" {second} mass="1"/></body>
      </worldbody>
    </mujoco>"""
    mj = mujoco.MjModel.from_xml_string(xml)
    return mj, put_model(mj)


def poses(mj: mujoco.MjModel, count: int, seed: int = 0, reach: float = 0.35, tilt: float | None = None) -> np.ndarray:
    """Return qpos of `count` random poses; with `tilt`, orientations stay within it of the axes [rad]."""
    rng, out = np.random.default_rng(seed), []
    for _ in range(count):
        rows = []
        for body in range(mj.nq // 7):
            quat = rng.normal(size=4) if tilt is None else np.append(1, 0.5 * tilt * rng.normal(size=3))
            center = rng.normal(size=3)
            center *= reach * rng.uniform(0.1, 1) ** (1 / 3) / np.linalg.norm(center)
            rows += [*(center if body or mj.nq == 7 else np.zeros(3)), *(quat / np.linalg.norm(quat))]
        out.append(rows)
    return np.array(out)


def oracle(mj: mujoco.MjModel, qpos: np.ndarray) -> list[mujoco.MjData]:
    """Return MuJoCo's data with positions and contacts of each pose."""
    out = []
    for q in qpos:
        data = mujoco.MjData(mj)
        data.qpos[:] = q
        mujoco.mj_kinematics(mj, data)
        mujoco.mj_collision(mj, data)
        out.append(data)
    return out


def _contacts(m, d, xpos, xmat):
    """Return Data of each pose after the collision stage."""
    return jax.vmap(lambda p, r: collision(m, d.replace(geom_xpos=p, geom_xmat=r)))(xpos, xmat)


contacts = jax.jit(_contacts)
# at the tests' optimisation level of 0, XLA's older emitters put points of signed distance fields in wrong places
OPTIMISED = {"xla_backend_optimization_level": 1}
optimised = jax.jit(_contacts, compiler_options=OPTIMISED)


def ours(m, reference: list[mujoco.MjData], contacts=contacts):
    """Return Data with our contacts at the geom poses of `reference`."""
    xpos = jnp.array([d.geom_xpos for d in reference])
    xmat = jnp.array([d.geom_xmat.reshape(-1, 3, 3) for d in reference])
    return contacts(m, make_data(m), xpos, xmat)


def compare(data, reference: list[mujoco.MjData], ordered: bool = True) -> dict:
    """Return the number of poses whose count differs, of contacts, and the largest differences of the others."""
    worst = {
        k: 0.0 for k in ("dist", "pos", "frame", "includemargin", "friction", "solref", "solreffriction", "solimp")
    }
    worst |= {"wrong": [], "contacts": 0, "several": 0}
    contact = jax.tree.map(np.asarray, data.contact)
    for k, theirs in enumerate(reference):
        n = int(data.ncon[k])
        if n != theirs.ncon:
            worst["wrong"].append((k, n, theirs.ncon))
            continue
        worst["contacts"] += n
        worst["several"] += n > 1
        left = list(range(n))
        for j in range(n):
            c = theirs.contact[j]
            i = j if ordered else min(left, key=lambda i: np.abs(contact.pos[k, i] - c.pos).sum())
            left.remove(i)
            assert tuple(contact.geom[k, i]) == tuple(c.geom) and contact.dim[k, i] == c.dim
            for name in ("dist", "pos", "frame", "includemargin", "friction", "solref", "solreffriction", "solimp"):
                value = np.ravel(getattr(contact, name)[k, i])
                worst[name] = max(worst[name], float(np.abs(value - np.ravel(getattr(c, name))).max()))
        assert (contact.dist[k, n:] > contact.includemargin[k, n:]).all() and (contact.geom[k, n:] == -1).all()
    return worst


def rows(contact, count: int) -> np.ndarray:
    """Return distance, position and normal of each contact, shape (count, 7)."""
    return np.array([[contact.dist[i], *contact.pos[i], *np.ravel(contact.frame[i])[:3]] for i in range(count)])


def by_pair(contact, count: int) -> dict:
    """Return distances, positions and frames of the contacts of each pair of geoms, in order."""
    out: dict = {}
    for i in range(count):
        row = np.concatenate([[contact.dist[i]], contact.pos[i], np.ravel(contact.frame[i])])
        out.setdefault(tuple(contact.geom[i]), []).append(row)
    return {pair: np.array(rows) for pair, rows in out.items()}


def differ(one: dict, other: dict, limit: float) -> set:
    """Return the pairs whose contacts differ."""
    pairs = set(one) | set(other)
    same = {k for k in set(one) & set(other) if one[k].shape == other[k].shape}
    return {k for k in pairs if k not in same or np.abs(one[k] - other[k]).max() > limit}


def ties(
    mj: mujoco.MjModel, qpos: np.ndarray, reference: list[mujoco.MjData], move: float, moves: int = 6
) -> list[set]:
    """Return, for each pose, the pairs whose contacts in MuJoCo itself change when poses move by `move`.

    There rounding decides which support point, or which face near the deepest one, the search ends at.
    """
    rng, out = np.random.default_rng(0), [set() for _ in reference]
    base = [by_pair(r.contact, r.ncon) for r in reference]
    for _ in range(moves):
        moved = oracle(mj, qpos + move * rng.uniform(-1, 1, qpos.shape))
        for tied, one, r in zip(out, base, moved, strict=True):
            tied |= differ(one, by_pair(r.contact, r.ncon), 1e-7)
    return out
