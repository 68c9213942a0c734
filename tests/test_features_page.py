"""The page of features is generated; the committed one must be that of the tables."""

from tools import features_page


def test_committed_page_is_current():
    assert features_page.PAGE.read_text() == features_page.page(), "run python tools/features_page.py"
