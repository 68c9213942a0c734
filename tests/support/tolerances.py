"""How far results may lie apart, in float64, and why. Errors are relative to the largest of a field, plus one.

A test that needs a looser bound says why where it stands; none of these is ever raised to make a test pass.
"""

EXACT = 1e-12  # the same arithmetic in another order, on one array: conversions, derived constants, quaternions
COMPILED = 1e-9  # fields of mjModel: hulls and eigenvectors are sums of many terms, some nearly cancelling
TIGHT = 1e-10  # smooth stages: some hundred operations in a row; forward and reverse mode, jit and eager, vmap and loop
ROW = 1e-9  # constraint rows: a smooth stage, times stiffnesses of up to 1e4 that the reference acceleration has
ROWS = 1e-8  # the same over whole models, whose rows depend on contacts found by a search
ACCELERATION = 1e-7  # converged accelerations: where two exact solvers stop, times the condition of the Hessian
SLOPE = 1e-6  # a stage's derivative against central differences of fourth order, at lengths of 1e-4 to 1e-6
STEP_SLOPE = 1e-5  # a step's, behind a solve that repeats itself to 1e-11 only
SOLVE_NOISE = 1e-11  # share of the largest result to which a converged solve repeats itself
SINGLE = 2.0**-22  # what MuJoCo keeps in single precision and computes anew
