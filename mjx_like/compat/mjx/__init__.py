"""MJX's public names on this engine: `from mjx_like.compat import mjx`; `_src/` has what its clients import there."""

from typing import Any

from mjx_like.compat.mjx import _src as _src
from mjx_like.compat.mjx._src.forward import euler as euler
from mjx_like.compat.mjx._src.forward import forward as forward
from mjx_like.compat.mjx._src.forward import fwd_acceleration as fwd_acceleration
from mjx_like.compat.mjx._src.forward import fwd_actuation as fwd_actuation
from mjx_like.compat.mjx._src.forward import fwd_position as fwd_position
from mjx_like.compat.mjx._src.forward import fwd_velocity as fwd_velocity
from mjx_like.compat.mjx._src.forward import implicit as implicit
from mjx_like.compat.mjx._src.forward import inverse as inverse
from mjx_like.compat.mjx._src.forward import rungekutta4 as rungekutta4
from mjx_like.compat.mjx._src.forward import step as step
from mjx_like.compat.mjx._src.io import get_data as get_data
from mjx_like.compat.mjx._src.io import get_data_into as get_data_into
from mjx_like.compat.mjx._src.io import get_state as get_state
from mjx_like.compat.mjx._src.io import make_data as make_data
from mjx_like.compat.mjx._src.io import put_data as put_data
from mjx_like.compat.mjx._src.io import put_model as put_model
from mjx_like.compat.mjx._src.io import set_state as set_state
from mjx_like.compat.mjx._src.io import state_size as state_size
from mjx_like.compat.mjx._src.ray import ray as ray
from mjx_like.compat.mjx._src.smooth import camlight as camlight
from mjx_like.compat.mjx._src.smooth import collision as collision
from mjx_like.compat.mjx._src.smooth import com_pos as com_pos
from mjx_like.compat.mjx._src.smooth import com_vel as com_vel
from mjx_like.compat.mjx._src.smooth import crb as crb
from mjx_like.compat.mjx._src.smooth import deriv_smooth_vel as deriv_smooth_vel
from mjx_like.compat.mjx._src.smooth import factor_m as factor_m
from mjx_like.compat.mjx._src.smooth import kinematics as kinematics
from mjx_like.compat.mjx._src.smooth import make_constraint as make_constraint
from mjx_like.compat.mjx._src.smooth import passive as passive
from mjx_like.compat.mjx._src.smooth import rne as rne
from mjx_like.compat.mjx._src.smooth import rne_postconstraint as rne_postconstraint
from mjx_like.compat.mjx._src.smooth import sensor_acc as sensor_acc
from mjx_like.compat.mjx._src.smooth import sensor_pos as sensor_pos
from mjx_like.compat.mjx._src.smooth import sensor_vel as sensor_vel
from mjx_like.compat.mjx._src.smooth import solve as solve
from mjx_like.compat.mjx._src.smooth import subtree_vel as subtree_vel
from mjx_like.compat.mjx._src.smooth import tendon as tendon
from mjx_like.compat.mjx._src.smooth import tendon_armature as tendon_armature
from mjx_like.compat.mjx._src.smooth import tendon_bias as tendon_bias
from mjx_like.compat.mjx._src.smooth import transmission as transmission
from mjx_like.compat.mjx._src.support import apply_ft as apply_ft
from mjx_like.compat.mjx._src.support import full_m as full_m
from mjx_like.compat.mjx._src.support import id2name as id2name
from mjx_like.compat.mjx._src.support import is_sparse as is_sparse
from mjx_like.compat.mjx._src.support import jac as jac
from mjx_like.compat.mjx._src.support import mul_m as mul_m
from mjx_like.compat.mjx._src.support import name2id as name2id
from mjx_like.compat.mjx._src.support import xfrc_accumulate as xfrc_accumulate
from mjx_like.compat.mjx._src.types import BiasType as BiasType
from mjx_like.compat.mjx._src.types import CamLightType as CamLightType
from mjx_like.compat.mjx._src.types import ConeType as ConeType
from mjx_like.compat.mjx._src.types import ConstraintType as ConstraintType
from mjx_like.compat.mjx._src.types import Contact as Contact
from mjx_like.compat.mjx._src.types import Data as Data
from mjx_like.compat.mjx._src.types import DataJAX as DataJAX
from mjx_like.compat.mjx._src.types import DisableBit as DisableBit
from mjx_like.compat.mjx._src.types import DynType as DynType
from mjx_like.compat.mjx._src.types import EnableBit as EnableBit
from mjx_like.compat.mjx._src.types import EqType as EqType
from mjx_like.compat.mjx._src.types import GainType as GainType
from mjx_like.compat.mjx._src.types import GeomType as GeomType
from mjx_like.compat.mjx._src.types import Impl as Impl
from mjx_like.compat.mjx._src.types import IntegratorType as IntegratorType
from mjx_like.compat.mjx._src.types import JacobianType as JacobianType
from mjx_like.compat.mjx._src.types import JointType as JointType
from mjx_like.compat.mjx._src.types import Model as Model
from mjx_like.compat.mjx._src.types import ObjType as ObjType
from mjx_like.compat.mjx._src.types import Option as Option
from mjx_like.compat.mjx._src.types import PyTreeNode as PyTreeNode
from mjx_like.compat.mjx._src.types import SensorType as SensorType
from mjx_like.compat.mjx._src.types import SolverType as SolverType
from mjx_like.compat.mjx._src.types import Statistic as Statistic
from mjx_like.compat.mjx._src.types import TrnType as TrnType
from mjx_like.compat.mjx._src.types import WrapType as WrapType

# Names of MJX that have no counterpart -> what to use.
_ABSENT = {
    **dict.fromkeys(("ConvexMesh", "ModelJAX", "OptionJAX"), "an inner record of MJX"),
    **dict.fromkeys(("ModelCPP", "DataCPP"), "of MJX's implementation in C++"),
    **dict.fromkeys(
        "create_render_context refit_bvh render render_with_segmentation get_rgb get_depth get_segmentation".split(),
        "of the renderer in Warp; mjx_like.render makes images",
    ),
    "benchmark": "python -m mjx_like bench measures",
}


def __getattr__(name: str) -> Any:
    why = f": {_ABSENT[name]}" if name in _ABSENT else ""
    raise AttributeError(f"mjx_like.compat.mjx has no {name!r}{why}")
