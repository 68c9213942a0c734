"""Public names of `mujoco.mjx` that mjx_like does not have, each with its reason."""

_IMPORTED = "a module or type that mjx imports for itself"
_INTERNAL = "a module of MJX's own layout; its functions are in mjx_like by name"
_BACKEND = "one of MJX's backends; mjx_like has one Model and one Data"
_RENDER = "batch rendering of MuJoCo Warp; here `render` returns colour, depth and segmentation, and jax.vmap maps it"

ABSENT = {
    **dict.fromkeys(("Any", "Tuple", "Union", "dataclasses", "enum", "jax", "np", "mujoco", "warnings"), _IMPORTED),
    **dict.fromkeys(("mjxw_types", "third_party", "warp", "PyTreeNode"), _IMPORTED),
    **dict.fromkeys(("Impl", "ModelJAX", "DataJAX", "OptionJAX", "ModelCPP", "DataCPP"), _BACKEND),
    **dict.fromkeys(("render_with_segmentation", "create_render_context"), _RENDER),
    **dict.fromkeys(("get_rgb", "get_depth", "get_segmentation", "refit_bvh"), _RENDER),
    "ConvexMesh": "a precomputed hull of MJX's collision code; meshes are leaves and plans here",
    "tree_path_to_attr_str": "a printing aid for MJX's nested backends",
    "is_sparse": "Data is dense; `full_m` gives the mass matrix",
    "tendon_armature": "a part of `crb`",
    "deriv_smooth_vel": "a part of `implicit`; derivatives in general are `jax.jvp` of a stage",
    "benchmark": "`python -m mjx_like bench` measures in processes of their own",
}
