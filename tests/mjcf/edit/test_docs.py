"""The examples of docs/modelling.md run, in order, in one program."""

import pathlib
import re

import mjx_like as mjx

PAGE = pathlib.Path(__file__).parents[3] / "docs" / "modelling.md"


def test_examples(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(examples) >= 5
    names: dict = {}
    for example in examples:
        exec(compile(example, str(PAGE), "exec"), names)
    assert names["model"].nconmax == 8 and names["data"].qpos[0] == -1.5
    heavy = mjx.Model.from_xml_path("heavy.xml")
    assert heavy.body("arm").mass > names["model"].body("arm").mass


def test_every_method_that_the_page_names_exists():
    tree, spec = mjx.Spec().worldbody, mjx.Spec()
    for name in re.findall(r"`(add_\w+|wrap_\w+|set_to_\w+)`", PAGE.read_text()):
        holders = (tree, spec, spec.add_tendon(), spec.add_actuator())
        assert any(callable(getattr(type(holder), name, None)) for holder in holders), name
