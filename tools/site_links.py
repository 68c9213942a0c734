"""A hook of MkDocs: pages of docs/ may link to files elsewhere in the repository; the site gets a copy of each.

A link `../tests/models/a.xml` of a page becomes one to `source/tests/models/a.xml` of the site. The README is a page in
`source/` then, and its link `docs/a.md` becomes `../a.md`.
"""

import pathlib
import re
from typing import Any

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).parents[1]
LINK = re.compile(r"(\]\()((?:\.\./)+)([^)#\s]+)")


def on_files(files: Any, config: Any) -> Any:
    """Add the files that pages link to and that lie outside docs/."""
    for page in files.documentation_pages():
        for _, path in _outside(page):
            if files.get_file_from_path(f"source/{path}") is None:
                made = File.generated(config, f"source/{path}", abs_src_path=str(ROOT / path))
                made.inclusion = made.inclusion.NOT_IN_NAV
                files.append(made)
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Turn the links of a page to such files into links within the site."""
    if page.file.src_uri.startswith("source/"):
        return markdown.replace("](docs/", "](../")
    for link, path in _outside(page.file):
        markdown = markdown.replace(link, f"]({'../' * page.file.src_uri.count('/')}source/{path}")
    return markdown


def _outside(page: Any) -> list[tuple[str, str]]:
    """Return (text of the link up to its address, path from the root) of a page's links out of docs/."""
    if page.abs_src_path is None or not page.src_uri.endswith(".md") or page.src_uri.startswith("source/"):
        return []
    here = pathlib.PurePosixPath("docs", page.src_uri).parent
    found = []
    for start, up, rest in LINK.findall(pathlib.Path(page.abs_src_path).read_text(encoding="utf-8")):
        path = (ROOT / here / up / rest).resolve().relative_to(ROOT).as_posix()
        if not path.startswith("docs/"):
            found.append((start + up + rest, path))
    return found
