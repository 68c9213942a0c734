"""Frames split around elements that stand outside of them."""

from mjx_like.mjcf.element import Element

Piece = tuple[bool, Element]  # whether the element stands outside of the frames around it


def split(frame: Element, pieces: list[Piece]) -> list[Piece]:
    """A frame around all pieces but those that stand outside of it; only the first part keeps its name."""
    out: list[Piece] = []
    attrib = dict(frame.attrib)
    for outside, piece in pieces:
        if outside:
            out.append((True, piece))
        elif out and not out[-1][0]:
            out[-1][1].children.append(piece)
        else:
            out.append((False, Element("frame", dict(attrib), [piece], frame.where, frame.type)))
            attrib.pop("name", None)
    return out
