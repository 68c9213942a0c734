"""Plugins: which there are, where they may stand, and what their configuration says.

Models with plugins compile as in MuJoCo; of those that act on the motion the cable's elasticity and signed distances
are built, the others are reported as unsupported.
"""

import dataclasses
import re

import numpy as np

from mjx_like.mjcf.element import Element
from mjx_like.mjcf.spec import Spec

CABLE = "mujoco.elasticity.cable"


@dataclasses.dataclass(frozen=True)
class Kind:
    """The elements that may use a plugin, and the keys of its configuration."""

    users: tuple[str, ...]
    keys: tuple[str, ...]


_SDF = ("mesh", "geom")
# Plugins that MuJoCo 4.0.0 brings with it, and the cable of 3.1.6.
PLUGINS = {
    "mujoco.pid": Kind(("actuator",), ("kp", "ki", "kd", "imax", "slewmax")),
    "mujoco.sensor.touch_grid": Kind(("sensor",), ("nchannel", "size", "fov", "gamma")),
    "mujoco.sdf.bolt": Kind(_SDF, ("radius",)),
    "mujoco.sdf.bowl": Kind(_SDF, ("height", "radius", "thickness")),
    "mujoco.sdf.gear": Kind(_SDF, ("alpha", "diameter", "teeth", "thickness", "innerdiameter")),
    "mujoco.sdf.nut": Kind(_SDF, ("radius",)),
    "mujoco.sdf.torus": Kind(_SDF, ("radius1", "radius2")),
    CABLE: Kind(("body",), ("twist", "bend", "flat", "vmax")),
}
_NUMBER = re.compile(r"\s*[-+]?(inf(inity)?|nan|(\d+\.?\d*|\.\d+)(e[-+]?\d+)?)", re.IGNORECASE)


def check_plugins(spec: Spec) -> None:
    """Check the plugins that are declared and used, and their configurations.

    Raises:
      ModelError: an unknown plugin, one that is not declared, one that does not fit the element that uses it, an
        unknown key; with the element that declares or uses it.
    """
    for element in spec.sections["extension"]:
        name = element.get("plugin")
        if name not in PLUGINS:
            raise element.error(f"plugin '{name}' is unknown; known: {', '.join(PLUGINS)}")
        for instance in element.find_all("instance"):
            _check_keys(instance, name)
    for user, element in uses(spec):
        name = plugin_name(spec, element)
        if user not in PLUGINS[name].users:
            raise element.error(f"plugin '{name}' does not go with a {user}; give it to a {PLUGINS[name].users[0]}")
        if not instance_of(element):
            _check_keys(element, name)


def uses(spec: Spec) -> list[tuple[str, Element]]:
    """Return what stands in the model with a plugin: the tag or section that uses it, and the plugin element."""
    found = []
    for section, tag in (("actuator", "actuator"), ("sensor", "sensor")):
        found += [(tag, element) for element in spec.sections[section] if element.tag == "plugin"]
    tops = [spec.worldbody, *(element for element in spec.sections["asset"] if element.tag == "mesh")]
    for top in tops:
        for element in top.iter("worldbody", "body", "frame", "geom", "mesh"):
            holder = "body" if element.tag in ("frame", "worldbody") else element.tag
            found += [(holder, child) for child in element.find_all("plugin")]
    return found


def plugin_name(spec: Spec, element: Element) -> str:
    """Return the plugin that an element uses, by its instance or directly.

    Raises:
      ModelError: it names neither, or a plugin that is not declared.
    """
    declared = {e.get("plugin") for e in spec.sections["extension"]}
    instance, name = instance_of(element), element.get("plugin")
    if instance:
        holder = _instances(spec).get(instance)
        if holder is None:
            raise element.error(f"attribute 'instance' names '{instance}', which no extension declares")
        return holder[0]
    if not name:
        raise element.error("needs attribute 'plugin' or 'instance'")
    if name not in declared:
        known = ", ".join(sorted(declared)) or "none"
        raise element.error(f"plugin '{name}' is not declared; add it to <extension>; declared: {known}")
    return name


def unsupported(spec: Spec) -> tuple[str, ...]:
    """Return what of the plugins in use the engine cannot run; sensors tell it themselves."""
    idle = {"mesh", "sensor", "geom"} | ({"actuator"} if spec.flag["actuation"] == "disable" else set())
    return tuple(
        f"{user} at {element.where}: plugin {name} is not built"
        for user, element in uses(spec)
        if user not in idle and (name := plugin_name(spec, element)) != CABLE
    )


def instance_of(element: Element) -> str:
    """Name of the instance that an element uses, empty if it has its own."""
    return element.get("instance", "")


def config(spec: Spec, element: Element) -> dict[str, str]:
    """Key -> value of the plugin that an element uses."""
    name = instance_of(element)
    holder = _instances(spec)[name][1] if name else element
    return {child.get("key"): child.get("value", "") for child in holder.find_all("config")}


def leading_number(text: str) -> float:
    """Return the number that a text begins with, zero if it begins with none.  Source: strtod."""
    found = _NUMBER.match(text)
    return float(found.group()) if found else 0.0


def pid_states(spec: Spec, element: Element) -> int:
    """Return the number of activations that a PID plugin keeps: its integral and its last setpoint.

    Raises:
      ModelError: no instance is named, or the slew rate is negative.
    Source: Pid::Create in plugin/actuator/pid.cc.
    """
    if not instance_of(element):
        raise element.error("an actuator plugin needs an instance; declare one in <extension> and name it")
    found = config(spec, element)
    slew = found.get("slewmax", "").strip()
    if slew and leading_number(slew) < 0:
        raise element.error(f"slewmax {slew} of plugin mujoco.pid is negative")
    return int(leading_number(found.get("ki", "")) != 0) + bool(slew)


def touch_grid_size(spec: Spec, element: Element) -> int:
    """Return how many numbers a touch grid senses.

    Raises:
      ModelError: a size, field of view or number of channels that is missing or out of range.
    Source: TouchGrid::Create in plugin/sensor/touch_grid.cc.
    """
    found = config(spec, element)
    size, fov = (_numbers(found.get(key, "")) for key in ("size", "fov"))
    for name, values in (("size", size), ("fov", fov)):
        if len(values) != 2:
            raise element.error(f"{name} of plugin mujoco.sensor.touch_grid needs two numbers, has {len(values)}")
    if min(size) < 1:
        raise element.error("size of plugin mujoco.sensor.touch_grid must be positive")
    if not 0 < fov[0] <= 180 or not 0 < fov[1] <= 90:
        raise element.error("fov of plugin mujoco.sensor.touch_grid must be in (0, 180] and (0, 90] degrees")
    channels = int(leading_number(found.get("nchannel", ""))) or 1
    if not 1 <= channels <= 6:
        raise element.error(f"nchannel {channels} of plugin mujoco.sensor.touch_grid must be from 1 to 6")
    return channels * int(size[0]) * int(size[1])


def _numbers(text: str) -> np.ndarray:
    words = text.split()
    values = [leading_number(word) for word in words if _NUMBER.match(word)]
    return np.array(values[: next((i for i, word in enumerate(words) if not _NUMBER.match(word)), None)])


def _instances(spec: Spec) -> dict[str, tuple[str, Element]]:
    """Instance name -> plugin and the element that declares it."""
    return {
        instance.get("name"): (plugin.get("plugin"), instance)
        for plugin in spec.sections["extension"]
        for instance in plugin.find_all("instance")
    }


def _check_keys(holder: Element, name: str) -> None:
    for child in holder.find_all("config"):
        if child.get("key") not in PLUGINS[name].keys:
            raise child.error(
                f"key '{child.get('key')}' is unknown to plugin '{name}'; known: {', '.join(PLUGINS[name].keys)}"
            )
