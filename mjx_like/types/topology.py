"""The Topology: everything of a model that decides shapes or control flow."""

import dataclasses
import functools
import hashlib
from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform

import numpy as np

from mjx_like.types.enums import ObjType
from mjx_like.types.hooks import Hooks
from mjx_like.types.option import OptionFlags
from mjx_like.types.plans import Plans
from mjx_like.types.visual import Visual

T = TypeVar("T")


def array(*shape: str | int, dtype: type = np.int32, fill: int = 0) -> Any:
    """Declare a NumPy field; `shape` names sizes, `fill` is what it holds where the compiler says nothing."""
    return dataclasses.field(metadata={"shape": shape, "dtype": dtype, "fill": fill})


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(array,))
def _frozen(cls: type[T]) -> type[T]:
    """Make `cls` a frozen dataclass whose fields may be declared by `array`."""
    return dataclasses.dataclass(frozen=True, eq=False, repr=False)(cls)


@_frozen
class Topology:
    """Sizes, ids, addresses, types, flags and names of a model, and the plans made from them.

    It is one static field of the Model: compared by identity, then by digest; hashed once.
    Names and meanings of the arrays are those of MuJoCo's mjModel (bodies are ordered parents first; body 0 is the
    world). `has[name]` says, entry by entry, whether the term of a float named in TERMS or OPTION_TERMS exists.
    `nconmax` and `njmax` are the capacities of the contact and constraint buffers.
    """

    # sizes
    nq: int
    nv: int
    nu: int
    nactuator: int
    nout: int
    na: int
    nbody: int
    njnt: int
    ntree: int
    ngeom: int
    nsite: int
    ncam: int
    nlight: int
    nflex: int
    nflexnode: int
    nflexvert: int
    nflexedge: int
    nflexelem: int
    nflexelemdata: int
    nflexstiffness: int
    nflexbending: int
    nflexelemedge: int
    nflexshelldata: int
    nflextexcoord: int
    nmesh: int
    nmeshvert: int
    nmeshnormal: int
    nmeshtexcoord: int
    nmeshface: int
    nmeshgraph: int
    nmeshpoly: int
    nmeshpolyvert: int
    nmeshpolymap: int
    nskin: int
    nskinvert: int
    nskintexvert: int
    nskinface: int
    nskinbone: int
    nskinbonevert: int
    nhfield: int
    nhfielddata: int
    ntex: int
    ntexdata: int
    nmat: int
    npair: int
    nexclude: int
    neq: int
    ntendon: int
    nwrap: int
    nsensor: int
    nnumeric: int
    nnumericdata: int
    ntext: int
    ntextdata: int
    ntuple: int
    ntupledata: int
    nkey: int
    nmocap: int
    nuser_body: int
    nuser_jnt: int
    nuser_geom: int
    nuser_site: int
    nuser_cam: int
    nuser_tendon: int
    nuser_actuator: int
    nuser_sensor: int
    nplastic: int
    ncable: int
    nsdf: int
    nsdfvalue: int
    nuserdata: int
    nsensordata: int
    nhistory: int
    # body
    body_parentid: np.ndarray = array("nbody")
    body_rootid: np.ndarray = array("nbody")
    body_weldid: np.ndarray = array("nbody")
    body_mocapid: np.ndarray = array("nbody", fill=-1)
    body_simple: np.ndarray = array("nbody")
    body_jntnum: np.ndarray = array("nbody")
    body_jntadr: np.ndarray = array("nbody")
    body_dofnum: np.ndarray = array("nbody")
    body_dofadr: np.ndarray = array("nbody")
    body_treeid: np.ndarray = array("nbody")
    body_geomnum: np.ndarray = array("nbody")
    body_geomadr: np.ndarray = array("nbody")
    body_contype: np.ndarray = array("nbody")
    body_conaffinity: np.ndarray = array("nbody")
    # joint
    jnt_type: np.ndarray = array("njnt")
    jnt_qposadr: np.ndarray = array("njnt")
    jnt_dofadr: np.ndarray = array("njnt")
    jnt_bodyid: np.ndarray = array("njnt")
    jnt_actuatorid: np.ndarray = array("njnt", fill=-1)
    jnt_group: np.ndarray = array("njnt")
    jnt_plasticadr: np.ndarray = array("njnt", fill=-1)
    jnt_limited: np.ndarray = array("njnt", dtype=bool)
    jnt_actfrclimited: np.ndarray = array("njnt", dtype=bool)
    jnt_actgravcomp: np.ndarray = array("njnt", dtype=bool)
    # degree of freedom
    dof_bodyid: np.ndarray = array("nv")
    dof_jntid: np.ndarray = array("nv")
    dof_parentid: np.ndarray = array("nv")
    dof_treeid: np.ndarray = array("nv")
    # kinematic tree
    tree_bodyadr: np.ndarray = array("ntree")
    tree_bodynum: np.ndarray = array("ntree")
    tree_dofadr: np.ndarray = array("ntree")
    tree_dofnum: np.ndarray = array("ntree")
    tree_sleep_policy: np.ndarray = array("ntree")
    # geom
    geom_type: np.ndarray = array("ngeom")
    geom_contype: np.ndarray = array("ngeom")
    geom_conaffinity: np.ndarray = array("ngeom")
    geom_condim: np.ndarray = array("ngeom")
    geom_bodyid: np.ndarray = array("ngeom")
    geom_dataid: np.ndarray = array("ngeom", fill=-1)
    geom_matid: np.ndarray = array("ngeom")
    geom_group: np.ndarray = array("ngeom")
    geom_priority: np.ndarray = array("ngeom")
    geom_castshadow: np.ndarray = array("ngeom", dtype=bool)
    # site
    site_type: np.ndarray = array("nsite")
    site_bodyid: np.ndarray = array("nsite")
    site_dataid: np.ndarray = array("nsite", fill=-1)
    site_matid: np.ndarray = array("nsite")
    site_group: np.ndarray = array("nsite")
    # camera
    cam_mode: np.ndarray = array("ncam")
    cam_bodyid: np.ndarray = array("ncam")
    cam_targetbodyid: np.ndarray = array("ncam")
    cam_projection: np.ndarray = array("ncam")
    cam_resolution: np.ndarray = array("ncam", 2)
    cam_output: np.ndarray = array("ncam")
    # light
    light_mode: np.ndarray = array("nlight")
    light_bodyid: np.ndarray = array("nlight")
    light_targetbodyid: np.ndarray = array("nlight")
    light_type: np.ndarray = array("nlight")
    light_texid: np.ndarray = array("nlight")
    light_castshadow: np.ndarray = array("nlight", dtype=bool)
    light_active: np.ndarray = array("nlight", dtype=bool)
    # cable: bodies that are elastically bound to the body before them, not in mjModel
    cable_bodyid: np.ndarray = array("ncable")
    # sdf: geoms with the shape of a plugin, not in mjModel
    sdf_geomid: np.ndarray = array("nsdf")
    sdf_kind: np.ndarray = array("nsdf")  # index in geometry.plugin_shape.SHAPES
    # flex
    flex_contype: np.ndarray = array("nflex")
    flex_conaffinity: np.ndarray = array("nflex")
    flex_condim: np.ndarray = array("nflex")
    flex_priority: np.ndarray = array("nflex")
    flex_selfcollide: np.ndarray = array("nflex")
    flex_activelayers: np.ndarray = array("nflex")
    flex_passive: np.ndarray = array("nflex")
    flex_dim: np.ndarray = array("nflex")
    flex_matid: np.ndarray = array("nflexelem")
    flex_group: np.ndarray = array("nflex")
    flex_interp: np.ndarray = array("nflex")
    flex_cellnum: np.ndarray = array("nflex", 3)
    flex_nodeadr: np.ndarray = array("nflex")
    flex_nodenum: np.ndarray = array("nflex")
    flex_vertadr: np.ndarray = array("nflex")
    flex_vertnum: np.ndarray = array("nflex")
    flex_edgeadr: np.ndarray = array("nflex")
    flex_edgenum: np.ndarray = array("nflex")
    flex_elemadr: np.ndarray = array("nflex")
    flex_elemnum: np.ndarray = array("nflex")
    flex_elemdataadr: np.ndarray = array("nflex")
    flex_stiffnessadr: np.ndarray = array("nflex")
    flex_elemedgeadr: np.ndarray = array("nflex")
    flex_bendingadr: np.ndarray = array("nflex")
    flex_plasticadr: np.ndarray = array("nflex")
    flex_plasticmode: np.ndarray = array("nflex")
    flex_shellnum: np.ndarray = array("nflex")
    flex_shelldataadr: np.ndarray = array("nflex")
    flex_texcoordadr: np.ndarray = array("nflex")
    flex_nodebodyid: np.ndarray = array("nflexnode")
    flex_vertbodyid: np.ndarray = array("nflexvert")
    flex_vertcell: np.ndarray = array("nflexvert")
    flex_edge: np.ndarray = array("nflexedge", 2)
    flex_edgeflap: np.ndarray = array("nflexedge", 2)
    flex_elem: np.ndarray = array("nflexelemdata")
    flex_elemtexcoord: np.ndarray = array("nflexelemdata")
    flex_elemedge: np.ndarray = array("nflexelemedge")
    flex_elemlayer: np.ndarray = array("nflexelem")
    flex_shell: np.ndarray = array("nflexshelldata")
    flex_edgeequality: np.ndarray = array("nflex")
    flex_rigid: np.ndarray = array("nflex", dtype=bool)
    flexedge_rigid: np.ndarray = array("nflexedge", dtype=bool)
    flex_centered: np.ndarray = array("nflex", dtype=bool)
    flex_flatskin: np.ndarray = array("nflex", dtype=bool)
    # mesh
    mesh_vertadr: np.ndarray = array("nmesh")
    mesh_vertnum: np.ndarray = array("nmesh")
    mesh_faceadr: np.ndarray = array("nmesh")
    mesh_facenum: np.ndarray = array("nmesh")
    mesh_texcoordadr: np.ndarray = array("nmesh")
    mesh_texcoordnum: np.ndarray = array("nmesh")
    mesh_normaladr: np.ndarray = array("nmesh")
    mesh_normalnum: np.ndarray = array("nmesh")
    mesh_graphadr: np.ndarray = array("nmesh")
    mesh_polynum: np.ndarray = array("nmesh")
    mesh_polyadr: np.ndarray = array("nmesh")
    mesh_sdfadr: np.ndarray = array("nmesh")  # -1 without signed distances; not in mjModel
    mesh_faceorder: np.ndarray = array("nmeshface")  # faces of each mesh, as its tree is searched against an sdf geom
    mesh_sdfdepth: np.ndarray = array("nmesh")  # the grid has 2**depth + 1 values along each axis
    mesh_face: np.ndarray = array("nmeshface", 3)
    mesh_facenormal: np.ndarray = array("nmeshface", 3)
    mesh_facetexcoord: np.ndarray = array("nmeshface", 3)
    mesh_graph: np.ndarray = array("nmeshgraph")
    mesh_polyvertadr: np.ndarray = array("nmeshpoly")
    mesh_polyvertnum: np.ndarray = array("nmeshpoly")
    mesh_polyvert: np.ndarray = array("nmeshpolyvert")
    mesh_polymapadr: np.ndarray = array("nmeshvert")
    mesh_polymapnum: np.ndarray = array("nmeshvert")
    mesh_polymap: np.ndarray = array("nmeshpolymap")
    # skin
    skin_matid: np.ndarray = array("nskin")
    skin_group: np.ndarray = array("nskin")
    skin_vertadr: np.ndarray = array("nskin")
    skin_vertnum: np.ndarray = array("nskin")
    skin_texcoordadr: np.ndarray = array("nskin")
    skin_faceadr: np.ndarray = array("nskin")
    skin_facenum: np.ndarray = array("nskin")
    skin_boneadr: np.ndarray = array("nskin")
    skin_bonenum: np.ndarray = array("nskin")
    skin_face: np.ndarray = array("nskinface", 3)
    skin_bonevertadr: np.ndarray = array("nskinbone")
    skin_bonevertnum: np.ndarray = array("nskinbone")
    skin_bonebodyid: np.ndarray = array("nskinbone")
    skin_bonevertid: np.ndarray = array("nskinbonevert")
    # height field
    hfield_nrow: np.ndarray = array("nhfield")
    hfield_ncol: np.ndarray = array("nhfield")
    hfield_adr: np.ndarray = array("nhfield")
    # texture
    tex_type: np.ndarray = array("ntex")
    tex_colorspace: np.ndarray = array("ntex")
    tex_height: np.ndarray = array("ntex")
    tex_width: np.ndarray = array("ntex")
    tex_nchannel: np.ndarray = array("ntex")
    tex_adr: np.ndarray = array("ntex")
    tex_data: np.ndarray = array("ntexdata", dtype=np.uint8)  # pixels of all textures
    # material
    mat_texid: np.ndarray = array("nmat", 10)
    mat_texuniform: np.ndarray = array("nmat", dtype=bool)
    # contact pair
    pair_dim: np.ndarray = array("npair")
    pair_geom1: np.ndarray = array("npair")
    pair_geom2: np.ndarray = array("npair")
    pair_signature: np.ndarray = array("npair")
    # excluded pair
    exclude_signature: np.ndarray = array("nexclude")
    # equality
    eq_type: np.ndarray = array("neq")
    eq_obj1id: np.ndarray = array("neq")
    eq_obj2id: np.ndarray = array("neq")
    eq_objtype: np.ndarray = array("neq")
    eq_active0: np.ndarray = array("neq", dtype=bool)
    # tendon
    tendon_type: np.ndarray = array("ntendon")
    tendon_adr: np.ndarray = array("ntendon")
    tendon_num: np.ndarray = array("ntendon")
    tendon_matid: np.ndarray = array("ntendon")
    tendon_actuatorid: np.ndarray = array("ntendon", fill=-1)
    tendon_group: np.ndarray = array("ntendon")
    tendon_plasticadr: np.ndarray = array("ntendon", fill=-1)
    tendon_treenum: np.ndarray = array("ntendon")
    tendon_treeid: np.ndarray = array("ntendon", 2, fill=-1)
    tendon_limited: np.ndarray = array("ntendon", dtype=bool)
    tendon_actfrclimited: np.ndarray = array("ntendon", dtype=bool)
    # tendon path
    wrap_type: np.ndarray = array("nwrap")
    wrap_objid: np.ndarray = array("nwrap")
    # actuator
    actuator_trntype: np.ndarray = array("nactuator")
    actuator_dyntype: np.ndarray = array("nactuator")
    actuator_gaintype: np.ndarray = array("nactuator")
    actuator_biastype: np.ndarray = array("nactuator")
    actuator_ctrladr: np.ndarray = array("nactuator")
    actuator_ctrlnum: np.ndarray = array("nactuator")
    actuator_ctrlspec: np.ndarray = array("nactuator")
    actuator_outadr: np.ndarray = array("nactuator")
    actuator_outnum: np.ndarray = array("nactuator")
    actuator_actadr: np.ndarray = array("nactuator")
    actuator_actnum: np.ndarray = array("nactuator")
    actuator_trnid: np.ndarray = array("nactuator", 2)
    actuator_history: np.ndarray = array("nactuator", 2)
    actuator_historyadr: np.ndarray = array("nactuator")
    actuator_group: np.ndarray = array("nactuator")
    actuator_actlimited: np.ndarray = array("nactuator", dtype=bool)
    actuator_actearly: np.ndarray = array("nactuator", dtype=bool)
    actuator_forcelimited: np.ndarray = array("nactuator", dtype=bool)
    actuator_ctrllimited: np.ndarray = array("nu", dtype=bool)
    # sensor
    sensor_type: np.ndarray = array("nsensor")
    sensor_datatype: np.ndarray = array("nsensor")
    sensor_needstage: np.ndarray = array("nsensor")
    sensor_objtype: np.ndarray = array("nsensor")
    sensor_objid: np.ndarray = array("nsensor")
    sensor_reftype: np.ndarray = array("nsensor")
    sensor_refid: np.ndarray = array("nsensor")
    sensor_intprm: np.ndarray = array("nsensor", 3)
    sensor_dim: np.ndarray = array("nsensor")
    sensor_adr: np.ndarray = array("nsensor")
    sensor_history: np.ndarray = array("nsensor", 2)
    sensor_historyadr: np.ndarray = array("nsensor")
    # custom
    numeric_adr: np.ndarray = array("nnumeric")
    numeric_size: np.ndarray = array("nnumeric")
    text_adr: np.ndarray = array("ntext")
    text_size: np.ndarray = array("ntext")
    text_data: np.ndarray = array("ntextdata")
    tuple_adr: np.ndarray = array("ntuple")
    tuple_size: np.ndarray = array("ntuple")
    tuple_objtype: np.ndarray = array("ntupledata")
    tuple_objid: np.ndarray = array("ntupledata")
    # decisions
    flags: OptionFlags
    hard_contact: bool  # whether contact is hard: a solve then needs room for contacts of the one before
    vis: Visual
    names: dict[ObjType, tuple[str, ...]]
    has: dict[str, np.ndarray]
    wrap_sideid: np.ndarray  # (nwrap,) side site of a wrapping geom, or -1: what wrap_prm holds there
    hfield_cells: np.ndarray  # (height field geoms, ngeom, 2) rows and columns of cells within each geom's bound
    mesh_facecurve: np.ndarray  # (nmeshface,) faces of each mesh, numbers within it, so that neighbours are near
    frame_nudge: np.ndarray  # (nbody + ngeom + nsite, 7) what moves nearly equal frames onto each other, or no rows
    declared_unsupported: tuple[str, ...]  # by the compiler
    unsupported: tuple[str, ...]  # with what the plans add
    hooks: Hooks
    nconmax: int
    njmax: int
    capacity_args: tuple[int | None, int | None]
    planner: Callable[["Topology"], "Topology"]
    plans: Plans | None = None

    @functools.cached_property
    def digest(self) -> bytes:
        """A hash of all that the other fields hold, plans excluded: those follow from the rest."""
        state = hashlib.sha256()
        for field in dataclasses.fields(self):
            if field.name in ("plans", "planner", "capacity_args", "hooks"):
                continue
            value = getattr(self, field.name)
            state.update(field.name.encode())
            if isinstance(value, np.ndarray):
                state.update(repr(value.shape).encode() + value.tobytes())
            elif field.name == "has":
                state.update(b"".join(k.encode() + v.tobytes() for k, v in sorted(value.items())))
            else:
                state.update(repr(value).encode())
        return state.digest()

    def __repr__(self) -> str:
        """The sizes that matter most, on one line: JAX prints it where it prints the structure of a Model."""
        sizes = ("nq", "nv", "nu", "na", "nbody", "njnt", "ngeom", "nconmax", "njmax")
        return f"Topology({', '.join(f'{name}={getattr(self, name)}' for name in sizes)})"

    def __hash__(self) -> int:
        return hash((self.digest, self.hooks))

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Topology) and self.hooks == other.hooks and self.digest == other.digest

    def with_options(self, flags: OptionFlags, hard_contact: bool) -> "Topology":
        """Return a Topology with other integer options, or the other contact, and the plans that follow from them."""
        if (flags, hard_contact) == (self.flags, self.hard_contact):
            return self
        return self.planner(dataclasses.replace(self, flags=flags, hard_contact=hard_contact, plans=None))

    @property
    def ncolM(self) -> int:
        """How many columns `M` and `qLD` of Data have: nv, or in models of many trees the dofs of the largest."""
        trees = None if self.plans is None else self.plans.tree.trees
        return self.nv if trees is None else trees.dof.shape[1]

    @property
    def ncolJ(self) -> int:
        """How many columns `efc_J` of Data has: nv, or in models of many trees those of two trees."""
        trees = None if self.plans is None else self.plans.tree.trees
        return self.nv if trees is None else 2 * self.ncolM

    @functools.cached_property
    def adhesive(self) -> bool:
        """Whether any contact can have adhesion."""
        return bool(self.has["geom_adhesion"].any() or self.has["pair_adhesion"].any())

    def disabled(self, bit: int) -> bool:
        """Whether the option's disable flags contain `bit`."""
        return bool(self.flags.disableflags & bit)

    def enabled(self, bit: int) -> bool:
        """Whether the option's enable flags contain `bit`."""
        return bool(self.flags.enableflags & bit)
