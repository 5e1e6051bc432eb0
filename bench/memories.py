#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Internal RAM at 80 % of requests inside, beside ESP-IDF's limit of 16,384 B without a reserve.

    HEAPFIT_CORPUS=FOLDER python bench/memories.py [--write]      FOLDER has heap/ and rtos/

Both heaps are replayed exactly. What is compared is the memory above what the requests that need
DMA take alone. `--write` renews bench/results/memories.csv.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from page_tables import add_option, write_result

from heapfit.importers import open_trace
from heapfit.memories.demand import demand_of, parse_need
from heapfit.memories.placing import Placing, PlacingOptions, place_requests
from heapfit.plan.memories import parse_memory
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import load_trace

# Which requests need DMA is assumed: packets, records and frames, by their size.
PROGRAMS = {
    "heap/lwip32-ram-b.heap.gz": 1500,
    "heap/lwip32-pool.heap.gz": 1500,
    "heap/mbedtls-resume.heap.gz": 4096,
    "heap/coap-server.heap.gz": 512,
    "rtos/gateway-1.heap.gz": 512,
}
CORPUS = Path(os.environ.get("HEAPFIT_CORPUS", "corpus"))
COLUMNS = (
    *("program", "DMA from, B", "DMA alone, B", "16,384 B, B", "80 % inside, B"),
    *("rule", "of it", "by size, of it"),
)


def place(source: Path, least: int) -> Placing:
    """The placing of a program whose requests of at least so many bytes need DMA."""
    heap = Plan("best_fit")
    memories = [parse_memory(one, heap) for one in ("internal=8M:dma", "psram=64M")]
    with open_trace(source) as trace:
        demand = demand_of(source.name, load_trace(trace), [parse_need(f"dma={least}")])
        return place_requests(memories, [demand], PlacingOptions())


def row_of(source: str, least: int, placing: Placing) -> list[object]:
    """The figures of a program."""
    alone, chosen, today = placing.alone, placing.chosen, placing.today
    if alone is None or today is None:
        raise SystemExit(f"{source}: 8 MiB are too few")
    sites, limit = len(chosen.rule.sites), chosen.rule.up_to
    rule = f"{sites} call sites" if sites else f"up to {limit:,} B"
    rule += ", reserve" if chosen.rule.reserve else ""
    name = Path(source).name.partition(".")[0]

    def part(size: int) -> float:
        return round((size - alone.size) / max(today.size - alone.size, 1), 3)

    by_size = "-" if placing.by_size is None else part(placing.by_size.size)
    return [
        *(name, least, alone.size, today.size, chosen.size, rule),
        *(part(chosen.size), by_size),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_option(parser)
    arguments = parser.parse_args()
    rows = []
    for source, least in PROGRAMS.items():
        rows.append(row_of(source, least, place(CORPUS / source, least)))
        print(*rows[-1], sep="  ", flush=True)
    if arguments.write:
        write_result("memories", COLUMNS, rows)


if __name__ == "__main__":
    main()
