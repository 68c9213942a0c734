"""Write composite_reference.npz with what MuJoCo 3.1.6 compiles of composite_cases.py.

Run it with a Python that has mujoco 3.1.6 (`python -m venv V && V/bin/pip install mujoco==3.1.6`), from this folder:
`V/bin/python composite_reference.py`.
"""

from pathlib import Path

import mujoco
import numpy as np
from composite_cases import CABLES, CASES

FIELDS = """
body_parentid body_pos body_quat body_mass body_ipos body_inertia body_subtreemass body_invweight0
jnt_type jnt_bodyid jnt_group jnt_limited jnt_pos jnt_axis jnt_stiffness jnt_range jnt_margin jnt_solref jnt_solimp
dof_damping dof_armature dof_frictionloss dof_solref dof_solimp dof_invweight0 dof_M0 qpos0 qpos_spring
geom_type geom_bodyid geom_contype geom_conaffinity geom_condim geom_group geom_priority geom_size geom_pos geom_quat
geom_friction geom_margin geom_gap geom_solmix geom_solref geom_solimp geom_rgba geom_matid geom_rbound
site_type site_bodyid site_group site_size site_pos site_quat site_rgba site_matid
tendon_group tendon_adr tendon_num tendon_matid tendon_limited tendon_width tendon_range tendon_margin
tendon_stiffness tendon_damping tendon_frictionloss tendon_length0 tendon_invweight0 tendon_rgba tendon_lengthspring
tendon_solref_lim tendon_solimp_lim tendon_solref_fri tendon_solimp_fri
wrap_type wrap_objid wrap_prm
eq_type eq_obj1id eq_obj2id eq_active0 eq_solref eq_solimp eq_data exclude_signature
skin_matid skin_group skin_rgba skin_inflate skin_vert skin_texcoord skin_face skin_bonebindpos skin_bonebindquat
skin_bonebodyid skin_bonevertadr skin_bonevertnum skin_bonevertid skin_bonevertweight
""".split()
COUNTS = {
    "BODY": "nbody", "JOINT": "njnt", "GEOM": "ngeom", "SITE": "nsite", "TENDON": "ntendon", "EQUALITY": "neq",
    "EXCLUDE": "nexclude", "SKIN": "nskin", "TEXT": "ntext",
}  # fmt: skip
STATES = 4


def compiled(model):
    """Field -> values of a model, and its names, one text a kind of object."""
    found = {name: getattr(model, name) for name in FIELDS}
    for kind, count in COUNTS.items():
        names = [
            mujoco.mj_id2name(model, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), i) for i in range(getattr(model, count))
        ]
        found[f"names.{kind}"] = np.array("\n".join(name or "" for name in names))
    return found


def passive(model, seed):
    """Random states and the passive forces there: of the plugins alone, as there are no others in the model."""
    rng, data = np.random.default_rng(seed), mujoco.MjData(model)
    found = {"qpos": [], "qfrc_passive": []}
    for _ in range(STATES):
        mujoco.mj_resetData(model, data)
        mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 0.3)
        mujoco.mj_forward(model, data)
        found["qpos"].append(data.qpos.copy())
        found["qfrc_passive"].append(data.qfrc_passive.copy())
    return {name: np.array(value) for name, value in found.items()}


def main():
    """Compile all and write the file: a field of all cases in one row, beside it how many numbers each case has."""
    mujoco.mj_loadPluginLibrary(str(next((Path(mujoco.__file__).parent / "plugin").glob("libelasticity.*"))))
    found, rows = {}, []
    for case, xml in {**CASES, **CABLES}.items():
        model = mujoco.MjModel.from_xml_string(xml)
        values = compiled(model)
        if case in CABLES:
            values.update(passive(model, len(case)))
        rows.append({name: value for name, value in values.items() if value.size})
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name, np.zeros(0)) for row in rows]
        found[name] = np.array(values) if name.startswith("names.") else np.concatenate([v.ravel() for v in values])
        found[f"{name}#"] = np.array([value.size for value in values])  # how many numbers each case has
    np.savez_compressed(Path(__file__).with_suffix(".npz"), **found)


if __name__ == "__main__":
    if mujoco.__version__ != "3.1.6":
        raise SystemExit(f"needs mujoco 3.1.6, this is {mujoco.__version__}")
    main()
