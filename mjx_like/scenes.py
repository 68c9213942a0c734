"""The models that come with the package, by name."""

import pathlib
from typing import Any

from mjx_like.errors import InputError, closest
from mjx_like.mjcf.edit.spec import Spec
from mjx_like.types.model import Model

_FOLDER = pathlib.Path(__file__).parent / "models"


def scene_path(name: str) -> pathlib.Path:
    """Return the file of a model of the package, such as "ant".

    Raises:
      InputError: there is none of that name.
    """
    names = sorted(path.stem for path in _FOLDER.glob("*.xml"))
    if name not in names:
        raise InputError(f"no scene '{name}'{closest(str(name), names)}; there are: {', '.join(names)}")
    return _FOLDER / f"{name}.xml"


def scene(name: str, **options: Any) -> Model:
    """Return a model of the package; options are those of `Model.from_xml_path`."""
    return Model.from_xml_path(str(scene_path(name)), **options)


def scene_spec(name: str) -> Spec:
    """Return the Spec of a model of the package, to be edited and compiled."""
    return Spec.from_file(str(scene_path(name)))
