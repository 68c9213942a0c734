"""Random problems, to try a search on."""

import jax
import jax.numpy as jnp
import numpy as np

from mjx_like.hard.pair_rows import PairRows
from mjx_like.hard.problem import Cones, Problem, with_masses

Array = jax.Array


def sample_problems(
    nv: int = 20,
    nplain: int = 10,
    ncone: int = 24,
    axes: int = 2,
    nloss: int = 4,
    limited: tuple[int, ...] = (),
    worlds: int = 4,
    seed: int = 0,
) -> tuple[Problem, Array]:
    """Return problems of masses that fall on random contacts, and velocities to start from, to try a search on.

    Each world has more contacts in use than the last; all contacts give way to one move.
    nplain: other pairs without friction than limits; axes: of friction; nloss: friction losses; limited: dofs.
    """
    rng = np.random.default_rng(seed)
    h, fall, gap = 0.01, 0.1, 1e-4
    nlimit = 2 * len(limited)
    npair, cone = nlimit + nplain + ncone, slice(nlimit + nplain, None)
    used = np.ones((worlds, npair))
    used[:, cone] = np.arange(ncone) < np.linspace(0, ncone / 2, worlds)[:, None]
    rest = worlds, nplain + ncone
    J = np.concatenate([np.ones((*rest, 1)), 0.3 * rng.normal(size=(*rest, nv - 1))], axis=2)
    slide = 0.3 * rng.normal(size=(worlds, ncone, axes, nv)) * used[:, cone, None, None]
    mix = 0.3 * rng.normal(size=(worlds, nv, nv))
    A, b = np.eye(nv) + mix @ mix.mT, rng.normal(size=(worlds, nv)) - 2 * (np.arange(nv) == 0)
    p = Problem(
        A=A,
        b=b,
        h=np.full(worlds, h),
        J=PairRows(J * used[:, nlimit:, None], limited),
        distance=np.where(used > 0, rng.uniform(0, 0.02, used.shape), 1),
        k=np.where(used > 0, gap * fall, 1),
        used=used,
        fall=np.full(used.shape, fall),
        gap=np.full(used.shape, gap),
        mass=None,
        contact=Cones(
            J=slide,
            k=np.where(used[:, cone] > 0, 10 * gap * fall, 1),
            used=used[:, cone],
            mass=None,
            surface=None,
        ),
        loss=Cones(
            J=rng.normal(size=(worlds, nloss, 1, nv)),
            k=np.full((worlds, nloss), 1e-4),
            used=np.ones((worlds, nloss)),
            mass=None,
            surface=None,
        ),
        bound=np.full((worlds, nloss), 0.02),
    )
    p, nu = jax.tree.map(jnp.asarray, (p, np.linalg.solve(A, b[..., None])[..., 0]))
    return jax.vmap(with_masses)(p), nu
