"""The controls beside the picture: what is clicked and moved there becomes a command for the loop that simulates."""

import queue
from collections.abc import Callable
from typing import Any

import numpy as np

from mjx_like.types.enums import JointType
from mjx_like.types.model import Model
from mjx_like.viewer.lights import Lights
from mjx_like.viewer.overlays import Overlays
from mjx_like.viewer.session import Session

SPEEDS = ("1/8", "1/4", "1/2", "1", "2", "4")
_SLIDERS = 40  # joints and controls that have one, at most
_FREE = {JointType.HINGE: (-np.pi, np.pi), JointType.SLIDE: (-1.0, 1.0)}  # ranges of joints without limits


class Panel:
    """Buttons and sliders of a session.

    `commands` holds functions without arguments, to be called by the thread that owns the session: viser calls back
    from threads of its own. What cannot be stepped has no controls, and says why.
    """

    def __init__(self, gui: Any, session: Session, overlays: Overlays, lights: Lights):
        self.session, self.overlays, self.lights, self.commands = session, overlays, lights, queue.SimpleQueue()
        self.playing, self.speed = not session.lacks, 1.0
        self._clock(gui)
        with gui.add_folder("Show"):
            self._switches(gui)
        m, self._ctrl = session.m, {}
        if not session.lacks:
            with gui.add_folder("Controls", expand_by_default=False):
                self._ctrl = self._control_sliders(gui, m)
        with gui.add_folder("Joints", expand_by_default=False):
            self._joints = self._joint_sliders(gui, m)

    def run(self) -> None:
        """Carry out the commands that came since the last call."""
        while not self.commands.empty():
            self.commands.get()()

    def follow(self, text: str) -> None:
        """Show the state of the first world: a line of text, and the joints where their sliders can be seen."""
        self._status.content = text
        qpos, m = np.asarray(self.session.d.qpos[0]), self.session.m
        for joint, slider in self._joints.items():
            slider.value = float(np.clip(qpos[m.jnt_qposadr[joint]], slider.min, slider.max))

    def _command(self, act: Callable[..., Any], *args: Any) -> None:
        self.commands.put(lambda: act(*args))

    def _clock(self, gui: Any) -> None:
        self._status, still = gui.add_markdown(""), bool(self.session.lacks)
        if still:
            gui.add_markdown("Not supported, hence at rest:\n" + "".join(f"\n- {x}" for x in self.session.lacks))
        play = gui.add_button("Play" if still else "Pause", disabled=still)
        once = gui.add_button("Step", disabled=still)
        speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
        keys = ("qpos0", *(name or str(number) for number, name in enumerate(_key_names(self.session.m))))
        start, reset = gui.add_dropdown("Start", keys, initial_value="qpos0"), gui.add_button("Reset")

        @play.on_click
        def _(_: Any) -> None:
            self.playing = not self.playing
            play.label = "Pause" if self.playing else "Play"

        @once.on_click
        def _(_: Any) -> None:
            self.playing, play.label = False, "Play"
            self._command(self.session.advance, 0.0)

        @speed.on_update
        def _(_: Any) -> None:
            top, _, bottom = speed.value.partition("/")
            self.speed = float(top) / float(bottom or 1)

        @reset.on_click
        def _(_: Any) -> None:
            chosen = keys.index(start.value)
            self._command(self.session.reset, chosen - 1 if chosen else None)

    def _switches(self, gui: Any) -> None:
        for name in self.overlays.on:
            box = gui.add_checkbox(name.capitalize(), False)

            @box.on_update
            def _(_: Any, name: str = name, box: Any = box) -> None:
                self.overlays.on[name] = box.value

        if self.lights.model:
            own = gui.add_checkbox("Lights of the model", self.lights.own)

            @own.on_update
            def _(_: Any) -> None:
                self.lights.own = own.value

    def _control_sliders(self, gui: Any, m: Model) -> dict[int, Any]:
        made = {}
        draw = gui.add_button("Random")
        draw.on_click(lambda _: self._command(self._random))
        for index in range(min(m.nu, _SLIDERS)):
            low, high = map(float, m.actuator_ctrlrange[index]) if m.actuator_ctrllimited[index] else (-1.0, 1.0)
            made[index] = gui.add_slider(
                _label(m, "actuator", index), low, high, (high - low) / 200, min(max(0.0, low), high)
            )

            @made[index].on_update
            def _(event: Any, index: int = index) -> None:
                if event.client is not None:  # else the loop moved it
                    self._command(self.session.set_ctrl, index, float(made[index].value))

        return made

    def _random(self) -> None:
        self.session.random_ctrl()
        ctrl = np.asarray(self.session.d.ctrl[0])
        for index, slider in self._ctrl.items():
            slider.value = float(np.clip(ctrl[index], slider.min, slider.max))

    def _joint_sliders(self, gui: Any, m: Model) -> dict[int, Any]:
        made = {}
        for joint in [j for j in range(m.njnt) if m.jnt_type[j] in _FREE][:_SLIDERS]:
            limited = m.jnt_limited[joint]
            low, high = map(float, m.jnt_range[joint]) if limited else _FREE[JointType(int(m.jnt_type[joint]))]
            value = float(np.clip(m.qpos0[m.jnt_qposadr[joint]], low, high))
            made[joint] = gui.add_slider(_label(m, "joint", joint), low, high, (high - low) / 500, value)

            @made[joint].on_update
            def _(event: Any, joint: int = joint) -> None:
                if event.client is not None:
                    self._command(self.session.set_joint, joint, float(made[joint].value))

        return made


def _label(m: Model, kind: str, index: int) -> str:
    return getattr(m, kind)(index).name or f"{kind} {index}"


def _key_names(m: Model) -> list[str]:
    return [m.key(index).name for index in range(m.nkey)]
