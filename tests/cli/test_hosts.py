"""`rollout --hosts`: two processes do what one with as many devices does; mistakes are told in one line."""

import contextlib
import os
import socket
import subprocess
import sys
import types

import jax
import numpy as np
import pytest

from mjx_like.cli import main
from mjx_like.cli.rollout import _devices
from mjx_like.errors import InputError
from tests.cli.test_cli import PENDULUM, ROOT

VARIABLES = ("JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID")


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(PENDULUM)
    return path


def free_port() -> int:
    with contextlib.closing(socket.socket()) as s:
        s.bind(("localhost", 0))
        return s.getsockname()[1]


def begin(*arguments, **environment) -> subprocess.Popen:
    command = [sys.executable, "-m", "mjx_like", "rollout", *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=ROOT, env={**os.environ, **environment})


@pytest.mark.slow
def test_two_hosts_are_two_devices(model, tmp_path):
    run = (model, "--batch", 8, "--steps", 30)
    address = f"localhost:{free_port()}"
    told = dict(zip(VARIABLES, (address, "2", "1"), strict=True))
    runs = [
        begin(*run, "--devices", 2, "--out", tmp_path / "one"),
        begin(*run, "--devices", 1, "--hosts", 2, "--host", 0, "--coordinator", address, "--out", tmp_path / "two"),
        begin(*run, "--devices", 1, "--out", tmp_path / "other", **told),
    ]
    said = [process.communicate(timeout=300) for process in runs]
    assert [process.returncode for process in runs] == [0, 0, 0], said
    assert "on 2 device(s) of 2 hosts" in said[1][0] and "steps/s" not in said[2][0]
    assert not (tmp_path / "other").exists()  # the first writes
    one, two = (np.load(tmp_path / name / "arm.npz") for name in ("one", "two"))
    for name in ("time", "qpos", "qvel", "qpos_quantiles"):
        np.testing.assert_array_equal(one[name], two[name])
    assert np.ptp(one["qpos"][:, -1]) > 0  # the worlds went different ways


@pytest.mark.slow
def test_hosts_that_were_told_different_things(model, tmp_path):
    address = f"localhost:{free_port()}"
    runs = [
        begin(model, "--batch", 4, "--steps", 3, "--seed", i, "--hosts", 2, "--host", i, "--coordinator", address)
        for i in range(2)
    ]
    for process in runs:
        said = process.communicate(timeout=300)
        assert process.returncode == 2, said
        assert "error: host 1 was given another model or other arguments than host 0" in said[1]


@pytest.mark.slow
@pytest.mark.parametrize("host, told", [(0, "not all of hosts 1 to 1 came"), (1, "host 0 does not answer")])
def test_a_host_that_does_not_come(model, host, told):
    address = f"localhost:{free_port()}"
    process = begin(model, "--hosts", 2, "--host", host, "--coordinator", address, "--wait", 2)
    said = process.communicate(timeout=60)
    assert process.returncode == 2 and told in said[1], said
    assert "Traceback" not in said[1]


MISTAKES = {
    ("--hosts", "2"): "error: --hosts 2: give the number of this one, --host or JAX_PROCESS_ID",
    ("--hosts", "2", "--host", "2", "--coordinator", "a:1"): "error: --host 2: 2 hosts have the numbers 0 to 1",
    ("--hosts", "2", "--host", "0"): "error: --hosts 2: give the address of host 0 and a free port of it",
    (
        "--hosts",
        "2",
        "--host",
        "0",
        "--coordinator",
        "localhost",
    ): "error: --coordinator localhost: must be ADDRESS:PORT",
    ("--host", "1"): "error: --host and --coordinator are of several hosts: give --hosts",
    ("--hosts", "0"): "argument --hosts: '0' is not a whole number of at least 1",
}


@pytest.mark.parametrize("arguments", MISTAKES)
def test_mistakes(arguments, model, monkeypatch, capsys):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("mjx_like.cli.rollout.use_cpu_devices", lambda count: None)
    monkeypatch.setattr("mjx_like.cli.rollout.compile_quickly", lambda: None)
    with contextlib.suppress(SystemExit):
        assert main(["rollout", str(model), *arguments]) == 2
    assert MISTAKES[arguments] in capsys.readouterr().err


def test_devices_of_all_hosts_share_equally(monkeypatch):
    """As many as divide the worlds where no number is asked for; else what cannot be is told."""
    there = [types.SimpleNamespace(process_index=i // 4, platform="gpu", id=i) for i in range(8)]
    monkeypatch.setattr(jax, "devices", lambda: there)
    assert [x.id for x in _devices(8, None, 2)] == list(range(8))
    assert [x.id for x in _devices(12, None, 2)] == [0, 1, 2, 4, 5, 6]
    assert [x.id for x in _devices(8, 1, 2)] == [0, 4]
    with pytest.raises(InputError, match="--devices 5: a host has 4 of gpu"):
        _devices(8, 5, 2)
    with pytest.raises(InputError, match=r"--batch 8: 2 host\(s\) with 3 device\(s\) each .* a multiple of 6"):
        _devices(8, 3, 2)
    with pytest.raises(InputError, match="--batch 7: .* a multiple of 2"):
        _devices(7, None, 2)


def test_a_variable_that_is_no_number(model, monkeypatch, capsys):
    monkeypatch.setenv("JAX_NUM_PROCESSES", "two")
    monkeypatch.setattr("mjx_like.cli.rollout.use_cpu_devices", lambda count: None)
    monkeypatch.setattr("mjx_like.cli.rollout.compile_quickly", lambda: None)
    assert main(["rollout", str(model)]) == 2
    assert "error: JAX_NUM_PROCESSES='two': must be a whole number" in capsys.readouterr().err
