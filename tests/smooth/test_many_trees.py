"""Models of many trees: masks as blocks, and the smooth stages against MuJoCo."""

import dataclasses

import jax
import numpy as np

from mjx_like.compiler.load import from_xml_string
from mjx_like.math.block_mask import BlockMask, dense
from mjx_like.smooth import plan as smooth_plan
from mjx_like.smooth.crb import full_m
from mjx_like.tree import groups
from mjx_like.tree import plan as tree_plan
from tests.smooth.test_smooth import POSITION, VELOCITY
from tests.support.oracle import TIGHT, load, states
from tests.support.stages import errors, run

ARM = (
    '<body pos="{0} 3 1"><joint axis="0 1 0" damping=".2"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.04"/>'
    '<body pos="0.3 0 0"><joint type="ball"/><geom type="box" size="0.1 0.05 0.04"/>'
    '<body pos="0.1 0 0"><joint type="slide" axis="0 0 1" armature=".1"/><geom size="0.05"/></body></body></body>'
)
SHAPES = ('type="box" size="0.1 0.08 0.06"', 'size="0.1"', 'type="capsule" size="0.08 0.1"')
FREE = '<body pos="{0} {1} 0.15"><freejoint/><geom {2}/></body>'
# static bodies with two moving children, and bodies of several kinds in turn
TWINS = (
    '<body pos="0 -3 1"><geom size="0.1"/><body pos="0.3 0 0"><joint axis="1 0 0"/><geom size="0.1"/></body>'
    '<body pos="0 0 0.5"><geom size="0.05"/><body pos="0.2 0 0"><joint axis="0 1 0"/><geom size="0.07"/></body></body>'
    "</body>"
)


def scene(extra: str = "", option: str = "") -> str:
    """Return a scene of free bodies, arms and a fixed body that carries two moving ones."""
    bodies = "".join(
        FREE.format(0.35 * (i % 4), 0.35 * (i // 4), SHAPES[i % 3]) + (ARM.format(2 + i) if i % 4 == 0 else "")
        for i in range(12)
    )
    return (
        f'<mujoco><option {option}/><worldbody><geom type="plane" size="0 0 1"/>{bodies}{TWINS}</worldbody>'
        f"{extra}</mujoco>"
    )


def test_masks_as_blocks_are_those_of_the_whole_model():
    t = from_xml_string(scene()).topology
    assert groups.several(t)
    tree, smooth = t.plans.tree, t.plans.smooth
    wanted = tree_plan._whole(t)
    for name in ("body_ancestor", "body_dof", "dof_chain"):
        mask = getattr(tree, name)
        assert isinstance(mask, BlockMask)
        np.testing.assert_array_equal(dense(mask), wanted[name], name)
    nodes, parent, node_body = smooth_plan._nodes(t)
    wanted = smooth_plan._masks(t) | smooth_plan._paths(t, parent, node_body, nodes["body_node"])
    for name in ("velocity_mask", "inertia_mask", "body_path", "node_before"):
        whole = wanted[name].copy()
        if name in ("body_path", "node_before"):
            whole[:, 0] = 0  # the world never moves
        np.testing.assert_array_equal(dense(getattr(smooth, name)), whole, name)


def test_stages_equal_mujoco():
    mj, m = load(scene())
    sample = states(mj, 3)
    mj.opt.enableflags |= 2  # energy
    out = run(m, sample)
    assert out.M.shape[1:] == (m.nv, 6)
    worst = errors(mj, out.replace(M=jax.vmap(lambda d: full_m(m, d))(out)), sample, POSITION + VELOCITY)
    assert max(worst.values()) < TIGHT, {k: v for k, v in worst.items() if v >= TIGHT}


def test_plans_are_linear_in_the_number_of_bodies():
    """Twice as many bodies, twice as large masks: no array of bodies by dofs."""

    def numbers(count: int) -> int:
        bodies = "".join(FREE.format(i, 0, SHAPES[1]) for i in range(count))
        plans = from_xml_string(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>").topology.plans
        masks = [getattr(plans.tree, f.name) for f in dataclasses.fields(plans.tree)]
        masks += [getattr(plans.smooth, f.name) for f in dataclasses.fields(plans.smooth)]
        blocks = [b for mask in masks if isinstance(mask, BlockMask) for b in mask.blocks]
        arrays = [x for x in masks if isinstance(x, np.ndarray)]
        return sum(x.size for x in arrays) + sum(b.matrix.size + b.rows.size + b.columns.size for b in blocks)

    assert numbers(200) < 2.1 * numbers(100)
