"""The Model: every float of a compiled model as a leaf, all else in its Topology."""

import dataclasses
from typing import Any

import jax
import numpy as np

from mjx_like.errors import InputError, ModelError, shown
from mjx_like.loaders import compiler
from mjx_like.types.enums import ObjType
from mjx_like.types.hooks import NO_HOOKS, Hooks
from mjx_like.types.named import Accessors
from mjx_like.types.option import OPTION_FLAGS, Option, OptionFloats, Statistic
from mjx_like.types.pytree import Record, leaf, record, static
from mjx_like.types.smoothing import Smoothing
from mjx_like.types.topology import TERMS, Topology

Array = jax.Array


@record
class Model(Accessors, Record):
    """A compiled model with MuJoCo's field names and shapes.

    Float fields are leaves: each can carry a batch axis and can be differentiated. Sizes, ids, types and flags read
    through to `topology`, which is static. Frames are those of MuJoCo's mjModel; units are SI.
    Source: mjModel of MuJoCo 4.0.0.
    """

    topology: Topology = static()
    opt_floats: OptionFloats = leaf()
    stat: Statistic = leaf()
    qpos0: Array = leaf("nq", unit="m or rad")
    qpos_spring: Array = leaf("nq")
    # body
    body_pos: Array = leaf("nbody", 3, unit="m, parent frame")
    body_quat: Array = leaf("nbody", 4)
    body_ipos: Array = leaf("nbody", 3, unit="m, body frame")
    body_iquat: Array = leaf("nbody", 4)
    body_mass: Array = leaf("nbody", unit="kg")
    body_subtreemass: Array = leaf("nbody", unit="kg")
    body_inertia: Array = leaf("nbody", 3, unit="kg m^2, inertial frame")
    body_invweight0: Array = leaf("nbody", 2)
    body_gravcomp: Array = leaf("nbody", unit="fraction of weight")
    body_margin: Array = leaf("nbody")
    body_user: Array = leaf("nbody", "nuser_body")
    # joint
    jnt_solref: Array = leaf("njnt", 2)
    jnt_solimp: Array = leaf("njnt", 5)
    jnt_pos: Array = leaf("njnt", 3, unit="m, body frame")
    jnt_axis: Array = leaf("njnt", 3, unit="body frame")
    jnt_stiffness: Array = leaf("njnt", unit="N/m or N m/rad")
    jnt_stiffnesspoly: Array = leaf("njnt", 2)
    jnt_springyield: Array = leaf("njnt")
    jnt_range: Array = leaf("njnt", 2, unit="m or rad")
    jnt_actfrcrange: Array = leaf("njnt", 2)
    jnt_margin: Array = leaf("njnt", unit="m or rad")
    jnt_user: Array = leaf("njnt", "nuser_jnt")
    # degree of freedom
    dof_solref: Array = leaf("nv", 2)
    dof_solimp: Array = leaf("nv", 5)
    dof_frictionloss: Array = leaf("nv", unit="N or N m")
    dof_armature: Array = leaf("nv", unit="kg or kg m^2")
    dof_damping: Array = leaf("nv", unit="N s/m or N m s/rad")
    dof_dampingpoly: Array = leaf("nv", 2)
    dof_invweight0: Array = leaf("nv", unit="1/kg or 1/(kg m^2)")
    dof_M0: Array = leaf("nv", unit="kg or kg m^2")
    dof_length: Array = leaf("nv")
    # geom
    geom_solmix: Array = leaf("ngeom")
    geom_solref: Array = leaf("ngeom", 2)
    geom_solimp: Array = leaf("ngeom", 5)
    geom_size: Array = leaf("ngeom", 3, unit="m")
    geom_aabb: Array = leaf("ngeom", 6)
    geom_rbound: Array = leaf("ngeom", unit="m")
    geom_pos: Array = leaf("ngeom", 3, unit="m, body frame")
    geom_quat: Array = leaf("ngeom", 4)
    geom_friction: Array = leaf("ngeom", 3, unit="slide, spin [m], roll [m]")
    geom_margin: Array = leaf("ngeom", unit="m")
    geom_gap: Array = leaf("ngeom", unit="m")
    geom_surfacevel: Array = leaf("ngeom", 6)
    geom_adhesion: Array = leaf("ngeom")
    geom_fluid: Array = leaf("ngeom", 12)
    geom_user: Array = leaf("ngeom", "nuser_geom")
    geom_rgba: Array = leaf("ngeom", 4)
    # site
    site_size: Array = leaf("nsite", 3, unit="m")
    site_pos: Array = leaf("nsite", 3, unit="m, body frame")
    site_quat: Array = leaf("nsite", 4)
    site_user: Array = leaf("nsite", "nuser_site")
    site_rgba: Array = leaf("nsite", 4)
    # camera
    cam_pos: Array = leaf("ncam", 3)
    cam_quat: Array = leaf("ncam", 4)
    cam_poscom0: Array = leaf("ncam", 3)
    cam_pos0: Array = leaf("ncam", 3)
    cam_mat0: Array = leaf("ncam", 9)
    cam_fovy: Array = leaf("ncam")
    cam_ipd: Array = leaf("ncam")
    cam_sensorsize: Array = leaf("ncam", 2)
    cam_intrinsic: Array = leaf("ncam", 4)
    cam_user: Array = leaf("ncam", "nuser_cam")
    # light
    light_bulbradius: Array = leaf("nlight")
    light_intensity: Array = leaf("nlight")
    light_range: Array = leaf("nlight")
    light_pos: Array = leaf("nlight", 3)
    light_dir: Array = leaf("nlight", 3)
    light_poscom0: Array = leaf("nlight", 3)
    light_pos0: Array = leaf("nlight", 3)
    light_dir0: Array = leaf("nlight", 3)
    light_attenuation: Array = leaf("nlight", 3)
    light_cutoff: Array = leaf("nlight")
    light_softness: Array = leaf("nlight")
    light_exponent: Array = leaf("nlight")
    light_ambient: Array = leaf("nlight", 3)
    light_diffuse: Array = leaf("nlight", 3)
    light_specular: Array = leaf("nlight", 3)
    # cable: what mjModel keeps in a plugin
    cable_stiffness: Array = leaf("ncable", 3, unit="N m/rad: twist, bending, over the length")
    cable_curvature: Array = leaf("ncable", 3, unit="rad, at rest")
    # sdf: what mjModel keeps in a plugin
    sdf_param: Array = leaf("nsdf", 5, unit="parameters of the shape, in the order of its configuration")
    # signed distances of meshes, on grids: what mjModel keeps in octrees
    sdf_value: Array = leaf("nsdfvalue", unit="m")
    mesh_sdfbox: Array = leaf("nmesh", 6, unit="m: center and half sizes of the grid, in the frame of the mesh")
    # flex
    flex_solmix: Array = leaf("nflex")
    flex_solref: Array = leaf("nflex", 2)
    flex_solimp: Array = leaf("nflex", 5)
    flex_friction: Array = leaf("nflex", 3)
    flex_margin: Array = leaf("nflex")
    flex_gap: Array = leaf("nflex")
    flex_vert: Array = leaf("nflexvert", 3)
    flex_vert0: Array = leaf("nflexvert", 3)
    flex_node: Array = leaf("nflexnode", 3)
    flex_node0: Array = leaf("nflexnode", 3)
    flexedge_length0: Array = leaf("nflexedge")
    flexedge_invweight0: Array = leaf("nflexedge")
    flex_radius: Array = leaf("nflex")
    flex_size: Array = leaf("nflex", 3)
    flex_stiffness: Array = leaf("nflexstiffness")
    flex_bending: Array = leaf("nflexbending")
    flex_damping: Array = leaf("nflex")
    flex_yield: Array = leaf("nflex", 2)
    flex_edgestiffness: Array = leaf("nflex")
    flex_edgedamping: Array = leaf("nflex")
    flex_rgba: Array = leaf("nflex", 4)
    flex_texcoord: Array = leaf("nflextexcoord", 2)
    # mesh
    mesh_vert: Array = leaf("nmeshvert", 3)
    mesh_normal: Array = leaf("nmeshnormal", 3)
    mesh_texcoord: Array = leaf("nmeshtexcoord", 2)
    mesh_scale: Array = leaf("nmesh", 3)
    mesh_pos: Array = leaf("nmesh", 3)
    mesh_quat: Array = leaf("nmesh", 4)
    mesh_polynormal: Array = leaf("nmeshpoly", 3)
    # skin
    skin_rgba: Array = leaf("nskin", 4)
    skin_inflate: Array = leaf("nskin")
    skin_vert: Array = leaf("nskinvert", 3)
    skin_texcoord: Array = leaf("nskintexvert", 2)
    skin_bonebindpos: Array = leaf("nskinbone", 3)
    skin_bonebindquat: Array = leaf("nskinbone", 4)
    skin_bonevertweight: Array = leaf("nskinbonevert")
    # height field
    hfield_size: Array = leaf("nhfield", 4)
    hfield_data: Array = leaf("nhfielddata")
    # material
    mat_texrepeat: Array = leaf("nmat", 2)
    mat_emission: Array = leaf("nmat")
    mat_specular: Array = leaf("nmat")
    mat_shininess: Array = leaf("nmat")
    mat_reflectance: Array = leaf("nmat")
    mat_metallic: Array = leaf("nmat")
    mat_roughness: Array = leaf("nmat")
    mat_rgba: Array = leaf("nmat", 4)
    # contact pair
    pair_solref: Array = leaf("npair", 2)
    pair_solreffriction: Array = leaf("npair", 2)
    pair_solimp: Array = leaf("npair", 5)
    pair_margin: Array = leaf("npair")
    pair_gap: Array = leaf("npair")
    pair_adhesion: Array = leaf("npair")
    pair_friction: Array = leaf("npair", 5, unit="tangent1, tangent2, spin, roll1, roll2")
    # equality
    eq_solref: Array = leaf("neq", 2)
    eq_solimp: Array = leaf("neq", 5)
    eq_data: Array = leaf("neq", 12)
    # tendon
    tendon_width: Array = leaf("ntendon")
    tendon_solref_lim: Array = leaf("ntendon", 2)
    tendon_solimp_lim: Array = leaf("ntendon", 5)
    tendon_solref_fri: Array = leaf("ntendon", 2)
    tendon_solimp_fri: Array = leaf("ntendon", 5)
    tendon_range: Array = leaf("ntendon", 2, unit="m")
    tendon_actfrcrange: Array = leaf("ntendon", 2)
    tendon_margin: Array = leaf("ntendon")
    tendon_stiffness: Array = leaf("ntendon")
    tendon_stiffnesspoly: Array = leaf("ntendon", 2)
    tendon_damping: Array = leaf("ntendon")
    tendon_dampingpoly: Array = leaf("ntendon", 2)
    tendon_armature: Array = leaf("ntendon")
    tendon_frictionloss: Array = leaf("ntendon")
    tendon_lengthspring: Array = leaf("ntendon", 2)
    tendon_springyield: Array = leaf("ntendon")
    tendon_length0: Array = leaf("ntendon", unit="m")
    tendon_invweight0: Array = leaf("ntendon")
    tendon_user: Array = leaf("ntendon", "nuser_tendon")
    tendon_rgba: Array = leaf("ntendon", 4)
    # actuator
    actuator_cranklength: Array = leaf("nactuator")
    actuator_dynprm: Array = leaf("nactuator", 10)
    actuator_gainprm: Array = leaf("nactuator", 10)
    actuator_biasprm: Array = leaf("nactuator", 10)
    actuator_actrange: Array = leaf("nactuator", 2)
    actuator_delay: Array = leaf("nactuator", unit="s")
    actuator_damping: Array = leaf("nactuator")
    actuator_dampingpoly: Array = leaf("nactuator", 2)
    actuator_armature: Array = leaf("nactuator")
    actuator_user: Array = leaf("nactuator", "nuser_actuator")
    actuator_forcerange: Array = leaf("nactuator", 2)
    actuator_ctrlrange: Array = leaf("nu", 2)
    actuator_gear: Array = leaf("nout", 6, unit="force transmission")
    actuator_acc0: Array = leaf("nout", unit="m/s^2")
    actuator_length0: Array = leaf("nout", unit="m or rad")
    actuator_lengthrange: Array = leaf("nout", 2)
    # sensor
    sensor_cutoff: Array = leaf("nsensor")
    sensor_noise: Array = leaf("nsensor")
    sensor_delay: Array = leaf("nsensor")
    sensor_interval: Array = leaf("nsensor", 2)
    sensor_user: Array = leaf("nsensor", "nuser_sensor")
    # tendon path
    wrap_prm: Array = leaf("nwrap")
    # custom
    numeric_data: Array = leaf("nnumericdata")
    # custom
    tuple_objprm: Array = leaf("ntupledata")
    # keyframe
    key_time: Array = leaf("nkey", unit="s")
    key_qpos: Array = leaf("nkey", "nq")
    key_qvel: Array = leaf("nkey", "nv")
    key_act: Array = leaf("nkey", "na")
    key_mpos: Array = leaf("nkey", "3*nmocap")
    key_mquat: Array = leaf("nkey", "4*nmocap")
    key_ctrl: Array = leaf("nkey", "nu")
    key_plastic: Array = leaf("nkey", "nplastic")
    # smoothing of contacts and limits: None unless with_smoothing was asked for
    smoothing: Smoothing | None = dataclasses.field(default=None)

    @staticmethod
    def from_xml_path(
        path: str,
        nconmax: int | None = None,
        njmax: int | None = None,
        dtype: Any = None,
        hooks: Hooks = NO_HOOKS,
        active: tuple[str, ...] = (),
    ) -> "Model":
        """Return the Model of an MJCF or URDF file.

        Args:
          path: of the file; what it includes and its assets are found from its folder.
          nconmax: capacity of the contact buffer; None for a default from the model.
          njmax: capacity of the constraint buffer; None for a default from the model.
          dtype: of the leaves; None for float64 when JAX has x64 enabled, else float32.
          hooks: user functions.
          active: float fields whose terms exist also where they are zero.

        Raises:
          InputError: an argument of another kind than these, or a capacity that no buffer can have.
          ModelError: anything wrong with the file, with place and remedy.
        """
        return compiler().from_xml_path(path, nconmax, njmax, dtype, hooks, active)

    @staticmethod
    def from_xml_string(
        xml: str,
        assets: dict[str, bytes] | None = None,
        nconmax: int | None = None,
        njmax: int | None = None,
        dtype: Any = None,
        hooks: Hooks = NO_HOOKS,
        active: tuple[str, ...] = (),
    ) -> "Model":
        """Return the Model of an MJCF or URDF string; other arguments as `from_xml_path`.

        Args:
          xml: the text.
          assets: contents of the files that it names, by name.
        """
        return compiler().from_xml_string(xml, assets, nconmax, njmax, dtype, hooks, active)

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
        """MuJoCo's options: floats are the leaves of this Model, integers and flags those of its Topology."""
        floats = {name: getattr(self.opt_floats, name) for name in OptionFloats.__dataclass_fields__}
        return Option(**floats, **{name: getattr(self.topology.flags, name) for name in OPTION_FLAGS})

    def replace(self, **changes: Any) -> "Model":
        """Return a copy with changed leaves; `opt=` takes a changed `m.opt` and may make a new Topology.

        Raises:
          InputError: a name that is no leaf, or an `opt` that is no Option; the message has the nearest name.
          ModelError: a leaf is given a non-zero value where the Topology has no such term.
        """
        if "opt" in changes:
            option = changes.pop("opt")
            if not isinstance(option, Option):
                raise InputError(f"opt={shown(option)}: give an Option, m.opt.replace(...)")
            changes["opt_floats"] = option.floats()
            changes["topology"] = changes.get("topology", self.topology).with_flags(option.flags())
        topology = changes.get("topology", self.topology)
        for name in changes.keys() & TERMS.keys():
            _require_term(topology, name, changes[name])
        return Record.replace(self, **changes)

    def _hint(self, name: str) -> str:
        if name in OPTION_FLAGS or name in OptionFloats.__dataclass_fields__:
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


def _require_term(topology: Topology, name: str, value: Any) -> None:
    """Raise if a concrete `value` is non-zero where `topology` has compiled the term away."""
    if isinstance(value, jax.core.Tracer):
        return
    value, has = np.asarray(value), topology.has[name]
    if not value.size:
        return
    batched = np.abs(value).reshape((-1, *has.shape, *value.shape[value.ndim - TERMS[name] :])) > 0
    lost = batched.any(axis=(0, *range(1 + has.ndim, batched.ndim))) & ~has
    if lost.any():
        raise ModelError(
            f"{name}[{int(np.argmax(lost.ravel()))}] was zero when the model was compiled, so its term does not exist; "
            f'load the model with active=("{name}",) to keep it'
        )
