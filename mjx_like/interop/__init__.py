"""To and from the objects of an installed `mujoco`: `convert` (put_model, put_data, get_data, get_data_into).

`arguments` checks them, `compressed` reads sparse matrices. Only this package imports mujoco, in functions.
"""
