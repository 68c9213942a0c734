"""Columns: the fields of a model while it is compiled."""

import numpy as np
import pytest

from mjx_like.compiler.arrays import DECLARED, Columns, assemble


def test_a_name_that_is_no_field_is_refused():
    with pytest.raises(KeyError, match="'geom_sise' is no field of Topology or Model"):
        Columns().add({"geom_sise": [1]})


def test_a_field_is_given_once():
    columns = Columns()
    columns.add({"geom_type": [0, 2]})
    with pytest.raises(KeyError, match="'geom_type' is given twice"):
        columns.add({"geom_size": [], "geom_type": []})
    assert set(columns) == {"geom_type"}


def test_sizes_follow_from_the_fields():
    columns = Columns()
    columns.add({"geom_type": [0, 2], "actuator_gear": [[1, 0, 0, 0, 0, 0]]})
    sizes = columns.sizes()
    assert sizes["ngeom"] == 2 and sizes["nout"] == 1 and sizes["nbody"] == 0
    assert set(sizes) == {declared["shape"][0] for declared in DECLARED.values()}


def test_arrays_have_the_declared_type_precision_and_filling():
    columns = Columns()
    columns.add({"geom_rgba": [[0.1, 0.2, 0.3, 1.0]]})
    sizes = {name: 0 for x in DECLARED.values() for dim in x["shape"] for name in [str(dim).rpartition("*")[2]]}
    fields = assemble(sizes | {"ngeom": 1}, columns)
    assert fields["geom_rgba"].dtype == float and fields["geom_rgba"][0, 0] == np.float32(0.1)
    assert fields["geom_dataid"].tolist() == [-1] and fields["geom_type"].tolist() == [0]
    assert fields["geom_castshadow"].dtype == bool
