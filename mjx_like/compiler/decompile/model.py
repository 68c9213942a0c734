"""A compiled model -> Spec: all its parts put together, settings included."""

import copy
import dataclasses
from typing import Any

import numpy as np

from mjx_like.compiler.compile import compile_spec
from mjx_like.compiler.contact import with_contact_elements
from mjx_like.compiler.decompile import asset, flex, link
from mjx_like.compiler.decompile.plugin import plugins
from mjx_like.compiler.decompile.source import Source, word
from mjx_like.compiler.decompile.tree import worldbody
from mjx_like.compiler.finalize import Arrays
from mjx_like.compiler.integrator import with_integrator_element
from mjx_like.compiler.unfinalize import unfinalize
from mjx_like.errors import ModelError
from mjx_like.mjcf.canonical import NOWHERE, same
from mjx_like.mjcf.default import MAIN
from mjx_like.mjcf.element import DefaultClass, Element
from mjx_like.mjcf.reader import parse_string
from mjx_like.mjcf.schema import ELEMENTS
from mjx_like.mjcf.schema import keywords as k
from mjx_like.mjcf.spec import Spec
from mjx_like.types.enums import DisableBit, EnableBit, IntegratorType, ObjType, SensorType
from mjx_like.types.model import Model
from mjx_like.types.visual import Visual, visual_values

_CHOICES = {"integrator": k.INTEGRATOR, "cone": k.CONE, "jacobian": k.JACOBIAN, "solver": k.SOLVER}
_FLAGS = ("disableflags", "enableflags", "disableactuator")
_USER_SIZES = tuple(name for name in ELEMENTS["size"].attributes if name.startswith("nuser_"))


def decompile(m: Model) -> Spec:
    """Return a Spec that compiles to this Model, with the values that its leaves have now.

    Frames are resolved, inertias and ranges written out, angles in radians; actuators are general. Constants that the
    compiler derives (weights, statistics of the tree, bounding boxes, second anchors) follow from the written values.

    Args:
      m: one model, without a batch axis on any leaf.

    Raises:
      InputError: leaves that are traced or carry a batch axis.
      ModelError: what no MJCF can say, by name: an object without a name that another one refers to, values that
        differ within a joint; and plugins that are not built.
    """
    arrays = unfinalize(m)
    if SensorType.PLUGIN in arrays.fields["sensor_type"] or any(": plugin " in lack for lack in arrays.unsupported):
        raise ModelError("a model with plugins that are not built cannot be written from its values; write the Spec")
    if m.qpos0.dtype == np.float32:
        arrays = _decimal(arrays)
    s, spec = Source(arrays), parse_string("<mujoco/>")
    spec.compiler |= {"angle": "radian"}
    _settings(spec, arrays)
    _visual(spec, arrays.visual)
    spec.visual["map"]["znear"] = _znear(s, spec.visual["map"]["znear"])
    used = plugins(s)
    spec.worldbody = worldbody(s, used)
    spec.sections |= {
        "extension": used.extension,
        "asset": asset.assets(s, used),
        "deformable": flex.flexes(s) + asset.skins(s),
        "contact": link.contacts(s),
        "equality": link.equalities(s),
        "tendon": link.tendons(s),
        "actuator": link.actuators(s),
        "sensor": link.sensors(s),
        "custom": _custom(s, arrays),
        "keyframe": asset.keyframes(s),
    }
    _fixed_looks(s, spec)
    _elasticity(s, spec)
    return spec


def _custom(s: Source, arrays: Arrays) -> list[Element]:
    """The custom elements, with what they say of contact and the integrator."""
    said = with_contact_elements(asset.custom(s), arrays.contact)
    return with_integrator_element(said, arrays.options["integrator"])


def _elasticity(s: Source, spec: Spec) -> None:
    """Give the flexes their elasticity: what fits their stiffness, by the stiffness of two materials."""
    found = [i for i in range(s["nflex"]) if flex.elastic(s, i)]
    if not found:
        return
    elements = [element for element in spec.sections["deformable"] if element.tag == "flex"]
    trials = []
    for young, poisson in flex.TRIALS:
        for i in found:
            flex.give(elements[i], **flex.trial(s, i, young, poisson))
        trials.append(Source(compile_spec(spec)))
    for i in found:
        flex.give(elements[i], **flex.material(s, tuple(trials), i))


def _fixed_looks(s: Source, spec: Spec) -> None:
    """Give fixed tendons that have a width, colour or material a class that says so: the element itself cannot."""
    for index, element in enumerate(spec.sections["tendon"]):
        material = int(s["tendon_matid"][index])
        looks = {"width": float(s["tendon_width"][index]), "rgba": np.array(s["tendon_rgba"][index])}
        if material >= 0:
            looks["material"] = s.named(ObjType.MATERIAL, material, s.label(ObjType.TENDON, index))
        main = spec.defaults[MAIN]
        if element.tag == "spatial" or all(same(value, main.records["tendon"].get(n)) for n, value in looks.items()):
            continue
        records = copy.deepcopy(main.records)
        records["tendon"] |= looks
        element.attrib["class"] = f"tendon {index}"
        spec.defaults[f"tendon {index}"] = DefaultClass(f"tendon {index}", MAIN, records, NOWHERE)


def _settings(spec: Spec, arrays: Arrays) -> None:
    options, fields = dict(arrays.options), arrays.fields
    if options["integrator"] == IntegratorType.VARIATIONAL:  # which a custom text says
        options["integrator"] = IntegratorType.EULER
    for name, value in options.items():
        if name in _CHOICES:
            spec.option[name] = word(_CHOICES[name], value)
        elif name not in _FLAGS:
            row = ELEMENTS["option"].attributes[name]
            spec.option[name] = np.array(value) if row.is_vector else np.asarray(value).item()
    for name in spec.flag:
        if name.upper() in DisableBit.__members__:
            spec.flag[name] = "disable" if options["disableflags"] & DisableBit[name.upper()] else "enable"
        else:
            spec.flag[name] = "enable" if options["enableflags"] & EnableBit[name.upper()] else "disable"
    groups = [group for group in range(31) if int(options["disableactuator"]) >> group & 1]
    if groups:
        spec.option["actuatorgroupdisable"] = np.array(groups, float)
    spec.statistic |= {name: np.array(v) if np.ndim(v) else float(v) for name, v in arrays.statistics.items()}
    spec.size |= {name: int(fields[name]) for name in _USER_SIZES if fields[name]}
    spec.size |= {"nuserdata": int(fields["nuserdata"])}


def _visual(spec: Spec, visual: Visual) -> None:
    for section, values in visual_values(visual).items():
        for name, value in values.items():
            row = ELEMENTS[section].attributes[name]
            number = _shortest(np.asarray(value, float))
            spec.visual[section][name] = number if row.is_vector else type(value)(number)
    for section, name in (("global", "orthographic"), ("global", "ellipsoidinertia"), ("global", "bvactive")):
        spec.visual[section][name] = bool(spec.visual[section][name])
    spec.visual["headlight"]["active"] = word(k.HEADLIGHT, visual.headlight.active)


def _znear(s: Source, default: float) -> float:
    """Near plane of the visualiser, which a camera without a sensor size has in its intrinsics."""
    plain = [i for i in range(s["ncam"]) if not (s["cam_sensorsize"][i] > 0).all()]
    return float(s["cam_intrinsic"][plain[0], 0]) if plain else default


def _decimal(arrays: Arrays) -> Arrays:
    """Arrays of single precision as the shortest decimal numbers that round to them."""
    parts = {}
    for part in ("fields", "options", "statistics"):
        values = getattr(arrays, part).items()
        parts[part] = {name: _shortest(value) if _is_float(value) else value for name, value in values}
    contact = arrays.contact.items()
    parts["contact"] = {n: _shortest(np.array(x)).item() if isinstance(x, float) else x for n, x in contact}
    return dataclasses.replace(arrays, **parts)


def _is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float64


def _shortest(value: np.ndarray) -> np.ndarray:
    return value.astype(np.float32).astype(str).astype(np.float64)
