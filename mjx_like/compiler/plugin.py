"""Plugins: declared ones are accepted; of those that are used, only the cable's elasticity is built."""

from mjx_like.compiler.context import not_built
from mjx_like.mjcf.element import Element
from mjx_like.mjcf.spec import Spec

CABLE = "mujoco.elasticity.cable"
# Plugins that MuJoCo or one of its documents brings with it.
KNOWN = (
    "mujoco.pid", "mujoco.sensor.touch_grid", "mujoco.sdf.bolt", "mujoco.sdf.bowl", "mujoco.sdf.gear",
    "mujoco.sdf.nut", "mujoco.sdf.torus", "mujoco.sdf.sdflib", CABLE, "mujoco.elasticity.shell",
)  # fmt: skip


def check_plugins(spec: Spec) -> None:
    """Refuse what is unknown among the declared plugins, and uses of one that is not built.

    Raises:
      ModelError: the plugin, with the element that declares or uses it.
    """
    declared: dict[str, str] = {}
    for element in spec.sections["extension"]:
        name = element.get("plugin")
        if name not in KNOWN:
            raise element.error(f"plugin '{name}' is unknown; known: {', '.join(KNOWN)}")
        declared |= {instance.get("name"): name for instance in element.find_all("instance")}
    on_bodies = {id(child) for body in spec.worldbody.iter("body") for child in body.find_all("plugin")}
    tops = (element for name, section in spec.sections.items() if name != "extension" for element in section)
    for top in (spec.worldbody, *tops):
        for element in top.iter("plugin"):
            instance = element.get("instance")
            if instance and instance not in declared:
                raise element.error(f"attribute 'instance' names '{instance}', which no extension declares")
            name = declared[instance] if instance else element.get("plugin")
            if name != CABLE or id(element) not in on_bodies:
                raise not_built(element, f"plugin '{name}'" if name else "plugin")


def instance_of(element: Element) -> str:
    """Name of the instance that an element uses, empty if it has its own."""
    return element.get("instance", "")


def config(spec: Spec, element: Element) -> dict[str, str]:
    """Key -> value of the plugin that an element uses."""
    holder, name = element, instance_of(element)
    if name:
        declared = (i for plugin in spec.sections["extension"] for i in plugin.find_all("instance"))
        holder = next(instance for instance in declared if instance.get("name") == name)
    return {child.get("key"): child.get("value", "") for child in holder.find_all("config")}
