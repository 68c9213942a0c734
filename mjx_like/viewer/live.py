"""A simulation, or a recorded trajectory, in a browser."""

import time
from typing import Any

import jax
import numpy as np

from mjx_like.types.model import Model
from mjx_like.viewer.overlays import Overlays
from mjx_like.viewer.panel import Panel
from mjx_like.viewer.replay import set_camera
from mjx_like.viewer.scene import Scene
from mjx_like.viewer.sensor_plot import SensorPlot
from mjx_like.viewer.still import open_session
from mjx_like.visual.frames import FPS, Frames


class Live:
    """A session that is shown on a viser server; call `tick` again and again.

    Left-dragging a body pulls at it, dragging beside bodies turns the view. A model that the engine cannot run is
    shown at rest.

    Args:
      opened: a viser.ViserServer.
      m: one model, without a batch axis.
      worlds: how many are stepped and drawn, in a grid.
      key: keyframe at the start.
    """

    def __init__(self, opened: Any, m: Model, worlds: int = 1, key: str | int | None = None):
        self.session = open_session(m, worlds, key)
        self.scene = Scene(opened.scene, m, self.session.frames())
        self.scene.show(self.session.frames())
        self.overlays = Overlays(opened.scene, m, self.scene.offset[0])
        self.panel = Panel(opened.gui, self.session, self.overlays, self.scene.lights)
        self.plot = SensorPlot(opened.gui, m) if m.nsensordata and not self.session.lacks else None
        self._first = jax.jit(lambda d: jax.tree.map(lambda x: x[0], d))  # one call, not one for each field
        self._last, self._rate, self._opened = time.perf_counter(), 0.0, opened
        set_camera(opened, m, self.scene)
        if not self.session.lacks:
            self.scene.on_drag(self._dragged)

    def tick(self) -> None:
        """Simulate the time that went by since the last call, show the result, sleep until the next frame is due."""
        self.panel.run()
        now = time.perf_counter()
        passed, self._last = min(now - self._last, 0.2), now
        if self.panel.playing:
            steps = self.session.advance(passed * self.panel.speed)
            done = steps * float(self.session.m.opt.timestep) / max(passed, 1e-9)
            self._rate = 0.9 * self._rate + 0.1 * done
        jax.block_until_ready(self.session.d.qpos)
        self.show()
        time.sleep(max(0.0, 1 / FPS - (time.perf_counter() - now)))

    def show(self) -> None:
        """Send what is to be seen to the browsers."""
        first = self._first(self.session.d)
        with self._opened.atomic():
            self.scene.show(self.session.frames())
            self.overlays.show(first)
            seconds, contacts = float(first.time), int(first.ncon)
            text = f"**{seconds:.2f} s**, {self._rate:.2f} of real time, {contacts} contacts"
            self.panel.follow("at rest" if self.session.lacks else text)
            if self.plot is not None:
                self.plot.add(seconds, np.asarray(first.sensordata))

    def _dragged(self, phase: str, world: int, body: int, grip: np.ndarray, target: np.ndarray) -> None:
        session, commands, offset = self.session, self.panel.commands, self.scene.offset[world]
        if phase == "end":
            commands.put(session.release)
        elif phase == "start":
            commands.put(lambda: session.grab(world, body, grip - offset))
        else:
            commands.put(lambda: session.drag(target - offset))


class Player:
    """A recorded trajectory on a viser server, with a slider over its time; call `tick` again and again.

    Args:
      opened: a viser.ViserServer.
      m: one model, without a batch axis.
      frames: its poses.
    """

    def __init__(self, opened: Any, m: Model, frames: Frames):
        self.frames, self._opened = frames, opened
        self.scene = Scene(opened.scene, m, frames)
        set_camera(opened, m, self.scene)
        self._play = opened.gui.add_checkbox("Play", True)
        self._speed = opened.gui.add_slider("Speed", 0.1, 4.0, 0.1, 1.0)
        self._time = opened.gui.add_slider("Time [s]", 0.0, max(self._end(), 1e-3), 0.001, 0.0)
        self.scene.show(frames, 0)
        self._shown, self._last = 0, time.perf_counter()

    def _end(self) -> float:
        return (len(self.frames.xpos) - 1) * self.frames.dt

    def tick(self) -> None:
        """Show the frame that is due, and sleep until the next one."""
        now = time.perf_counter()
        passed, self._last = now - self._last, now
        if self._play.value and self._end() > 0:
            self._time.value = (self._time.value + passed * self._speed.value) % self._end()
        frame = int(round(self._time.value / self.frames.dt))
        if frame != self._shown:
            with self._opened.atomic():
                self.scene.show(self.frames, frame)
            self._shown = frame
        time.sleep(max(0.0, 1 / FPS - (time.perf_counter() - now)))
