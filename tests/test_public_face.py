"""Every public name of `mujoco.mjx` is in mjx_like, or on the list with its reason."""

import inspect
import pathlib

import jax
import pytest
from mujoco import mjx as peer

import mjx_like
from tests.support.public_face import ABSENT

NAMES = [name for name in dir(peer) if not name.startswith("_")]
FACE = (
    "Model Data Option make_data put_model put_data get_data get_data_into forward inverse step step1 step2 rollout"
).split()  # beside the names of MJX


@pytest.mark.parametrize("name", NAMES)
def test_name_is_here_or_explained(name):
    if name in ABSENT:
        assert ABSENT[name].strip()
        assert not hasattr(mjx_like, name), f"{name} exists by now: take it off the list"
    else:
        assert hasattr(mjx_like, name), f"mjx_like.{name} is missing: add it, or its reason to ABSENT"


def test_all_holds_the_public_names_and_nothing_else():
    for name in mjx_like.__all__:
        assert not inspect.ismodule(getattr(mjx_like, name)), name
    found = vars(mjx_like).items()
    imported = {name for name, value in found if not name.startswith("_") and not inspect.ismodule(value)}
    assert imported == set(mjx_like.__all__) and len(mjx_like.__all__) == len(imported)


def test_loaders_and_methods_are_written_where_an_editor_finds_them():
    for name in ("from_xml_path", "from_xml_string", "replace", "body", "keyframe"):
        assert any(name in vars(base) for base in mjx_like.Model.__mro__), name
    for name in ("compile", "recompile", "to_xml", "to_file", "to_zip", "from_model", "geom", "geoms", "add_mesh"):
        assert any(name in vars(base) for base in mjx_like.Spec.__mro__), name
    assert (pathlib.Path(mjx_like.__file__).parent / "py.typed").exists()


def test_list_names_only_what_mjx_has():
    assert set(ABSENT) <= set(NAMES)


@pytest.mark.parametrize("name", FACE)
def test_promised_names(name):
    assert hasattr(mjx_like, name)


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(ABSENT)))
def test_kind_and_order_of_arguments(name):
    """A function of MJX is a function here, with `m` and `d` in the same places."""
    theirs, ours = getattr(peer, name), getattr(mjx_like, name, None)
    if not inspect.isfunction(theirs) or ours is None:
        return
    assert callable(ours) and not inspect.ismodule(ours)
    first = [p for p in inspect.signature(theirs).parameters if p in ("m", "d")]
    assert [p for p in inspect.signature(ours).parameters if p in ("m", "d")][: len(first)] == first


def test_submodules_do_not_hide_functions():
    """`mjx_like.forward` is the function, whatever modules of that name have been imported."""
    for name in ("forward", "inverse", "step", "rollout", "collision", "tendon", "passive", "ray"):
        assert not inspect.ismodule(getattr(mjx_like, name)), name


def test_compilers_work_whatever_is_imported_first():
    """Rebinding a package's name to a function must not break code that looks it up at run time."""
    m = mjx_like.Model.from_xml_string("<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>")
    assert jax.tree.leaves(mjx_like.make_data(m))
