"""Attachment and replication: `assemble` walks the tree, `replicate` says where copies stand.

`reference` renames what a copy refers to, `dependents` copies what refers into it, `conflict` merges settings,
`keyframe` extends keyframes, `units` and `frame_split` keep a part's own angles and frames.
"""
