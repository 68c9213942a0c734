# ruff: noqa: E501
"""Random whole models: a tree with classes, frames, replicates and assets, and sections that refer into it.

Values are drawn so that most models compile; what MuJoCo refuses must be refused here too.
"""

from tests.support.draws import FRAME_SENSORS, SITE_SENSORS, Draws

SHAPES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
ORIENTATIONS = (
    lambda w: f'quat="{w.numbers(4, -1, 1)}"',
    lambda w: f'euler="{w.numbers(3, -90, 90)}"',
    lambda w: f'axisangle="{w.numbers(4, 0.1, 1)}"',
    lambda w: f'zaxis="{w.numbers(3, 0.1, 1)}"',
    lambda w: f'xyaxes="1 {w.numbers(2, -1, 1)} 0 1 {w.numbers(1, -1, 1)}"',
)
CONTACT = {
    "contype": lambda w: str(w.rng.integers(0, 4)),
    "conaffinity": lambda w: str(w.rng.integers(0, 4)),
    "condim": lambda w: w.one("1", "3", "4", "6"),
    "priority": lambda w: str(w.rng.integers(-1, 3)),
    "friction": lambda w: w.numbers(w.rng.integers(1, 4), 0.1, 1),
    "solmix": lambda w: w.numbers(1, 0, 2),
    "solref": lambda w: w.one(w.numbers(2, 0.01, 1), w.numbers(1, 0.01, 1), "-100 -10"),
    "solimp": lambda w: w.one(".8 .9 .01", ".8", ".5 .9 .01 .4 3"),
    "margin": lambda w: w.numbers(1, 0, 0.1),
    "gap": lambda w: w.numbers(1, 0, 0.1),
}
GEOM = CONTACT | {
    "group": lambda w: str(w.rng.integers(0, 5)),
    "rgba": lambda w: w.numbers(4, 0, 1),
    "material": lambda w: w.one(*w.materials) if w.materials else None,
    "fluidshape": lambda w: w.one("ellipsoid", "none"),
    "fluidcoef": lambda w: w.numbers(5, 0.1, 2),
    "shellinertia": lambda w: w.one("true", "false"),
    "surfacevel": lambda w: w.numbers(6, -1, 1),
    "adhesion": lambda w: w.numbers(1, 0, 2),
    "user": lambda w: w.numbers(2, -3, 3),
}
JOINT = {
    "pos": lambda w: w.numbers(3, -0.2, 0.2),
    "range": lambda w: f"{w.numbers(1, -60, -1)} {w.numbers(1, 1, 60)}",
    "limited": lambda w: w.one("false", "auto"),
    "stiffness": lambda w: w.numbers(w.rng.integers(1, 4), 0, 5),
    "damping": lambda w: w.numbers(w.rng.integers(1, 4), 0, 5),
    "springref": lambda w: w.numbers(1, -20, 20),
    "ref": lambda w: w.numbers(1, -20, 20),
    "armature": lambda w: w.numbers(1, 0, 1),
    "frictionloss": lambda w: w.numbers(1, 0, 1),
    "springdamper": lambda w: w.numbers(2, 0.01, 1),
    "margin": lambda w: w.numbers(1, 0, 0.1),
    "group": lambda w: str(w.rng.integers(0, 5)),
    "actuatorfrcrange": lambda w: f"-{w.numbers(1, 0.1, 5)} {w.numbers(1, 0.1, 5)}",
    "actuatorgravcomp": lambda w: w.one("true", "false"),
    "solreflimit": lambda w: w.numbers(2, 0.01, 1),
    "solimpfriction": lambda w: ".8 .9 .01",
    "user": lambda w: w.numbers(1, -3, 3),
}
TENDON = {
    name: JOINT[name] for name in ("stiffness", "damping", "frictionloss", "armature", "margin", "group", "limited")
} | {
    "range": lambda w: f"{w.numbers(1, 0, 0.5)} {w.numbers(1, 0.6, 2)}",
    "springlength": lambda w: w.one(w.numbers(1, 0.1, 1), f"{w.numbers(1, 0, 0.3)} {w.numbers(1, 0.4, 2)}"),
    "width": lambda w: w.numbers(1, 0.001, 0.1),
    "rgba": lambda w: w.numbers(4, 0, 1),
}
ACTUATOR = {
    "ctrlrange": lambda w: f"-{w.numbers(1, 0.1, 2)} {w.numbers(1, 0.1, 2)}",
    "forcerange": lambda w: f"-{w.numbers(1, 0.1, 2)} {w.numbers(1, 0.1, 2)}",
    "gear": lambda w: w.numbers(w.rng.integers(1, 7), -2, 2),
    "group": lambda w: str(w.rng.integers(0, 5)),
    "nsample": lambda w: w.one("1", "4", '3" delay="0.02'),
    "user": lambda w: w.numbers(1, -3, 3),
}
OWN = {
    "motor": {},
    "position": {
        "kp": lambda w: w.numbers(1, 0.1, 50),
        "kv": lambda w: w.numbers(1, 0, 5),
        "timeconst": lambda w: w.numbers(1, 0, 1),
        "inheritrange": lambda w: w.numbers(1, 0.5, 1),
    },
    "velocity": {"kv": lambda w: w.numbers(1, 0, 5)},
    "intvelocity": {"kp": lambda w: w.numbers(1, 0, 5), "actrange": lambda w: "-1 1"},
    "damper": {"kv": lambda w: w.numbers(1, 0, 5), "ctrlrange": lambda w: "0 1"},
    "cylinder": {
        "timeconst": lambda w: w.numbers(1, 0.1, 1),
        "area": lambda w: w.numbers(1, 0.1, 1),
        "bias": lambda w: w.numbers(3, 0, 1),
    },
    "general": {
        "gainprm": lambda w: w.numbers(3, 0, 5),
        "biasprm": lambda w: w.numbers(3, -5, 5),
        "biastype": lambda w: w.one("none", "affine"),
        "gaintype": lambda w: w.one("fixed", "affine"),
        "dyntype": lambda w: w.one("none", "integrator", "filter", "filterexact"),
        "dynprm": lambda w: w.numbers(1, 0.1, 1),
        "actearly": lambda w: w.one("true", "false"),
    },
}
TETRA = "0 0 0 1 0 0 0 1 0 0 0 1"


class World(Draws):
    """A random model; `text()` is its file."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.names: dict[str, list[str]] = {
            kind: [] for kind in ("body", "geom", "site", "camera", "tendon", "actuator", "hinge", "slide", "ball")
        }
        self.materials: list[str] = []
        self.meshes: list[str] = []
        self.count = 0
        self.budget = 14

    def named(self, kind: str, share: float = 0.8) -> str:
        """A name, kept so that others can refer to it; or none."""
        if not self.chance(share):
            return ""
        self.count += 1
        name = f"{kind[0]}{self.count}_"  # no number at the end, which copies are given
        self.names[kind].append(name)
        return f'name="{name}"'

    def orientation(self) -> str:
        return self.one(*(make(self) for make in ORIENTATIONS)) if self.chance(0.5) else ""

    def pose(self) -> str:
        pos = f'pos="{self.numbers(3, -1, 1)}"' if self.chance(0.7) else ""
        return f"{pos} {self.orientation()}"

    def chosen_class(self) -> str:
        return f'class="{self.one("c0", "c1", "c2")}"' if self.chance(0.25) else ""

    def shape(self, kinds: tuple[str, ...] = tuple(SHAPES)) -> str:
        kind = self.one(*kinds)
        if kind in ("capsule", "cylinder", "box", "ellipsoid") and self.chance(0.2):
            size = self.numbers(2 if SHAPES[kind] == 3 else 1, 0.05, 0.2)
            return f'type="{kind}" size="{size}" fromto="{self.numbers(6, -1, 1)}"'
        return f'type="{kind}" size="{self.numbers(SHAPES[kind], 0.05, 0.3)}" {self.pose()}'

    def geom(self) -> str:
        mass = self.one('mass="1.5"', 'density="300"', "", "")
        form = self.shape()
        if self.meshes and self.chance(0.25):
            form = f'type="{self.one("mesh", "mesh", "box", "capsule")}" mesh="{self.one(*self.meshes)}" {self.pose()}'
        look = {name: make for name, make in GEOM.items() if name != "shellinertia" or "mesh=" not in form}
        return f"<geom {self.named('geom')} {self.chosen_class()} {form} {mass} {self.some(look, 0.12)}/>\n"

    def site(self) -> str:
        return f"<site {self.named('site')} {self.chosen_class()} {self.shape()} {self.some({'group': GEOM['group'], 'rgba': GEOM['rgba']}, 0.2)}/>\n"

    def joints(self, top: bool) -> str:
        if top and self.chance(0.3):
            return self.one(
                "<freejoint/>", f'<freejoint align="{self.one("true", "false", "auto")}"/>', '<joint type="free"/>'
            )
        if self.chance(0.15):
            return f'<joint {self.named("ball", 1)} type="ball" {self.some({k: JOINT[k] for k in ("stiffness", "damping", "armature", "frictionloss")}, 0.3)}/>'
        found = ""
        for _ in range(self.rng.integers(0, 3)):
            kind = self.one("hinge", "hinge", "slide")
            found += f'<joint {self.named(kind, 1)} {self.chosen_class()} type="{kind}" axis="{self.numbers(3, 0.1, 1)}" {self.some(JOINT, 0.2)}/>\n'
        return found

    def looks(self) -> str:
        found = ""
        if self.chance(0.3):
            lens = self.one(
                'fovy="40"', 'focal=".01 .01" sensorsize=".02 .02" resolution="64 64"', 'projection="orthographic"'
            )
            found += f'<camera {self.named("camera")} {self.pose()} mode="{self.one("fixed", "track", "trackcom")}" {lens}/>\n'
        if self.chance(0.3):
            found += f'<light pos="{self.numbers(3, -1, 1)}" dir="{self.numbers(3, 0.1, 1)}" type="{self.one("directional", "spot", "point")}"/>\n'
        return found

    def inside(self, depth: int, moving: bool) -> str:
        """Contents of a body or frame."""
        parts = [self.geom() for _ in range(self.rng.integers(1, 3))]
        parts += [self.site() for _ in range(self.rng.integers(0, 3))] + [self.looks()]
        if depth < 4 and self.budget > 0:
            parts += [self.body(depth + 1) for _ in range(self.rng.integers(0, 3))]
        if self.chance(0.25) and self.budget > 0:
            klass = f'childclass="{self.one("c0", "c1", "c2")}"' if self.chance(0.5) else ""
            parts.append(f"<frame {self.pose()} {klass}>{self.inside(depth + 1, moving)}</frame>\n")
        if self.chance(0.1):
            kept, self.names = self.names, {kind: [] for kind in self.names}
            copies = (
                f'count="{self.rng.integers(1, 4)}" offset="{self.numbers(3, -1, 1)}" euler="{self.numbers(3, 0, 90)}"'
            )
            parts.append(f"<replicate {copies}>{self.geom()}{self.site()}{self.body(4)}</replicate>\n")
            self.names = kept
        self.rng.shuffle(parts)
        return "".join(parts)

    def body(self, depth: int) -> str:
        self.budget -= 1
        klass = f'childclass="{self.one("c0", "c1", "c2")}"' if self.chance(0.2) else ""
        more = self.some({
            "gravcomp": lambda w: w.numbers(1, 0, 1),
            "sleep": lambda w: w.one("never", "allowed") if depth == 0 and not w.chance(0.5) else "auto",
            "simple": lambda w: w.one("auto", "false"),
            "user": lambda w: w.numbers(1, 0, 1),
        }, 0.1)  # fmt: skip
        inertial = ""
        if self.chance(0.15):
            tensor = self.one('diaginertia="1 1.2 1.4"', 'fullinertia="1 1.2 1.4 .1 .2 .05"')
            turn = self.orientation() if "diag" in tensor else ""
            inertial = (
                f'<inertial pos="{self.numbers(3, -0.3, 0.3)}" mass="{self.numbers(1, 0.5, 3)}" {tensor} {turn}/>'
            )
        joints = self.joints(depth == 0)
        return f"<body {self.named('body')} {klass} {self.pose()} {more}>{joints}{inertial}{self.inside(depth, bool(joints))}</body>\n"

    def defaults(self) -> str:
        def inner(depth: int) -> str:
            found = ""
            if self.chance(0.7):
                found += f"<geom {self.some({k: v for k, v in GEOM.items() if k not in ('material', 'user', 'shellinertia')}, 0.15)}/>"
            if self.chance(0.5):
                found += f"<joint {self.some({k: JOINT[k] for k in ('stiffness', 'damping', 'armature', 'frictionloss', 'margin')}, 0.3)}/>"
            if self.chance(0.4):
                tag = self.one(*OWN)
                found += f"<{tag} {self.some({k: v for k, v in OWN[tag].items()}, 0.3)} {self.some({k: ACTUATOR[k] for k in ('gear', 'group')}, 0.3)}/>"
            if self.chance(0.3):
                found += (
                    f"<tendon {self.some({k: TENDON[k] for k in ('stiffness', 'damping', 'width', 'margin')}, 0.3)}/>"
                )
            if self.chance(0.3):
                found += f'<site size="{self.numbers(3, 0.01, 0.1)}" type="{self.one(*SHAPES)}"/>'
            if self.chance(0.2):
                found += f'<equality solref="{self.numbers(2, 0.01, 1)}"/>'
            if self.chance(0.2):
                found += f'<mesh scale="{self.numbers(3, 0.5, 2)}"/>'
            below = f'<default class="c{depth}">{inner(depth + 1)}</default>' if depth < 3 else ""
            return found + below

        return f"<default>{inner(0)}</default>"

    def assets(self) -> str:
        found = ""
        for i in range(self.rng.integers(0, 3)):
            self.meshes.append(f"m{i}")
            points = self.one(TETRA, TETRA + " 1 1 1", self.numbers(24, -1, 1))
            more = self.some({
                "inertia": lambda w: w.one("convex", "shell", "legacy"),
                "scale": lambda w: w.numbers(3, 0.2, 2),
                "refpos": lambda w: w.numbers(3, -1, 1),
                "refquat": lambda w: w.numbers(4, 0.1, 1),
                "maxhullvert": lambda w: w.one("5", "8", "-1"),
                "smoothnormal": lambda w: w.one("true", "false"),
            }, 0.25)  # fmt: skip
            found += f'<mesh name="m{i}" {self.chosen_class()} vertex="{points}" {more}/>\n'
        for i in range(self.rng.integers(0, 3)):
            self.materials.append(f"mat{i}")
            found += f'<texture name="t{i}" type="{self.one("2d", "cube")}" builtin="{self.one("flat", "checker", "gradient")}" width="4" height="4" rgb1="{self.numbers(3, 0, 1)}"/>\n'
            found += f'<material name="mat{i}" texture="t{i}" rgba="{self.numbers(4, 0, 1)}" specular="{self.numbers(1, 0, 1)}"/>\n'
        if self.chance(0.3):
            found += f'<hfield name="hf" nrow="2" ncol="3" size="{self.numbers(4, 0.5, 2)}" elevation="{self.numbers(6, 0, 1)}"/>\n'
        return f"<asset>{found}</asset>"

    def two(self, kind: str) -> tuple[str, str] | None:
        names = self.names[kind]
        if len(names) < 2:
            return None
        first, second = self.rng.choice(names, 2, replace=False)
        return str(first), str(second)

    def equality(self) -> str:
        found = ""
        own = {"solref": CONTACT["solref"], "solimp": CONTACT["solimp"], "active": lambda w: w.one("true", "false")}
        for _ in range(self.rng.integers(0, 4)):
            bodies, sites, more = self.two("body"), self.two("site"), self.some(own, 0.3)
            kind = self.one("connect", "weld", "joint", "tendon")
            if kind == "connect" and bodies:
                found += f'<connect body1="{bodies[0]}" body2="{bodies[1]}" anchor="{self.numbers(3, -1, 1)}" {more}/>'
            elif kind == "weld" and bodies and self.chance(0.5):
                relpose = f'relpose="{self.numbers(7, -1, 1)}"' if self.chance(0.5) else ""
                found += f'<weld body1="{bodies[0]}" body2="{bodies[1]}" {relpose} torquescale="{self.numbers(1, 0, 2)}" {more}/>'
            elif kind == "weld" and sites:
                found += f'<weld site1="{sites[0]}" site2="{sites[1]}" {more}/>'
            elif kind == "joint" and (joints := self.two("hinge")):
                found += (
                    f'<joint joint1="{joints[0]}" joint2="{joints[1]}" polycoef="{self.numbers(5, -1, 1)}" {more}/>'
                )
            elif kind == "tendon" and (tendons := self.two("tendon")):
                found += f'<tendon tendon1="{tendons[0]}" tendon2="{tendons[1]}" {more}/>'
        return f"<equality>{found}</equality>"

    def tendons(self) -> str:
        found = ""
        for _ in range(self.rng.integers(0, 4)):
            joints = self.names["hinge"] + self.names["slide"]
            if self.chance(0.5) and joints:
                path = "".join(
                    f'<joint joint="{joint}" coef="{self.numbers(1, -2, 2)}"/>'
                    for joint in self.rng.choice(joints, min(len(joints), 2), replace=False)
                )
                own = {name: make for name, make in TENDON.items() if name not in ("width", "rgba")}
                found += (
                    f"<fixed {self.named('tendon', 1)} {self.chosen_class()} {self.some(own, 0.2)}>{path}</fixed>\n"
                )
            elif len(self.names["site"]) > 1:
                sites = self.rng.choice(self.names["site"], min(len(self.names["site"]), 3), replace=False)
                path = "".join(f'<site site="{site}"/>' for site in sites)
                found += f"<spatial {self.named('tendon', 1)} {self.chosen_class()} {self.some(TENDON, 0.2)}>{path}</spatial>\n"
        return f"<tendon>{found}</tendon>"

    def target(self) -> str:
        kinds = {"hinge": "joint", "slide": "joint", "tendon": "tendon", "site": "site", "ball": "joint"}
        kind = self.one(*kinds)
        return f'{kinds[kind]}="{self.one(*self.names[kind])}"' if self.names[kind] else ""

    def actuators(self) -> str:
        found = ""
        for _ in range(self.rng.integers(0, 5)):
            tag, target = self.one(*OWN), self.target()
            if target:
                own = self.some(OWN[tag], 0.5)
                rest = self.some({k: v for k, v in ACTUATOR.items() if f"{k}=" not in own and tag != "damper"}, 0.15)
                found += f"<{tag} {self.named('actuator')} {self.chosen_class()} {target} {own} {rest}/>\n"
        return f"<actuator>{found}</actuator>"

    def sensors(self) -> str:
        found = ""
        rest = {
            "noise": lambda w: w.numbers(1, 0, 1),
            "nsample": lambda w: w.one("1", "3"),
            "interval": lambda w: w.numbers(1, 0, 0.1),
            "user": lambda w: "1",
        }
        for _ in range(self.rng.integers(0, 8)):
            tag = self.one(
                *SITE_SENSORS,
                *FRAME_SENSORS,
                "jointpos",
                "jointvel",
                "actuatorfrc",
                "tendonpos",
                "subtreecom",
                "distance",
                "contact",
                "clock",
                "ballquat",
            )
            more = self.some(rest, 0.15)
            pick = {
                **dict.fromkeys(SITE_SENSORS, "site"), "jointpos": "hinge", "jointvel": "slide", "ballquat": "ball",
                "actuatorfrc": "actuator", "tendonpos": "tendon", "subtreecom": "body",
            }.get(tag)  # fmt: skip
            if pick is not None and self.names[pick]:
                word = "joint" if pick in ("hinge", "slide", "ball") else pick
                found += f'<{tag} {word}="{self.one(*self.names[pick])}" {more}/>\n'
            elif tag in FRAME_SENSORS:
                kind = self.one("body", "geom", "site", "camera")
                if self.names[kind]:
                    found += f'<{tag} objtype="{kind}" objname="{self.one(*self.names[kind])}" {more}/>\n'
            elif tag in ("distance", "contact") and (geoms := self.two("geom")):
                found += f'<{tag} geom1="{geoms[0]}" geom2="{geoms[1]}" {more}/>\n'
            elif tag == "clock":
                found += f"<clock {more}/>\n"
        return f"<sensor>{found}</sensor>"

    def contacts(self) -> str:
        found = ""
        if (geoms := self.two("geom")) and self.chance(0.5):
            own = {"condim": CONTACT["condim"], "margin": CONTACT["margin"], "friction": lambda w: w.numbers(5, 0.1, 1)}
            found += f'<pair geom1="{geoms[0]}" geom2="{geoms[1]}" {self.some(own, 0.4)}/>'
        if (bodies := self.two("body")) and self.chance(0.5):
            found += f'<exclude body1="{bodies[0]}" body2="{bodies[1]}"/>'
        return f"<contact>{found}</contact>"

    def settings(self) -> str:
        compiler = self.some({
            "autolimits": lambda w: "true",
            "angle": lambda w: w.one("radian", "degree"),
            "eulerseq": lambda w: w.one("xyz", "XYZ", "zyx", "XzY"),
            "inertiafromgeom": lambda w: w.one("auto", "true"),
            "boundmass": lambda w: w.numbers(1, 0, 1),
            "balanceinertia": lambda w: w.one("true", "false"),
            "fusestatic": lambda w: w.one("true", "false"),
            "discardvisual": lambda w: w.one("true", "false"),
            "alignfree": lambda w: w.one("true", "false"),
            "fitaabb": lambda w: w.one("true", "false"),
            "inertiagrouprange": lambda w: w.one("0 2", "0 5"),
        }, 0.2)  # fmt: skip
        option = self.some({
            "timestep": lambda w: w.numbers(1, 0.001, 0.01),
            "gravity": lambda w: w.numbers(3, -10, 10),
            "cone": lambda w: w.one("pyramidal", "elliptic"),
            "integrator": lambda w: w.one("Euler", "RK4", "implicit", "implicitfast"),
            "density": lambda w: w.numbers(1, 0, 1),
        }, 0.3)  # fmt: skip
        return f"<compiler {compiler}/><option {option}/>"

    def text(self) -> str:
        """The model file; its lengths are not simulated."""
        head = self.settings() + self.defaults() + self.assets()
        ground = '<geom type="plane" size="1 1 1"/>' if self.chance(0.5) else ""
        if "<hfield" in head and self.chance(0.5):
            ground += '<geom type="hfield" hfield="hf"/>'
        tree = ground + self.looks() + "".join(self.body(0) for _ in range(self.rng.integers(1, 4)))
        tree += f"<frame {self.pose()}>{self.body(0)}</frame>"
        rest = self.contacts() + self.tendons() + self.equality() + self.actuators() + self.sensors()
        return f"<mujoco>{head}<worldbody>\n{tree}</worldbody>{rest}</mujoco>"
