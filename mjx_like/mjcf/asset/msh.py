"""MuJoCo's own binary mesh format, which trimesh does not read."""

import struct

import numpy as np

from mjx_like.mjcf.asset.mesh_data import MeshData, MeshError


def read_msh(data: bytes) -> MeshData:
    """Return the mesh of an MSH file.

    Raises:
      MeshError: sizes that are impossible or do not fit the file.
    Source: XMLreference, asset/mesh, legacy MSH file format.
    """
    if len(data) < 16:
        raise MeshError("is too short for the header of an MSH file")
    nvert, nnormal, ntexcoord, nface = struct.unpack("<4i", data[:16])
    if nvert < 4 or nface < 0 or nnormal not in (0, nvert) or ntexcoord not in (0, nvert):
        raise MeshError(
            f"has {nvert} vertices, {nnormal} normals, {ntexcoord} texture coordinates and {nface} faces in its MSH "
            "header; it needs 4 vertices or more, and normals and texture coordinates for all of them or none"
        )
    size = 16 + 12 * (nvert + nnormal + nface) + 8 * ntexcoord
    if len(data) != size:
        raise MeshError(f"has {len(data)} bytes, not the {size} that its MSH header tells")
    at, blocks = 16, []
    for count, width, kind in ((nvert, 3, "<f4"), (nnormal, 3, "<f4"), (ntexcoord, 2, "<f4"), (nface, 3, "<i4")):
        blocks.append(np.frombuffer(data, kind, count * width, at).reshape(-1, width))
        at += 4 * count * width
    vert, normal, texcoord = (block.astype(np.float64) for block in blocks[:3])
    face = blocks[3].astype(int)
    return MeshData(vert, face, normal, texcoord, face if nnormal else face[:0], face if ntexcoord else face[:0])
