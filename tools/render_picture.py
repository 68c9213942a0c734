"""Makes docs/images/quadruped.gif, which the README shows: `python tools/render_picture.py`."""

import pathlib

import jax
import jax.numpy as jnp

import mjx_like as mjx

ROOT = pathlib.Path(__file__).parents[1]
COLORS = {"motor": [0.95, 0.5, 0.15, 1], "foot": [0.1, 0.1, 0.1, 1]}  # by default class


def main() -> None:
    """A quadruped that is dropped and treads on the spot, two seconds."""
    m = lit_model()
    d = mjx.make_data(m, 0)
    d = d.replace(qpos=d.qpos.at[2].add(0.25))
    steps = round(2 / float(m.opt.timestep))
    swing = 0.1 * jnp.sin(
        jnp.arange(steps)[:, None] * float(m.opt.timestep) * 12 + jnp.pi * (jnp.arange(m.nu) // 3 % 2)
    )
    trajectory = jax.jit(lambda: mjx.rollout(m, d, d.ctrl + swing))()
    camera = mjx.free_camera(m, [0.0, 0.0, 0.28], 1.5, 60.0, -14.0)
    path = mjx.save_video(
        m, trajectory, ROOT / "docs/images/quadruped.gif", camera=camera, fps=15, width=400, height=240
    )
    print(path, f"{path.stat().st_size / 1e6:.2f} MB")


def lit_model() -> mjx.Model:
    """The quadruped on a mirroring chequered floor, in daylight."""
    spec = mjx.Spec.from_file(str(ROOT / "models/quadruped.xml"))
    blue, white, light, dark = [0.55, 0.75, 0.95], [0.9, 0.95, 1], [0.75, 0.8, 0.85], [0.6, 0.66, 0.72]
    spec.add_texture(name="sky", type="skybox", builtin="gradient", rgb1=blue, rgb2=white, width=64, height=384)
    spec.add_texture(name="tiles", type="2d", builtin="checker", rgb1=light, rgb2=dark, width=128, height=128)
    spec.add_material(name="tiles", texture="tiles", texrepeat=[2, 2], texuniform=True, reflectance=0.15)
    spec.visual.headlight.ambient = [0.45, 0.45, 0.45]
    spec.visual.headlight.diffuse = [0.4, 0.4, 0.4]
    floor = next(geom for geom in spec.worldbody.geoms if geom.type in ("plane", mjx.GeomType.PLANE))
    floor.material, floor.rgba = "tiles", [1, 1, 1, 1]
    for geom in spec.geoms:
        if geom.name != floor.name:
            geom.rgba = COLORS.get(geom.classname, [0.35, 0.4, 0.5, 1])
    return spec.compile()


if __name__ == "__main__":
    main()
