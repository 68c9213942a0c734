"""Data: the state of one world, its inputs, and everything computed from them."""

from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.errors import InputError
from mjx_like.types.enums import State
from mjx_like.types.pytree import Record, Role, leaf, part, record

Array = jax.Array


@record
class Contact(Record):
    """Detected contacts, `nconmax` rows in MuJoCo's order; unused rows are neutral.

    A neutral row has `dist` above `includemargin`, geom ids -1 and efc_address -1.  Source: mjContact.
    """

    dist: Array = leaf("nconmax", unit="m, negative in penetration", role=Role.RESULT)
    pos: Array = leaf("nconmax", 3, unit="m, world", role=Role.RESULT)
    frame: Array = leaf("nconmax", 3, 3, unit="1, rows: normal towards geom[1], two tangents; world", role=Role.RESULT)
    includemargin: Array = leaf("nconmax", unit="m", role=Role.RESULT)
    friction: Array = leaf("nconmax", 5, unit="1, 1, m, m, m: tangents, spin, rolls", role=Role.RESULT)
    solref: Array = leaf("nconmax", 2, unit="s, 1 or 1/s^2, 1/s", role=Role.RESULT)
    solreffriction: Array = leaf("nconmax", 2, unit="s, 1 or 1/s^2, 1/s", role=Role.RESULT)
    solimp: Array = leaf("nconmax", 5, unit="1, 1, m, 1, 1", role=Role.RESULT)
    adhesion: Array = leaf("nconmax", unit="N, attraction along the normal", role=Role.RESULT)
    surfacevel: Array = leaf(
        "nconmax", 3, unit="m/s, m/s, rad/s: tangents, spin; of geom[1] less geom[0]", role=Role.RESULT
    )
    dim: Array = leaf("nconmax", unit="1", role=Role.RESULT, dtype=int)
    exclude: Array = leaf("nconmax", unit="1: 0 pushes; 1 does not: in the gap, or unused", role=Role.RESULT, dtype=int)
    geom: Array = leaf("nconmax", 2, unit="1, ids", role=Role.RESULT, dtype=int)
    efc_address: Array = leaf("nconmax", unit="1, first row; -1 without", role=Role.RESULT, dtype=int)

    @property
    def geom1(self) -> Array:
        """The first of the two ids in `geom`, shape (nconmax,)."""
        return self.geom[..., 0]

    @property
    def geom2(self) -> Array:
        """The second of the two ids in `geom`, shape (nconmax,)."""
        return self.geom[..., 1]


@record
class Data(Record):
    """State, inputs and results of one world, with MuJoCo's field names; fixed shapes.

    Dense where MuJoCo stores sparse: `M`, `qLD` (its lower Cholesky factor), `efc_J`, `ten_J`, `actuator_moment`; in
    models of many kinematic trees the first three are their blocks, which `full_m`, `full_factor` and `full_j` spread
    out (`tree.blocks`).
    Rotation matrices are 3 by 3. `efc_*` has `njmax` rows, the first `nefc` in use, in MuJoCo's order.
    Source: mjData of MuJoCo 4.0.0.
    """

    # state
    time: Array = leaf(unit="s", role=Role.STATE, bit=State.TIME, wide=True)
    qpos: Array = leaf("nq", unit="m or rad; quaternions wxyz", role=Role.STATE, bit=State.QPOS)
    qvel: Array = leaf("nv", unit="m/s or rad/s; of a free joint: world, body frame", role=Role.STATE, bit=State.QVEL)
    act: Array = leaf("na", unit="depends on dyntype", role=Role.STATE, bit=State.ACT)
    history: Array = leaf(
        "nhistory", unit="s for times, else of the samples", role=Role.MEMORY, bit=State.HISTORY, wide=True
    )
    plastic: Array = leaf("nplastic", unit="m or rad; quaternions wxyz", role=Role.MEMORY, bit=State.PLASTIC, wide=True)
    qacc_warmstart: Array = leaf("nv", unit="m/s^2 or rad/s^2", role=Role.WARMSTART, bit=State.WARMSTART)
    # inputs
    ctrl: Array = leaf("nu", unit="depends on the actuator", role=Role.INPUT, bit=State.CTRL)
    qfrc_applied: Array = leaf("nv", unit="N or N m", role=Role.INPUT, bit=State.QFRC_APPLIED)
    xfrc_applied: Array = leaf(
        "nbody", 6, unit="N (3) at xipos, N m (3), world", role=Role.INPUT, bit=State.XFRC_APPLIED
    )
    eq_active: Array = leaf("neq", unit="1", role=Role.INPUT, dtype=bool, bit=State.EQ_ACTIVE)
    mocap_pos: Array = leaf("nmocap", 3, unit="m, world", role=Role.INPUT, bit=State.MOCAP_POS)
    mocap_quat: Array = leaf("nmocap", 4, unit="1, wxyz, world", role=Role.INPUT, bit=State.MOCAP_QUAT)
    userdata: Array = leaf("nuserdata", unit="set by the user", role=Role.USERDATA, bit=State.USERDATA, wide=True)
    # acceleration and activation
    qacc: Array = leaf("nv", unit="m/s^2 or rad/s^2", role=Role.SOLUTION)
    act_dot: Array = leaf("na", unit="of act, 1/s", role=Role.RESULT)
    qvel_mean: Array = leaf("nv", unit="m/s or rad/s, over the step; with restitution, else 0", role=Role.RESULT)
    # results
    sensordata: Array = leaf("nsensordata", unit="depends on the sensor", role=Role.RESULT)
    energy: Array = leaf(2, unit="J: potential, kinetic", role=Role.RESULT)
    # counters: these only grow
    warning: Array = leaf(7, unit="1, by WarningType", role=Role.COUNTER, dtype=int)
    unconverged: Array = leaf(unit="1, solves that ended before the tolerance", role=Role.COUNTER, dtype=int)
    maxuse_con: Array = leaf(unit="1, most contacts detected", role=Role.COUNTER, dtype=int)
    maxuse_efc: Array = leaf(unit="1, most constraint rows asked for", role=Role.COUNTER, dtype=int)
    # counters of the last call
    ncon: Array = leaf(unit="1, contacts", role=Role.RESULT, dtype=int)
    ne: Array = leaf(unit="1, rows of equalities", role=Role.RESULT, dtype=int)
    nf: Array = leaf(unit="1, rows of friction loss", role=Role.RESULT, dtype=int)
    nl: Array = leaf(unit="1, rows of limits", role=Role.RESULT, dtype=int)
    nefc: Array = leaf(unit="1, rows", role=Role.RESULT, dtype=int)
    solver_niter: Array = leaf(unit="1, iterations", role=Role.RESULT, dtype=int)
    solver_residual: Array = leaf(
        unit="1, scaled gradient norm at the point returned; hard contact: largest scaled residual", role=Role.RESULT
    )
    solver_fwdinv: Array = leaf(
        2, unit="N or N m, norms of differences: of constraint, of applied forces", role=Role.RESULT
    )
    # kinematics
    xpos: Array = leaf("nbody", 3, unit="m, world", role=Role.RESULT)
    xquat: Array = leaf("nbody", 4, unit="1, wxyz, world", role=Role.RESULT)
    xmat: Array = leaf("nbody", 3, 3, unit="1, world", role=Role.RESULT)
    xipos: Array = leaf("nbody", 3, unit="m, world", role=Role.RESULT)
    ximat: Array = leaf("nbody", 3, 3, unit="1, world", role=Role.RESULT)
    xanchor: Array = leaf("njnt", 3, unit="m, world", role=Role.RESULT)
    xaxis: Array = leaf("njnt", 3, unit="1, world", role=Role.RESULT)
    geom_xpos: Array = leaf("ngeom", 3, unit="m, world", role=Role.RESULT)
    geom_xmat: Array = leaf("ngeom", 3, 3, unit="1, world", role=Role.RESULT)
    site_xpos: Array = leaf("nsite", 3, unit="m, world", role=Role.RESULT)
    site_xmat: Array = leaf("nsite", 3, 3, unit="1, world", role=Role.RESULT)
    cam_xpos: Array = leaf("ncam", 3, unit="m, world", role=Role.RESULT)
    cam_xmat: Array = leaf("ncam", 3, 3, unit="1, world", role=Role.RESULT)
    light_xpos: Array = leaf("nlight", 3, unit="m, world", role=Role.RESULT)
    light_xdir: Array = leaf("nlight", 3, unit="1, world", role=Role.RESULT)
    # inertia
    subtree_com: Array = leaf("nbody", 3, unit="m, world", role=Role.RESULT)
    cdof: Array = leaf(
        "nv",
        6,
        unit="1 (3), m or 1 (3): rotation, translation; world axes at subtree_com of the root",
        role=Role.RESULT,
    )
    cinert: Array = leaf("nbody", 10, unit="kg m^2 (6), kg m (3), kg; as cdof", role=Role.RESULT)
    crb: Array = leaf("nbody", 10, unit="kg m^2 (6), kg m (3), kg; as cdof", role=Role.RESULT)
    M: Array = leaf("nv", "ncolM", unit="kg, kg m or kg m^2", role=Role.RESULT)
    qLD: Array = leaf("nv", "ncolM", unit="square roots of those of M", role=Role.RESULT)
    # tendons and actuators
    ten_wrapadr: Array = leaf("ntendon", unit="1", role=Role.RESULT, dtype=int)
    ten_wrapnum: Array = leaf("ntendon", unit="1", role=Role.RESULT, dtype=int)
    wrap_obj: Array = leaf("nwrap", 2, unit="1, geom ids; -1 a site, -2 a pulley", role=Role.RESULT, dtype=int)
    wrap_xpos: Array = leaf("nwrap", 6, unit="m, world, two points", role=Role.RESULT)
    ten_length: Array = leaf("ntendon", unit="m or rad", role=Role.RESULT)
    ten_J: Array = leaf("ntendon", "nv", unit="of ten_velocity over qvel", role=Role.RESULT)
    ten_velocity: Array = leaf("ntendon", unit="m/s or rad/s", role=Role.RESULT)
    actuator_length: Array = leaf("nout", unit="m or rad", role=Role.RESULT)
    actuator_moment: Array = leaf("nout", "nv", unit="of actuator_velocity over qvel", role=Role.RESULT)
    actuator_velocity: Array = leaf("nout", unit="m/s or rad/s", role=Role.RESULT)
    actuator_force: Array = leaf("nout", unit="N or N m", role=Role.RESULT)
    # velocity and forces
    cvel: Array = leaf("nbody", 6, unit="rad/s, m/s: rotation, translation; as cdof", role=Role.RESULT)
    cdof_dot: Array = leaf("nv", 6, unit="1/s, m/s or 1/s: rotation, translation; as cdof", role=Role.RESULT)
    qfrc_bias: Array = leaf("nv", unit="N or N m", role=Role.RESULT)
    qfrc_spring: Array = leaf("nv", unit="N or N m", role=Role.RESULT)
    qfrc_damper: Array = leaf("nv", unit="N or N m", role=Role.RESULT)
    qfrc_gravcomp: Array = leaf("nv", unit="N or N m", role=Role.RESULT)
    qfrc_fluid: Array = leaf("nv", unit="N or N m", role=Role.RESULT)
    qfrc_adhesion: Array = leaf("nv", unit="N or N m", role=Role.RESULT)
    qfrc_passive: Array = leaf("nv", unit="N or N m", role=Role.RESULT)
    qfrc_actuator: Array = leaf("nv", unit="N or N m", role=Role.RESULT)
    qfrc_smooth: Array = leaf("nv", unit="N or N m", role=Role.RESULT)
    qacc_smooth: Array = leaf("nv", unit="m/s^2 or rad/s^2", role=Role.RESULT)
    qfrc_constraint: Array = leaf("nv", unit="N or N m", role=Role.RESULT)
    qfrc_inverse: Array = leaf("nv", unit="N or N m", role=Role.RESULT)
    subtree_linvel: Array = leaf("nbody", 3, unit="m/s, world", role=Role.RESULT)
    subtree_angmom: Array = leaf("nbody", 3, unit="kg m^2/s, world", role=Role.RESULT)
    cacc: Array = leaf("nbody", 6, unit="rad/s^2, m/s^2: rotation, translation; as cdof", role=Role.RESULT)
    cfrc_int: Array = leaf("nbody", 6, unit="N m, N: torque, force; as cdof", role=Role.RESULT)
    cfrc_ext: Array = leaf("nbody", 6, unit="N m, N: torque, force; as cdof", role=Role.RESULT)
    # constraints
    contact: Contact = part()
    efc_type: Array = leaf("njmax", unit="1, a ConstraintType", role=Role.RESULT, dtype=int)
    efc_id: Array = leaf("njmax", unit="1, id of the joint, tendon, equality or contact", role=Role.RESULT, dtype=int)
    efc_J: Array = leaf("njmax", "ncolJ", unit="of efc_vel over qvel", role=Role.RESULT)
    efc_pos: Array = leaf("njmax", unit="m or rad", role=Role.RESULT)
    efc_margin: Array = leaf("njmax", unit="m or rad", role=Role.RESULT)
    efc_frictionloss: Array = leaf("njmax", unit="N or N m", role=Role.RESULT)
    efc_diagA: Array = leaf("njmax", unit="1/kg or 1/(kg m^2)", role=Role.RESULT)
    efc_KBIP: Array = leaf("njmax", 4, unit="1/s^2, 1/s, 1, 1/m or 1/rad", role=Role.RESULT)
    efc_D: Array = leaf("njmax", unit="kg or kg m^2", role=Role.RESULT)
    efc_R: Array = leaf("njmax", unit="1/kg or 1/(kg m^2)", role=Role.RESULT)
    efc_vel: Array = leaf("njmax", unit="m/s or rad/s", role=Role.RESULT)
    efc_aref: Array = leaf("njmax", unit="m/s^2 or rad/s^2", role=Role.RESULT)
    efc_b: Array = leaf("njmax", unit="m/s^2 or rad/s^2", role=Role.RESULT)
    efc_state: Array = leaf("njmax", unit="1, a ConstraintState", role=Role.RESULT, dtype=int)
    efc_force: Array = leaf("njmax", unit="N or N m", role=Role.RESULT)

    def replace(self, **changes: Any) -> Self:
        """Return a copy with the named fields changed; NumPy arrays become JAX arrays of the field's dtype.

        Raises:
          InputError: a name that is no field; the message has the nearest one.
        """
        return super().replace(**{name: self._on_device(name, value) for name, value in changes.items()})

    def _on_device(self, name: str, value: Any) -> Any:
        known = isinstance(value, np.ndarray) and hasattr(getattr(self, name, None), "dtype")
        return jnp.asarray(value, getattr(self, name).dtype) if known else value

    def __getitem__(self, index: Any) -> Self:
        """Return one world of many, or a slice of them: `d[3]`, `d[:8]`, `d[ids]`.

        Raises:
          InputError: a Data of one world.
        """
        if jnp.ndim(self.qpos) < 2:
            raise InputError(f"d[{index!r}]: this Data is one world; index its fields, or a Data of many worlds")
        return jax.tree.map(lambda x: x[index], self)

    __iter__ = None  # Python would count up d[0], d[1], ... without an end, for JAX clips indices

    def where(self, done: Array, other: Self) -> Self:
        """Return the worlds of `other` where `done`, else of this Data: `d.where(fallen, fresh)` resets what fell.

        done: shape () for one world, (worlds,) for many; bool.
        """

        def chosen(new: Array, old: Array) -> Array:
            return jnp.where(jnp.reshape(done, jnp.shape(done) + (1,) * (jnp.ndim(old) - jnp.ndim(done))), new, old)

        return jax.tree.map(chosen, other, self)
