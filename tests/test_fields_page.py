"""The page of fields is generated; the committed one must be that of the declarations."""

import re

from mjx_like.types.data import Data
from mjx_like.types.model import Model
from mjx_like.types.pytree import leaves
from tools import fields_page


def test_committed_page_is_current():
    assert fields_page.PAGE.read_text() == fields_page.page(), "run python tools/fields_page.py"


def test_every_field_of_model_and_data_is_on_it():
    found = re.findall(r"^\| `(\w+)`", fields_page.PAGE.read_text(), re.MULTILINE)
    assert {f.name for kind in (Model, Data) for f in leaves(kind)} <= set(found)


def test_some_rows_are_right():
    text = fields_page.PAGE.read_text()
    for row in (
        "| `body_ipos` | (nbody, 3) | m, body frame | parameter |",
        "| `dof_armature` * | (nv,) | kg or kg m^2 | parameter |",
        "| `qpos` | (nq,) |  | m or rad; quaternions wxyz | state |",
        "| `eq_active` | (neq,) | bool | 1 | input |",
        "| `geom` | (nconmax, 2) | int | 1, ids | result |",
    ):
        assert f"{row}\n" in text, row
