"""The loop around iterations: evaluations, checkpoints, the curve, a progress bar."""

import dataclasses
import pathlib
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy as np
from tqdm import tqdm

from mjx_like.errors import InputError, MjxLikeError
from mjx_like.learning.algorithm import Algorithm, Training
from mjx_like.learning.checkpoint import Checkpoints
from mjx_like.learning.curve import Curve, Point, plot_curves, write_table
from mjx_like.learning.policy import Policy


class Result(NamedTuple):
    """What training returns: the policy, everything it could go on from, and the learning curve."""

    policy: Policy
    training: Training
    curve: Curve


def run(
    algorithm: Algorithm,
    *,
    folder: str | pathlib.Path | None = None,
    resume: bool = False,
    about: Mapping[str, Any] | None = None,
    target: float | None = None,
    seconds: float | None = None,
    progress: bool = True,
) -> Result:
    """Train, and return the result.

    Args:
      algorithm: what to do.
      folder: for checkpoints, `curve.csv` and `curve.png`; None to write nothing.
      resume: go on from the latest checkpoint there, to the same end as if there had been no interruption.
      about: what to write into checkpoints beside the settings, as JSON can hold it.
      target: mean return at which to stop.
      seconds: of wall clock after which to stop, at the next evaluation.
      progress: whether to show a progress bar.

    Raises:
      InputError: a folder that has checkpoints already, or has none to go on from, or those of other settings.
      MjxLikeError: observations, rewards or parameters that are not finite.
    """
    return _Run(algorithm, folder, resume, about or {}, target, seconds, progress).go()


class _Run:
    def __init__(self, algorithm, folder, resume, about, target, seconds, progress) -> None:
        self.algorithm, self.target, self.most_seconds, self.progress = algorithm, target, seconds, progress
        self.began, self.learning, self.curve = time.perf_counter(), 0.0, []
        self.about = {**about, "algorithm": algorithm.name, "config": dataclasses.asdict(algorithm.config)}
        self.checkpoints = None if folder is None else Checkpoints(folder, new=not resume)
        self.training = self._resumed() if resume else self._fresh()

    def go(self) -> Result:
        config, number = self.algorithm.config, int(self.training.iteration)
        size = config.samples_per_iteration
        if not self.curve:
            self._evaluate(number)
            self._save()
        bar = tqdm(total=config.iterations * size, initial=number * size, unit="step", disable=not self.progress)
        with bar:
            self._show(bar)
            try:
                while number < config.iterations and not self._enough():
                    number = self._iterate(number)
                    bar.update(size)
                    if number in self._evaluations():
                        self._evaluate(number)
                        self._save()
                        self._show(bar)
            except KeyboardInterrupt:
                self._save()
                raise
        params, seen = self.training.params["actor"], self.training.normaliser
        return Result(Policy(self.algorithm.networks, params, seen), self.training, self.curve)

    def _fresh(self) -> Training:
        if self.checkpoints is not None and self.checkpoints.latest() is not None:
            raise InputError(f"{self.checkpoints.folder}: has checkpoints of a run: resume it, or take another folder")
        return self.algorithm.start(jax.random.PRNGKey(self.algorithm.config.seed))

    def _resumed(self) -> Training:
        if self.checkpoints is None:
            raise InputError("resume=True needs folder=, where the checkpoints are")
        about = self.checkpoints.about()
        _same_settings(self.checkpoints.folder, self.about, about)
        self.curve = [Point(*point) for point in about["curve"]]
        self.began -= about["seconds"]
        self.learning = about["learning"]
        like = jax.eval_shape(self.algorithm.start, jax.random.PRNGKey(0))
        return self.algorithm.place(self.checkpoints.training(like))

    def _evaluations(self) -> set[int]:
        """Return after which iterations there is an evaluation."""
        last = self.algorithm.config.iterations
        return set(np.linspace(0, last, self.algorithm.config.evaluations + 1).round().astype(int).tolist())

    def _enough(self) -> bool:
        """Whether the latest evaluation is a reason to stop."""
        good = self.target is not None and self.curve[-1].mean >= self.target
        return good or (self.most_seconds is not None and self.curve[-1].seconds > self.most_seconds)

    def _iterate(self, number: int) -> int:
        begin = time.perf_counter()
        training, metrics = self.algorithm.update(self.training)
        metrics = {name: np.asarray(x) for name, x in metrics.items()}
        _check_finite(number, self.algorithm, training, metrics)
        self.training, self.metrics = training, metrics
        self.learning += time.perf_counter() - begin
        return number + 1

    def _evaluate(self, number: int) -> None:
        config = self.algorithm.config
        rng = jax.random.fold_in(jax.random.PRNGKey(config.seed), number)
        episodes = self.algorithm.evaluate(self.training.params["actor"], self.training.normaliser, rng)
        returns, length = np.asarray(episodes.returns, float), float(np.mean(episodes.lengths))
        passed = time.perf_counter() - self.began
        samples = number * config.samples_per_iteration
        self.curve.append(Point(samples, passed, self.learning, float(returns.mean()), float(returns.std()), length))

    def _save(self) -> None:
        """Write what there is: checkpoint, table and picture."""
        if self.checkpoints is None:
            return
        passed = {"seconds": time.perf_counter() - self.began, "learning": self.learning}
        self.checkpoints.save(self.training, self.about | passed | {"curve": [list(point) for point in self.curve]})
        write_table(self.checkpoints.folder / "curve.csv", self.curve)
        name = self.about.get("task", "environment")
        plot_curves(self.checkpoints.folder / "curve.png", {name: {self.algorithm.name: self.curve}})

    def _show(self, bar: tqdm) -> None:
        point = self.curve[-1]
        bar.set_postfix_str(f"return {point.mean:.4g} +- {point.std:.3g}, {point.length:.0f} steps")


def _same_settings(folder: pathlib.Path, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> None:
    """Raise InputError where a run would go on with other settings than it began with."""
    for name in ("algorithm", "task", "smoothing", "contact"):
        if ours.get(name) != theirs.get(name):
            raise InputError(f"{folder}: the run has {name} {theirs.get(name)}, not {ours.get(name)}")
    for name, value in ours["config"].items():
        found = theirs["config"].get(name)
        if found != (list(value) if isinstance(value, tuple) else value):
            raise InputError(f"{folder}: the run has {name}={found}, not {value}: go on with its settings")


def _check_finite(number: int, algorithm: Algorithm, training: Training, metrics: Mapping[str, np.ndarray]) -> None:
    """Raise MjxLikeError where something is not finite, and say what and when."""
    where = (
        f"{algorithm.name}, iteration {number + 1} ({number * algorithm.config.samples_per_iteration:,} samples before)"
    )
    if metrics["bad_obs"].any():
        entries = ", ".join(map(str, np.flatnonzero(metrics["bad_obs"])[:8]))
        raise MjxLikeError(f"{where}: observations are not finite, entries {entries}: the environment returned them")
    if metrics["bad_reward"] > 0:
        raise MjxLikeError(f"{where}: rewards are not finite: the environment returned them")
    if not all(np.isfinite(np.asarray(x)).all() for x in jax.tree.leaves(training.params)):
        raise MjxLikeError(f"{where}: parameters are not finite: lower the learning rate")
