"""The files that say what the package is and needs agree with each other."""

import ast
import pathlib
import re
import tomllib

import pytest

ROOT = pathlib.Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONDA = (ROOT / "packaging" / "conda" / "meta.yaml").read_text()
RENAMED = {"matplotlib": "matplotlib-base"}  # without Qt


def version() -> str:
    tree = ast.parse((ROOT / "mjx_like" / "__init__.py").read_text())
    found = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__version__"]
    return ast.literal_eval(found[0])


@pytest.mark.parametrize(
    "file, pattern",
    [
        ("CITATION.cff", r"^version: (\S+)$"),
        ("packaging/conda/meta.yaml", r'set version = "(\S+)"'),
        ("CHANGELOG.md", r"^## (\S+)"),
    ],
)
def test_one_version(file, pattern):
    assert re.search(pattern, (ROOT / file).read_text(), re.MULTILINE).group(1) == version()


def test_conda_needs_what_pip_needs():
    section = CONDA.partition("  run:\n")[2].partition("\n\n")[0]
    of_conda = {line.strip(" -").replace(" ", "") for line in section.splitlines()}
    of_pip = set()
    for entry in PROJECT["dependencies"]:
        name, bounds = re.fullmatch(r"([\w-]+)(.*)", entry).groups()
        of_pip.add(RENAMED.get(name, name) + bounds)
    assert of_conda == of_pip | {"python" + PROJECT["requires-python"]}


def test_one_licence():
    assert "Apache License" in (ROOT / "LICENSE").read_text() and PROJECT["license"] == "Apache-2.0"
    assert f"license: {PROJECT['license']}" in CONDA


def test_only_lower_bounds_but_for_the_engines_compared():
    extras = PROJECT["optional-dependencies"]
    for entry in PROJECT["dependencies"] + [entry for several in extras.values() for entry in several]:
        pinned = entry.startswith(("mujoco==", "mujoco-mjx=="))
        assert pinned or not re.search(r"[<~]|==", entry.replace("!=", "")), entry


def test_the_container_avoids_the_release_of_jax_that_miscompiles():
    excluded = re.search(r"jax\S*(!=[\d.]+)", PROJECT["dependencies"][0]).group(1)
    assert f"jax[cuda12]{excluded}" in (ROOT / "Dockerfile").read_text()


def test_badges_are_true():
    badges = dict(re.findall(r"badge/(\w+)-([^)]+)-blue", (ROOT / "README.md").read_text()))
    versions = [line.split()[-1] for line in PROJECT["classifiers"] if "Python :: 3" in line]
    assert badges["python"] == f"{versions[0]}_to_{versions[-1]}"
    assert badges["licence"].replace("--", "-") == PROJECT["license"]
    assert badges["equal_to"].replace("MuJoCo_", "mujoco==") in PROJECT["optional-dependencies"]["test"]
