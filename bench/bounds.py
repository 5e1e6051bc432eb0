# SPDX-License-Identifier: Apache-2.0
"""The bound with all lifetimes known beside the least R of all plans that fit tries.

Recordings are those of HEAPFIT_CORPUS, whole, else the repository's own. All over U_max: the bound
as a comparison prints it, the least R_min, and whether a replay's placement made it lower than the
packing. `--only WORD` keeps the recordings in whose names the word occurs. This exits 1 if a bound
lies above a plan's R; plans whose blocks lie in pieces are no packings, and are left out.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from heapfit.bounds.trace_bounds import quick_bounds
from heapfit.cli.printing import console
from heapfit.comparison.comparison import compare
from heapfit.design.portfolio import standard_portfolio
from heapfit.importers import ImportOptions, open_any
from heapfit.trace.loaded import load_trace

EXAMPLES = Path(__file__).parents[1] / "examples"


def recordings(word: str) -> list[Path]:
    corpus = os.environ.get("HEAPFIT_CORPUS")
    files = (
        (Path(corpus) / "heap").glob("*.heap.gz")
        if corpus
        else (EXAMPLES / f"{name}/{name}.parquet" for name in ("lwip-echo", "lua", "sqlite"))
    )
    return sorted(file for file in files if word in file.name)


def line(recording: Path) -> tuple[str, str, str, str, str]:
    print(f"  {recording.name}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        loaded = load_trace(open_any(recording, ImportOptions(), Path(folder)))
        compared = compare(loaded, standard_portfolio(loaded))
        packing = quick_bounds(loaded).packing
    assert compared.bounds is not None
    bound, u_max = compared.bounds.packing, compared.u_max
    least = min(row.r_min for row in compared.rows if row.r_min and not row.is_in_pieces)
    return (
        recording.name.partition(".")[0],
        f"{bound / u_max:.4f}",
        f"{least / u_max:.4f}",
        f"{packing / u_max:.4f}" if bound < packing else "-",
        "below" if bound <= least else "ABOVE",
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--only", default="", help="recordings in which this word occurs")
    found = [line(recording) for recording in recordings(arguments.parse_args().only)]
    console.print_table(
        ("recording", "bound", "least R_min", "packing alone", ""), found, width=console.WIDE
    )
    above = sum(one[-1] == "ABOVE" for one in found)
    print(f"\n{above} of {len(found)} above")
    sys.exit(above > 0)


if __name__ == "__main__":
    main()
