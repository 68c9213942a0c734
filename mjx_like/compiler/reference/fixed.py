"""Derived constants that do not depend on the configuration: masses, collision masks, trees, actuators of joints."""

import numpy as np

from mjx_like.compiler import pose
from mjx_like.compiler.reference.kinematics import Fields
from mjx_like.errors import ModelError
from mjx_like.types.enums import JointType, SleepPolicy, TrnType, WrapType

_SAME_FRAME = 1e-6  # below it, an offset between the frames of a body counts as none


def set_fixed(f: Fields) -> None:
    """Write body_subtreemass, the collision masks of bodies, the tree tables and which actuator damps what.

    Source: setFixed in engine_setconst.c.
    """
    f["body_subtreemass"] = subtree_mass(f)
    _set_collision_masks(f)
    f["jnt_actuatorid"] = _damping_actuator(f, f["njnt"], (TrnType.JOINT, TrnType.JOINTINPARENT))
    f["tendon_actuatorid"] = _damping_actuator(f, f["ntendon"], (TrnType.TENDON,))
    _set_trees(f)
    _set_tendon_trees(f)
    _set_sleep_policy(f)


def subtree_mass(f: Fields) -> np.ndarray:
    """Return the mass of every body and all below it, shape (nbody,) [kg]."""
    total = np.array(f["body_mass"], float)
    for body in range(f["nbody"] - 1, 0, -1):
        total[f["body_parentid"][body]] += total[body]
    return total


def _set_collision_masks(f: Fields) -> None:
    nbody, body = f["nbody"], f["geom_bodyid"]
    contype, conaffinity, margin = np.zeros(nbody, int), np.zeros(nbody, int), np.zeros(nbody)
    np.bitwise_or.at(contype, body, np.asarray(f["geom_contype"], int))
    np.bitwise_or.at(conaffinity, body, np.asarray(f["geom_conaffinity"], int))
    np.maximum.at(margin, body, f["geom_margin"] + f["geom_gap"])
    f["body_contype"], f["body_conaffinity"], f["body_margin"] = contype, conaffinity, margin


def _damping_actuator(f: Fields, count: int, kinds: tuple[TrnType, ...]) -> np.ndarray:
    """Return, per joint or tendon, the actuator with damping or armature that drives it: -1 none, -2 several."""
    found = np.full(count, -1)
    for i in range(f["nactuator"]):
        acts = f["actuator_damping"][i] or np.any(f["actuator_dampingpoly"][i]) or f["actuator_armature"][i]
        if acts and f["actuator_trntype"][i] in kinds:
            target = f["actuator_trnid"][i, 0]
            found[target] = i if found[target] == -1 else -2
    return found


def _set_trees(f: Fields) -> None:
    """Write dof_treeid, body_treeid and where the bodies and degrees of freedom of each tree start."""
    nv, ntree = f["nv"], f["ntree"]
    dof_treeid = np.cumsum(np.asarray(f["dof_parentid"]) == -1) - 1 if nv else np.zeros(0, int)
    mover = np.asarray(f["body_weldid"])
    moving = np.asarray(f["body_dofnum"])[mover] > 0
    body_treeid = np.full(f["nbody"], -1)
    body_treeid[moving] = dof_treeid[np.asarray(f["body_dofadr"])[mover[moving]]]
    f["dof_treeid"], f["body_treeid"] = dof_treeid, body_treeid
    owners = body_treeid[moving], dof_treeid
    f["tree_bodynum"], f["tree_dofnum"] = (np.bincount(x, minlength=ntree) for x in owners)
    first = np.unique(body_treeid[moving], return_index=True)[1]
    f["tree_bodyadr"] = np.flatnonzero(moving)[first]
    f["tree_dofadr"] = np.unique(dof_treeid, return_index=True)[1]


def _tendon_trees(f: Fields, tendon: int) -> list[int]:
    """Return the trees that a tendon touches, in the order of its path."""
    owner = {
        WrapType.JOINT: f["jnt_bodyid"],
        WrapType.SITE: f["site_bodyid"],
        WrapType.SPHERE: f["geom_bodyid"],
        WrapType.CYLINDER: f["geom_bodyid"],
    }
    trees: dict[int, None] = {}
    for j in range(f["tendon_adr"][tendon], f["tendon_adr"][tendon] + f["tendon_num"][tendon]):
        if f["wrap_type"][j] in owner:
            trees[int(f["body_treeid"][owner[f["wrap_type"][j]][f["wrap_objid"][j]]])] = None
    return [tree for tree in trees if tree >= 0]


def _set_tendon_trees(f: Fields) -> None:
    trees = [_tendon_trees(f, i) for i in range(f["ntendon"])]
    f["tendon_treenum"] = np.array([len(t) for t in trees], int)
    f["tendon_treeid"] = np.array([(t + [-1, -1])[:2] for t in trees], int).reshape(-1, 2)


def _set_sleep_policy(f: Fields) -> None:
    """Resolve SleepPolicy.AUTO in tree_sleep_policy, which holds the user's choices."""
    policy = np.array(f["tree_sleep_policy"], int)
    awake = {t for i in range(f["nactuator"]) for t in _actuated_trees(f, i)}
    for i in range(f["ntendon"]):
        trees = _tendon_trees(f, i)
        if len(trees) < 2 or (len(trees) == 2 and not _tendon_acts(f, i)):
            continue
        awake.update(trees)
        if any(policy[t] in (SleepPolicy.ALLOWED, SleepPolicy.INIT) for t in trees):
            raise ModelError(f"tendon {i} joins trees that are allowed to sleep: remove their sleep attribute")
    for flex in np.flatnonzero(np.asarray(f["flex_edgeequality"]) == 0):
        if _flex_acts(f, flex):
            continue
        awake.update(_flex_trees(f, flex))
    auto = policy == SleepPolicy.AUTO
    moved = np.isin(np.arange(len(policy)), sorted(awake))
    policy[auto] = np.where(moved, SleepPolicy.AUTO_NEVER, SleepPolicy.AUTO_ALLOWED)[auto]
    f["tree_sleep_policy"] = policy


def _actuated_trees(f: Fields, actuator: int) -> list[int]:
    kind, (target, reference) = f["actuator_trntype"][actuator], f["actuator_trnid"][actuator]
    if kind == TrnType.TENDON:
        return _tendon_trees(f, target)
    if kind in (TrnType.JOINT, TrnType.JOINTINPARENT) or (kind == TrnType.SO3 and reference < 0):
        bodies = [f["jnt_bodyid"][target]]
    elif kind in (TrnType.SITE, TrnType.SLIDERCRANK, TrnType.SO3):
        bodies = [f["site_bodyid"][site] for site in (target, reference) if site >= 0]
    else:
        bodies = [target] if kind == TrnType.BODY else []
    return [int(f["body_treeid"][body]) for body in bodies]


def _flex_acts(f: Fields, flex: int) -> bool:
    """Whether a flex has elasticity."""
    names = ("bending",) if f["flex_dim"][flex] == 1 else ("stiffness", "bending")  # lines in cells do not count
    return any(_own(f, flex, name).any() for name in names)


def _own(f: Fields, flex: int, name: str) -> np.ndarray:
    """The part of flex_stiffness or flex_bending that belongs to one flex."""
    starts = np.asarray(f[f"flex_{name}adr"], int)
    later = starts[flex + 1 :][starts[flex + 1 :] >= 0]
    values = np.asarray(f[f"flex_{name}"])
    return values[starts[flex] : later[0] if len(later) else None] if starts[flex] >= 0 else values[:0]


def _flex_trees(f: Fields, flex: int) -> list[int]:
    """Trees of the bodies that a flex hangs on."""
    part = "node" if f["flex_interp"][flex] else "vert"
    first = f[f"flex_{part}adr"][flex]
    bodies = f[f"flex_{part}bodyid"][first : first + f[f"flex_{part}num"][flex]]
    return np.unique(f["body_treeid"][bodies]).tolist()


def _tendon_acts(f: Fields, tendon: int) -> bool:
    names = ("tendon_stiffness", "tendon_stiffnesspoly", "tendon_damping", "tendon_dampingpoly")
    return any(np.any(f[name][tendon]) for name in names) or f["tendon_actuatorid"][tendon] != -1


def sliding_only(f: Fields) -> np.ndarray:
    """Return which bodies move on axis-aligned slides alone, so that their inertia is their mass, shape (nbody,).

    They are children of the world or of a body fixed to it, have no children, and an inertial frame that is theirs.
    `f["body_simple"]`, where given, decides instead (2 means yes).  Source: body_simple in user_model.cc.
    """
    if "body_simple" in f:
        return np.asarray(f["body_simple"]) == 2
    result = np.zeros(f["nbody"], bool)
    parents = np.asarray(f["body_parentid"])
    for body in range(1, f["nbody"]):
        first, count, parent = f["body_jntadr"][body], f["body_jntnum"][body], parents[body]
        joints = range(first, first + count)
        fixed = parents[parent] == 0 and f["body_dofnum"][parent] == 0
        same = np.all(np.abs(f["body_ipos"][body]) < _SAME_FRAME) and np.all(
            np.abs(np.abs(f["body_iquat"][body]) - pose.IDENTITY) < _SAME_FRAME
        )
        slides = [
            f["jnt_type"][j] == JointType.SLIDE
            and np.sum(np.abs(f["jnt_axis"][j]) > pose.EPS) == 1
            and np.all(np.abs(f["jnt_pos"][j]) < _SAME_FRAME)
            for j in joints
        ]
        result[body] = count > 0 and (parent == 0 or fixed) and same and all(slides)
    result[parents[1:]] = False
    return result
