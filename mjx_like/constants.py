"""MuJoCo's numeric constants.  Source: mjmodel.h and mjtype.h of MuJoCo 4.0.0."""

MINVAL = 1e-15  # below it, a norm counts as zero
MAXVAL = 1e10  # above it, a state counts as bad
MINIMP, MAXIMP = 0.0001, 0.9999  # bounds of the impedance
MINMU = 1e-5  # least friction coefficient of a contact
NREF, NIMP, NPOLY, NEQDATA, NFLUID = 2, 5, 2, 12, 12
NGROUP = 6
