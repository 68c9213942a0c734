"""The notebooks run from their first cell to their last, and are stored with what they showed."""

import pathlib

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = pathlib.Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LONGEST = 600  # s, of one cell on a machine with other work; all of a notebook takes less than three minutes alone


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, monkeypatch):
    monkeypatch.delenv("XLA_FLAGS")  # of the tests: notebooks run as users run them
    notebook = nbformat.read(path, as_version=4)
    stored = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in stored), "no picture is stored"
    assert not [output for output in stored if output.output_type == "error"]
    resources = {"metadata": {"path": str(FOLDER)}}
    NotebookClient(notebook, timeout=LONGEST, kernel_name="python3", resources=resources).execute()


def test_there_are_notebooks():
    assert [path.stem[:2] for path in NOTEBOOKS] == [f"{k + 1:02d}" for k in range(len(NOTEBOOKS))]
