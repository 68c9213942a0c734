"""What a type checker must see of the public face; mypy reads it, nothing runs it."""

from typing import assert_type

import jax

import mjx_like as mjx


def loads() -> mjx.Data:
    m = mjx.Model.from_xml_path("humanoid.xml", nconmax=8)
    assert_type(m, mjx.Model)
    assert_type(mjx.Model.from_xml_string("<mujoco/>", assets={"a.obj": b""}), mjx.Model)
    assert_type(m.body_mass, jax.Array)
    assert_type(m.body("torso").id, int)
    d = mjx.make_data(m)
    assert_type(d, mjx.Data)
    return mjx.step(m, d.replace(ctrl=d.ctrl))


def edits() -> mjx.Model:
    spec = mjx.Spec.from_string("<mujoco/>")
    spec.add_mesh(name="m")
    spec.geom("g")
    assert_type(spec.to_xml(), str)
    m = spec.compile(dtype="float64")
    assert_type(m, mjx.Model)
    assert_type(spec.recompile(m, mjx.make_data(m)), tuple[mjx.Model, mjx.Data])
    return mjx.Spec.from_model(m).compile()


def refuses(m: mjx.Model) -> None:
    mjx.Model.from_xml_path(3)  # type: ignore[arg-type]
    mjx.Model.from_xml_file("humanoid.xml")  # type: ignore[attr-defined]
    mjx.Spec().to_zip()  # type: ignore[call-arg]
    mjx.step(m)  # type: ignore[call-arg]
