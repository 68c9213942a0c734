"""Looking at models in a browser, by viser (extra `viewer`).

`server` is viser; `scene` draws a model in it, with its `flexes` and `lights`, in the `material` that viser offers;
`replay` writes a trajectory as one HTML file. `live` shows a running simulation: `session` steps it, `still` poses what
the engine cannot run, `panel` has its controls, `overlays` and `sensor_plot` explain it.
`rerun` logs trajectories for another viewer, rerun.io.
"""
