"""The shape of the package: layers, who imports what, where jit and mujoco may stand."""

import ast
import pathlib
import re
import subprocess
import sys
import warnings

import pytest

PACKAGE = pathlib.Path(__file__).parents[1] / "mjx_like"
PEERS = PACKAGE / "bench" / "peers"  # scripts that run as processes of their own
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if PEERS not in path.parents)

# Lowest first, as docs/architecture.md. Packages of one line never import each other; the single modules of a line may.
LAYERS = (
    {"constants", "errors", "arguments", "loaders"},
    {"math"},
    {"types"},
    {"tree", "geometry", "worlds"},
    {"mjcf"},
    {"smooth", "tendon", "actuator", "passive", "ray"},
    {"collision", "variational"},
    {"constraint"},
    {"solver"},
    {"postconstraint"},
    {"sensor"},
    {"integrator"},
    {"hard"},
    {"state"},
    {
        "forward",
        "inverse",
        "step",
        "check",
        "total_mass",
        "slip",
        "refsafe",
        "set_const",
        "infer_inertia",
        "smoothing",
        "hard_contact",
        "derivative",
    },
    {"leaves", "compiler"},
    {"compilation", "rollout", "io", "interop", "bench", "visual", "scenes"},
    {"viewer", "render", "control", "sysid"},
    {"envs"},
    {"learning"},
    {"compat"},
    {"cli"},
    {"__main__"},
)
LAYER = {name: number for number, names in enumerate(LAYERS) for name in names}
JIT = {"rollout", "bench", "visual", "viewer", "render", "control", "sysid", "envs", "learning", "compat", "cli"}
CALLBACKS = {"io_callback", "pure_callback", "callback", "host_callback"}
LONGEST = 400


def unit(path: pathlib.Path) -> str:
    """Return the part of the package that a file belongs to: the name in LAYERS."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def parse(path: pathlib.Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def for_annotations(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imports(tree: ast.AST) -> list[str]:
    """Return the dotted names that a module imports, `from a import b` as a.b; none of those for annotations only."""
    found = []
    skipped = {inner for node in ast.walk(tree) if for_annotations(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def is_module(dotted: str) -> bool:
    path = PACKAGE.joinpath(*dotted.split(".")[1:])
    return path.is_dir() or path.with_suffix(".py").is_file()


def upward(source: str, target: str) -> bool:
    """Return whether `target` may not be imported by `source`: it is higher, or a neighbour on its line."""
    if source == target or source == "__init__":
        return False
    if LAYER[source] != LAYER[target]:
        return LAYER[target] > LAYER[source]
    return any((PACKAGE / name).is_dir() for name in (source, target))


def used_names(tree: ast.AST) -> set[str]:
    """Return dotted attribute chains and imported names, such as `jax.jit` and `jax.lax.scan`."""
    return {ast.unparse(n) for n in ast.walk(tree) if isinstance(n, ast.Attribute)} | set(imports(tree))


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_downward(path):
    source = unit(path)
    assert source == "__init__" or source in LAYER, (
        f"{source} has no layer: add it to docs/architecture.md and to LAYERS"
    )
    for name in imports(parse(path)):
        if name.split(".")[0] != "mjx_like" or name.count(".") == 0:
            continue
        target = name.split(".")[1]
        assert target in LAYER, f"{path.name} imports {name} from the top of the package: import it where it is defined"
        assert not upward(source, target), f"{path.name} ({source}, layer {LAYER[source]}) imports {name}"


def test_the_rule_itself():
    assert upward("math", "types") and upward("tree", "geometry") and upward("collision", "solver")
    assert not upward("step", "forward") and not upward("solver", "math") and not upward("cli", "rollout")


@pytest.mark.parametrize("path", sorted((PACKAGE / "mjcf").rglob("*.py")), ids=lambda p: p.name)
def test_the_reader_needs_no_jax(path):
    for name in imports(parse(path)):
        assert name.split(".")[0] not in ("jax", "jaxlib", "optax"), name
        if name.startswith("mjx_like."):
            allowed = (
                "mjx_like.constants",
                "mjx_like.errors",
                "mjx_like.loaders",
                "mjx_like.types.enums",
                "mjx_like.types.hooks",
                "mjx_like.mjcf",
            )
            assert name.startswith(allowed), name


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_only_interop_and_compat_import_mujoco_and_only_inside_functions(path):
    tree = parse(path)
    peers = ("mujoco", "dm_control", "gymnasium", "brax", "torch")
    found = [name for name in imports(tree) if name.split(".")[0] in peers]
    if path.parent.name == "adapters":  # a module for each library, which nothing of the package imports
        assert {name.split(".")[0] for name in found} <= {path.stem}
        return
    if unit(path) not in ("interop", "compat"):
        assert not found
        return
    guarded = [n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING"]
    top = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    assert not any(name.split(".")[0] in peers for node in top for name in imports(node))
    inside = [n for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for n in imports(f)]
    assert len(found) <= len(inside) + sum(len(imports(g)) for g in guarded)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_jit_no_callback_no_global_setting_in_the_library(path):
    names = used_names(parse(path))
    if unit(path) not in JIT and path.name not in ("lengthrange.py", "on_gpu.py"):  # which try programs of their own
        assert not names & {"jax.jit", "jax.pmap"}
    if unit(path) not in ("cli", "compilation"):  # whose business it is
        assert not {n for n in names if n.startswith("jax.config.update")}
    assert not {n for n in names if n.split(".")[0] in ("jax", "lax") and n.split(".")[-1] in CALLBACKS}
    assert not names & {"jax.debug.print", "jax.debug.callback"}


PACKAGES = sorted(path.parent for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE)


@pytest.mark.parametrize("room", PACKAGES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_package_says_what_is_in_it(room):
    """Its docstring names every module, and every package within with a slash; it names none that is not there."""
    named = set(re.findall(r"`([\w/]+)`", ast.get_docstring(parse(room / "__init__.py")) or ""))
    modules = {path.stem for path in room.glob("*.py")} - {"__init__"}
    rooms = {f"{path.name}/" for path in room.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert not (modules | rooms) - named, "not named"
    assert not {name for name in named if name.endswith("/")} - rooms, "not there"


def test_no_import_cycle():
    graph = {}
    for path in MODULES:
        dotted = ".".join(("mjx_like", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        found = [n for n in imports(parse(path)) if n.startswith("mjx_like.")]
        graph[dotted] = {n if is_module(n) else n.rpartition(".")[0] for n in found}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join((*trail, name))
        if name in done or name == "mjx_like":
            return
        for target in graph.get(name, ()):
            visit(target, (*trail, name))
        done.add(name)

    for name in graph:
        visit(name, ())


def test_import_needs_no_mujoco_and_starts_no_backend():
    """So that the command line can still choose devices and precision after the import."""
    code = (
        "import sys; sys.modules['mujoco'] = None\n"
        "import mjx_like\n"
        "from jax._src import xla_bridge\n"
        "assert not xla_bridge.backends_are_initialized(), 'a module makes a jax array while it is imported'\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PACKAGE.parent)
    assert done.returncode == 0, done.stderr


def test_files_are_short():
    long = {str(p.relative_to(PACKAGE)): n for p in MODULES if (n := len(p.read_text().splitlines())) > LONGEST}
    for name, lines in long.items():
        warnings.warn(f"{name} has {lines} lines, more than {LONGEST}", stacklevel=1)
    assert not {name for name, lines in long.items() if lines > 2 * LONGEST}


def test_no_catch_all_modules():
    assert not {p.name for p in MODULES} & {"utils.py", "util.py", "helpers.py", "common.py", "misc.py"}
