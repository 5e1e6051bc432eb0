# SPDX-License-Identifier: Apache-2.0
"""What a device's log says: whether its memory falls and how long it lasts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime

from heapfit.drawing.parts import Fields, Line, Note, Part, Table, columns, object_of, which_hold
from heapfit.forecast.decline import Decline
from heapfit.forecast.log.outlook import Finding, Outlook, RunOutTime, measure_life
from heapfit.forecast.log.states import Clock
from heapfit.forecast.time_units import find_unit, format_length, format_number, format_rate
from heapfit.plan.quantities import format_count, format_share
from heapfit.results.forecast_heaps import describe_dry_pools, describe_failure, describe_others

_DAY = 86_400
_MOST_HEAPS = 4  # beside the first, in which a request is looked for; more are devices
_LEVEL = (Finding.STEADY, Finding.LOAD, Finding.FRAGMENTED)  # of what a task holds: no more
_OF_HEAPS = columns("name", "least", "failures", "region", "unit", "setting")
_DATES = {Clock.DATE: "%Y-%m-%d %H:%M", Clock.YEAR: "%b %d %H:%M"}  # a log may have no year
_UNIT = re.compile(r"(?<=\d )B\b")
_STATE = columns("line", "seconds", "free", "least", "largest", "failed", "failures")
_CAVEAT = "A cache that is still filling looks the same; so does a cycle longer than the log."
_FINDINGS = {
    Finding.UNCLEAR: "It cannot be told whether free memory falls: {reason}. Log {more:,} states "
    "more. No date.",
    Finding.LOAD: "A load, not a trend: the least free was {least:,} B, and {usual:,} B are usual. "
    "No date: {reason}.",
    Finding.TOO_SHORT: "Too short to say whether free memory falls. No date: {reason}.",
    Finding.STEADY: "Free memory does not fall: the least was {least:,} B, {usual:,} B are usual. "
    "No date: {reason}.",
    Finding.FRAGMENTED: "Free memory is fragmented: the largest block is {share} of it. No date: "
    "{reason}.",
}


def forecast_parts(seen: Outlook, others: Sequence[Outlook] = ()) -> list[Part]:
    """The answer: does memory fall, when does it run out; then other heaps, and what to record."""
    log, last = seen.log, seen.last
    blocks = [one for one in log.states if one.largest is not None and one.free]
    dry = describe_dry_pools([seen, *others])
    failure, finding = describe_failure(seen), _describe_finding(seen)
    named = f"{log.name}: {finding[0].lower()}{finding[1:]}" if others and log.name else finding
    needed = _describe_needed([seen, *others] if len(others) <= _MOST_HEAPS else [seen])
    texts = [
        *(needed if seen.decline is None else []),  # else the date says it
        *([*failure, named] if seen.finding is Finding.TOO_SHORT else [named, *failure]),
        *_describe_lives(seen),
        *_describe_holders(seen),
        "",
        _describe_reading(seen, is_one_of_several=bool(others)),
        f"Free: {last.free:,} B at last, {_usual(seen):,} B usually, "
        f"{min(seen.least, last.free):,} B at least.",
        *(
            f"Largest free block: {one.largest or 0:,} B at last, "
            f"{format_share((one.largest or 0) / one.free)} of the free bytes."
            for one in blocks[-1:]
        ),
        *(needed if seen.decline is not None else []),
        *_describe_reserves(seen),
        *(f"A cycle of some {format_length(one, log.clock)}." for one in [seen.period] if one),
        *which_hold((log.setting, f"Its size: {log.setting}.")),
    ]
    advice = ["", "Record next:", *(f"  {one}" for one in seen.advice)] if seen.advice else []
    return [
        Fields(_figures(seen, others)),
        Table(_STATE, [last], "last"),
        Fields({"record_next": seen.advice}),
        *map(Line, [*dry, ""] if dry else []),
        *(Line(_UNIT.sub(log.unit, text)) for text in texts),
        *map(Line, [*describe_others(others, _describe_trend), *advice]),
        *map(
            Note,
            which_hold(
                (log.damage, f"the rest is left out, from {log.damage}"),
                (log.invalid, f"left out as negative, too large or no number: {log.invalid:,}"),
                *((True, note) for note in log.notes),
            ),
        ),
    ]


def _figures(seen: Outlook, others: Sequence[Outlook]) -> dict[str, object]:
    """What the JSON has beside the last state and the advice."""
    log, boot = seen.log, seen.boot
    return {
        "form": log.form,
        "states": len(log.states),
        "boots": log.boots,
        "boot": boot[0].boot + 1,
        "boot_states": len(boot),
        "clock": log.clock,
        "invalid": log.invalid,
        "heap": log.name,
        "other_heaps": [
            {"finding": one.finding.name.lower(), "decline": one.decline, "run_outs": _ends(one)}
            | object_of(_OF_HEAPS, one.log)
            for one in others
        ],
        "holders": {one.log.name: one.pace for one in seen.holders},
        "finding": seen.finding.name.lower(),
        **object_of(columns("reason", "windows", "period", "least"), seen),
        "largest_share": seen.share,
        "decline": seen.decline,
        "reserves": [{"times": one, "free": free} for one, free in seen.reserves.items()],
        "region": log.region,
        "boots_read": seen.pooled,
        "sizes": seen.needed,
        "states_that_fit": seen.fitting,
        "run_out": next(iter(_ends(seen)), None),
        "run_outs": _ends(seen),
    }


def _ends(seen: Outlook) -> list[dict[str, object]]:
    return [asdict(one) | _dates(seen, one) for one in seen.run_outs]


def _describe_finding(seen: Outlook) -> str:
    """The answer, as one paragraph."""
    reason, refused, share = seen.reason or "nothing falls", seen.refused_apart, seen.share or 0.0
    if seen.decline is not None:
        return _describe_decline(seen, seen.decline)
    if seen.finding is not Finding.FRAGMENTED or refused is None:
        return _FINDINGS[seen.finding].format(
            reason=reason,
            least=seen.least,
            usual=_usual(seen),
            share=format_share(share),
            more=len(seen.boot),
        )
    block = "" if refused.largest is None else f": the largest block was {refused.largest:,} B"
    alike = [(one.largest or 0) < one.failed <= one.free for one in seen.log.states if one.failed]
    return (
        f"A request of {refused.failed:,} B failed with {refused.free:,} B free{block}"
        + f"; so it was in {sum(alike):,} of {len(alike):,} states" * (len(alike) > 1)
        + ". So what is free is fragmented, or lies in several memories; it is not used up. No "
        f"date: {reason}. How much larger the heap must be, only a recording tells."
    )


def _describe_decline(seen: Outlook, decline: Decline) -> str:
    """How fast it falls, and when a request fails: of the smallest size first."""
    is_block = seen.finding is Finding.SHRINKS
    what, verb = ("The largest free block", "shrinks") if is_block else ("Free memory", "falls")
    part = f" in the last {format_length(decline.since, seen.log.clock)}"
    if not seen.pace:
        return f"{what} fell, and is level{part}. No date."
    # A pace before that is within the interval may be the same.
    pace = f"{part}, faster than before" if decline.before < decline.low else ""
    pace = f"{part}, slower than before" if decline.before > decline.high else pace
    pace = " now, ever faster" if decline.at_last > decline.rate else pace
    boots = f" in {seen.pooled:,} boots alike" if seen.pooled > 1 else ""
    lost = f"{what} {verb}{boots} by {_rate(decline, seen)}{pace}"
    if not seen.run_outs:
        return f"{lost}. No date: at this pace it lasts ten such logs, and it may become level."
    sizes = " Sizes are assumed (--sizes gives yours)." if seen.run_outs[0].is_assumed else ""
    block = " The largest block is too small then." * (not is_block and seen.run_outs[0].is_block)
    return f"{lost}: {'; '.join(_describe_end(seen, one) for one in seen.run_outs)}.{block}{sizes}"


def _describe_trend(seen: Outlook) -> str:
    """Whether another heap falls, how fast, and when the first request fails."""
    told = str(seen.finding)
    if seen.decline and seen.run_out:
        told += f" by {_rate(seen.decline, seen)}, {_describe_end(seen, seen.run_out)}"
    return _UNIT.sub(seen.log.unit, told)


def _describe_caveat(seen: Outlook) -> str:
    """What else a fall may be: a cache fills slower and slower, and no further than its limit."""
    if seen.finding is Finding.SHRINKS and (seen.share or 1) < 1:
        return (
            "Free memory does not fall: it is no leak, the heap fragments. A cycle longer than the "
            "log looks the same."
        )
    if seen.decline is None or not seen.kept:
        return _CAVEAT
    cycle = "" if seen.pooled > 1 else ", or a cycle longer than the log,"
    return (
        f"It kept this pace for {format_length(seen.decline.since, seen.log.clock)}: only a cache "
        f"that takes more than {format_number(seen.kept)} B{cycle} looks the same."
    )


def _describe_holders(seen: Outlook) -> list[str]:
    """What tasks of a table hold: those that grow, what that may be, the largest that do not."""
    held = sorted(seen.holders, key=lambda one: (-one.pace, -one.held))
    level = [
        f"{one.log.name} {one.held:,} B{', filled at first' * bool(one.reason)}"
        for one in held
        if one.finding in _LEVEL
    ]
    return [
        *(
            f"{one.log.name} holds more and more, {one.held:,} B at last: by "
            f"{_rate(one.decline, seen if one.log.clock is seen.log.clock else one)}."
            for one in held
            if one.decline and one.pace
        ),
        *which_hold(
            (
                seen.decline and not any(one.failed for one in seen.log.states),
                _describe_caveat(held[0] if held and held[0].pace else seen),
            ),
            (level, f"Others are level: {'; '.join(level[:_MOST_HEAPS])}."),
        ),
    ]


def _describe_lives(seen: Outlook) -> list[str]:
    """When the last boot ends, if it does as those before it.

    Of as many lives and one more, in any order, the last lies between the others in all but 2.
    """
    log, lives = seen.log, seen.lives
    age = measure_life([one for one in log.states if one.boot == seen.last.boot])
    rests = [max(0.0, one - age) for one in (*lives[:1], *lives[-1:])]
    lasted, left, dates = (
        " to ".join(dict.fromkeys(filter(None, texts)))
        for texts in (
            [format_length(one, log.clock) for one in (*lives[:1], *lives[-1:])],
            [format_length(one, log.clock) for one in rests],
            [_date(seen, one) for one in rests],
        )
    )
    return which_hold(
        (
            lives,
            f"{len(lives)} boots before ended low in memory, after {lasted}. The last one has run "
            f"{format_length(age, log.clock)}: {left} are left{f' ({dates})' if dates else ''} if "
            f"it ends as they did, as {format_share((len(lives) - 1) / (len(lives) + 1))} of such "
            "boots do.",
        )
    )


def _describe_end(seen: Outlook, run_out: RunOutTime) -> str:
    """When one request fails: by the calendar where the log has dates."""
    needed = run_out.bytes_left
    end = f"a request of {needed:,} B fails" if needed else "nothing is free"
    if run_out.after <= 0:
        return f"at its lows {end} already"
    lengths = (run_out.after, run_out.earliest, run_out.latest)
    unit = find_unit(run_out.after, seen.log.clock)
    after, earliest, latest = (x is not None and format_number(x / unit.seconds) for x in lengths)
    some = f"some {after} {unit.name}"
    dates = [_date(seen, one) for one in lengths]
    if dates[0] is None or bool(latest) > bool(dates[2]):
        span = f"({earliest} to {latest})" if latest else f"({earliest} or later)"
        return f"{end} {some} {span} after the last state"
    if run_out.after - run_out.earliest > _DAY:
        dates = [one and one.rpartition(" ")[0] for one in dates]
    when = f"about {dates[0]} ({dates[1]} to {dates[2] or 'never'})"
    return f"{end} {when}, {some} after the last state"


def _describe_reading(seen: Outlook, *, is_one_of_several: bool) -> str:
    log, first, last = seen.log, seen.boot[0], seen.boot[-1]
    is_one = first.line == last.line
    lines = f"line {first.line:,}" if is_one else f"lines {first.line:,} to {last.line:,}"
    span = measure_life(seen.boot)
    over = f" over {format_length(span, log.clock)}" if span else ""
    ran = f", version {last.program}" * (last.program != log.states[0].program)
    boots = "" if log.boots == 1 else f": boot {first.boot + 1} of {log.boots:,}{ran}"
    heap = f" {log.name!r}" if is_one_of_several or log.setting else ""
    states = format_count(len(seen.boot), "state")
    return f"Read{heap}: {states}{over}, {lines} ({log.form}){boots}."


def _describe_needed(heaps: Sequence[Outlook]) -> list[str]:
    """The states of each heap in which each size that is to be served fits."""
    return [
        f"A request of {size:,} B fits in "
        + ", ".join(
            f"{one.fitting[i]:,} of {format_count(len(one.boot), 'state')}"
            + ", by free bytes alone" * all(state.largest is None for state in one.boot)
            + f" of {one.log.name!r}" * (len(heaps) > 1)
            for one in heaps
        )
        + "."
        for i, size in enumerate(heaps[0].needed)
        if size
    ]


def _describe_reserves(seen: Outlook) -> list[str]:
    """What stays free in longer runs, and which heap would do, where the log says its size."""
    return which_hold(
        *((True, _describe_reserve(*one, seen.log.region)) for one in seen.reserves.items()),
        (
            seen.reserves and seen.log.region is not None,
            "What is free counts whole bytes: what is fragmented is to be added.",
        ),
    )


def _describe_reserve(times: int, free: float, region: int | None) -> str:
    length = "As long again" if times == 1 else f"{times} times as long"
    if free <= 0:
        return f"{length}: more than 1 of 10 such runs has nothing free."
    enough = "" if region is None else f", so {region - free:,.0f} B of the region would do"
    return f"{length}: 9 of 10 such runs leave {free:,.0f} B free{enough}."


def _usual(seen: Outlook) -> int:
    """The median of the free bytes."""
    return sorted(one.free for one in seen.boot)[len(seen.boot) // 2]


def _rate(decline: Decline, seen: Outlook) -> str:
    """A pace in the largest unit of which the boot, or the time that is left, has two."""
    left = seen.run_out.after if seen.run_out else 0.0
    return format_rate(decline, seen.log.clock, max(left, measure_life(seen.boot)))


def _dates(seen: Outlook, run_out: RunOutTime) -> dict[str, str | None]:
    """The dates of the end, the earliest and the latest; None without dates in the log."""
    ends = {"date": run_out.after, "earliest_date": run_out.earliest, "latest_date": run_out.latest}
    return {name: _date(seen, end) for name, end in ends.items()}


def _date(seen: Outlook, after: float | None) -> str | None:
    with suppress(KeyError, ValueError, OverflowError, OSError):  # beyond the calendar
        if seen.last.seconds is not None and after is not None:
            moment = datetime.fromtimestamp(seen.last.seconds + after, UTC)
            return moment.strftime(_DATES[seen.log.clock or Clock.UPTIME])
    return None
