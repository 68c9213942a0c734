"""Height fields from PNG, binary and inline data, and the geoms that use them."""

import io
import struct

import numpy as np
import pytest
from PIL import Image

import mjx_like as mjx
from mjx_like.errors import ModelError
from tests.compiler.compare import compile_source, differences

RNG = np.random.default_rng(0)
GRAY = RNG.integers(0, 255, (5, 7), np.uint8)
COLOR = RNG.integers(0, 255, (5, 7, 4), np.uint8)


def png(image: Image.Image, **options) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG", **options)
    return out.getvalue()


def binary(values) -> bytes:
    values = np.asarray(values, "<f4")
    return struct.pack("<2i", *values.shape) + values.tobytes()


FILES = {
    "gray.png": png(Image.fromarray(GRAY)),
    "color.png": png(Image.fromarray(COLOR[..., :3].copy())),
    "alpha.png": png(Image.fromarray(COLOR)),
    "grayalpha.png": png(Image.fromarray(COLOR[..., :2].copy(), "LA")),
    "palette.png": png(Image.fromarray(COLOR[..., :3].copy()).convert("P", palette=Image.Palette.ADAPTIVE)),
    "fewcolors.png": png(Image.fromarray(GRAY // 100).convert("P"), bits=2),
    "bits.png": png(Image.fromarray(GRAY > 128).convert("1")),
    "deep.png": png(Image.fromarray(RNG.integers(0, 65535, (5, 7)).astype(np.uint16))),
    "data.bin": binary(RNG.normal(size=(3, 4))),
    "nosuffix": binary([[3, 3], [3, 3]]),
}


def model(hfield: str, geom: str = "", compiler: str = "") -> str:
    return (
        f'<mujoco><compiler {compiler}/><asset><hfield name="h" {hfield}/></asset><worldbody><geom name="ground" '
        f'type="hfield" hfield="h" pos="1 2 3" {geom}/></worldbody></mujoco>'
    )


@pytest.mark.parametrize("name", FILES)
def test_file(name):
    assert differences(model(f'file="{name}" size="1 2 .5 .1"'), {name: FILES[name]}) == {}


INLINE = {
    "values": 'nrow="2" ncol="3" size="1 2 .5 .1" elevation="1 2 -3 4 5.5 6"',
    "none": 'nrow="4" ncol="3" size="1 2 .5 .1"',
    "level": 'nrow="2" ncol="2" size="1 2 .5 .1" elevation="5 5 5 5"',
    "small": 'nrow="2" ncol="2" size="1 2 .5 .1" elevation="0 1e-15 0 0"',
    "two": 'nrow="2" ncol="2" size="1 2 .5 .1" elevation="1 2 3 4"/><hfield name="z" nrow="2" ncol="2" size="1 1 1 1"',
}


@pytest.mark.parametrize("name", INLINE)
def test_inline(name):
    assert differences(model(INLINE[name])) == {}


@pytest.mark.parametrize(
    ("compiler", "file"), [('meshdir="sub"', "h.png"), ('assetdir="sub" strippath="1"', "/x/h.png")]
)
def test_directory(tmp_path, compiler, file):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "h.png").write_bytes(FILES["gray.png"])
    path = tmp_path / "model.xml"
    path.write_text(model(f'file="{file}" size="1 1 1 1"', "", compiler.replace('"1"', '"true"')))
    assert differences(str(path)) == {}


def huge_png() -> bytes:
    """Return the head of a PNG of 2^31 pixels."""
    return FILES["gray.png"][:16] + struct.pack(">II", 1 << 16, 1 << 15) + FILES["gray.png"][24:]


ERRORS = {
    "cut.png": (FILES["gray.png"][:-30], "is a damaged PNG"),
    "patched.png": (FILES["gray.png"][:50] + b"\xff\xff" + FILES["gray.png"][52:], "is a damaged PNG"),
    "huge.png": (huge_png(), "pixels"),
    "head.png": (FILES["gray.png"][:12], "is a damaged PNG"),
    "text.png": (b"some text that is longer", "neither a PNG nor"),
    "short.bin": (b"abc", "is no height field"),
    "long.bin": (FILES["data.bin"] + b"1234", "neither a PNG nor"),
    "large.bin": (struct.pack("<2i", 2**30, 2**30) + bytes(64), "neither a PNG nor"),
    "row.bin": (binary([[1, 2, 3]]), "2 of each are the least"),
    "nan.bin": (binary([[1, 2], [np.nan, 3]]), "not a finite number"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_damaged(name):
    data, words = ERRORS[name]
    with pytest.raises(ModelError, match=words) as caught:
        compile_source(model(f'file="{name}" size="1 1 1 1"'), {name: data})
    assert "<hfield name='h'>" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("hfield", "words"),
    [
        ('nrow="2" ncol="2" size="1 1 1 0"', "must be positive"),
        ('nrow="1" ncol="4" size="1 1 1 1"', "2 of each are the least"),
        ('nrow="100000" ncol="100000" size="1 1 1 1"', "together they can have"),
        ('ncol="3" size="1 1 1 1"', "nrow"),
        ('nrow="2" ncol="2" size="1 1 1 1" elevation="1 2 3"', "elevation"),
        ('file="missing.png" size="1 1 1 1"', "missing.png"),
    ],
)
def test_error(hfield, words):
    with pytest.raises(ModelError, match=words):
        compile_source(model(hfield))


def test_leaves_and_collisions():
    """The data are a leaf, and what stands on a height field has contacts."""
    body = '<body pos="0 0 5"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody>'
    m = mjx.Model.from_xml_string(model(INLINE["values"]).replace("</worldbody>", body))
    assert m.hfield_data.shape == (6,) and float(m.hfield_data.max()) == 1.0
    assert not m.unsupported and mjx.make_data(m).contact.dist.shape[0] > 0
