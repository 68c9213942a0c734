"""Data: the state of one world, its inputs, and everything computed from them."""

from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.types.pytree import Record, leaf, record

Array = jax.Array


@record
class Contact(Record):
    """Detected contacts, `nconmax` rows in MuJoCo's order; unused rows are neutral.

    A neutral row has `dist` above `includemargin`, geom ids -1 and efc_address -1.  Source: mjContact.
    """

    dist: Array = leaf("nconmax", unit="m, negative in penetration")
    pos: Array = leaf("nconmax", 3, unit="m, world")
    frame: Array = leaf("nconmax", 3, 3, unit="rows: normal from geom[0] to geom[1], two tangents; world")
    includemargin: Array = leaf("nconmax", unit="m")
    friction: Array = leaf("nconmax", 5, unit="tangent1, tangent2, spin [m], roll1, roll2 [m]")
    solref: Array = leaf("nconmax", 2)
    solreffriction: Array = leaf("nconmax", 2)
    solimp: Array = leaf("nconmax", 5)
    adhesion: Array = leaf("nconmax", unit="N, attraction along the normal")
    surfacevel: Array = leaf("nconmax", 3, unit="of geom[1] less geom[0]: along tangents [m/s], spin [rad/s]")
    dim: Array = leaf("nconmax")
    exclude: Array = leaf("nconmax", unit="0 pushes; 1 does not: in the gap, or unused")
    geom: Array = leaf("nconmax", 2)
    efc_address: Array = leaf("nconmax")


@record
class Data(Record):
    """State, inputs and results of one world, with MuJoCo's field names; fixed shapes.

    Dense where MuJoCo stores sparse: `M`, `qLD` (its lower Cholesky factor), `efc_J`, `ten_J`, `actuator_moment`.
    Rotation matrices are 3 by 3. `efc_*` has `njmax` rows, the first `nefc` in use, in MuJoCo's order.
    Source: mjData of MuJoCo 4.0.0.
    """

    # state
    time: Array = leaf(unit="s")
    qpos: Array = leaf("nq", unit="m or rad; quaternions wxyz")
    qvel: Array = leaf("nv", unit="m/s or rad/s")
    act: Array = leaf("na")
    history: Array = leaf("nhistory")
    plastic: Array = leaf("nplastic")
    qacc_warmstart: Array = leaf("nv")
    # inputs
    ctrl: Array = leaf("nu")
    qfrc_applied: Array = leaf("nv", unit="N or N m")
    xfrc_applied: Array = leaf("nbody", 6, unit="force [N] at xipos, torque [N m]; world")
    eq_active: Array = leaf("neq")
    mocap_pos: Array = leaf("nmocap", 3, unit="m, world")
    mocap_quat: Array = leaf("nmocap", 4)
    userdata: Array = leaf("nuserdata")
    # acceleration and activation
    qacc: Array = leaf("nv", unit="m/s^2 or rad/s^2")
    act_dot: Array = leaf("na")
    # results
    sensordata: Array = leaf("nsensordata")
    energy: Array = leaf(2, unit="potential, kinetic [J]")
    # counters: these only grow
    warning: Array = leaf(7)  # by WarningType
    unconverged: Array = leaf()  # solves that ended before the tolerance
    maxuse_con: Array = leaf()  # most contacts detected
    maxuse_efc: Array = leaf()  # most constraint rows asked for
    # counters of the last call
    ncon: Array = leaf()
    ne: Array = leaf()
    nf: Array = leaf()
    nl: Array = leaf()
    nefc: Array = leaf()
    solver_niter: Array = leaf()
    solver_residual: Array = leaf()  # scaled gradient norm at the point returned
    solver_fwdinv: Array = leaf(2)
    # kinematics
    xpos: Array = leaf("nbody", 3, unit="m, world")
    xquat: Array = leaf("nbody", 4)
    xmat: Array = leaf("nbody", 3, 3)
    xipos: Array = leaf("nbody", 3, unit="m, world")
    ximat: Array = leaf("nbody", 3, 3)
    xanchor: Array = leaf("njnt", 3, unit="m, world")
    xaxis: Array = leaf("njnt", 3, unit="world")
    geom_xpos: Array = leaf("ngeom", 3, unit="m, world")
    geom_xmat: Array = leaf("ngeom", 3, 3)
    site_xpos: Array = leaf("nsite", 3, unit="m, world")
    site_xmat: Array = leaf("nsite", 3, 3)
    cam_xpos: Array = leaf("ncam", 3, unit="m, world")
    cam_xmat: Array = leaf("ncam", 3, 3)
    light_xpos: Array = leaf("nlight", 3, unit="m, world")
    light_xdir: Array = leaf("nlight", 3, unit="world")
    # inertia
    subtree_com: Array = leaf("nbody", 3, unit="m, world")
    cdof: Array = leaf("nv", 6, unit="rotation, translation; world axes at subtree_com of the tree's root")
    cinert: Array = leaf("nbody", 10, unit="as cdof")
    crb: Array = leaf("nbody", 10, unit="as cdof")
    M: Array = leaf("nv", "nv", unit="kg, kg m or kg m^2")
    qLD: Array = leaf("nv", "nv")
    # tendons and actuators
    ten_wrapadr: Array = leaf("ntendon")
    ten_wrapnum: Array = leaf("ntendon")
    wrap_obj: Array = leaf("nwrap", 2)
    wrap_xpos: Array = leaf("nwrap", 6, unit="m, world")
    ten_length: Array = leaf("ntendon", unit="m")
    ten_J: Array = leaf("ntendon", "nv")
    ten_velocity: Array = leaf("ntendon", unit="m/s")
    actuator_length: Array = leaf("nout")
    actuator_moment: Array = leaf("nout", "nv")
    actuator_velocity: Array = leaf("nout")
    actuator_force: Array = leaf("nout", unit="N or N m")
    # velocity and forces
    cvel: Array = leaf("nbody", 6, unit="as cdof")
    cdof_dot: Array = leaf("nv", 6, unit="as cdof")
    qfrc_bias: Array = leaf("nv", unit="N or N m")
    qfrc_spring: Array = leaf("nv", unit="N or N m")
    qfrc_damper: Array = leaf("nv", unit="N or N m")
    qfrc_gravcomp: Array = leaf("nv", unit="N or N m")
    qfrc_fluid: Array = leaf("nv", unit="N or N m")
    qfrc_adhesion: Array = leaf("nv", unit="N or N m")
    qfrc_passive: Array = leaf("nv", unit="N or N m")
    qfrc_actuator: Array = leaf("nv", unit="N or N m")
    qfrc_smooth: Array = leaf("nv", unit="N or N m")
    qacc_smooth: Array = leaf("nv")
    qfrc_constraint: Array = leaf("nv", unit="N or N m")
    qfrc_inverse: Array = leaf("nv", unit="N or N m")
    subtree_linvel: Array = leaf("nbody", 3, unit="m/s, world")
    subtree_angmom: Array = leaf("nbody", 3, unit="kg m^2/s, world")
    cacc: Array = leaf("nbody", 6, unit="as cdof")
    cfrc_int: Array = leaf("nbody", 6, unit="torque, force; as cdof")
    cfrc_ext: Array = leaf("nbody", 6, unit="torque, force; as cdof")
    # constraints
    contact: Contact = leaf()
    efc_type: Array = leaf("njmax")
    efc_id: Array = leaf("njmax")
    efc_J: Array = leaf("njmax", "nv")
    efc_pos: Array = leaf("njmax")
    efc_margin: Array = leaf("njmax")
    efc_frictionloss: Array = leaf("njmax")
    efc_diagA: Array = leaf("njmax")
    efc_KBIP: Array = leaf("njmax", 4)
    efc_D: Array = leaf("njmax")
    efc_R: Array = leaf("njmax")
    efc_vel: Array = leaf("njmax")
    efc_aref: Array = leaf("njmax")
    efc_b: Array = leaf("njmax")
    efc_state: Array = leaf("njmax")
    efc_force: Array = leaf("njmax")

    def replace(self, **changes: Any) -> Self:
        """Return a copy with the named fields changed; NumPy arrays become JAX arrays of the field's dtype.

        Raises:
          InputError: a name that is no field; the message has the nearest one.
        """
        return super().replace(**{name: self._on_device(name, value) for name, value in changes.items()})

    def _on_device(self, name: str, value: Any) -> Any:
        known = isinstance(value, np.ndarray) and hasattr(getattr(self, name, None), "dtype")
        return jnp.asarray(value, getattr(self, name).dtype) if known else value
