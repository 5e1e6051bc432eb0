# SPDX-License-Identifier: Apache-2.0
"""What several commands make of their options."""

from __future__ import annotations

import sys

from heapfit import _engine
from heapfit.cli.parser import UsageError
from heapfit.drawing.parts import Fields, Note, Part
from heapfit.importers import ImportOptions
from heapfit.sweep import Sweep
from heapfit.trace.exports import export_holdings
from heapfit.trace.exports.samples import SampledBlocks
from heapfit.trace.kinds import Export
from heapfit.trace.stored import TraceInfo

_NOT_HELD = 3  # exit status


def exit_unless(holds: bool) -> None:
    """Ends the command with exit status 3 if what it judges does not hold."""
    if not holds:
        raise SystemExit(_NOT_HELD)


def import_options(queue: str | None) -> ImportOptions:
    """The options of an import by --queue, checked even if the source has no packets."""
    if queue is not None:
        _engine.QueueModel(queue)
    return ImportOptions(queue=queue)


def start_sweep(workers: str | None) -> Sweep:
    """The workers of this machine or of the cluster that --workers names."""
    if workers is not None and not workers.isdecimal():
        return Sweep(cluster=workers)
    return Sweep(require_local(workers))


def require_local(workers: str | None) -> int | None:
    """The number that --workers gives; a usage error if it gives a cluster's address."""
    if workers is not None and not workers.isdecimal():
        raise UsageError(f"--workers {workers}: this runs here alone (give a number)")
    return None if workers is None else int(workers)


def note_parts(info: TraceInfo, name: str = "") -> list[Part]:
    """What importing a recording left out or found doubtful; `name` if it is one of several."""
    if name:
        return [Note(f"{name}: {note}") for note in info.notes]
    return [Fields({"notes": info.notes}), *map(Note, info.notes)]


def require_export(export: Export | None, as_json: bool) -> None:
    """A usage error if an export cannot be printed: beside JSON, or bytes on a terminal."""
    if export is not None and as_json:
        raise UsageError("give --export or --json, one of the two")
    if export is not None and export is not Export.FOLDED and sys.stdout.isatty():
        raise UsageError(f"--export {export} is binary (send it to a file by > FILE)")


def print_export(holdings: SampledBlocks, export: Export) -> None:
    """Prints the holdings in another tool's format, whole or not at all."""
    sys.stdout.buffer.write(export_holdings(holdings, export))
