"""Functions of MuJoCo's API that answer questions about a state: Jacobians, motions of objects, products, counters."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.errors import InputError
from mjx_like.math import quaternion, safe
from mjx_like.math.linalg import cholesky, matmul
from mjx_like.math.quaternion import cross
from mjx_like.math.select import combine
from mjx_like.refsafe import raised_time_constants
from mjx_like.sensor import object_motion
from mjx_like.sensor.contact_wrench import contact_wrench
from mjx_like.tree.jacobian import jac
from mjx_like.types.data import Data
from mjx_like.types.enums import DataType, JointType, ObjType, SensorType, WarningType
from mjx_like.types.model import Model
from mjx_like.worlds import lead_of_worlds

Array = jax.Array


def jac_body(m: Model, d: Data, body: int) -> tuple[Array, Array]:
    """Return translation and rotation Jacobian, each (nv, 3), of the origin of a body's frame.  Source: mj_jacBody."""
    return jac(m, d, d.xpos[body], body)


def jac_body_com(m: Model, d: Data, body: int) -> tuple[Array, Array]:
    """Return translation and rotation Jacobian, each (nv, 3), of a body's centre of mass.  Source: mj_jacBodyCom."""
    return jac(m, d, d.xipos[body], body)


def jac_geom(m: Model, d: Data, geom: int) -> tuple[Array, Array]:
    """Return translation and rotation Jacobian, each (nv, 3), of a geom's centre.  Source: mj_jacGeom."""
    return jac(m, d, d.geom_xpos[geom], int(m.geom_bodyid[geom]))


def jac_site(m: Model, d: Data, site: int) -> tuple[Array, Array]:
    """Return translation and rotation Jacobian, each (nv, 3), of a site.  Source: mj_jacSite."""
    return jac(m, d, d.site_xpos[site], int(m.site_bodyid[site]))


def jac_subtree_com(m: Model, d: Data, body: int) -> Array:
    """Return the translation Jacobian, shape (nv, 3), of the centre of mass of a subtree.  Source: mj_jacSubtreeCom."""
    weight = m.body_mass * m.plans.tree.body_ancestor[:, body]
    rows, _ = jac(m, d, d.xipos, np.arange(m.nbody))
    return jnp.einsum("b,bvi->vi", safe.divide(weight, jnp.sum(weight)), rows, precision="highest")


def jac_point_axis(m: Model, d: Data, point: Array, axis: Array, body: int) -> tuple[Array, Array]:
    """Return the Jacobians, each (nv, 3), of a point and of a unit vector, both carried by a body.

    point, axis: shape (3,), world.  Source: mj_jacPointAxis.
    """
    jacp, jacr = jac(m, d, point, body)
    return jacp, cross(jacr, jnp.broadcast_to(axis, jacr.shape))


def object_velocity(m: Model, d: Data, objtype: ObjType, objid: int, flg_local: bool = False) -> Array:
    """Return the velocity of an object, shape (6,): angular [rad/s], linear [m/s], in its axes or the world's.

    Source: mj_objectVelocity.
    """
    return object_motion.object_velocity(m, d, objtype, np.array([objid]), flg_local)[0]


def object_acceleration(m: Model, d: Data, objtype: ObjType, objid: int, flg_local: bool = False) -> Array:
    """Return the acceleration of an object, gravity included, shape (6,): angular, linear; see `object_velocity`.

    Reads cacc: call `rne_postconstraint` before.  Source: mj_objectAcceleration.
    """
    return object_motion.object_acceleration(m, d, objtype, np.array([objid]), flg_local)[0]


def local2global(d: Data, pos: Array, quat: Array, body: int) -> tuple[Array, Array]:
    """Return position, shape (3,), and rotation, shape (3, 3), in the world of a frame given in that of a body.

    Source: mj_local2Global.
    """
    turned = quaternion.multiply(d.xquat[body], quaternion.normalize(quat))
    return d.xpos[body] + quaternion.rotate(d.xquat[body], pos), quaternion.matrix(turned)


def angmom_mat(m: Model, d: Data, body: int) -> Array:
    """Return the matrix, shape (3, nv), from qvel to the angular momentum of a subtree about its centre of mass.

    Source: mj_angmomMat.
    """
    inside = m.plans.tree.body_ancestor[:, body]
    jacp, jacr = jac(m, d, d.xipos, np.arange(m.nbody))
    local = jnp.einsum("bji,bvj->bvi", d.ximat, jacr, precision="highest") * m.body_inertia[:, None, :]
    spin = jnp.einsum("bij,bvj->bvi", d.ximat, local, precision="highest")
    arm = (d.xipos - d.subtree_com[body])[:, None, :]
    orbit = cross(jnp.broadcast_to(arm, jacp.shape), m.body_mass[:, None, None] * jacp)
    return combine(inside[None, :], spin + orbit)[0].T


def mul_m2(m: Model, d: Data, vec: Array) -> Array:
    """Return a square root of the inertia matrix times a vector, shape (nv,): its square is vec' M vec.

    The root is that of the factor L' D L.  Source: mj_mulM2.
    """
    return matmul(_root(d), vec) if m.nv else vec


def solve_m2(m: Model, d: Data, vec: Array) -> Array:
    """Return what the transposed root of `mul_m2` turns into a vector, shape (nv,).  Source: mj_solveM2."""
    if not m.nv:
        return vec
    return jax.scipy.linalg.solve_triangular(_root(d), vec, trans=1, lower=True)


def mul_jac_vec(m: Model, d: Data, vec: Array) -> Array:
    """Return the constraint Jacobian times a vector, shape (njmax,); unused rows are zero.  Source: mj_mulJacVec."""
    return matmul(d.efc_J, vec)


def mul_jac_t_vec(m: Model, d: Data, vec: Array) -> Array:
    """Return the transposed constraint Jacobian times a vector, shape (nv,).  Source: mj_mulJacTVec."""
    return matmul(d.efc_J.T, vec)


def contact_force(m: Model, d: Data, contact_id: Array | int, to_world_frame: bool = False) -> Array:
    """Return force [N] and torque [N m] of a contact, shape (6,), in its frame or in world axes.

    Source: mj_contactForce.
    """
    wrench = contact_wrench(m, d)[contact_id]
    if not to_world_frame:
        return wrench
    frame = d.contact.frame[contact_id]
    return jnp.concatenate([matmul(wrench[:3], frame), matmul(wrench[3:], frame)])


def normalize_quat(m: Model, qpos: Array) -> Array:
    """Return joint positions, shape (nq,), with all quaternions normalised.  Source: mj_normalizeQuat."""
    turning = np.isin(m.jnt_type, (JointType.FREE, JointType.BALL))
    start = (m.jnt_qposadr + 3 * (m.jnt_type == JointType.FREE))[turning]
    cells, qpos = start[:, None] + np.arange(4), jnp.asarray(qpos)
    return qpos.at[cells].set(quaternion.normalize(qpos[cells])) if cells.size else qpos


def get_totalmass(m: Model) -> Array:
    """Return the mass of all bodies [kg].  Source: mj_getTotalmass."""
    return jnp.sum(m.body_mass)


def set_totalmass(m: Model, mass: Array | float) -> Model:
    """Return the model with masses and inertias scaled to a total mass [kg]; derived constants stay.

    Source: mj_setTotalmass.
    """
    scale = safe.ratio(mass, get_totalmass(m))
    return m.replace(body_mass=m.body_mass * scale, body_inertia=m.body_inertia * scale)


def sensor_noise(m: Model, d: Data, key: Array) -> Data:
    """Return `d` with Gaussian noise of standard deviation `sensor_noise` added to `sensordata`.

    Positive values stay positive, rangefinders that miss stay as they are; axes and quaternions stay unit, the latter
    turned by a random vector.
    key: a JAX random key. Reads and writes sensordata.
    """
    if not m.nsensor:
        return d
    owner = np.repeat(np.arange(m.nsensor), m.sensor_dim)
    kind, value = m.sensor_datatype[owner], d.sensordata
    draw = jax.random.normal(key, value.shape, value.dtype) * m.sensor_noise[owner]
    noisy = value + draw
    noisy = jnp.where(kind == DataType.POSITIVE, jnp.maximum(noisy, 0), noisy)
    noisy = jnp.where((m.sensor_type[owner] == SensorType.RANGEFINDER) & (value < 0), value, noisy)
    axis, quat = (m.sensor_adr[np.flatnonzero(m.sensor_datatype == k)] for k in (DataType.AXIS, DataType.QUATERNION))
    if axis.size:
        cells = axis[:, None] + np.arange(3)
        noisy = noisy.at[cells].set(safe.normalize(noisy[cells])[0])
    if quat.size:
        cells = quat[:, None] + np.arange(4)
        turn = quaternion.from_rotation_vector(draw[cells[:, 1:]])
        noisy = noisy.at[cells].set(quaternion.multiply(value[cells], turn))
    return d.replace(sensordata=noisy)


_MEANING = {
    WarningType.INERTIA: "an inertia matrix could not be factored",
    WarningType.CONTACTFULL: "the contact buffer was full",
    WarningType.CNSTRFULL: "the constraint buffer was full",
    WarningType.BADQPOS: "qpos was not finite or too large",
    WarningType.BADQVEL: "qvel was not finite or too large",
    WarningType.BADQACC: "qacc was not finite or too large; a smaller time step may help",
    WarningType.BADCTRL: "ctrl was not finite or too large, and was taken as zero",
}


def check(m: Model, d: Data) -> tuple[str, ...]:
    """Return what went wrong so far, and what of the model is not as it says, one line a kind; none if all is well.

    The latter are time constants of constraints below two time steps, which MuJoCo raises (flag refsafe).
    m, d: one world or many, not traced. Counters are summed over worlds.

    Raises:
      InputError: `d` is no Data of `m`, or one of them is traced.
    """
    lead_of_worlds("check", m, d)
    for name, record in (("m", m), ("d", d)):
        if any(isinstance(x, jax.core.Tracer) for x in jax.tree.leaves(record)):
            raise InputError(f"check: {name} is traced: call it outside jit, vmap and grad")
    lines = []
    counts = np.asarray(d.warning).reshape(-1, np.asarray(d.warning).shape[-1])
    for kind, meaning in _MEANING.items():
        times, worlds = int(counts[:, kind].sum()), int((counts[:, kind] > 0).sum())
        if times:
            lines.append(f"{kind.name}: {meaning} ({times} times, in {worlds} of {len(counts)} worlds)")
    for used, room, name in ((d.maxuse_con, m.nconmax, "nconmax"), (d.maxuse_efc, m.njmax, "njmax")):
        most = int(np.max(np.asarray(used), initial=0))
        if most > room:
            lines.append(f"{name}: {most} were needed and there is room for {room}; load the model with {name}={most}")
    short = int(np.sum(np.asarray(d.unconverged)))
    if short:
        lines.append(f"solver: {short} solves ended before the tolerance; more iterations may help")
    return (*lines, *raised_time_constants(m))


def _root(d: Data) -> Array:
    """Return the lower triangular U with U' U = M, which is sqrt(D) L of MuJoCo's factor L' D L, shape (nv, nv)."""
    return cholesky(d.M[::-1, ::-1])[::-1, ::-1].T
