"""What the viewer shows is what it showed: small pictures, compared so that edges count little and a body counts.

`python tools/viewer_pictures.py --small` makes the pictures anew; look at them before they are committed.
"""

import numpy as np
import pytest
from PIL import Image

from tests.viewer.browser import CHROMIUM
from tests.viewer.shots import FILES, HERE, difference, small_shot

pytest.importorskip("viser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")

ALIKE = 0.0007  # share of pixels that may be off: 13 of them; a hand of the humanoid has more


@pytest.mark.slow  # 8 to 25 s each, by what else the machine does
@pytest.mark.parametrize("name", FILES)
def test_it_looks_as_it_did(name):
    stored = np.asarray(Image.open(HERE / f"{name}.png").convert("RGB"))
    assert difference(small_shot(name), stored) < ALIKE
