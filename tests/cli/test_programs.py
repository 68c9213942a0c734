"""Programs that the command line keeps: what is read back, when it is another program, and what is not kept."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.cli import programs
from mjx_like.cli.programs import Kept
from tests.cli.test_cli import PENDULUM, call
from tests.support.processes import succeeds

X = np.arange(3.0)
# Solves with LAPACK in a process that has not asked for it before.
READS = f"""
import pathlib, sys
import jax, numpy as np
import mjx_like as mjx
from mjx_like.cli.programs import Kept
jax.config.update("jax_enable_x64", True)
m = mjx.Model.from_xml_string('''{PENDULUM}''')
print(Kept(pathlib.Path(sys.argv[1]), "solve", m, np.arange(3.0), result=0).read()(m, np.arange(3.0)))
"""


@pytest.fixture(scope="module")
def m():
    return mjx.Model.from_xml_string(PENDULUM)


def solve(m, x):
    return jnp.linalg.cholesky(jnp.eye(3) * 4) @ x + m.qpos0.sum()


def keep(folder, m, function=solve):
    """Compile a function, keep it, and return its place."""
    kept = Kept(folder, function.__name__, m, X, result=0)
    np.testing.assert_array_equal(kept.compile(jax.jit(function).lower(m, X))(m, X), function(m, X))
    return kept


def test_a_second_start_neither_traces_nor_compiles(tmp_path, m):
    path, states = tmp_path / "arm.xml", []
    path.write_text(PENDULUM)
    for phases in (("tracing", "compiling"), ("reading the program",)):
        done = call("rollout", path, "--batch", 4, "--steps", 7, "--out", tmp_path)
        assert done.returncode == 0, done.stderr
        found = [name for name in ("tracing", "compiling", "reading the program") if f"{name}:" in done.stderr]
        assert found == list(phases)
        states.append(np.load(tmp_path / "arm.npz")["qpos"])
    np.testing.assert_array_equal(*states)


def test_another_process_reads_it(tmp_path, m, monkeypatch):
    monkeypatch.delenv("XLA_FLAGS", raising=False)  # as in that process, whose programs it is to read
    keep(tmp_path, m)
    assert succeeds(READS, tmp_path).strip() == "[0. 2. 4.]"


def test_a_damaged_file_is_not_read(tmp_path, m):
    kept = keep(tmp_path, m)
    assert kept.exists()
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-1])
    assert kept.read() is None
    keep(tmp_path, m)
    np.testing.assert_array_equal(kept.read()(m, X), 2 * X)


def test_what_calls_python_is_not_kept(tmp_path, m):
    def calls(m, x):
        return jax.pure_callback(np.sin, x, x)

    assert not keep(tmp_path, m, calls).exists()


def test_what_decides_a_program_decides_its_name(m, monkeypatch):
    hard = m.replace(opt=m.opt.replace(contact="hard"))
    names = [
        programs._key("solve", m, (X,)),
        programs._key("other", m, (X,)),
        programs._key("solve", m, (X[:2],)),
        programs._key("solve", m, (X.astype(np.float32),)),
        programs._key("solve", hard, (X,)),
        programs._key("solve", hard.replace(opt=hard.opt.replace(contact_iterations=7)), (X,)),
        programs._key("solve", mjx.Model.from_xml_string(PENDULUM, integrator="implicitfast"), (X,)),
        programs._key("solve", mjx.Model.from_xml_string(PENDULUM, njmax=50), (X,)),
    ]
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=true")
    names.append(programs._key("solve", m, (X,)))
    monkeypatch.setattr(programs, "_sources", lambda: "another version")
    names.append(programs._key("solve", m, (X,)))
    assert len(set(names)) == len(names)


def test_numbers_of_the_model_do_not(m):
    heavier = m.replace(body_mass=2 * m.body_mass, opt=m.opt.replace(timestep=0.5 * m.opt.timestep))
    assert programs._key("solve", m, (X,)) == programs._key("solve", heavier, (X + 1,))
