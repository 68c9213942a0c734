"""Custom numeric, text and tuple fields, and keyframes."""

from typing import Any

import numpy as np

from mjx_like.compiler.arrays import Row
from mjx_like.compiler.context import KINDS, Context
from mjx_like.compiler.element.joint import NQ
from mjx_like.compiler.pose import normalized
from mjx_like.mjcf.attach.keyframe import Layout
from mjx_like.mjcf.spec import Element
from mjx_like.types.enums import JointType, ObjType

_MAX_NUMERIC = 10_000_000  # against sizes that nobody means


def compile_numerics(elements: list[Element]) -> tuple[list[Row], dict[str, Any]]:
    """Return the rows and the data of numeric fields.

    Raises:
      ModelError: a bad size.
    """
    rows, data, total = [], [], 0
    for element in elements:
        given = np.asarray(element.get("data", ()), float).ravel()
        size = int(element.get("size", len(given)))
        if not 1 <= size <= _MAX_NUMERIC:
            raise element.error(f"its size {size} must be between 1 and {_MAX_NUMERIC}")
        if size < len(given):
            raise element.error(f"size {size} is smaller than its data, {len(given)} values")
        rows.append({"numeric_adr": total, "numeric_size": size})
        data += [given, np.zeros(size - len(given))]
        total += size
    return rows, {"numeric_data": np.concatenate([np.zeros(0), *data])}


def compile_texts(elements: list[Element]) -> tuple[list[Row], dict[str, Any]]:
    """Return the rows of text fields and their bytes, each ended by a zero.

    Raises:
      ModelError: an empty text.
    """
    rows, data = [], []
    for element in elements:
        text = element.get("data", "")
        if not text:
            raise element.error("its text cannot be empty")
        encoded = [*text.encode(), 0]
        rows.append({"text_adr": len(data), "text_size": len(encoded)})
        data += encoded
    return rows, {"text_data": data}


def compile_tuples(ctx: Context, elements: list[Element]) -> tuple[list[Row], dict[str, Any]]:
    """Return the rows of tuples and the objects that they name.

    Raises:
      ModelError: an empty tuple, or an unknown object.
    """
    rows = []
    data: dict[str, Any] = {"tuple_objtype": [], "tuple_objid": [], "tuple_objprm": []}
    for element in elements:
        if not element.children:
            raise element.error("is empty")
        rows.append({"tuple_adr": len(data["tuple_objid"]), "tuple_size": len(element.children)})
        for child in element.children:
            word = child.get("objtype")
            if word not in KINDS:
                raise child.error(f"objtype '{word}' is no kind of object; known: {', '.join(KINDS)}")
            data["tuple_objtype"].append(int(KINDS[word]))
            data["tuple_objid"].append(ctx.names.find(KINDS[word], child.get("objname"), child, "objname"))
            data["tuple_objprm"].append(float(child.get("prm", 0)))
    return rows, data


def compile_keyframes(ctx: Context, elements: list[Element], fields: dict[str, Any], count: int) -> list[Row]:
    """Return the rows of keyframes; what is not given is that of qpos0, the body poses, springs at rest, or zero.

    Args:
      fields: the compiled arrays, derived constants included.
      count: number of keyframes that <size nkey> asks for.

    Raises:
      ModelError: a vector that is longer than the model has room for.
    Source: mjCKey::Compile.
    """
    mocap = np.flatnonzero(np.asarray(fields["body_mocapid"]) >= 0)
    defaults = {
        "qpos": fields["qpos0"],
        "qvel": np.zeros(fields["nv"]),
        "act": np.zeros(fields["na"]),
        "mpos": fields["body_pos"][mocap].ravel(),
        "mquat": fields["body_quat"][mocap].ravel(),
        "ctrl": np.zeros(fields["nu"]),
        "plastic": _plastic(fields),
    }
    starts = _starts(ctx, fields) if ctx.spec.layouts or ctx.key_factors else {}
    factors = _factors(ctx, defaults, starts)
    rows = []
    for element in elements:
        layout = ctx.spec.layouts.get(element)
        make = _attached(element, layout, defaults, starts) if layout else _keyframe(element, defaults)
        rows.append(_scaled_key(make, element, factors))
    rows += [{"key_time": 0.0} | {f"key_{k}": np.array(v) for k, v in defaults.items()}] * (count - len(rows))
    return [_normalize(row, fields) for row in rows]


def _plastic(fields: dict[str, Any]) -> np.ndarray:
    """Plastic state at rest: spring references of joints, then spring lengths of tendons."""
    state = np.zeros(fields["nplastic"])
    for kind, adr, start in zip(fields["jnt_type"], fields["jnt_plasticadr"], fields["jnt_qposadr"], strict=True):
        if adr >= 0:
            state[adr : adr + NQ[JointType(kind)]] = fields["qpos_spring"][start : start + NQ[JointType(kind)]]
    for adr, lengths in zip(fields["tendon_plasticadr"], fields["tendon_lengthspring"], strict=True):
        if adr >= 0:
            state[adr : adr + 2] = lengths
    return state


def _keyframe(element: Element, defaults: dict[str, Any]) -> Row:
    row: Row = {"key_time": float(element.get("time", 0))}
    for name, default in defaults.items():
        given = np.asarray(element.get(name, ()), float).ravel()
        if len(given) > len(default):
            raise element.error(f"{name} has {len(given)} values; the model has room for {len(default)}")
        row[f"key_{name}"] = np.concatenate([given, default[len(given) :]])
    return row


Factors = dict[str, tuple[np.ndarray, list[tuple[int, np.ndarray]]]]


def _factors(ctx: Context, defaults: dict[str, Any], starts: dict[str, dict[Element, int]]) -> Factors:
    """Factors of the numbers of a keyframe, where frames are scaled, matrices of positions, and where these start."""
    found: Factors = {}
    for name, by_element in ctx.key_factors.items():
        factor, matrices = np.ones(len(defaults[name])), []
        for element, start in starts[name].items():
            own = by_element[element]
            if np.ndim(own) == 2:
                matrices.append((start, own))
            else:
                factor[start : start + np.size(own)] = own
        found[name] = factor, matrices
    return found


def _scaled_key(row: Row, element: Element, factors: Factors) -> Row:
    """The row with what the element gives multiplied by its factors; what follows from the model has them already."""
    for name, (factor, matrices) in factors.items():
        values = row[f"key_{name}"]
        given = min(np.size(element.get(name, ())), len(factor))
        values[:given] *= factor[:given]
        for start, matrix in matrices:
            if start + 3 <= given:
                point = values[start : start + 3]
                values[start : start + 3] = matrix[:, :3] @ point + (matrix[:, 3] if matrix.shape[1] == 4 else 0)
    return row


def _starts(ctx: Context, fields: dict[str, Any]) -> dict[str, dict[Element, int]]:
    """For each vector of a keyframe, where the numbers of each joint, mocap body and actuator start."""

    def table(kind: ObjType, addresses: np.ndarray, width: int = 1) -> dict[Element, int]:
        return {e: width * int(a) for e, a in zip(ctx.names.elements[kind], addresses, strict=True) if a >= 0}

    joints, bodies, actuators = ObjType.JOINT, ObjType.BODY, ObjType.ACTUATOR
    return {
        "qpos": table(joints, fields["jnt_qposadr"]),
        "qvel": table(joints, fields["jnt_dofadr"]),
        "act": table(actuators, fields["actuator_actadr"]),
        "ctrl": table(actuators, fields["actuator_ctrladr"]),
        "mpos": table(bodies, fields["body_mocapid"], 3),
        "mquat": table(bodies, fields["body_mocapid"], 4),
    }


def _attached(element: Element, layout: Layout, defaults: dict[str, Any], starts: dict[str, dict[Element, int]]) -> Row:
    """Row of a keyframe that came with an attached model: what it says of what was attached, the rest as by default."""
    row: Row = {"key_time": float(element.get("time", 0))}
    for name, default in defaults.items():
        given, values = np.asarray(element.get(name, ()), float).ravel(), np.array(default)
        for owner, size in layout.parts(name):
            part, given = given[:size], given[size:]
            if owner in starts[name]:
                start = starts[name][owner]
                values[start : start + len(part)] = part
        row[f"key_{name}"] = values
    return row


def _normalize(row: Row, fields: dict[str, Any]) -> Row:
    """Return the row with unit quaternions."""
    qpos, plastic, mquat = (row[f"key_{name}"].copy() for name in ("qpos", "plastic", "mquat"))
    starts = [(mquat, adr) for adr in range(0, len(mquat), 4)]
    for kind, adr, state in zip(fields["jnt_type"], fields["jnt_qposadr"], fields["jnt_plasticadr"], strict=True):
        if kind in (JointType.FREE, JointType.BALL):
            starts.append((qpos, adr + (3 if kind == JointType.FREE else 0)))
        if kind == JointType.BALL and state >= 0:
            starts.append((plastic, state))
    for values, adr in starts:
        values[adr : adr + 4] = normalized(values[adr : adr + 4])[0]
    return row | {"key_qpos": qpos, "key_plastic": plastic, "key_mquat": mquat}
