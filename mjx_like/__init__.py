"""A differentiable rigid-body simulator in pure JAX that speaks MuJoCo's language."""

from mjx_like.compiler.load import from_xml_path as _from_xml_path
from mjx_like.compiler.load import from_xml_string as _from_xml_string
from mjx_like.state import make_data
from mjx_like.types.data import Data
from mjx_like.types.model import Model

Model.from_xml_path = staticmethod(_from_xml_path)
Model.from_xml_string = staticmethod(_from_xml_string)
