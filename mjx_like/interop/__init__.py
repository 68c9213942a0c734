"""To and from other libraries' objects.

`convert` takes those of an installed `mujoco` (put_model, put_data), `to_mujoco` makes them (get_data, get_data_into);
`arguments` checks them, `compressed` reads sparse matrices. Only this package imports mujoco, in functions. `tables`
turns trajectories into xarray and Parquet, with the names that `labels` gives to entries.
"""
