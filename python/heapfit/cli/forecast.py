# SPDX-License-Identifier: Apache-2.0
"""`heapfit forecast`: from a device's log, whether its memory falls and how long it lasts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from heapfit.cli.commands.recordings import ForecastCommand
from heapfit.cli.printing.console import print_result
from heapfit.errors import HeapfitError
from heapfit.forecast.log.advice import suggest_records
from heapfit.forecast.log.clock import Clock
from heapfit.forecast.log.outlook import Decline, Finding, Outlook, RunOut, find_outlook
from heapfit.forecast.log.reading import read_log
from heapfit.forecast.log.states import HeapState, TelemetryLog
from heapfit.importers.file_kind import classify_file, require_kind
from heapfit.plan.quantities import format_share
from heapfit.results.parts import Column, Fields, Line, Note, Part, Table
from heapfit.trace.kinds import Kind

_DAY = 86_400
_UNITS = ((_DAY * 2, _DAY, "days"), (7200, 3600, "h"), (120, 60, "min"), (0, 1, "s"))
_PERIODS = ((_DAY, "a day"), (3600, "an hour"), (60, "a minute"))
_LEAST_RATE = 10  # bytes: slower declines are printed for a longer period
_OTHER_HEAPS = 3  # named


def run(command: ForecastCommand) -> None:
    if classify_file(command.log) is Kind.SOURCE:
        require_kind(command.log)
    try:
        log = read_log(command.log, command.line)
    except HeapfitError:
        require_kind(command.log)  # says what a recording or a plan is good for
        raise
    print_result(_parts(find_outlook(log)), command.as_json)


def _parts(outlook: Outlook) -> Iterator[Part]:
    yield Fields(_fields(outlook))
    yield Table(_STATE, [outlook.last], "last")
    yield Line(_describe_finding(outlook))
    if outlook.finding in (Finding.FALLS, Finding.SHRINKS):
        yield Line(_CAVEAT)
    yield Line("")
    yield Line(_describe_reading(outlook))
    yield Line(_describe_free(outlook))
    if outlook.last.largest is not None or outlook.share is not None:
        yield Line(_describe_largest(outlook))
    yield from _describe_reserves(outlook)
    if outlook.period is not None:
        yield Line(f"A cycle of some {_length(outlook.period, outlook.log)}.")
    advice = suggest_records(outlook)
    yield Fields({"record_next": advice})
    if advice:
        yield Line("")
        yield Line("Record next:")
        yield from (Line(f"  {one}") for one in advice)
    yield from map(Note, _describe_skipped(outlook.log))


_CAVEAT = (
    "What is filled once, such as a cache, falls like a leak until it is full; a cycle longer than "
    "the log may turn."
)
_STATE: tuple[Column[HeapState], ...] = tuple(
    map(Column, ("line", "seconds", "free", "least", "largest", "failed", "failures"))
)


def _fields(outlook: Outlook) -> dict[str, object]:
    log, boot = outlook.log, outlook.boot
    return {
        "form": log.form,
        "states": len(log.states),
        "boots": log.boots,
        "boot": boot[0].boot + 1,
        "boot_states": len(boot),
        "clock": log.clock,
        "invalid": log.invalid,
        "other_heaps": log.other_heaps,
        "finding": outlook.finding.name.lower(),
        "reason": outlook.reason,
        "windows": outlook.windows,
        "period": outlook.period,
        "least": outlook.least,
        "largest_share": outlook.share,
        "decline": outlook.decline,
        "reserves": outlook.reserves,
        "region": log.region,
        "run_out": outlook.run_out and _run_out_fields(outlook, outlook.run_out),
    }


def _run_out_fields(outlook: Outlook, run_out: RunOut) -> dict[str, object]:
    dates = _dates(outlook, run_out)
    return {
        "after": run_out.after,
        "earliest": run_out.earliest,
        "latest": run_out.latest,
        "bytes_left": run_out.bytes_left,
        "is_block": run_out.is_block,
        "date": dates[0],
        "earliest_date": dates[1],
        "latest_date": dates[2],
    }


def _describe_finding(outlook: Outlook) -> str:
    """The answer, as one paragraph."""
    if outlook.decline is not None and outlook.run_out is not None:
        return _describe_decline(outlook, outlook.decline, outlook.run_out)
    match outlook.finding:
        case Finding.UNCLEAR:
            return f"Free memory may be falling: {outlook.reason}. So there is no date."
        case Finding.FRAGMENTED:
            return _describe_fragmentation(outlook)
        case Finding.LOAD:
            return (
                f"A load, not a trend: the least free was {outlook.least:,} B, and "
                f"{_median_free(outlook):,} B are usual. {_explain_no_date(outlook)}"
            )
        case Finding.TOO_SHORT:
            return f"Too short to say whether free memory falls. {_explain_no_date(outlook)}"
    return (
        f"Free memory does not fall: the least was {outlook.least:,} B, {_median_free(outlook):,} "
        "B are usual. No trend, so no date."
    )


def _explain_no_date(outlook: Outlook) -> str:
    reason = outlook.reason or "nothing falls"
    return f"No date: {reason}."


def _describe_decline(outlook: Outlook, decline: Decline, run_out: RunOut) -> str:
    what = "The largest free block shrinks" if run_out.is_block else "Free memory falls"
    end = "nothing is free"
    if run_out.is_block:
        needed = run_out.bytes_left
        end = f"a request of {needed:,} B fails" if needed else "no block is left"
    log = outlook.log
    if run_out.after <= 0:
        return f"{what} by {_rate(decline, log)}: at its lows {end} already."
    some = f"some {_length(run_out.after, log)}"
    dates = _dates(outlook, run_out)
    if dates[0] is None:
        latest = (
            f" to {_length(run_out.latest, log)}" if run_out.latest is not None else " or later"
        )
        some += f" ({_length(run_out.earliest, log)}{latest})"
        return f"{what} by {_rate(decline, log)}: {end} {some} after the last state."
    if run_out.after - run_out.earliest > _DAY:
        dates = [one and one.partition(" ")[0] for one in dates]
    when = f"about {dates[0]} ({dates[1]} to {dates[2] or 'never'})"
    return f"{what} by {_rate(decline, log)}: {end} {when}, {some} after the last state."


def _describe_fragmentation(outlook: Outlook) -> str:
    refused = outlook.refused_apart
    if refused is None:
        largest = format_share(outlook.share or 0.0)
        return (
            f"Free memory is fragmented: the largest block is {largest} of it. "
            f"{_explain_no_date(outlook)}"
        )
    block = ""
    if refused.largest is not None:
        share = format_share(refused.largest / refused.free)
        block = f": the largest block was {refused.largest:,} B, {share} of them"
    return (
        f"A request of {refused.failed:,} B failed with {refused.free:,} B free{block}. So what is "
        "free is fragmented, or lies in several memories; it is not used up. "
        f"{_explain_no_date(outlook)}"
    )


def _describe_reading(outlook: Outlook) -> str:
    log, boot = outlook.log, outlook.boot
    span = _span(boot)
    over = f" over {_length(span, log)}" if span and log.clock is not None else ""
    states = "1 state" if len(boot) == 1 else f"{len(boot):,} states"
    text = f"Read: {states}{over}, {_lines(boot)} ({log.form})"
    if log.boots == 1:
        return f"{text}."
    return (
        f"{text}: boot {boot[0].boot + 1} of {log.boots:,}, the longest; at each the device was "
        f"restarted."
    )


def _describe_free(outlook: Outlook) -> str:
    return (
        f"Free: {outlook.last.free:,} B at last, {_median_free(outlook):,} B usually, "
        f"{outlook.least:,} B at least."
    )


def _describe_largest(outlook: Outlook) -> str:
    last = next(one for one in reversed(outlook.boot) if one.largest is not None)
    share = (
        f", {format_share(outlook.share)} of the free bytes" if outlook.share is not None else ""
    )
    return f"Largest free block: {last.largest:,} B at last{share}."


def _describe_reserves(outlook: Outlook) -> Iterator[Line]:
    """What stays free in longer runs, and which heap would do, where the log says its size."""
    if outlook.windows and not outlook.reserves and not outlook.reason and not outlook.decline:
        yield Line("Longer runs: the windows depend on each other, so nothing is said of them.")
    for one in outlook.reserves:
        length = "As long again" if one.times == 1 else f"{one.times} times as long"
        if one.free <= 0:
            yield Line(f"{length}: memory runs out in {format_share(one.chance)} of such runs.")
            continue
        text = f"{length}: 9 of 10 such runs leave {_interval(one.free, one.low, one.high)} free"
        if outlook.log.region is not None:
            text += f", so {outlook.log.region - one.free:,.0f} B of the region would do"
        yield Line(f"{text}.")
    if outlook.reserves and outlook.log.region is not None:
        yield Line("What is free counts whole bytes: what is fragmented is to be added.")


def _interval(value: float, low: float, high: float) -> str:
    return f"{value:,.0f} B ({max(0.0, low):,.0f} to {max(0.0, high):,.0f})"


def _describe_skipped(log: TelemetryLog) -> Iterator[str]:
    if log.damage:
        yield f"the rest is left out, from {log.damage}"
    if log.invalid:
        yield f"left out as negative, too large or no number: {log.invalid:,}"
    if log.other_states:
        names = "; ".join(map(repr, log.other_heaps[:_OTHER_HEAPS]))
        yield f"left out as of another heap: {log.other_states:,} ({names}; --line reads these)"


def _lines(boot: Sequence[HeapState]) -> str:
    first, last = boot[0].line, boot[-1].line
    return f"line {first:,}" if first == last else f"lines {first:,} to {last:,}"


def _median_free(outlook: Outlook) -> int:
    values = sorted(one.free for one in outlook.boot)
    return values[len(values) // 2]


def _span(boot: Sequence[HeapState]) -> float | None:
    first, last = boot[0].seconds, boot[-1].seconds
    return None if first is None or last is None else float(last - first)


def _length(amount: float, log: TelemetryLog) -> str:
    """A time, or a number of states where the log has no clock.

    >>> _length(11_520.0, TelemetryLog("", (), Clock.UPTIME, 0, (), 0))
    '3.2 h'
    """
    if log.clock is None:
        return f"{_round(amount)} states"
    if log.clock is Clock.CALLS:
        return f"{_round(amount)} calls"
    size, name = next((size, name) for least, size, name in _UNITS if amount >= least)
    return f"{_round(amount / size)} {name}"


def _round(number: float) -> str:
    """A number with three digits that count.

    >>> _round(17.66), _round(12_345.0)
    ('17.7', '12,300')
    """
    return f"{float(f'{number:.3g}'):,.{1 if number < 100 else 0}f}".removesuffix(".0")


def _rate(decline: Decline, log: TelemetryLog) -> str:
    rates = (decline.rate, decline.low, decline.high)
    if log.clock in (None, Clock.CALLS):
        unit = "state" if log.clock is None else "call"
        each, name = 1, f"a {unit}"
        if decline.rate < _LEAST_RATE:
            each, name = 1000, f"each 1,000 {unit}s"
    else:
        each, name = next(
            (one for one in reversed(_PERIODS) if decline.rate * one[0] >= _LEAST_RATE), _PERIODS[0]
        )
    rate, low, high = (_round(one * each) for one in rates)
    return f"{rate} B {name} ({low} to {high})"


def _dates(outlook: Outlook, run_out: RunOut) -> list[str | None]:
    """The dates of the end, the earliest and the latest; None without dates in the log."""
    return [_date(outlook, one) for one in (run_out.after, run_out.earliest, run_out.latest)]


def _date(outlook: Outlook, after: float | None) -> str | None:
    last = outlook.last.seconds
    if outlook.log.clock is not Clock.DATE or last is None or after is None:
        return None
    try:
        date = datetime.fromtimestamp(last + after, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return f"{date:%Y-%m-%d %H:%M}"
