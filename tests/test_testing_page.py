"""The table of coverage in docs/testing.md is that of the tests."""

import importlib.util
import pathlib

TOOL = pathlib.Path(__file__).parents[1] / "tools" / "testing_page.py"


def test_page_is_up_to_date():
    spec = importlib.util.spec_from_file_location("testing_page", TOOL)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.page() == tool.PAGE.read_text(), "run python tools/testing_page.py"
