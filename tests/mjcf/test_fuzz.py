"""Damaged files end in a Model or in one line of ModelError: no other exception, no hang, no file that nobody named."""

import pathlib
import random
import socket
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mjx_like.errors import ModelError
from mjx_like.mjcf.reader import parse_file, parse_string
from tests.mjcf import bombs
from tests.mjcf.fuzzing import (
    BLANK_ANCHOR,
    FILES,
    STRICTER,
    Oracle,
    damaged_bytes,
    damaged_model,
    damaged_text,
    loaded,
    model_with,
)

RANDOM = st.integers(0, 2**63).map(random.Random)


def examples(count: int):
    """Settings of a run; the short ones are the same every time."""
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
    return settings(
        max_examples=count, deadline=None, derandomize=count < 500, database=None, suppress_health_check=checks
    )


@examples(120)
@given(RANDOM)
def test_damaged_elements(rng):
    loaded(damaged_model(rng))


@examples(120)
@given(RANDOM)
def test_damaged_text(rng):
    loaded(damaged_text(rng))


@pytest.mark.parametrize("file", FILES)
def test_a_whole_file_is_taken(file):
    assert loaded(model_with(file), FILES) is None


@pytest.mark.parametrize("file", FILES)
@examples(60)
@given(rng=RANDOM)
def test_damaged_file(file, rng):
    loaded(model_with(file), FILES | {file: damaged_bytes(rng, FILES[file])})


@examples(60)
@given(st.text(max_size=60), st.binary(max_size=60))
def test_any_text_and_any_bytes(text, data):
    for source in (text, data, f"<mujoco>{text}</mujoco>", f'<mujoco model="{text}"/>'):
        loaded(source)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "latin-1", "cp500"])
def test_wrong_encodings(encoding):
    xml = f'<?xml version="1.0" encoding="{encoding}"?><mujoco model="Größe"><worldbody/></mujoco>'
    found = loaded(xml.encode(encoding))
    assert found is None if encoding == "latin-1" else found.startswith("<string>:1: ")


@pytest.mark.slow
@pytest.mark.parametrize("make", [damaged_model, damaged_text])
def test_much_damage(make):
    @examples(3000)
    @given(RANDOM)
    def run(rng):
        loaded(make(rng))

    run()


@pytest.mark.slow
def test_damaged_models_are_taken_as_mujoco_takes_them():
    oracle = Oracle()

    @examples(2000)
    @given(RANDOM)
    def run(rng):
        xml = damaged_model(rng)
        ours = loaded(xml)
        theirs = None if BLANK_ANCHOR.search(xml) else oracle.error(xml)
        if BLANK_ANCHOR.search(xml) or theirs == "ended" or any(word in (ours or "") for word in STRICTER):
            return
        assert (ours is None) == (theirs is None), f"{xml}\noracle: {theirs}\nours: {ours}"

    run()
    oracle.close()


def test_what_is_asked_in_few_words_and_fills_memory_is_refused():
    done = subprocess.run(
        [sys.executable, "-m", bombs.__name__], capture_output=True, text=True, timeout=300, cwd=pathlib.Path.cwd()
    )
    assert done.returncode == 0, done.stdout + done.stderr


SECRET = "the words of a file that nobody named"


@pytest.fixture
def outside(tmp_path) -> pathlib.Path:
    """A file beside the folder of the model."""
    (tmp_path / "model").mkdir()
    (tmp_path / "secret.txt").write_text(SECRET)
    return tmp_path / "secret.txt"


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE a [<!ENTITY x SYSTEM "{file}">]><mujoco model="&x;"/>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "{file}">]><mujoco><custom><text name="a" data="b"/>&x;</custom></mujoco>',
        '<!DOCTYPE a [<!ENTITY % x SYSTEM "{file}">%x;]><mujoco/>',
        '<!DOCTYPE a SYSTEM "{file}"><mujoco/>',
        '<mujoco xmlns:x="http://www.w3.org/2001/XInclude"><x:include href="{file}" parse="text"/></mujoco>',
    ],
)
def test_no_entity_reads_a_file(outside, text):
    path = outside.parent / "model/a.xml"
    path.write_text(text.replace("{file}", outside.as_uri()))
    try:
        assert SECRET not in repr(parse_file(path))
    except ModelError as error:
        assert SECRET not in str(error)


def test_files_that_are_opened_are_those_that_are_named(outside):
    """An audit hook sees every file that Python opens while a model with two files is read and compiled."""
    folder = outside.parent / "model"
    (folder / "m.obj").write_bytes(FILES["a.obj"])
    (folder / "part.xml").write_text('<mujoco><worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>')
    (folder / "a.xml").write_text(
        '<mujoco><asset><mesh name="m" file="m.obj"/></asset><include file="part.xml"/></mujoco>'
    )
    code = """
import sys
from mjx_like.compiler.compile import compile_spec
from mjx_like.mjcf.reader import parse_file
compile_spec(parse_file(sys.argv[1]))
opened, on = [], True
def hook(event, arguments):
    if on and (event == "open" or event.startswith("socket")):
        opened.append(str(arguments[0]))
sys.addaudithook(hook)
compile_spec(parse_file(sys.argv[1]))
on = False
print(*sorted(opened), sep="\\n")
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder / "a.xml")], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == [str(folder / name) for name in ("a.xml", "m.obj", "part.xml")], done.stderr


@pytest.mark.parametrize(
    "name", ["../secret.txt", "/dev/zero", "/dev/stdin", ".", "a\\0b", "x" * 5000, "~/x", "http://127.0.0.1/a"]
)
@pytest.mark.parametrize(
    "text",
    [
        '<mujoco><include file="{}"/></mujoco>',
        '<mujoco><asset><mesh name="m" file="{}" content_type="model/obj"/></asset></mujoco>',
        '<mujoco><asset><texture name="t" type="2d" file="{}"/></asset></mujoco>',
        '<mujoco><asset><hfield name="h" file="{}" size="1 1 1 1"/></asset></mujoco>',
        '<mujoco><asset><model name="m" file="{}"/></asset></mujoco>',
        '<mujoco><worldbody><flexcomp name="f" type="gmsh" file="{}" dim="2" mass="1"/></worldbody></mujoco>',
    ],
)
def test_names_that_lead_elsewhere(outside, text, name):
    found = loaded(text.replace("{}", f"{outside.parent}/model/{name}" if name.startswith("..") else name))
    place = "<string>:1: element <", f"{outside}:1: "
    assert found is not None and found.replace("model/../", "").startswith(place) and SECRET not in found


def test_no_network(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/a.dtd"
        for text in (
            f'<!DOCTYPE a SYSTEM "{address}"><mujoco/>',
            f'<!DOCTYPE a [<!ENTITY % x SYSTEM "{address}">%x;]><mujoco/>',
            f'<mujoco xmlns:x="http://www.w3.org/2001/XInclude"><x:include href="{address}"/></mujoco>',
            f'<mujoco><include file="{address}"/></mujoco>',
        ):
            loaded(text)
        with pytest.raises(TimeoutError):
            server.accept()


def test_deep_files_are_read_and_deeper_ones_refused():
    def nested(depth: int) -> str:
        return f"<mujoco><worldbody>{'<body>' * depth}{'</body>' * depth}</worldbody></mujoco>"

    assert loaded(nested(490)) is None
    for depth in (600, 3000, 100_000):
        assert "elements within 499 others" in loaded(nested(depth))


def test_a_long_attribute_is_read():
    assert loaded(f'<mujoco model="{"a" * 12_000_000}"/>') is None
    vertices = parse_string(f'<mujoco><asset><mesh name="m" vertex="{"0.1 -2e3 " * 300_000}"/></asset></mujoco>')
    assert vertices.sections["asset"][0].attrib["vertex"].shape == (600_000,)
