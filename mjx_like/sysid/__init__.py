"""System identification: parameters of a model from recordings.

What is to be found: `leaf` (positive, bounded, free, scaled) and `inertia` make parameters, `transform` has their maps,
`bound` is one of them on a model, `parameters` all. What was measured: `recording`, cut into `segments`. `simulate`
runs many worlds in blocks of one shape, `residual` compares, `problem` puts both together; `forces` is the problem of
inverse dynamics. `least_squares` and `gradient` minimise, `identifiability` says what the data tell, `result` is what
was found, `fit` does it all, `plot` draws it.
"""

from mjx_like.sysid.fit import fit as fit
from mjx_like.sysid.forces import fit_forces as fit_forces
from mjx_like.sysid.inertia import inertia as inertia
from mjx_like.sysid.leaf import bounded as bounded
from mjx_like.sysid.leaf import free as free
from mjx_like.sysid.leaf import positive as positive
from mjx_like.sysid.leaf import scaled as scaled
from mjx_like.sysid.parameters import Parameters as Parameters
from mjx_like.sysid.plot import plot_fit as plot_fit
from mjx_like.sysid.recording import Recording as Recording
from mjx_like.sysid.recording import recording_of as recording_of
from mjx_like.sysid.result import Fit as Fit
from mjx_like.sysid.segments import segments as segments
