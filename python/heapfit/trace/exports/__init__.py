# SPDX-License-Identifier: Apache-2.0
"""What a recording holds, in the formats of other people's tools.

samples.py says who holds what; text.py, pprof.py and perfetto.py write that.
"""

from __future__ import annotations

from heapfit.trace.exports.perfetto import write_trace
from heapfit.trace.exports.pprof import write_profile
from heapfit.trace.exports.samples import Holdings
from heapfit.trace.exports.text import fold_stacks, list_metrics
from heapfit.trace.kinds import Export


def export_holdings(holdings: Holdings, export: Export) -> bytes:
    """The holdings in a format; the same bytes for the same recording."""
    match export:
        case Export.FOLDED:
            return fold_stacks(holdings).encode(errors="replace")
        case Export.PROMETHEUS:
            return list_metrics(holdings).encode(errors="replace")
        case Export.PPROF:
            return write_profile(holdings)
        case Export.PERFETTO:
            return write_trace(holdings)
