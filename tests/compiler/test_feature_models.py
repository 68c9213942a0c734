"""Our own model of each feature compiles to MuJoCo's arrays."""

import pytest

from tests.compiler.compare import OURS, differences
from tests.models import FEATURES


@pytest.mark.parametrize("path", FEATURES, ids=lambda path: path.stem)
def test_feature_model(path):
    """What of a mesh is ours by choice, such as the order of its hull, has tests of its own."""
    assert differences(str(path), skip=OURS if "<mesh" in path.read_text() else ()) == {}
