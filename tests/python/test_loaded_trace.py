# SPDX-License-Identifier: Apache-2.0
"""A recording in memory has what its file has, and `fit` reads the file once."""

import numpy as np
import pytest

from heapfit.trace.content import content_hash
from heapfit.trace.loaded import load_trace
from heapfit.trace.operations import ALIGNED, ALLOC, FREE, RESIZE
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import TraceInfo, write_trace

pytestmark = pytest.mark.usefixtures("unmeasured")

COLUMNS = ("op", "object", "size", "alignment", "site")


def stored(path, sites):
    columns = {
        "op": np.array([ALLOC, ALIGNED, RESIZE, FREE, ALIGNED], np.uint8),
        "object": np.array([0, 1, 0, 1, 2], np.uint32),
        "size": np.array([24, 100, 40, 0, 8], np.uint64),
        "alignment": np.array([0, 64, 0, 0, 4096], np.uint32),
        "site": np.array(sites, np.uint32),
    }
    return write_trace(path, [columns], TraceInfo())


@pytest.mark.parametrize("sites", [[0, 0, 0, 0, 0], [0, 7, 0, 0, 9]])
def test_its_columns_are_those_of_the_file(tmp_path, sites):
    trace = stored(tmp_path / "aligned.parquet", sites)
    loaded = load_trace(trace)
    (in_memory,), (in_file,) = loaded.batches(COLUMNS), trace.batches(COLUMNS)
    assert {name: values.tolist() for name, values in in_memory.items()} == {
        name: values.tolist() for name, values in in_file.items()
    }
    assert loaded.largest_alignment == trace.largest_alignment == 4096
    assert loaded.content == content_hash(trace)
    assert loaded.profile.u_max == profile_trace(trace).u_max == 140
