"""Makes docs/images/quadruped.gif, which the README shows: `python tools/render_picture.py`."""

import pathlib

import jax
import jax.numpy as jnp

import mjx_like as mjx

ROOT = pathlib.Path(__file__).parents[1]


def main() -> None:
    """A quadruped that is dropped and treads on the spot, two seconds."""
    m = mjx.Model.from_xml_path(str(ROOT / "models/quadruped.xml"))
    d = mjx.make_data(m, 0)
    d = d.replace(qpos=d.qpos.at[2].add(0.25))
    steps = round(2 / float(m.opt.timestep))
    swing = 0.1 * jnp.sin(
        jnp.arange(steps)[:, None] * float(m.opt.timestep) * 12 + jnp.pi * (jnp.arange(m.nu) // 3 % 2)
    )
    trajectory = jax.jit(lambda: mjx.rollout(m, d, d.ctrl + swing))()
    camera = mjx.free_camera(m, [0.0, 0.0, 0.3], 1.8, 60.0, -20.0)
    path = mjx.save_video(m, trajectory, ROOT / "docs/images/quadruped.gif", camera=camera, fps=15)
    print(path, f"{path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
