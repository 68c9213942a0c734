"""Quick compilation: programs are kept on disk, with keys that are the same in every process."""

import os

import pytest

import mjx_like as mjx
from mjx_like import compilation
from tests.support.processes import succeeds

# Compiles one program, in a way that the folder keeps also what compiles in no time.
PROGRAM = """
import pathlib, sys
import jax, jax.numpy as jnp
import mjx_like as mjx
from mjx_like import compilation
compilation._LEAST_SECONDS = 0
folder = mjx.compile_quickly(sys.argv[1])
m = mjx.Model.from_xml_string('<mujoco><worldbody><body><joint/><geom size=".1"/></body></worldbody></mujoco>')
d = mjx.make_data(m)
before = set(folder.iterdir())
print(float(jax.jit(mjx.kinematics)(m, d).xpos.sum()))
print(len({x.name for x in set(folder.iterdir()) - before if x.name.endswith("-cache")}), jax.jit(lambda x: x)(1.0))
"""


def run(folder, flags=""):
    return succeeds(PROGRAM, folder, XLA_FLAGS=flags).split()


def test_a_second_process_compiles_nothing(tmp_path):
    first, second = run(tmp_path / "kept"), run(tmp_path / "kept")
    assert int(first[1]) > 0 and int(second[1]) == 0 and first[0] == second[0]


@pytest.mark.slow
def test_other_flags_are_another_program(tmp_path):
    run(tmp_path)
    assert int(run(tmp_path, "--xla_backend_optimization_level=1")[1]) > 0


@pytest.mark.parametrize(
    "version, given, expected",
    [
        ("0.10.1", "", "--xla_cpu_use_fusion_emitters=false"),
        ("0.10.1", "--xla_a=1", "--xla_a=1 --xla_cpu_use_fusion_emitters=false"),
        ("0.10.1", "--xla_cpu_use_fusion_emitters=true", "--xla_cpu_use_fusion_emitters=true"),
        ("0.11.0", "", ""),
    ],
)
def test_flag_goes_to_releases_that_know_it(monkeypatch, version, given, expected):
    monkeypatch.setattr(compilation.jaxlib, "__version__", version)
    monkeypatch.setenv("XLA_FLAGS", given)
    compilation.choose_emitters()
    assert os.environ["XLA_FLAGS"] == expected


def test_folder_of_the_user(monkeypatch, tmp_path):
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert compilation._default_folder() == tmp_path / "mjx_like"
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "/elsewhere")
    assert compilation._default_folder() == "/elsewhere"


@pytest.mark.parametrize("folder, said", [(3, "folder=3: must be the path"), (__file__, "cannot keep programs there")])
def test_what_is_no_folder_is_refused(folder, said):
    with pytest.raises(mjx.InputError, match=said):
        mjx.compile_quickly(folder)


@pytest.mark.slow
def test_the_collector_runs_less_often_unless_it_is_off(tmp_path):
    code = """
import gc, sys
import mjx_like as mjx
gc.set_threshold(int(sys.argv[2]))
mjx.compile_quickly(sys.argv[1])
print(gc.get_threshold()[0])
"""
    assert [int(succeeds(code, tmp_path, first)) for first in (700, 0, 20_000)] == [10_000, 0, 20_000]


def test_a_start_imports_and_compiles_only_what_it_needs():
    """A second start is importing, loading and tracing: small programs that load or make Data would take as long."""
    succeeds("import sys, mjx_like; assert not {'mujoco', 'trimesh', 'scipy.spatial', 'matplotlib'} & set(sys.modules)")
    code = """
import jax, mjx_like
compiled = []
jax.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: compiled.append(event))
mjx_like.make_data(mjx_like.Model.from_xml_path("models/humanoid.xml"))
print(sum("backend_compile" in event for event in compiled))
"""
    assert int(succeeds(code)) <= 2
