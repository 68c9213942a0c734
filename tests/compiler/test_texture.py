"""Textures and visualization options, pixel by pixel against MuJoCo."""

import io
import itertools
import struct
import zlib

import mujoco
import numpy as np
import pytest
from PIL import Image

import mjx_like as mjx
from mjx_like.interop.convert import arrays_from_mjmodel
from tests.support.images import png

FIELDS = ("ntexdata", "tex_type", "tex_colorspace", "tex_height", "tex_width", "tex_nchannel", "tex_adr", "tex_data")


def noise(shape: tuple[int, ...], seed: int = 0, most: int = 255) -> bytes:
    return png(np.random.default_rng(seed).integers(0, most + 1, shape))


def palette(size: int) -> bytes:
    image = Image.open(io.BytesIO(noise((size, size, 3)))).quantize(8)
    buffer = io.BytesIO()
    image.save(buffer, "png", transparency=2)
    return buffer.getvalue()


def with_chunk(data: bytes, kind: bytes, contents: bytes) -> bytes:
    """Return a PNG file with another chunk after its header."""
    body = kind + contents
    return data[:33] + struct.pack(">I", len(contents)) + body + struct.pack(">I", zlib.crc32(body)) + data[33:]


FILES = {
    "rgb.png": noise((4, 6, 3)),
    "wide.png": noise((4, 8, 3), 5),
    "square.png": noise((4, 4, 3), 1),
    "rgba.png": noise((4, 4, 4), 2),
    "gray.png": noise((4, 4), 3),
    "deep.png": noise((4, 4), 4, 65535),
    "palette.png": palette(4),
    "space.png": with_chunk(with_chunk(noise((4, 4, 3), 6), b"sRGB", b"\0"), b"tEXt", b"Comment\0" + 300 * b"-"),
    "comment.png": with_chunk(noise((4, 4, 3), 7), b"tEXt", b"Comment\0in sRGB"),
    "raw.bin": np.array([2, 3], "<i4").tobytes() + bytes(range(18)),
}
PATTERNS = [
    f'type="{kind}" builtin="{builtin}" mark="{mark}" width="{width}" height="{height}"'
    for kind, builtin, mark, (width, height) in itertools.product(
        ("2d", "cube", "skybox"), ("gradient", "checker", "flat"), ("none", "edge", "cross", "random"), ((7, 4), (1, 1))
    )
]
IMAGES = [
    *(f'type="2d" file="{name}"' for name in FILES if name.endswith("png")),
    'type="2d" file="rgb.png" hflip="true"', 'type="2d" file="rgb.png" vflip="true" hflip="true"',
    'type="2d" file="rgba.png" nchannel="4"', 'type="2d" file="palette.png" nchannel="4"',
    'type="2d" file="rgb.png" nchannel="4"', 'type="2d" file="rgb.png" nchannel="1"',
    'type="2d" file="gray.png" nchannel="1"',
    'type="cube" file="square.png"', 'type="skybox" file="square.png" colorspace="sRGB"',
    'type="cube" file="wide.png" gridsize="1 2" gridlayout="RB"',
    'type="cube" file="wide.png" gridsize="2 4" gridlayout=".ULDRFB."',
    'type="cube" fileup="square.png" fileback="gray.png" rgb1="1 .5 .2"',
    'type="2d" file="rgb.png" embed="false"', 'type="2d" file="rgb.png" embed="true"',
]  # fmt: skip


def assert_equal(text: str, files=None, folder=None) -> mjx.Model:
    if folder is not None:
        mj_model, m = mujoco.MjModel.from_xml_path(str(folder / "m.xml")), mjx.Model.from_xml_path(folder / "m.xml")
    else:
        mj_model, m = mujoco.MjModel.from_xml_string(text, files), mjx.Model.from_xml_string(text, assets=files)
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(m, name), getattr(mj_model, name), err_msg=name)
    assert arrays_from_mjmodel(mj_model).visual == m.vis
    return m


def test_every_pattern_is_that_of_mujoco():
    colours = 'rgb1=".1 .5 .9" rgb2=".8 .3 0" markrgb="1 .9 .7" random="0.3"'
    textures = "".join(f'<texture name="{k}" {colours} {pattern}/>' for k, pattern in enumerate(PATTERNS))
    m = assert_equal(f"<mujoco><asset>{textures}</asset></mujoco>")
    assert m.tex_data.std() > 30


def test_random_dots_beyond_one_round_of_the_generator():
    texture = '<texture name="t" type="cube" builtin="flat" mark="random" random=".5" width="40" markrgb="1 1 1"/>'
    assert_equal(f"<mujoco><asset>{texture}</asset></mujoco>")


@pytest.mark.parametrize("image", IMAGES)
def test_every_image_is_that_of_mujoco(image, tmp_path):
    after = "<texture name='u' type='2d' builtin='flat' width='1' height='1'/>"
    text = f"<mujoco><asset><texture name='t' {image}/>{after}</asset></mujoco>"
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "m.xml").write_text(text)
    assert_equal(text, folder=tmp_path)


VISUAL = """<mujoco><visual><global fovy="33" offwidth="70" orthographic="true" ellipsoidinertia="true" azimuth="12.3"/>
  <quality shadowsize="77" numslices="9"/><headlight ambient=".1 .2 .3" active="1"/><map znear=".02" haze=".1"/>
  <scale framelength="2.2"/><rgba haze=".1 .2 .3 .4" fog="1 0 1 1"/></visual></mujoco>"""


@pytest.mark.parametrize("text", ["<mujoco/>", VISUAL])
def test_visualization_options_are_those_of_mujoco(text, tmp_path):
    m = assert_equal(text)
    mjx.save(tmp_path / "m.npz", m)
    assert mjx.load(tmp_path / "m.npz").vis == m.vis == mjx.put_model(mujoco.MjModel.from_xml_string(text)).vis


def test_visualization_options_are_written(tmp_path):
    m = mjx.Model.from_xml_string(VISUAL)
    mjx.save_xml(tmp_path / "m.xml", m)
    assert mjx.Model.from_xml_path(tmp_path / "m.xml").vis == m.vis
    assert m.vis.global_.fovy == 33 and m.vis.headlight.active == 1


def test_a_written_texture_has_the_mean_colour(tmp_path):
    texture = '<texture name="t" type="2d" builtin="checker" rgb1="1 0 0" rgb2="0 0 1" width="4" height="4"/>'
    m = mjx.Model.from_xml_string(f"<mujoco><asset>{texture}</asset></mujoco>")
    mjx.save_xml(tmp_path / "m.xml", m)
    written = mjx.Model.from_xml_path(tmp_path / "m.xml").tex_data.reshape(4, 4, 3)
    np.testing.assert_array_equal(written, np.tile(np.array([127, 0, 127], np.uint8), (4, 4, 1)))


@pytest.mark.parametrize(
    ("image", "message"),
    [
        ('type="cube" file="wide.png" gridsize="1 2" gridlayout="RX"', "gridlayout has 'X'"),
        ('type="2d" file="rgba.png" nchannel="4" hflip="true"', "hflip and vflip need nchannel 3"),
        ('type="2d" builtin="flat" width="2" height="2" embed="false"', "embed 'false' needs a file"),
        ('type="2d" builtin="flat" width="1000000" height="1000000"', "has more than"),
        ('type="cube" fileup="square.png" filedown="rgb.png"', "squares of one size"),
        ('type="2d" file="raw.bin"', "file 'raw.bin' is no PNG"),
    ],
)
def test_errors(image, message):
    with pytest.raises(mjx.ModelError, match=message):
        mjx.Model.from_xml_string(f'<mujoco><asset><texture name="t" {image}/></asset></mujoco>', assets=FILES)
