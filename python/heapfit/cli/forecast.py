# SPDX-License-Identifier: Apache-2.0
"""`heapfit forecast`: from a device's log, whether its memory falls and how long it lasts."""

from __future__ import annotations

from heapfit.cli.commands.recordings import ForecastCommand
from heapfit.cli.printing.console import print_result
from heapfit.errors import HeapfitError
from heapfit.forecast.log.heaps import judge_heaps
from heapfit.forecast.log.reading import read_log
from heapfit.importers.file_kind import classify_file, require_kind
from heapfit.plan.quantities import parse_sizes
from heapfit.results.forecast import forecast_parts
from heapfit.trace.kinds import SourceKind


def run(command: ForecastCommand) -> None:
    if classify_file(command.log) is SourceKind.SOURCE:
        require_kind(command.log)
    try:
        log = read_log(command.log, command.line)
    except HeapfitError:
        require_kind(command.log)  # says what a recording or a plan is good for
        raise
    first, *others = judge_heaps(log, parse_sizes(command.sizes) if command.sizes else ())
    print_result(forecast_parts(first, others), command.as_json)
