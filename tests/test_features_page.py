"""The page of features is generated; the committed one must be that of the tables."""

import importlib.util
import pathlib

PATH = pathlib.Path(__file__).parents[1] / "docs" / "make_features.py"


def test_committed_page_is_current():
    spec = importlib.util.spec_from_file_location("make_features", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.PAGE.read_text() == module.page(), "run python docs/make_features.py"
