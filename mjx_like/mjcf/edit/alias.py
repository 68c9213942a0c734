"""mjSpec's names of attributes, where MJCF calls them otherwise. Source: mjspec.h, the mjs structs."""

_JOINT = {
    "actfrclimited": "actuatorfrclimited",
    "actfrcrange": "actuatorfrcrange",
    "actgravcomp": "actuatorgravcomp",
    "solref_limit": "solreflimit",
    "solimp_limit": "solimplimit",
    "solref_friction": "solreffriction",
    "solimp_friction": "solimpfriction",
}
_EVERYWHERE = {"classname": "class", "userdata": "user"}
_BY_TYPE = {
    "joint": _JOINT,
    "spatial": _JOINT,
    "fixed": _JOINT,
    "geom": {
        "fluid_coefs": "fluidcoef",
        "fluid_ellipsoid": "fluidshape",
        "meshname": "mesh",
        "hfieldname": "hfield",
        "typeinertia": "shellinertia",
    },
    "site": {"meshname": "mesh"},
    "camera": {
        "proj": "projection",
        "targetbody": "target",
        "focal_length": "focal",
        "focal_pixel": "focalpixel",
        "principal_length": "principal",
        "principal_pixel": "principalpixel",
        "sensor_size": "sensorsize",
    },
    "light": {"targetbody": "target"},
    "pair": {"geomname1": "geom1", "geomname2": "geom2"},
    "exclude": {"bodyname1": "body1", "bodyname2": "body2"},
    "mesh": {"uservert": "vertex", "userface": "face", "usernormal": "normal", "usertexcoord": "texcoord"},
    "skin": {"vert": "vertex"},
    "flex": {"vert": "vertex", "elem": "element", "vertbody": "body", "nodebody": "node"},
    "hfield": {"userdata": "elevation"},
    "body": {"classname": "childclass"},
    "frame": {"classname": "childclass"},
}


def attribute_name(kind: str, name: str) -> str:
    """MJCF's name of an attribute of an element type that mjSpec or MJCF calls `name`."""
    name = name.rstrip("_")
    own = _BY_TYPE.get(kind, {})
    return own.get(name, _EVERYWHERE.get(name, name))
