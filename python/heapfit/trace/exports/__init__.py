# SPDX-License-Identifier: Apache-2.0
"""What a recording holds, in the formats of other people's tools.

samples.py says who holds what; folded lines, pprof.py and perfetto.py write that.
"""

from __future__ import annotations

from heapfit.outputs.printable import printable
from heapfit.trace.exports.perfetto import write_perfetto
from heapfit.trace.exports.pprof import write_profile
from heapfit.trace.exports.samples import SampledBlocks
from heapfit.trace.kinds import Export


def export_holdings(holdings: SampledBlocks, export: Export) -> bytes:
    """The holdings in a format; the same bytes for the same recording."""
    return _WRITERS[export](holdings)


def _fold_stacks(holdings: SampledBlocks) -> bytes:
    """A line for each stack, outermost first, and the bytes it holds. Equal stacks are one line."""
    held: dict[str, int] = {}
    for one, stack in holdings.by_stack():
        names = (holdings.program, *(frame.name for frame in reversed(stack)))
        line = ";".join(printable(name).replace(";", ":") for name in names)
        held[line] = held.get(line, 0) + one.size
    return "".join(f"{line} {size}\n" for line, size in held.items() if size).encode()


_WRITERS = {
    Export.FOLDED: _fold_stacks,
    Export.PPROF: write_profile,
    Export.PERFETTO: write_perfetto,
}
