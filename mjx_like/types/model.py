"""The Model: every float of a compiled model as a leaf, all else in its Topology."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from mjx_like.errors import InputError, ModelError, shown
from mjx_like.loaders import compiler
from mjx_like.types.enums import ObjType
from mjx_like.types.hard import CONTACT_OPTIONS, HardContact, refuse_hard
from mjx_like.types.hooks import NO_HOOKS, Hooks
from mjx_like.types.named import Accessors
from mjx_like.types.option import OPTION_FLAGS, Option, OptionFloats, Statistic
from mjx_like.types.pytree import Record, Role, leaf, leaves, part, record, static
from mjx_like.types.smoothing import Smoothing
from mjx_like.types.topology import Topology

Array = jax.Array

_SOLREF = "s, 1 or 1/s^2, 1/s"
_SOLIMP = "1, 1, m, 1, 1"
_SOLIMP_JOINT = "1, 1, m or rad, 1, 1"
_LENGTH = "m or rad"
_FORCE = "N or N m"
_STIFFNESS = "N/m or N m/rad"
_STIFFNESS_POLY = "N/m^2 or N m/rad^2, N/m^3 or N m/rad^3"
_DAMPING = "N s/m or N m s/rad"
_DAMPING_POLY = "N s^2/m^2 or N m s^2/rad^2, N s^3/m^3 or N m s^3/rad^3"
_INERTIA = "kg or kg m^2"
_INVERSE_INERTIA = "1/kg or 1/(kg m^2)"


@record
class Model(Accessors, Record):
    """A compiled model with MuJoCo's field names and shapes.

    Float fields are leaves: each can carry a batch axis and can be differentiated. Sizes, ids, types and flags read
    through to `topology`, which is static. Frames are those of MuJoCo's mjModel; units are SI.
    Source: mjModel of MuJoCo 4.0.0.
    """

    topology: Topology = static()
    opt_floats: OptionFloats = part()
    stat: Statistic = part()
    qpos0: Array = leaf("nq", unit="m or rad; quaternions wxyz", role=Role.PARAMETER)
    qpos_spring: Array = leaf("nq", unit="m or rad; quaternions wxyz", role=Role.PARAMETER)
    # body
    body_pos: Array = leaf("nbody", 3, unit="m, parent frame", role=Role.PARAMETER)
    body_quat: Array = leaf("nbody", 4, unit="1, wxyz, parent frame", role=Role.PARAMETER)
    body_ipos: Array = leaf("nbody", 3, unit="m, body frame", role=Role.PARAMETER)
    body_iquat: Array = leaf("nbody", 4, unit="1, wxyz, body frame", role=Role.PARAMETER)
    body_mass: Array = leaf("nbody", unit="kg", role=Role.PARAMETER)
    body_subtreemass: Array = leaf("nbody", unit="kg", role=Role.DERIVED)
    body_inertia: Array = leaf("nbody", 3, unit="kg m^2, inertial frame", role=Role.PARAMETER)
    body_invweight0: Array = leaf("nbody", 2, unit="1/kg, 1/(kg m^2)", role=Role.DERIVED)
    body_gravcomp: Array = leaf("nbody", unit="1, share of the weight", role=Role.PARAMETER, term=0)
    body_margin: Array = leaf("nbody", unit="m", role=Role.DERIVED)
    body_user: Array = leaf("nbody", "nuser_body", unit="set by the user", role=Role.USER)
    # joint
    jnt_solref: Array = leaf("njnt", 2, unit=_SOLREF, role=Role.PARAMETER)
    jnt_solimp: Array = leaf("njnt", 5, unit=_SOLIMP_JOINT, role=Role.PARAMETER)
    jnt_pos: Array = leaf("njnt", 3, unit="m, body frame", role=Role.PARAMETER)
    jnt_axis: Array = leaf("njnt", 3, unit="1, body frame", role=Role.PARAMETER)
    jnt_stiffness: Array = leaf("njnt", unit=_STIFFNESS, role=Role.PARAMETER, term=0)
    jnt_stiffnesspoly: Array = leaf("njnt", 2, unit=_STIFFNESS_POLY, role=Role.PARAMETER, term=1)
    jnt_springyield: Array = leaf("njnt", unit=_LENGTH, role=Role.PARAMETER, term=0)
    jnt_range: Array = leaf("njnt", 2, unit=_LENGTH, role=Role.PARAMETER)
    jnt_actfrcrange: Array = leaf("njnt", 2, unit=_FORCE, role=Role.PARAMETER)
    jnt_margin: Array = leaf("njnt", unit=_LENGTH, role=Role.PARAMETER)
    jnt_user: Array = leaf("njnt", "nuser_jnt", unit="set by the user", role=Role.USER)
    # degree of freedom
    dof_solref: Array = leaf("nv", 2, unit=_SOLREF, role=Role.PARAMETER)
    dof_solimp: Array = leaf("nv", 5, unit=_SOLIMP_JOINT, role=Role.PARAMETER)
    dof_frictionloss: Array = leaf("nv", unit=_FORCE, role=Role.PARAMETER, term=0)
    dof_armature: Array = leaf("nv", unit=_INERTIA, role=Role.PARAMETER, term=0)
    dof_damping: Array = leaf("nv", unit=_DAMPING, role=Role.PARAMETER, term=0)
    dof_dampingpoly: Array = leaf("nv", 2, unit=_DAMPING_POLY, role=Role.PARAMETER, term=1)
    dof_invweight0: Array = leaf("nv", unit=_INVERSE_INERTIA, role=Role.DERIVED)
    dof_M0: Array = leaf("nv", unit=_INERTIA, role=Role.DERIVED)
    dof_length: Array = leaf("nv", unit="1 of a translation, m of a rotation", role=Role.DERIVED)
    # geom
    geom_solmix: Array = leaf("ngeom", unit="1", role=Role.PARAMETER)
    geom_solref: Array = leaf("ngeom", 2, unit=_SOLREF, role=Role.PARAMETER)
    geom_solimp: Array = leaf("ngeom", 5, unit=_SOLIMP, role=Role.PARAMETER)
    geom_size: Array = leaf("ngeom", 3, unit="m", role=Role.PARAMETER)
    geom_aabb: Array = leaf("ngeom", 6, unit="m: center, half sizes; geom frame", role=Role.DERIVED)
    geom_rbound: Array = leaf("ngeom", unit="m", role=Role.DERIVED)
    geom_pos: Array = leaf("ngeom", 3, unit="m, body frame", role=Role.PARAMETER)
    geom_quat: Array = leaf("ngeom", 4, unit="1, wxyz, body frame", role=Role.PARAMETER)
    geom_friction: Array = leaf("ngeom", 3, unit="1, m, m: slide, spin, roll", role=Role.PARAMETER)
    geom_margin: Array = leaf("ngeom", unit="m", role=Role.PARAMETER)
    geom_gap: Array = leaf("ngeom", unit="m", role=Role.PARAMETER)
    geom_surfacevel: Array = leaf("ngeom", 6, unit="m/s (3), rad/s (3), geom frame", role=Role.PARAMETER, term=1)
    geom_adhesion: Array = leaf("ngeom", unit="N, a contact", role=Role.PARAMETER, term=0)
    geom_fluid: Array = leaf(
        "ngeom",
        12,
        unit="1 (6), m^3 (3), m^5 (3): coefficients, added volume and its inertia",
        role=Role.PARAMETER,
        term=1,
    )
    geom_user: Array = leaf("ngeom", "nuser_geom", unit="set by the user", role=Role.USER)
    geom_rgba: Array = leaf("ngeom", 4, unit="1", role=Role.VISUAL, single=True)
    # site
    site_size: Array = leaf("nsite", 3, unit="m", role=Role.PARAMETER)
    site_pos: Array = leaf("nsite", 3, unit="m, body frame", role=Role.PARAMETER)
    site_quat: Array = leaf("nsite", 4, unit="1, wxyz, body frame", role=Role.PARAMETER)
    site_user: Array = leaf("nsite", "nuser_site", unit="set by the user", role=Role.USER)
    site_rgba: Array = leaf("nsite", 4, unit="1", role=Role.VISUAL, single=True)
    # camera
    cam_pos: Array = leaf("ncam", 3, unit="m, body frame", role=Role.PARAMETER)
    cam_quat: Array = leaf("ncam", 4, unit="1, wxyz, body frame", role=Role.PARAMETER)
    cam_poscom0: Array = leaf("ncam", 3, unit="m, world, from subtree_com", role=Role.DERIVED)
    cam_pos0: Array = leaf("ncam", 3, unit="m, world, from the body", role=Role.DERIVED)
    cam_mat0: Array = leaf("ncam", 9, unit="1, world", role=Role.DERIVED)
    cam_fovy: Array = leaf("ncam", unit="deg, or m of an orthographic camera", role=Role.PARAMETER)
    cam_ipd: Array = leaf("ncam", unit="m", role=Role.VISUAL)
    cam_sensorsize: Array = leaf("ncam", 2, unit="m: width, height", role=Role.PARAMETER, single=True)
    cam_intrinsic: Array = leaf(
        "ncam", 4, unit="m, focal length (2), principal point (2)", role=Role.PARAMETER, single=True
    )
    cam_user: Array = leaf("ncam", "nuser_cam", unit="set by the user", role=Role.USER)
    # light
    light_bulbradius: Array = leaf("nlight", unit="m", role=Role.VISUAL, single=True)
    light_intensity: Array = leaf("nlight", unit="cd", role=Role.VISUAL, single=True)
    light_range: Array = leaf("nlight", unit="m", role=Role.VISUAL, single=True)
    light_pos: Array = leaf("nlight", 3, unit="m, body frame", role=Role.VISUAL)
    light_dir: Array = leaf("nlight", 3, unit="1, body frame", role=Role.VISUAL)
    light_poscom0: Array = leaf("nlight", 3, unit="m, world, from subtree_com", role=Role.DERIVED)
    light_pos0: Array = leaf("nlight", 3, unit="m, world, from the body", role=Role.DERIVED)
    light_dir0: Array = leaf("nlight", 3, unit="1, world", role=Role.DERIVED)
    light_attenuation: Array = leaf("nlight", 3, unit="1, 1/m, 1/m^2", role=Role.VISUAL, single=True)
    light_cutoff: Array = leaf("nlight", unit="deg", role=Role.VISUAL, single=True)
    light_softness: Array = leaf("nlight", unit="1", role=Role.VISUAL, single=True)
    light_exponent: Array = leaf("nlight", unit="1", role=Role.VISUAL, single=True)
    light_ambient: Array = leaf("nlight", 3, unit="1, rgb", role=Role.VISUAL, single=True)
    light_diffuse: Array = leaf("nlight", 3, unit="1, rgb", role=Role.VISUAL, single=True)
    light_specular: Array = leaf("nlight", 3, unit="1, rgb", role=Role.VISUAL, single=True)
    # cable: what mjModel keeps in a plugin
    cable_stiffness: Array = leaf("ncable", 3, unit="N m/rad: twist, bending (2), over the length", role=Role.PARAMETER)
    cable_curvature: Array = leaf("ncable", 3, unit="rad, at rest", role=Role.PARAMETER)
    # sdf: what mjModel keeps in a plugin
    sdf_param: Array = leaf("nsdf", 5, unit="depends on the shape", role=Role.PARAMETER)
    # signed distances of meshes, on grids: what mjModel keeps in octrees
    sdf_value: Array = leaf("nsdfvalue", unit="m", role=Role.DERIVED)
    mesh_sdfbox: Array = leaf("nmesh", 6, unit="m: center and half sizes of the grid; mesh frame", role=Role.DERIVED)
    # flex
    flex_solmix: Array = leaf("nflex", unit="1", role=Role.PARAMETER)
    flex_solref: Array = leaf("nflex", 2, unit=_SOLREF, role=Role.PARAMETER)
    flex_solimp: Array = leaf("nflex", 5, unit=_SOLIMP, role=Role.PARAMETER)
    flex_friction: Array = leaf("nflex", 3, unit="1, m, m: slide, spin, roll", role=Role.PARAMETER)
    flex_margin: Array = leaf("nflex", unit="m", role=Role.PARAMETER)
    flex_gap: Array = leaf("nflex", unit="m", role=Role.PARAMETER)
    flex_vert: Array = leaf("nflexvert", 3, unit="m, body frame of the vertex", role=Role.PARAMETER)
    flex_vert0: Array = leaf("nflexvert", 3, unit="1, from 0 to 1 in the bounding box", role=Role.DERIVED)
    flex_node: Array = leaf("nflexnode", 3, unit="m, body frame of the node", role=Role.PARAMETER)
    flex_node0: Array = leaf("nflexnode", 3, unit="m, world", role=Role.DERIVED)
    flexedge_length0: Array = leaf("nflexedge", unit="m", role=Role.DERIVED)
    flexedge_invweight0: Array = leaf("nflexedge", unit="1/kg", role=Role.DERIVED)
    flex_radius: Array = leaf("nflex", unit="m", role=Role.PARAMETER)
    flex_size: Array = leaf("nflex", 3, unit="m", role=Role.DERIVED)
    flex_stiffness: Array = leaf("nflexstiffness", unit="N/m^3 of elements, N/m of cells", role=Role.DERIVED)
    flex_bending: Array = leaf("nflexbending", unit="N/m of hinges; of a rod, depends on the record", role=Role.DERIVED)
    flex_damping: Array = leaf("nflex", unit="s", role=Role.PARAMETER)
    flex_yield: Array = leaf("nflex", 2, unit="1: stretching, bending", role=Role.PARAMETER)
    flex_edgestiffness: Array = leaf("nflex", unit="N/m", role=Role.PARAMETER)
    flex_edgedamping: Array = leaf("nflex", unit="N s/m", role=Role.PARAMETER)
    flex_rgba: Array = leaf("nflex", 4, unit="1", role=Role.VISUAL, single=True)
    flex_texcoord: Array = leaf("nflextexcoord", 2, unit="1", role=Role.VISUAL, single=True)
    # mesh
    mesh_vert: Array = leaf("nmeshvert", 3, unit="m, mesh frame", role=Role.PARAMETER, single=True)
    mesh_normal: Array = leaf("nmeshnormal", 3, unit="1, mesh frame", role=Role.PARAMETER, single=True)
    mesh_texcoord: Array = leaf("nmeshtexcoord", 2, unit="1", role=Role.VISUAL, single=True)
    mesh_scale: Array = leaf("nmesh", 3, unit="m, of one unit in the file", role=Role.DERIVED)
    mesh_pos: Array = leaf("nmesh", 3, unit="m, mesh frame in that of the file", role=Role.DERIVED)
    mesh_quat: Array = leaf("nmesh", 4, unit="1, wxyz, mesh frame in that of the file", role=Role.DERIVED)
    mesh_polynormal: Array = leaf("nmeshpoly", 3, unit="1, mesh frame", role=Role.DERIVED)
    # skin
    skin_rgba: Array = leaf("nskin", 4, unit="1", role=Role.VISUAL, single=True)
    skin_inflate: Array = leaf("nskin", unit="m", role=Role.VISUAL, single=True)
    skin_vert: Array = leaf("nskinvert", 3, unit="m, world at bind pose", role=Role.VISUAL, single=True)
    skin_texcoord: Array = leaf("nskintexvert", 2, unit="1", role=Role.VISUAL, single=True)
    skin_bonebindpos: Array = leaf("nskinbone", 3, unit="m, world at bind pose", role=Role.VISUAL, single=True)
    skin_bonebindquat: Array = leaf("nskinbone", 4, unit="1, wxyz, world at bind pose", role=Role.VISUAL, single=True)
    skin_bonevertweight: Array = leaf("nskinbonevert", unit="1", role=Role.VISUAL, single=True)
    # height field
    hfield_size: Array = leaf("nhfield", 4, unit="m: half x, half y, elevation, base", role=Role.PARAMETER)
    hfield_data: Array = leaf("nhfielddata", unit="1, share of the elevation", role=Role.PARAMETER, single=True)
    # material
    mat_texrepeat: Array = leaf("nmat", 2, unit="1, or 1/m with texuniform", role=Role.VISUAL, single=True)
    mat_emission: Array = leaf("nmat", unit="1", role=Role.VISUAL, single=True)
    mat_specular: Array = leaf("nmat", unit="1", role=Role.VISUAL, single=True)
    mat_shininess: Array = leaf("nmat", unit="1", role=Role.VISUAL, single=True)
    mat_reflectance: Array = leaf("nmat", unit="1", role=Role.VISUAL, single=True)
    mat_metallic: Array = leaf("nmat", unit="1", role=Role.VISUAL, single=True)
    mat_roughness: Array = leaf("nmat", unit="1", role=Role.VISUAL, single=True)
    mat_rgba: Array = leaf("nmat", 4, unit="1", role=Role.VISUAL, single=True)
    # contact pair
    pair_solref: Array = leaf("npair", 2, unit=_SOLREF, role=Role.PARAMETER)
    pair_solreffriction: Array = leaf("npair", 2, unit=_SOLREF, role=Role.PARAMETER)
    pair_solimp: Array = leaf("npair", 5, unit=_SOLIMP, role=Role.PARAMETER)
    pair_margin: Array = leaf("npair", unit="m", role=Role.PARAMETER)
    pair_gap: Array = leaf("npair", unit="m", role=Role.PARAMETER)
    pair_adhesion: Array = leaf("npair", unit="N", role=Role.PARAMETER, term=0)
    pair_friction: Array = leaf("npair", 5, unit="1, 1, m, m, m: tangents, spin, rolls", role=Role.PARAMETER)
    # equality
    eq_solref: Array = leaf("neq", 2, unit=_SOLREF, role=Role.PARAMETER)
    eq_solimp: Array = leaf("neq", 5, unit=_SOLIMP_JOINT, role=Role.PARAMETER)
    eq_data: Array = leaf("neq", 12, unit="depends on eq_type", role=Role.PARAMETER)
    # tendon
    tendon_width: Array = leaf("ntendon", unit="m", role=Role.VISUAL)
    tendon_solref_lim: Array = leaf("ntendon", 2, unit=_SOLREF, role=Role.PARAMETER)
    tendon_solimp_lim: Array = leaf("ntendon", 5, unit=_SOLIMP_JOINT, role=Role.PARAMETER)
    tendon_solref_fri: Array = leaf("ntendon", 2, unit=_SOLREF, role=Role.PARAMETER)
    tendon_solimp_fri: Array = leaf("ntendon", 5, unit=_SOLIMP_JOINT, role=Role.PARAMETER)
    tendon_range: Array = leaf("ntendon", 2, unit=_LENGTH, role=Role.PARAMETER)
    tendon_actfrcrange: Array = leaf("ntendon", 2, unit=_FORCE, role=Role.PARAMETER)
    tendon_margin: Array = leaf("ntendon", unit=_LENGTH, role=Role.PARAMETER)
    tendon_stiffness: Array = leaf("ntendon", unit=_STIFFNESS, role=Role.PARAMETER, term=0)
    tendon_stiffnesspoly: Array = leaf("ntendon", 2, unit=_STIFFNESS_POLY, role=Role.PARAMETER, term=1)
    tendon_damping: Array = leaf("ntendon", unit=_DAMPING, role=Role.PARAMETER, term=0)
    tendon_dampingpoly: Array = leaf("ntendon", 2, unit=_DAMPING_POLY, role=Role.PARAMETER, term=1)
    tendon_armature: Array = leaf("ntendon", unit=_INERTIA, role=Role.PARAMETER, term=0)
    tendon_frictionloss: Array = leaf("ntendon", unit=_FORCE, role=Role.PARAMETER, term=0)
    tendon_lengthspring: Array = leaf("ntendon", 2, unit=_LENGTH, role=Role.PARAMETER)
    tendon_springyield: Array = leaf("ntendon", unit=_LENGTH, role=Role.PARAMETER, term=0)
    tendon_length0: Array = leaf("ntendon", unit=_LENGTH, role=Role.DERIVED)
    tendon_invweight0: Array = leaf("ntendon", unit=_INVERSE_INERTIA, role=Role.DERIVED)
    tendon_user: Array = leaf("ntendon", "nuser_tendon", unit="set by the user", role=Role.USER)
    tendon_rgba: Array = leaf("ntendon", 4, unit="1", role=Role.VISUAL, single=True)
    # actuator
    actuator_cranklength: Array = leaf("nactuator", unit="m", role=Role.PARAMETER)
    actuator_dynprm: Array = leaf(
        "nactuator", 10, unit="depends on dyntype", role=Role.PARAMETER, term=0
    )  # of controllers
    actuator_gainprm: Array = leaf("nactuator", 10, unit="depends on gaintype", role=Role.PARAMETER, term=0)
    actuator_biasprm: Array = leaf("nactuator", 10, unit="depends on biastype", role=Role.PARAMETER)
    actuator_actrange: Array = leaf("nactuator", 2, unit="of act", role=Role.PARAMETER)
    actuator_delay: Array = leaf("nactuator", unit="s", role=Role.PARAMETER, term=0)
    actuator_damping: Array = leaf("nactuator", unit=_DAMPING, role=Role.PARAMETER, term=0)
    actuator_dampingpoly: Array = leaf("nactuator", 2, unit=_DAMPING_POLY, role=Role.PARAMETER, term=1)
    actuator_armature: Array = leaf("nactuator", unit=_INERTIA, role=Role.PARAMETER, term=0)
    actuator_user: Array = leaf("nactuator", "nuser_actuator", unit="set by the user", role=Role.USER)
    actuator_forcerange: Array = leaf("nactuator", 2, unit=_FORCE, role=Role.PARAMETER)
    actuator_ctrlrange: Array = leaf("nu", 2, unit="of ctrl", role=Role.PARAMETER)
    actuator_gear: Array = leaf("nout", 6, unit="1, or along and about the axes of a site", role=Role.PARAMETER)
    actuator_acc0: Array = leaf("nout", unit="m/s^2 or rad/s^2, norm over the dofs", role=Role.DERIVED)
    actuator_length0: Array = leaf("nout", unit=_LENGTH, role=Role.DERIVED)
    actuator_lengthrange: Array = leaf("nout", 2, unit=_LENGTH, role=Role.DERIVED)
    # sensor
    sensor_cutoff: Array = leaf("nsensor", unit="depends on the sensor", role=Role.PARAMETER)
    sensor_noise: Array = leaf("nsensor", unit="depends on the sensor", role=Role.PARAMETER)
    sensor_delay: Array = leaf("nsensor", unit="s", role=Role.PARAMETER, term=0)
    sensor_interval: Array = leaf("nsensor", 2, unit="s: period, phase", role=Role.PARAMETER)
    sensor_user: Array = leaf("nsensor", "nuser_sensor", unit="set by the user", role=Role.USER)
    # tendon path
    wrap_prm: Array = leaf("nwrap", unit="depends on wrap_type: divisor, coefficient, site id", role=Role.PARAMETER)
    # custom
    numeric_data: Array = leaf("nnumericdata", unit="set by the user", role=Role.USER)
    # custom
    tuple_objprm: Array = leaf("ntupledata", unit="set by the user", role=Role.USER)
    # keyframe
    key_time: Array = leaf("nkey", unit="s", role=Role.KEYFRAME)
    key_qpos: Array = leaf("nkey", "nq", unit="of qpos", role=Role.KEYFRAME)
    key_qvel: Array = leaf("nkey", "nv", unit="of qvel", role=Role.KEYFRAME)
    key_act: Array = leaf("nkey", "na", unit="of act", role=Role.KEYFRAME)
    key_mpos: Array = leaf("nkey", "3*nmocap", unit="m, world", role=Role.KEYFRAME)
    key_mquat: Array = leaf("nkey", "4*nmocap", unit="1, wxyz, world", role=Role.KEYFRAME)
    key_ctrl: Array = leaf("nkey", "nu", unit="of ctrl", role=Role.KEYFRAME)
    key_plastic: Array = leaf("nkey", "nplastic", unit="of plastic", role=Role.KEYFRAME)
    # smoothing of contacts and limits: None unless with_smoothing was asked for
    smoothing: Smoothing | None = dataclasses.field(default=None)
    # hard contact: None unless it was asked for
    hard: HardContact | None = dataclasses.field(default=None)

    @staticmethod
    def from_xml_path(
        path: str,
        nconmax: int | None = None,
        njmax: int | None = None,
        dtype: Any = None,
        hooks: Hooks = NO_HOOKS,
        active: tuple[str, ...] = (),
        contact: str | None = None,
        gap: float | None = None,
        slip: float | None = None,
        integrator: int | str | None = None,
    ) -> "Model":
        """Return the Model of an MJCF or URDF file.

        Args:
          path: of the file; what it includes and its assets are found from its folder.
          nconmax: capacity of the contact buffer; None for a default from the model.
          njmax: capacity of the constraint buffer; None for a default from the model.
          dtype: of the leaves; None for float64 when JAX has x64 enabled, else float32.
          hooks: user functions.
          active: float fields whose terms exist also where they are zero.
          contact: "soft", MuJoCo's contact, or "hard", see `with_hard_contact`; None for what custom elements of the
            file say, soft if nothing.
          gap: of hard contact [m]; None for that of the file or 1e-5. Likewise slip [m/s], ten times the gap.
          integrator: an IntegratorType or its word, such as "variational"; None for that of the file.

        Raises:
          InputError: an argument of another kind than these, a capacity that no buffer can have, or a gap or slip of
            soft contact.
          ModelError: anything wrong with the file, with the location and the remedy.
          UnsupportedError: hard contact for a model that has what hard contact does not do.
        """
        return compiler().from_xml_path(path, nconmax, njmax, dtype, hooks, active, contact, gap, slip, integrator)

    @staticmethod
    def from_xml_string(
        xml: str,
        assets: dict[str, bytes] | None = None,
        nconmax: int | None = None,
        njmax: int | None = None,
        dtype: Any = None,
        hooks: Hooks = NO_HOOKS,
        active: tuple[str, ...] = (),
        contact: str | None = None,
        gap: float | None = None,
        slip: float | None = None,
        integrator: int | str | None = None,
    ) -> "Model":
        """Return the Model of an MJCF or URDF string; other arguments as `from_xml_path`.

        Args:
          xml: the text.
          assets: contents of the files that it names, by name.
        """
        return compiler().from_xml_string(
            xml, assets, nconmax, njmax, dtype, hooks, active, contact, gap, slip, integrator
        )

    def __getattr__(self, name: str) -> Any:
        """Read a size, id, type or flag through to the Topology."""
        if name.startswith("__") or name == "topology":
            raise AttributeError(name)
        try:
            return getattr(self.topology, name)
        except AttributeError:  # with its object, for Python to name the nearest
            raise AttributeError(f"a Model has no field '{name}'", name=name, obj=self) from None

    @property
    def opt(self) -> Option:
        """All options: floats are the leaves of this Model, integers and flags those of its Topology."""
        values = {name: getattr(self.opt_floats, name) for name in OptionFloats.__dataclass_fields__}
        values |= {name: getattr(self.topology.flags, name) for name in OPTION_FLAGS}
        values |= {} if self.hard is None else {"cone": self.hard.soft_cone}
        return Option(self.hard, **values)

    def replace(self, **changes: Any) -> "Model":
        """Return a copy with changed leaves; `opt=` takes a changed `m.opt` and may make a new Topology.

        Raises:
          InputError: a name that is no leaf, or an `opt` that is no Option; the message has the nearest name.
          ModelError: a leaf is given a non-zero value where the Topology has no such term.
          UnsupportedError: hard contact for a model that has what hard contact does not do.
        """
        if "opt" in changes:
            option = changes.pop("opt")
            if not isinstance(option, Option):
                raise InputError(f"opt={shown(option)}: give an Option, m.opt.replace(...)")
            changes["opt_floats"] = option.floats()
            hard = option.hard_contact()
            topology = changes.get("topology", self.topology)
            changes |= {"hard": hard, "topology": topology.with_options(option.flags(), hard is not None)}
            if hard is not None:
                refuse_hard(changes["topology"], changes.get("smoothing", self.smoothing) is not None)
        topology = changes.get("topology", self.topology)
        for name in changes.keys() & TERMS.keys():
            _require_term(topology, name, changes[name])
        return Record.replace(self, **changes)

    def tree_replace(self, changes: Mapping[str, Any]) -> "Model":
        """Return a copy with fields changed by their paths: `m.tree_replace({"opt.timestep": 1e-3})`.

        Raises:
          InputError: a path to what is no field, or into `hard`, whose fields follow from options.
        """
        for path in changes:
            if path.split(".")[0] == "hard":
                raise InputError(f"{path} follows from the options of hard contact: give those, such as opt.gap")
        return Record.tree_replace(self, changes)

    def _hint(self, name: str) -> str:
        if name in (*OPTION_FLAGS, *OptionFloats.__dataclass_fields__, *CONTACT_OPTIONS):
            return f"; {name} is an option: m.replace(opt=m.opt.replace({name}=...))"
        if name in Topology.__dataclass_fields__:
            return f"; {name} is fixed when the model is compiled; change the model file, or the Spec"
        return Record._hint(self, name)

    def name2id(self, kind: ObjType | int, name: str) -> int:
        """Return the id of a named object, or -1.  Source: mj_name2id."""
        names = self.topology.names.get(ObjType(kind), ())
        return names.index(name) if name and name in names else -1

    def id2name(self, kind: ObjType | int, index: int) -> str | None:
        """Return the name of an object, or None if it has none.  Source: mj_id2name."""
        names = self.topology.names.get(ObjType(kind), ())
        return (names[index] or None) if 0 <= index < len(names) else None


# Floats whose zero decides whether a term exists, with the number of trailing axes that belong to one entry.
TERMS = {f.name: f.metadata["term"] for f in leaves(Model) if f.metadata["term"] is not None}


def _require_term(topology: Topology, name: str, value: Any) -> None:
    """Raise if a concrete `value` is non-zero where `topology` has compiled the term away."""
    if isinstance(value, jax.core.Tracer):
        return
    value, has = np.asarray(value), topology.has[name]
    if not value.size or value.ndim < has.ndim + TERMS[name]:  # the latter in a tree of axes, for `vmap`
        return
    batched = np.abs(value).reshape((-1, *has.shape, *value.shape[value.ndim - TERMS[name] :])) > 0
    lost = batched.any(axis=(0, *range(1 + has.ndim, batched.ndim))) & ~has
    if lost.any():
        raise ModelError(
            f"{name}[{int(np.argmax(lost.ravel()))}] was zero when the model was compiled, so its term does not exist; "
            f'load the model with active=("{name}",) to keep it'
        )
