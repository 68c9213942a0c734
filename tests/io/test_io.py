"""save and load: the same Model comes back, and what is no compiled model of this version is refused in one line."""

import json

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import InputError, ModelError
from tests.compiler.features import FEATURES
from tests.support.oracle import GYM


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("io") / "m.npz"
    model = mjx.Model.from_xml_string(FEATURES["joints"], nconmax=7, active=("geom_adhesion",))
    mjx.save(path, model)
    return path, model


def same(first: mjx.Model, second: mjx.Model) -> None:
    assert first.topology == second.topology
    assert first.topology.capacity_args == second.topology.capacity_args
    for a, b in zip(jax.tree.leaves(first), jax.tree.leaves(second), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", sorted(FEATURES))
def test_every_feature_comes_back(name, tmp_path):
    model = mjx.Model.from_xml_string(FEATURES[name])
    mjx.save(tmp_path / "m.npz", model)
    same(model, mjx.load(tmp_path / "m.npz"))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_model_of_mujoco_comes_back(dtype, tmp_path):
    model = mjx.put_model(mujoco.MjModel.from_xml_path(str(GYM / "humanoid.xml")), dtype=dtype)
    mjx.save(tmp_path / "m.npz", model)
    same(model, mjx.load(tmp_path / "m.npz"))


def test_capacity_and_terms_are_kept(saved):
    path, model = saved
    loaded = mjx.load(path)
    same(model, loaded)
    assert loaded.nconmax == 7 and loaded.topology.has["geom_adhesion"].all()
    other = mjx.load(path, nconmax=9, dtype=np.float32)
    assert other.nconmax == 9 and other.qpos0.dtype == np.float32


def test_a_term_that_was_changed_to_zero_stays(saved, tmp_path):
    model = mjx.Model.from_xml_string(FEATURES["joints"])
    assert model.topology.has["dof_damping"].any()
    model = model.replace(dof_damping=jnp.zeros_like(model.dof_damping))
    mjx.save(tmp_path / "m.npz", model)
    same(model, mjx.load(tmp_path / "m.npz"))


def test_changed_floats_and_options(saved, tmp_path):
    _, model = saved
    changed = model.replace(body_mass=model.body_mass * 2, opt=model.opt.replace(iterations=8, timestep=0.01))
    mjx.save(tmp_path / "m.npz", changed)
    loaded = mjx.load(tmp_path / "m.npz")
    same(changed, loaded)
    assert loaded.opt.iterations == 8


def rewritten(path, tmp_path, **changes):
    """A copy of a saved file with entries of its head changed."""
    with np.load(path) as file:
        content = {name: file[name] for name in file.files}
    head = json.loads(content["head"].tobytes()) | changes
    content["head"] = np.frombuffer(json.dumps(head).encode(), np.uint8)
    np.savez(tmp_path / "other.npz", **content)
    return tmp_path / "other.npz"


@pytest.mark.parametrize("change", [{"version": 2}, {"layout": "0"}])
def test_other_version(saved, tmp_path, change):
    with pytest.raises(ModelError, match="written by another version of mjx_like.*save it"):
        mjx.load(rewritten(saved[0], tmp_path, **change))


def test_file_of_another_kind(saved, tmp_path):
    with pytest.raises(ModelError, match="is no compiled model of mjx_like"):
        mjx.load(rewritten(saved[0], tmp_path, format="something else"))
    np.savez(tmp_path / "arrays.npz", a=np.zeros(3))
    with pytest.raises(ModelError, match="damaged or is no compiled model; write it again"):
        mjx.load(tmp_path / "arrays.npz")
    (tmp_path / "arm.xml").write_text("<mujoco/>")
    with pytest.raises(ModelError, match=r"no compiled model; Model\.from_xml_path reads MJCF"):
        mjx.load(tmp_path / "arm.xml")


def test_missing_file(tmp_path):
    with pytest.raises(ModelError, match="cannot read compiled model .*No such file"):
        mjx.load(tmp_path / "none.npz")


def test_damaged_files_give_one_line(saved, tmp_path):
    data, rng, refused = saved[0].read_bytes(), np.random.default_rng(0), 0
    broken = [b"", b"PK", data[: len(data) // 2], data[:-100], b"<mujoco/>"]
    for _ in range(20):
        copy = bytearray(data)
        for at in rng.integers(0, len(copy), 40):
            copy[at] ^= int(rng.integers(1, 256))
        broken.append(bytes(copy))
    for content in broken:
        (tmp_path / "broken.npz").write_bytes(content)
        try:
            mjx.load(tmp_path / "broken.npz")
        except ModelError as e:
            refused += 1
            assert "\n" not in str(e)
    assert refused >= len(broken) - 5


def test_arrays_that_do_not_fit(saved, tmp_path):
    with np.load(saved[0]) as file:
        content = {name: file[name] for name in file.files}
    for name, value in (("fields.body_mass", np.zeros(1)), ("fields.geom_type", None), ("options.gravity", None)):
        other = {key: array for key, array in content.items() if key != name} | ({} if value is None else {name: value})
        np.savez(tmp_path / "other.npz", **other)
        with pytest.raises(ModelError, match="its arrays do not fit together"):
            mjx.load(tmp_path / "other.npz")


def test_what_cannot_be_saved(saved, tmp_path):
    _, model = saved
    batched = model.replace(body_mass=jnp.stack([model.body_mass] * 3))
    with pytest.raises(InputError, match="body_mass has shape .* take one model of the batch"):
        mjx.save(tmp_path / "m.npz", batched)
    with pytest.raises(InputError, match="ends in .npz"):
        mjx.save(tmp_path / "m.xml", model)
    with pytest.raises(InputError, match="traced"):
        jax.jit(lambda m: mjx.save(tmp_path / "m.npz", m))(model)
