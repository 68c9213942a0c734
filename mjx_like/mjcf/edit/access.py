"""What a Spec has for every kind of element: one by its name, all, a new one; and settings under names of their own."""

from collections.abc import Callable
from functools import partial
from typing import Any, overload


class _Access:
    """A name of a Spec that stands for a kind of element."""

    doc = "{kind}"

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.__doc__ = self.doc.format(kind=kind)


class Finder(_Access):
    doc = "The {kind} of that name, None if there is none."

    @overload
    def __get__(self, spec: None, owner: type) -> "Finder": ...
    @overload
    def __get__(self, spec: Any, owner: type) -> Callable[[str], Any]: ...
    def __get__(self, spec: Any, owner: type) -> Any:
        return self if spec is None else partial(self, spec)

    def __call__(self, spec: Any, name: str) -> Any:
        return spec._find(self.kind, name)


class Lister(_Access):
    doc = "All elements of kind {kind}, in document order."

    @overload
    def __get__(self, spec: None, owner: type) -> "Lister": ...
    @overload
    def __get__(self, spec: Any, owner: type) -> list[Any]: ...
    def __get__(self, spec: Any, owner: type) -> Any:
        return self if spec is None else list(spec._items(self.kind))

    def __set__(self, spec: Any, value: Any) -> None:
        raise AttributeError(f"a list of elements cannot be set; call add_{self.kind}")


class Adder(_Access):
    doc = "New {kind} with these attributes; returns it for further editing."

    @overload
    def __get__(self, spec: None, owner: type) -> "Adder": ...
    @overload
    def __get__(self, spec: Any, owner: type) -> Callable[..., Any]: ...
    def __get__(self, spec: Any, owner: type) -> Any:
        return self if spec is None else partial(self, spec)

    def __call__(self, spec: Any, default: Any = None, **attributes: Any) -> Any:
        return spec._add_listed(self.kind, default, attributes)


class Setting:
    """One of the settings of a Spec under a name of its own, as in mjSpec."""

    def __init__(self, holder: str, name: str) -> None:
        self.holder, self.name = holder, name
        self.__doc__ = f"`{holder}.{name}`."

    def __get__(self, spec: Any, owner: type) -> Any:
        return self if spec is None else getattr(getattr(spec, self.holder), self.name)

    def __set__(self, spec: Any, value: Any) -> None:
        setattr(getattr(spec, self.holder), self.name, value)


class Elements:
    """The names of a Spec that follow a pattern; a test holds them to the tables of the language."""

    body = Finder("body")
    mesh = Finder("mesh")
    flex = Finder("flex")
    equality = Finder("equality")
    material = Finder("material")
    joint = Finder("joint")
    geom = Finder("geom")
    site = Finder("site")
    camera = Finder("camera")
    light = Finder("light")
    frame = Finder("frame")
    hfield = Finder("hfield")
    texture = Finder("texture")
    skin = Finder("skin")
    pair = Finder("pair")
    exclude = Finder("exclude")
    numeric = Finder("numeric")
    text = Finder("text")
    tuple = Finder("tuple")
    key = Finder("key")
    actuator = Finder("actuator")
    sensor = Finder("sensor")
    tendon = Finder("tendon")

    bodies = Lister("body")
    meshes = Lister("mesh")
    flexes = Lister("flex")
    equalities = Lister("equality")
    materials = Lister("material")
    joints = Lister("joint")
    geoms = Lister("geom")
    sites = Lister("site")
    cameras = Lister("camera")
    lights = Lister("light")
    frames = Lister("frame")
    hfields = Lister("hfield")
    textures = Lister("texture")
    skins = Lister("skin")
    pairs = Lister("pair")
    excludes = Lister("exclude")
    numerics = Lister("numeric")
    texts = Lister("text")
    tuples = Lister("tuple")
    keys = Lister("key")
    actuators = Lister("actuator")
    sensors = Lister("sensor")
    tendons = Lister("tendon")

    add_mesh = Adder("mesh")
    add_hfield = Adder("hfield")
    add_texture = Adder("texture")
    add_material = Adder("material")
    add_skin = Adder("skin")
    add_flex = Adder("flex")
    add_pair = Adder("pair")
    add_exclude = Adder("exclude")
    add_numeric = Adder("numeric")
    add_text = Adder("text")
    add_tuple = Adder("tuple")
    add_key = Adder("key")

    meshdir = Setting("compiler", "meshdir")
    texturedir = Setting("compiler", "texturedir")
    strippath = Setting("compiler", "strippath")
    memory = Setting("size", "memory")
    njmax = Setting("size", "njmax")
    nconmax = Setting("size", "nconmax")
    nstack = Setting("size", "nstack")
    nuserdata = Setting("size", "nuserdata")
    nkey = Setting("size", "nkey")
    nuser_body = Setting("size", "nuser_body")
    nuser_jnt = Setting("size", "nuser_jnt")
    nuser_geom = Setting("size", "nuser_geom")
    nuser_site = Setting("size", "nuser_site")
    nuser_cam = Setting("size", "nuser_cam")
    nuser_tendon = Setting("size", "nuser_tendon")
    nuser_actuator = Setting("size", "nuser_actuator")
    nuser_sensor = Setting("size", "nuser_sensor")
