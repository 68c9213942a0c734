"""What tests of the reader share: a world around some text, and the message of the error that a document raises."""

import pytest

from mjx_like.errors import ModelError
from mjx_like.mjcf.reader import parse_string


def world(text: str, rest: str = "") -> str:
    return f"<mujoco>{rest}\n<worldbody>\n{text}\n</worldbody>\n</mujoco>"


def error(xml: str, **options) -> str:
    """Message of the error that a document raises: one line."""
    with pytest.raises(ModelError) as caught:
        parse_string(xml, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message
