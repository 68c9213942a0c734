"""What the loaders take: capacities, dtype, hooks, names of terms, paths, texts and assets that are none."""

import jax
import mujoco
import numpy as np
import pytest

import mjx_like as mjx
from mjx_like.errors import InputError

XML = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body pos="0 0 1"><joint name="h"/><geom size=".1"/></body>
  </worldbody>
  <keyframe><key name="up"/></keyframe>
</mujoco>
"""
MJ = mujoco.MjModel.from_xml_string(XML)
LOADERS = {
    "from_xml_string": lambda **options: mjx.Model.from_xml_string(XML, **options),
    "compile": lambda **options: mjx.Spec.from_string(XML).compile(**options),
    "put_model": lambda **options: mjx.put_model(MJ, **options),
    "put_data": lambda **options: mjx.put_data(MJ, mujoco.MjData(MJ), **options),
}
WHOLE = "must be a whole number of at least 0"
OPTIONS = [
    ({"nconmax": 1.5}, f"nconmax=1.5: {WHOLE}"),
    ({"nconmax": "3"}, f"nconmax='3': {WHOLE}"),
    ({"nconmax": 1e12}, f"nconmax=1000000000000.0: {WHOLE}"),
    ({"nconmax": True}, f"nconmax=True: {WHOLE}"),
    ({"njmax": -1}, f"njmax=-1: {WHOLE}"),
    ({"njmax": np.float32(2)}, f"njmax=np.float32(2.0): {WHOLE}"),
    ({"nconmax": 10**12}, "nconmax=1000000000000: contact.frame would have 9000000000000 numbers, 2147483647 are the "
     "most; by default this model has nconmax=1"),
    ({"nconmax": 3 * 10**8, "njmax": 4}, "nconmax=300000000: contact.frame would have 2700000000 numbers"),
    ({"njmax": 10**12}, "njmax=1000000000000: efc_KBIP would have 4000000000000 numbers"),
    ({"dtype": "x"}, "dtype='x': must be a type of floats, such as jnp.float32 or jnp.float64"),
    ({"dtype": 3}, "dtype=3: must be a type of floats"),
    ({"dtype": int}, "dtype=<class 'int'>: must be a type of floats"),
]  # fmt: skip
HOOKED = [
    ({"hooks": None}, "hooks=None: must be a Hooks, mjx.Hooks(control=...)"),
    ({"hooks": lambda m, d: d}, "must be a Hooks, mjx.Hooks(control=...)"),
    ({"active": "dof_damping"}, "active='dof_damping': must be a tuple of names, (\"dof_damping\",)"),
    ({"active": ("dof_dampin",)}, "active: 'dof_dampin' decides no term; did you mean 'dof_damping'?"),
    ({"active": ("banana",)}, "active: 'banana' decides no term; allowed: body_gravcomp, "),
    ({"active": 3}, "active=3: must be a tuple of names"),
]


def said(call) -> str:
    with pytest.raises(InputError) as mistake:
        call()
    assert "\n" not in str(mistake.value)
    return str(mistake.value)


@pytest.mark.parametrize("options, message", OPTIONS, ids=[str(o) for o, _ in OPTIONS])
@pytest.mark.parametrize("loader", LOADERS)
def test_options_of_loaders(loader, options, message):
    assert message in said(lambda: LOADERS[loader](**options))


@pytest.mark.parametrize("options, message", HOOKED, ids=[str(m) for _, m in HOOKED])
@pytest.mark.parametrize("loader", ["from_xml_string", "compile", "put_model"])
def test_hooks_and_names_of_terms(loader, options, message):
    assert message in said(lambda: LOADERS[loader](**options))


@pytest.mark.parametrize("number", [7, np.int64(7), np.uint8(7)])
def test_whole_numbers_of_numpy_are_whole_numbers(number):
    m = mjx.Model.from_xml_string(XML, nconmax=number)
    assert type(m.nconmax) is int and m.nconmax == 7
    assert mjx.make_data(m, nconmax=number).contact.dist.shape == (7,)


@pytest.mark.parametrize("dtype", ["float32", np.float64, "f4", float])
def test_types_of_floats(dtype):
    assert mjx.Model.from_xml_string(XML, dtype=dtype).qpos0.dtype == np.dtype(dtype)


def test_capacity_that_is_traced():
    message = said(lambda: jax.jit(lambda n: mjx.put_model(MJ, nconmax=n))(3))
    assert message == (
        "nconmax is traced, but must be known when the function is compiled: "
        "make it static, jax.jit(f, static_argnames='nconmax')"
    )


PATHS = {
    "from_xml_path": lambda x: mjx.Model.from_xml_path(x),
    "Spec.from_file": lambda x: mjx.Spec.from_file(x),
    "load": lambda x: mjx.load(x),
    "save": lambda x: mjx.save(x, mjx.put_model(MJ)),
    "save_xml": lambda x: mjx.save_xml(x, mjx.Spec()),
    "Spec.to_file": lambda x: mjx.Spec().to_file(x),
}


@pytest.mark.parametrize("value", [None, 3, 3.5, True, b"a.xml", ["a.xml"]])
@pytest.mark.parametrize("call", PATHS)
def test_paths(call, value):
    assert said(lambda: PATHS[call](value)) == f"path={value!r}: must be the name of a file, a str or a pathlib.Path"


def test_swapped_arguments_of_save():
    message = "path=Model(...): must be the name of a file, a str or a pathlib.Path"
    assert said(lambda: mjx.save(mjx.put_model(MJ), "a.npz")) == message


@pytest.mark.parametrize("value", [None, 3])
def test_archives(value):
    message = f"file={value!r}: must be the name of a file, a str or a pathlib.Path, or an open file"
    assert said(lambda: mjx.Spec.from_zip(value)) == said(lambda: mjx.Spec().to_zip(value)) == message


def test_texts_and_assets():
    for value in (None, 3):
        message = f"xml={value!r}: must be the text of a model, a str or bytes; from_xml_path takes the name of a file"
        assert said(lambda v=value: mjx.Model.from_xml_string(v)) == message
        assert said(lambda v=value: mjx.Spec.from_string(v)) == message
    for value in ("folder", ["a.obj"]):
        message = f"assets={value!r}: must be a dict of the contents of files, bytes, by their names"
        assert said(lambda v=value: mjx.Model.from_xml_string(XML, assets=v)) == message
    with pytest.raises(
        mjx.ModelError,
        match="<string>:1: 'models/h.xml' is no XML; to load a file, give its name to from_xml_path",
    ):
        mjx.Model.from_xml_string("models/h.xml")


def test_make_data():
    m = mjx.put_model(MJ)
    assert said(lambda: mjx.make_data(m, nconmax=1.5)) == f"nconmax=1.5: {WHOLE}"
    assert said(lambda: mjx.make_data(m, njmax="3")) == f"njmax='3': {WHOLE}"
    assert said(lambda: mjx.make_data(m, key=0.5)) == "key=0.5: must be a whole number, or the name of a keyframe"
    assert said(lambda: mjx.make_data(m, key=True)) == "key=True: must be a whole number, or the name of a keyframe"
    assert said(lambda: mjx.reset_to_key(m, mjx.make_data(m), None)).startswith("key=None: must be a whole number")
    assert said(lambda: mjx.make_data(m, key="u")) == "no keyframe 'u'; the model has: up"
    assert mjx.make_data(m, key=np.int64(0)).qpos.shape == (1,)
    assert "key is traced" in said(lambda: jax.jit(lambda k: mjx.make_data(m, key=k))(0))
