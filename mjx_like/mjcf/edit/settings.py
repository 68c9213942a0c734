"""Settings of a model and its default classes as the user holds them."""

from typing import Any

import numpy as np

from mjx_like.mjcf.default import ALTERNATIVES, written_over
from mjx_like.mjcf.edit.alias import attribute_name
from mjx_like.mjcf.edit.item import unknown
from mjx_like.mjcf.edit.value import caller, shown, typed
from mjx_like.mjcf.element import DefaultClass, Element
from mjx_like.mjcf.schema import ELEMENTS
from mjx_like.mjcf.schema.settings import OPTIONAL_FLAGS, STANDARD_FLAGS
from mjx_like.types.enums import DisableBit, EnableBit


class Settings:
    """Attributes of one element that a model has once, checked against the table as they are set.

    kind: row of the table; values: what is written to; given: notes what was set; sub: settings within it, by name.
    """

    def __init__(self, kind: str, values: dict[str, Any], given: dict[str, Any] | None = None, **sub: "Settings"):
        object.__setattr__(self, "_kind", kind)
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "_given", {} if given is None else given)
        object.__setattr__(self, "_sub", sub)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *ELEMENTS[self._kind].attributes, *self._sub})

    def _element(self) -> Element:
        return Element(self._kind.removeprefix("default_"), {}, [], caller(), self._kind)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name.rstrip("_") in self._sub:
            return self._sub[name.rstrip("_")]
        wanted = attribute_name(self._kind.removeprefix("default_"), name)
        if wanted not in ELEMENTS[self._kind].attributes:
            raise AttributeError(str(unknown(self._element(), name)))
        return shown(self._values.get(wanted), self, wanted)

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
            return
        element, wanted = self._element(), attribute_name(self._kind.removeprefix("default_"), name)
        row = ELEMENTS[self._kind].attributes.get(wanted)
        if row is None:
            raise unknown(element, name)
        found = row.default if value is None else typed(element, wanted, row, value)
        if found is None:
            self._values.pop(wanted, None)
        else:
            self._write(wanted, found)

    def _write(self, name: str, value: Any) -> None:
        self._values[name] = self._given[name] = value


class Option(Settings):
    """Options; disableflags and enableflags are mjSpec's way to say the flags of `flag`."""

    @property
    def disableflags(self) -> int:
        """Bits of what is switched off, of DisableBit."""
        flags = self.flag._values
        return sum(int(DisableBit[name.upper()]) for name in STANDARD_FLAGS if flags.get(name) == "disable")

    @disableflags.setter
    def disableflags(self, value: int) -> None:
        for name in STANDARD_FLAGS:
            setattr(self.flag, name, not int(value) & DisableBit[name.upper()])

    @property
    def enableflags(self) -> int:
        """Bits of what is switched on, of EnableBit."""
        flags = self.flag._values
        return sum(int(EnableBit[name.upper()]) for name in OPTIONAL_FLAGS if flags.get(name) == "enable")

    @enableflags.setter
    def enableflags(self, value: int) -> None:
        for name in OPTIONAL_FLAGS:
            setattr(self.flag, name, bool(int(value) & EnableBit[name.upper()]))


class Compiler(Settings):
    """Settings of the compiler; `degree` is mjSpec's way to say angle."""

    @property
    def degree(self) -> bool:
        return self._values["angle"] == "degree"

    @degree.setter
    def degree(self, value: bool) -> None:
        self._values["angle"] = "degree" if value else "radian"


class ClassRecord(Settings):
    """What a default class says about one kind of element."""

    def _write(self, name: str, value: Any) -> None:
        record = self._values
        if name in ("quat", *ALTERNATIVES):
            for other in ALTERNATIVES:
                record.pop(other, None)
        record[name] = written_over(record.get(name), value)
        if name == "springlength" and len(value) == 1:
            record[name] = np.repeat(value, 2)
        if name == "directional":
            record["type"] = "directional" if record.pop(name) else "spot"
        if name == "texture":
            record["textures"] = record.get("textures", {}) | {"rgb": value}


class Default:
    """A default class: `geom`, `joint`, `actuator`, ... are what it says about each kind of element.

    An element takes from its class when the model is compiled; a class copies its parent when it is added.
    """

    def __init__(self, found: DefaultClass):
        self._class = found

    def __repr__(self) -> str:
        return f"<default {self.name!r}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Default) and self._class is other._class

    def __hash__(self) -> int:
        return hash(self._class)

    @property
    def name(self) -> str:
        """Name of the class."""
        return self._class.name

    @property
    def parent(self) -> str | None:
        """Name of the class that it is nested in, None for main."""
        return self._class.parent

    def __getattr__(self, name: str) -> ClassRecord:
        if name.startswith("_"):
            raise AttributeError(name)
        kind = "general" if name == "actuator" else name
        if kind not in self._class.records:
            kinds = ", ".join("actuator" if kind == "general" else kind for kind in self._class.records)
            raise AttributeError(f"default class '{self.name}' has no '{name}'; kinds: {kinds}")
        return ClassRecord(f"default_{kind}", self._class.records[kind])
