"""Cameras and lights."""

import math

import numpy as np

from mjx_like.compiler.arrays import Row
from mjx_like.compiler.context import Context, keyword
from mjx_like.compiler.pose import EPS, compose, normalized, rotate
from mjx_like.compiler.tree import Body, Placed
from mjx_like.mjcf.schema import keywords
from mjx_like.types.enums import CamLightType, LightType, ObjType, ProjectionType


def compile_camera(ctx: Context, body: Body, placed: Placed) -> Row:
    """Return the fields of a camera.

    Raises:
      ModelError: a bad target, field of view, or a length given twice.
    Source: mjCCamera::Compile.
    """
    element, a = placed.element, placed.attributes
    pos, quat = a["pos"], ctx.orientation(element, a)
    if placed.frame:
        pos, quat = compose(*placed.frame, pos, quat)
    fovy, intrinsic = _lens(ctx, element, a)
    return {
        "cam_bodyid": body.id,
        "cam_mode": keyword(CamLightType, a["mode"]),
        "cam_targetbodyid": _target(ctx, element, a),
        "cam_pos": pos,
        "cam_quat": quat,
        "cam_projection": keyword(ProjectionType, a["projection"]),
        "cam_fovy": fovy,
        "cam_ipd": a["ipd"],
        "cam_resolution": a["resolution"].astype(int),
        "cam_output": sum(keywords.CAMERA_OUTPUT[word] for word in a["output"]),
        "cam_sensorsize": a["sensorsize"],
        "cam_intrinsic": intrinsic,
        "cam_user": ctx.user_data(element, a, "nuser_cam"),
    }


def compile_light(ctx: Context, body: Body, placed: Placed) -> Row:
    """Return the fields of a light.

    Raises:
      ModelError: a bad target or texture, or a direction of no length.
    Source: mjCLight::Compile.
    """
    element, a = placed.element, placed.attributes
    pos, direction = a["pos"], a["dir"]
    if placed.frame:
        pos, direction = placed.frame[0] + rotate(placed.frame[1], pos), rotate(placed.frame[1], direction)
    direction, length = normalized(direction)
    if length < EPS:
        raise element.error("dir has no length")
    if not 0 <= a["softness"] <= 1:
        raise element.error(f"softness {a['softness']:g} must be from 0 to 1")
    texture = None if ctx.discards else a.get("texture")
    return {
        "light_bodyid": body.id,
        "light_mode": keyword(CamLightType, a["mode"]),
        "light_targetbodyid": _target(ctx, element, a),
        "light_type": keyword(LightType, a["type"]),
        "light_texid": ctx.names.find(ObjType.TEXTURE, texture, element, "texture") if texture else -1,
        "light_castshadow": a["castshadow"],
        "light_active": a["active"],
        "light_pos": pos,
        "light_dir": direction,
        "light_bulbradius": a["bulbradius"],
        "light_intensity": a["intensity"],
        "light_range": a["range"],
        "light_attenuation": a["attenuation"],
        "light_cutoff": a["cutoff"],
        "light_softness": a["softness"],
        "light_exponent": a["exponent"],
        "light_ambient": a["ambient"],
        "light_diffuse": a["diffuse"],
        "light_specular": a["specular"],
    }


def _target(ctx: Context, element, a) -> int:
    target = a.get("target")
    return ctx.names.find(ObjType.BODY, target, element, "target") if target else -1


def _lens(ctx: Context, element, a) -> tuple[float, np.ndarray]:
    """The vertical field of view [deg] and the intrinsics: focal lengths and principal point [m]."""
    fovy = a["fovy"]
    if fovy >= 180:
        raise element.error(f"fovy {fovy:g} must be less than 180")
    sensor, resolution = a["sensorsize"], a["resolution"]
    if not (sensor > 0).all():
        if any(a[name].any() for name in ("focal", "focalpixel", "principal", "principalpixel")):
            raise element.error("focal and principal need a positive sensorsize")
        return fovy, np.array([ctx.znear, ctx.znear, 0, 0])
    if (resolution <= 0).any():
        raise element.error("sensorsize needs a positive resolution")
    density = resolution.astype(np.float32) / sensor.astype(np.float32)
    focal, principal = (_metric(a, name, density) for name in ("focal", "principal"))
    half = sensor.astype(np.float32)[1] / np.float32(2)
    # of single precision, rounded: the C library's own, which MuJoCo takes, and NumPy's differ by the machine
    angle = float(np.float32(math.atan2(half, focal[1])))
    return math.degrees(2 * angle), np.concatenate([focal, principal]).astype(float)


def _metric(a, name: str, density: np.ndarray) -> np.ndarray:
    """A length of the lens in metres, from pixels where those are given; in single precision, as MuJoCo has it."""
    length, pixels = (a[key].astype(np.float32) for key in (name, name + "pixel"))
    return np.where(pixels != 0, pixels / density, length)
