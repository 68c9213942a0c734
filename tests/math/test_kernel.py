"""Kernels for GPUs: the solve of small systems, operation by operation on a CPU, and where kernels run at all."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mjx_like.hard.search_kernel import search_trial
from mjx_like.math import kernel, on_gpu
from mjx_like.solver.newton_kernel import newton_trial


@pytest.mark.parametrize("n", [1, 7, 16, 33])
def test_elimination_solves(n):
    rng = np.random.default_rng(n)
    root = rng.normal(size=(3, n, n))
    a, b = root @ root.mT + np.eye(n), rng.normal(size=(3, n))
    x = kernel.eliminated(jnp.asarray(a), jnp.asarray(b), interpret=True)
    assert np.abs(a @ np.asarray(x)[..., None] - b[..., None]).max() < 1e-12


class _Gpu:
    platform, device_kind = "gpu", "a GPU"


@pytest.fixture
def gpu(monkeypatch):
    """A backend that calls itself a GPU; programs still run on the CPU."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(jax, "devices", lambda: [_Gpu()])
    monkeypatch.setattr(on_gpu, "_tried", {})


def double(x):
    return 2 * x


def fine():
    return double, double, (jnp.ones(3),)


def test_plain_operations_run_on_a_cpu():
    assert on_gpu.anywhere(lambda: 1 / 0, double, jnp.ones(1)) == 2


def test_a_kernel_that_agrees_is_compiled_for_cuda_alone(gpu):
    program = jax.make_jaxpr(lambda x: on_gpu.anywhere(lambda: (lambda x: x + x, fine), double, x))(jnp.ones(3))
    assert "platform_index" in str(program)


def test_a_program_for_a_gpu_that_is_not_there_has_its_kernels(monkeypatch):
    """As when it is compiled ahead of time: jax 0.11 would ask for the device by name."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    own, plain, args = kernel.elimination_trial()
    function = jax.jit(lambda *x: on_gpu.anywhere(lambda: (own, kernel.elimination_trial), plain, *x))
    assert "triton" in function.trace(*args).lower(lowering_platforms=("cuda",)).as_text()


def test_a_kernel_that_fails_is_not_used_and_said_so_once(gpu):
    def broken():
        raise ValueError("no such instruction\nmore")

    with pytest.warns(UserWarning, match="broken: plain operations instead of a kernel on a GPU: no such instruction"):
        assert on_gpu.anywhere(lambda: (double, broken), double, jnp.ones(1)) == 2
    assert on_gpu.anywhere(lambda: (double, broken), double, jnp.ones(1)) == 2


def test_a_kernel_with_another_result_is_not_used(gpu):
    def another():
        return lambda x: 2.1 * x, double, (jnp.ones(3),)

    with pytest.warns(UserWarning, match="its result is another"):
        assert on_gpu.anywhere(lambda: (lambda x: 2.1 * x, another), double, jnp.ones(1)) == 2


@pytest.mark.parametrize(
    "trial", [kernel.elimination_trial, newton_trial, pytest.param(search_trial, marks=pytest.mark.slow)]
)
def test_trials_pass_while_a_program_is_traced(gpu, trial):
    """A trial that is traced into the program, or takes its arrays, fails on every GPU."""

    def interpreted():
        return trial(interpret=True)

    def program(x):
        assert on_gpu.works(interpreted)
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jax.make_jaxpr(jax.vmap(program))(jnp.ones(2))


def test_a_release_without_triton_runs_plain_operations(gpu, monkeypatch):
    monkeypatch.setattr(on_gpu, "_has_triton", lambda: False)
    assert not on_gpu.works(fine)


def test_kernels_can_be_switched_off(gpu, monkeypatch):
    monkeypatch.setenv(on_gpu.SWITCH, "off")
    assert not on_gpu.works(fine)
