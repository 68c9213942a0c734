"""Checkpoints, resuming, the curve, and what stops a run."""

import dataclasses

import jax
import numpy as np
import pytest
from PIL import Image

from mjx_like.errors import InputError, MjxLikeError
from mjx_like.learning.checkpoint import Checkpoints
from mjx_like.learning.curve import reached, read_table
from mjx_like.learning.loop import run
from mjx_like.learning.ppo import PPOConfig, ppo
from mjx_like.learning.train import load_policy
from tests.learning.toy import assert_compiled, point


def interrupted(algorithm, after):
    """Return the algorithm, with a Ctrl-C in the iteration after so many."""

    def update(training):
        if int(training.iteration) == after:
            raise KeyboardInterrupt
        return algorithm.update(training)

    return algorithm._replace(update=update)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["toy_ppo", "toy_shac"])
def test_resumed_is_as_uninterrupted(name, request, tmp_path):
    algorithm = request.getfixturevalue(name)
    whole = run(algorithm, progress=False)
    with pytest.raises(KeyboardInterrupt):
        run(interrupted(algorithm, 6), folder=tmp_path, progress=False)
    again = run(algorithm, folder=tmp_path, resume=True, progress=False)
    for x, y in zip(jax.tree.leaves(whole.training), jax.tree.leaves(again.training), strict=True):
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()
    assert [point.mean for point in whole.curve] == [point.mean for point in again.curve]
    assert np.all(np.diff([point.seconds for point in again.curve]) > 0)
    assert_compiled(algorithm, again.training)


def test_what_a_run_writes(toy_ppo, tmp_path):
    result = run(toy_ppo, folder=tmp_path, progress=False)
    assert [point.samples for point in read_table(tmp_path / "curve.csv")] == [p.samples for p in result.curve]
    assert Image.open(tmp_path / "curve.png").size[0] > 500
    _, policy = load_policy(tmp_path, point())
    obs = np.array([[0.3, -1.0], [-2.0, 0.1]])
    np.testing.assert_array_equal(policy(obs), result.policy(obs))
    with pytest.raises(InputError, match="has checkpoints of a run: resume it, or take another folder"):
        run(toy_ppo, folder=tmp_path, progress=False)
    changed = dataclasses.replace(toy_ppo.config, clip=0.3)
    with pytest.raises(InputError, match=r"the run has clip=0\.2, not 0\.3"):
        run(toy_ppo._replace(config=changed), folder=tmp_path, resume=True)
    assert len(list((tmp_path / "checkpoints").iterdir())) == 2


def test_a_target_ends_it(toy_ppo):
    result = run(toy_ppo, target=20.0, progress=False)
    assert result.curve[-1].mean >= 20 and int(result.training.iteration) < toy_ppo.config.iterations
    assert reached(result.curve, 20.0) == result.curve[-1] and reached(result.curve, 1e9) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "broken, message",
    [
        ("obs", r"ppo, iteration 1 \(0 samples before\): observations are not finite, entries 1:"),
        ("reward", "rewards"),
    ],
)
def test_what_is_not_finite_stops_it(broken, message):
    algorithm = ppo(point(broken=broken), PPOConfig(worlds=2, unroll=8, minibatches=1, epochs=1, samples=32))
    with pytest.raises(MjxLikeError, match=message):
        run(algorithm, progress=False)


def test_a_folder_without_checkpoints(toy_ppo, tmp_path):
    with pytest.raises(InputError, match="no checkpoint there; give the folder of a run"):
        load_policy(tmp_path)
    with pytest.raises(InputError, match="no checkpoint there"):
        run(toy_ppo, folder=tmp_path, resume=True)
    with pytest.raises(InputError, match="resume=True needs folder="):
        run(toy_ppo, resume=True)


def test_a_checkpoint_of_another_environment(toy_ppo, toy_shac, tmp_path):
    training = toy_ppo.start(jax.random.PRNGKey(0))
    Checkpoints(tmp_path, new=True).save(training, {})
    with pytest.raises(InputError, match="of other settings or another environment"):
        Checkpoints(tmp_path).training(jax.eval_shape(toy_shac.start, jax.random.PRNGKey(0)))
