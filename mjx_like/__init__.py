"""A differentiable rigid-body simulator in pure JAX that speaks MuJoCo's language.

Names, order of arguments `(m, d)`, fields and results are those of MuJoCo and of `mujoco.mjx`.
"""

from mjx_like.actuator.stage import fwd_actuation
from mjx_like.actuator.transmission import transmission
from mjx_like.check import check
from mjx_like.collision.distance import geom_distance
from mjx_like.collision.driver import collision
from mjx_like.compilation import compile_quickly
from mjx_like.compiler.load import LOADERS as _LOADERS
from mjx_like.constraint.contact_force import contact_force
from mjx_like.constraint.jacobian_product import mul_jac_t_vec, mul_jac_vec
from mjx_like.constraint.stage import make_constraint
from mjx_like.derivative import inverse_jacobian, transition_jacobian
from mjx_like.errors import InputError, MjxLikeError, ModelError, UnsupportedError
from mjx_like.forward import (
    forward,
    forward_skip,
    fwd_acceleration,
    fwd_constraint,
    fwd_position,
    fwd_velocity,
)
from mjx_like.hard_contact import anneal_contact, with_hard_contact, without_hard_contact
from mjx_like.infer_inertia import infer_inertia
from mjx_like.integrator.euler import euler
from mjx_like.integrator.implicit import implicit
from mjx_like.integrator.implicitfast import implicitfast
from mjx_like.integrator.position import differentiate_pos, integrate_pos, normalize_quat
from mjx_like.interop.convert import put_data, put_model
from mjx_like.interop.tables import save_parquet, to_xarray
from mjx_like.interop.to_mujoco import get_data, get_data_into
from mjx_like.inverse import compare_fwd_inv, inverse, inverse_skip
from mjx_like.io import load, save, save_xml
from mjx_like.leaves.change import leaf_value, with_leaves
from mjx_like.loaders import install as _install
from mjx_like.math.pose import (
    axis_angle2quat,
    mat2quat,
    mul_pose,
    mul_quat,
    neg_pose,
    neg_quat,
    quat2mat,
    quat2vel,
    quat_integrate,
    quat_z2vec,
    rot_vec_quat,
    sub_quat,
    trn_vec_pose,
)
from mjx_like.mjcf.edit.spec import Spec
from mjx_like.passive.stage import passive
from mjx_like.postconstraint.rne_postconstraint import rne_postconstraint
from mjx_like.ray.stage import multi_ray, ray
from mjx_like.render.camera import Camera, free_camera
from mjx_like.render.image import Image, render
from mjx_like.render.video import save_video
from mjx_like.rollout.replay import replay
from mjx_like.rollout.rollout import rollout
from mjx_like.rollout.sharding import gather_worlds, spread_worlds
from mjx_like.rollout.step_worlds import step_worlds
from mjx_like.sensor.noise import sensor_noise
from mjx_like.sensor.stage import sensor_acc, sensor_pos, sensor_vel
from mjx_like.set_const import set_const
from mjx_like.slip import Slip, slip
from mjx_like.smooth.camlight import camlight
from mjx_like.smooth.com import com_pos
from mjx_like.smooth.com_vel import com_vel
from mjx_like.smooth.crb import crb, factor_m, full_m, mul_m, solve_m
from mjx_like.smooth.energy import energy_pos, energy_vel
from mjx_like.smooth.kinematics import kinematics, local2global
from mjx_like.smooth.object_motion import object_acceleration, object_velocity
from mjx_like.smooth.rne import rne
from mjx_like.smooth.square_root import mul_m2, solve_m2
from mjx_like.smooth.subtree_vel import angmom_mat, subtree_vel
from mjx_like.smooth.xfrc import apply_ft, xfrc_accumulate
from mjx_like.smoothing import with_smoothing, without_smoothing
from mjx_like.solver.stage import solve
from mjx_like.solver.statistics import SolverStatistics, solver_statistics
from mjx_like.state.batch import batch
from mjx_like.state.difference import state_difference
from mjx_like.state.history import init_ctrl_history, init_sensor_history, read_ctrl, read_sensor
from mjx_like.state.initial import make_data, reset_to_key
from mjx_like.state.vector import get_state, set_state, state_size
from mjx_like.step import rungekutta4, step, step1, step2
from mjx_like.tendon.stage import tendon, tendon_bias
from mjx_like.total_mass import get_totalmass, set_totalmass
from mjx_like.tree.jacobian import jac, jac_dot
from mjx_like.tree.object_jacobian import jac_body, jac_body_com, jac_geom, jac_point_axis, jac_site, jac_subtree_com
from mjx_like.types.data import Contact, Data
from mjx_like.types.enums import (
    BiasType,
    CamLightType,
    ConeType,
    ConstraintType,
    DisableBit,
    DynType,
    EnableBit,
    EqType,
    GainType,
    GeomType,
    IntegratorType,
    JacobianType,
    JointType,
    ObjType,
    SensorType,
    SolverType,
    Stage,
    State,
    TrnType,
    WarningType,
    WrapType,
)
from mjx_like.types.hooks import Hooks
from mjx_like.types.model import Model
from mjx_like.types.named import id2name, name2id
from mjx_like.types.option import Option, Statistic
from mjx_like.viewer.replay import save_html
from mjx_like.viewer.rerun import log_rerun

_install(_LOADERS)

__version__ = "0.1.0"
__all__ = [
    "BiasType",
    "CamLightType",
    "Camera",
    "ConeType",
    "ConstraintType",
    "Contact",
    "Data",
    "DisableBit",
    "DynType",
    "EnableBit",
    "EqType",
    "GainType",
    "GeomType",
    "Hooks",
    "Image",
    "InputError",
    "IntegratorType",
    "JacobianType",
    "JointType",
    "MjxLikeError",
    "Model",
    "ModelError",
    "ObjType",
    "Option",
    "SensorType",
    "Slip",
    "SolverStatistics",
    "SolverType",
    "Spec",
    "Stage",
    "State",
    "Statistic",
    "TrnType",
    "UnsupportedError",
    "WarningType",
    "WrapType",
    "angmom_mat",
    "anneal_contact",
    "apply_ft",
    "axis_angle2quat",
    "batch",
    "camlight",
    "check",
    "collision",
    "com_pos",
    "com_vel",
    "compare_fwd_inv",
    "compile_quickly",
    "contact_force",
    "crb",
    "differentiate_pos",
    "energy_pos",
    "energy_vel",
    "euler",
    "factor_m",
    "forward",
    "forward_skip",
    "free_camera",
    "full_m",
    "fwd_acceleration",
    "fwd_actuation",
    "fwd_constraint",
    "fwd_position",
    "fwd_velocity",
    "gather_worlds",
    "geom_distance",
    "get_data",
    "get_data_into",
    "get_state",
    "get_totalmass",
    "id2name",
    "implicit",
    "implicitfast",
    "infer_inertia",
    "init_ctrl_history",
    "init_sensor_history",
    "integrate_pos",
    "inverse",
    "inverse_jacobian",
    "inverse_skip",
    "jac",
    "jac_body",
    "jac_body_com",
    "jac_dot",
    "jac_geom",
    "jac_point_axis",
    "jac_site",
    "jac_subtree_com",
    "kinematics",
    "leaf_value",
    "load",
    "local2global",
    "log_rerun",
    "make_constraint",
    "make_data",
    "mat2quat",
    "mul_jac_t_vec",
    "mul_jac_vec",
    "mul_m",
    "mul_m2",
    "mul_pose",
    "mul_quat",
    "multi_ray",
    "name2id",
    "neg_pose",
    "neg_quat",
    "normalize_quat",
    "object_acceleration",
    "object_velocity",
    "passive",
    "put_data",
    "put_model",
    "quat2mat",
    "quat2vel",
    "quat_integrate",
    "quat_z2vec",
    "ray",
    "read_ctrl",
    "read_sensor",
    "render",
    "replay",
    "reset_to_key",
    "rne",
    "rne_postconstraint",
    "rollout",
    "rot_vec_quat",
    "rungekutta4",
    "save",
    "save_html",
    "save_parquet",
    "save_video",
    "save_xml",
    "sensor_acc",
    "sensor_noise",
    "sensor_pos",
    "sensor_vel",
    "set_const",
    "set_state",
    "set_totalmass",
    "slip",
    "solve",
    "solve_m",
    "solve_m2",
    "solver_statistics",
    "spread_worlds",
    "state_difference",
    "state_size",
    "step",
    "step1",
    "step2",
    "step_worlds",
    "sub_quat",
    "subtree_vel",
    "tendon",
    "tendon_bias",
    "to_xarray",
    "transition_jacobian",
    "transmission",
    "trn_vec_pose",
    "with_leaves",
    "with_hard_contact",
    "with_smoothing",
    "without_hard_contact",
    "without_smoothing",
    "xfrc_accumulate",
]
