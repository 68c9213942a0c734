"""Reinforcement learning in environments of this package (extra `learn`: flax, optax and orbax).

Three algorithms: `ppo`; `shac` and `apg`, which climb the gradient of a `window` that goes through the simulation. Each
returns an Algorithm (`algorithm`) of settings (`config`); the `loop` runs it, with `evaluation`, `checkpoint` and
`curve`; `train` does both by names, with the settings of each task in `presets`, and loads what it wrote; `policy` is
what comes out. The parts: `networks`, `normaliser` of observations, `experience` of a policy, `advantage` estimates,
`optimiser`, `minibatch` descent, `sharing` of worlds between devices, `worlds` of an environment. `horizon` shows how
gradients grow, `playback` what a policy does.
"""

from importlib.util import find_spec

from mjx_like.errors import UnsupportedError

for _name in ("flax", "orbax.checkpoint"):
    try:
        _found = find_spec(_name)
    except ModuleNotFoundError:
        _found = None
    if _found is None:
        raise UnsupportedError(f"learning needs {_name.partition('.')[0]}: pip install 'mjx_like[learn]'")

from mjx_like.learning.apg import APGConfig, apg  # noqa: E402
from mjx_like.learning.curve import Point, plot_curves, reached  # noqa: E402
from mjx_like.learning.horizon import GradientNorms, gradient_norms, plot_gradient_norms  # noqa: E402
from mjx_like.learning.loop import Result, run  # noqa: E402
from mjx_like.learning.playback import Playback, play  # noqa: E402
from mjx_like.learning.policy import Policy  # noqa: E402
from mjx_like.learning.ppo import PPOConfig, ppo  # noqa: E402
from mjx_like.learning.presets import PRESETS, preset  # noqa: E402
from mjx_like.learning.shac import SHACConfig, shac  # noqa: E402
from mjx_like.learning.train import ALGORITHMS, load_policy, train  # noqa: E402

__all__ = [
    "ALGORITHMS",
    "PRESETS",
    "APGConfig",
    "GradientNorms",
    "PPOConfig",
    "Playback",
    "Point",
    "Policy",
    "Result",
    "SHACConfig",
    "apg",
    "gradient_norms",
    "load_policy",
    "play",
    "plot_curves",
    "plot_gradient_norms",
    "ppo",
    "preset",
    "reached",
    "run",
    "shac",
    "train",
]
