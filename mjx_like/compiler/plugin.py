"""Plugins: declared ones are accepted, used ones are refused by name."""

from mjx_like.compiler.context import not_built
from mjx_like.mjcf.spec import Spec

# Plugins that MuJoCo or one of its documents brings with it.
KNOWN = (
    "mujoco.pid", "mujoco.sensor.touch_grid", "mujoco.sdf.bolt", "mujoco.sdf.bowl", "mujoco.sdf.gear",
    "mujoco.sdf.nut", "mujoco.sdf.torus", "mujoco.sdf.sdflib", "mujoco.elasticity.cable", "mujoco.elasticity.shell",
)  # fmt: skip


def check_plugins(spec: Spec) -> None:
    """Refuse what is unknown among the declared plugins, and every use of one.

    Raises:
      ModelError: the plugin, with the element that declares or uses it.
    """
    declared: dict[str, str] = {}
    for element in spec.sections["extension"]:
        name = element.get("plugin")
        if name not in KNOWN:
            raise element.error(f"plugin '{name}' is unknown; known: {', '.join(KNOWN)}")
        declared |= {instance.get("name"): name for instance in element.find_all("instance")}
    tops = (element for name, section in spec.sections.items() if name != "extension" for element in section)
    for top in (spec.worldbody, *tops):
        for element in top.iter("plugin"):
            instance = element.get("instance")
            if instance and instance not in declared:
                raise element.error(f"attribute 'instance' names '{instance}', which no extension declares")
            name = declared[instance] if instance else element.get("plugin")
            raise not_built(element, f"plugin '{name}'" if name else "plugin")
